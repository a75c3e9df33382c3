//! A tool for each command of the apps on show, in place of one for all, as far as that is not too many.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::future::{BoxFuture, FutureExt as _, ready};
use kernel::{
    apps::{Abilities, Ability, Asked, names},
    host::Host,
    toolbox::{Call, Deed, Detail, Reply, Risk, Shelf, Tool, ToolSpec},
    update::SessionId,
    windows::{Renderer, Windows},
};
use serde_json::{Map, Value, json};

use super::{AppCommand, AppQuery, AppUndo, Question, arguments::Arguments, ask};
use crate::{
    agents::House,
    typed::{Typed as _, shorten},
};

/// How many there may be at once, and how much a model may have to read for them.
const MOST: usize = 40;
const MOST_BYTES: usize = 24 << 10;
/// How many windows are named of which not all commands have tools.
const NAMED: usize = 10;
/// How much of a window's or a command's own name is in the name of its tool.
const NAME: usize = 28;

/// Of how many sessions it is remembered what their models were told.
const REMEMBERED: usize = 256;

pub struct Each {
    house: House,
    /// What models were told last: an app that is being loaded anew is waited for, as ever.
    told: Mutex<HashMap<SessionId, Vec<AppTool>>>,
}

impl Each {
    pub fn new(house: House) -> Self {
        Self { house, told: Mutex::default() }
    }

    fn told(&self) -> MutexGuard<'_, HashMap<SessionId, Vec<AppTool>>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, session: SessionId, tools: Vec<AppTool>) {
        let mut told = self.told();
        if told.len() >= REMEMBERED && !told.contains_key(&session) {
            told.clear();
        }
        told.insert(session, tools);
    }
}

impl Shelf for Each {
    fn arrange(&self, session: SessionId, specs: &mut Vec<ToolSpec>) {
        let Ok(host) = self.house.host() else { return };
        let Chosen { tools, left_out } = choose(&self.house, &host, session);
        let is_general =
            |spec: &ToolSpec| [AppCommand::NAME, AppQuery::NAME].contains(&&*spec.name);
        if left_out.is_empty() && !is_awaited(&host, session) {
            let is_any = !tools.is_empty();
            specs.retain(|spec| !is_general(spec) && (is_any || spec.name != AppUndo::NAME));
        } else if !left_out.is_empty() {
            let note =
                format!("\n\nNot everything has a tool of its own here: use this for {left_out}.");
            for spec in specs.iter_mut().filter(|spec| is_general(spec)) {
                spec.description.push_str(&note);
            }
        }
        specs.extend(tools.iter().map(|tool| tool.spec.clone()));
        specs.sort_by(|one, other| one.name.cmp(&other.name));
        self.remember(session, tools);
    }

    fn find(&self, session: SessionId, name: &str) -> Option<Arc<dyn Tool>> {
        let host = self.house.host().ok()?;
        let is_meant = |tool: &AppTool| tool.spec.name == name;
        let now = all(&self.house, &host, session).into_iter().find(is_meant);
        let before = || self.told().get(&session)?.iter().find(|it| is_meant(it)).cloned();
        let found = now.or_else(before);
        found.map(|tool| Arc::new(tool) as Arc<dyn Tool>)
    }
}

/// Whether some app is open that has not said yet what it can do.
fn is_awaited(host: &Host, session: SessionId) -> bool {
    let offers = host.apps.offers(session);
    match host.apps.windows(session) {
        Some(windows) => windows.list().iter().any(|pane| {
            let window = &pane.window;
            window.content.renderer == Renderer::Iframe && !offers.contains_key(&window.key())
        }),
        // Nobody has looked; there may be some where any window is open.
        None => host.roster.get(session).is_some_and(|state| state.windows_from.is_some()),
    }
}

struct Chosen {
    tools: Vec<AppTool>,
    /// In words; empty if there is none.
    left_out: String,
}

/// As many as there may be, those of windows at the front first.
fn choose(house: &House, host: &Arc<Host>, session: SessionId) -> Chosen {
    let offers = host.apps.offers(session);
    let windows = host.apps.windows(session).unwrap_or_default();
    let mut tools = all(house, host, session);
    tools.sort_by_key(|tool| std::cmp::Reverse(raised(&windows, &tool.window)));
    let (mut count, mut bytes) = (0, 0);
    let mut out: Vec<(String, usize)> = Vec::new();
    let mut leave = |window: &str, many: usize| match out.iter_mut().find(|it| it.0 == window) {
        Some((_, count)) => *count += many,
        None => out.push((window.to_owned(), many)),
    };
    tools.retain(|tool| {
        let size = tool.size();
        let fits = count < MOST && bytes + size <= MOST_BYTES;
        if fits {
            (count, bytes) = (count + 1, bytes + size);
        } else {
            leave(&tool.window, 1);
        }
        fits
    });
    for (window, abilities) in offers.iter().filter(|(_, it)| it.left_out > 0) {
        leave(window, abilities.left_out);
    }
    Chosen { tools, left_out: told(&out) }
}

fn raised(windows: &Windows, window: &str) -> u64 {
    windows.get(window).map_or(0, |pane| pane.raised.0)
}

fn told(left_out: &[(String, usize)]) -> String {
    let named = left_out.iter().take(NAMED).map(|(window, count)| {
        format!("{count} more commands or states of window \"{}\"", shorten(window, 60))
    });
    let more = left_out.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("those of {more} more windows"));
    named.chain(more).collect::<Vec<_>>().join(", ")
}

/// One for every command, and one to look into each window.
fn all(house: &House, host: &Arc<Host>, session: SessionId) -> Vec<AppTool> {
    let offers = host.apps.offers(session);
    let mut tools = Vec::new();
    for (window, abilities) in offers.iter() {
        let base = base(&offers, window);
        for (command, ability) in &abilities.commands {
            let name = format!("app.{base}.{}", names::plain(command, NAME));
            tools.push(AppTool::command(house, name, window, command, ability));
        }
        if !abilities.states.is_empty() {
            let name = format!("app.{base}..state");
            tools.push(AppTool::states(house, name, window, abilities));
        }
    }
    let dotted: Vec<String> = tools.iter().map(|tool| tool.spec.name.clone()).collect();
    let called = names::undotted(dotted.iter().map(String::as_str));
    for tool in &mut tools {
        if let Some(name) = called.get(tool.spec.name.as_str()) {
            tool.spec.name.clone_from(name);
        }
    }
    tools
}

/// What tools of a window begin with: its id, or all of its name where others have the same id.
fn base<T>(offers: &BTreeMap<String, T>, window: &str) -> String {
    let id = |key: &str| key.split_once('/').map_or(key, |(_, id)| id).to_owned();
    let own = id(window);
    let is_alone = offers.keys().filter(|other| id(other) == own).count() == 1;
    names::plain(if is_alone { &own } else { window }, NAME)
}

#[derive(Clone)]
struct AppTool {
    house: House,
    spec: ToolSpec,
    window: String,
    /// None for the one that looks.
    command: Option<String>,
}

impl AppTool {
    fn command(
        house: &House,
        name: String,
        window: &str,
        command: &str,
        ability: &Ability,
    ) -> Self {
        let place = format!("Runs \"{command}\" of the app in window \"{window}\".");
        let description = match ability.description.as_str() {
            "" => place,
            text => format!("{text}\n\n{place}"),
        };
        let anything = || Map::from_iter([("type".to_owned(), "object".into())]);
        let mut schema = ability.takes.clone().unwrap_or_else(anything);
        // What a model says is an object in any case.
        schema.insert("type".to_owned(), "object".into());
        let spec = ToolSpec { name, description, schema: Value::Object(schema) };
        let (house, window) = (house.clone(), window.to_owned());
        Self { house, spec, window, command: Some(command.to_owned()) }
    }

    fn states(house: &House, name: String, window: &str, abilities: &Abilities) -> Self {
        let keys: Vec<&String> = abilities.states.keys().collect();
        let about = |(key, state): (&String, &Ability)| {
            (!state.description.is_empty())
                .then(|| format!("\n- {key}: {}", shorten(&state.description, 200)))
        };
        let about: String = abilities.states.iter().filter_map(about).collect();
        let description = format!("Reads a state of the app in window \"{window}\".{about}");
        let schema = json!({
            "type": "object",
            "properties": { "stateKey": { "type": "string", "enum": keys } },
            "required": ["stateKey"],
        });
        let spec = ToolSpec { name, description, schema };
        Self { house: house.clone(), spec, window: window.to_owned(), command: None }
    }

    /// What a model has to read.
    fn size(&self) -> usize {
        let ToolSpec { name, description, schema } = &self.spec;
        name.len() + description.len() + schema.to_string().len()
    }

    /// What the app is asked by such a call.
    fn asked(&self, args: &Value) -> Result<Asked, String> {
        let mut given = Arguments::default();
        let object = given.object("params", Some(args.clone()).filter(|it| !it.is_null()));
        let Some(command) = &self.command else {
            let key = object.and_then(|mut object| object.remove("stateKey"));
            let key = given.text("stateKey", key);
            given.check(&self.spec.name)?;
            let state_key = key.ok_or("Provide stateKey.")?;
            return Ok(Asked::Query { state_key });
        };
        given.check(&self.spec.name)?;
        Ok(Asked::Command { command: command.clone(), params: object.map(Value::Object) })
    }
}

impl Tool for AppTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn title(&self, args: &Value) -> String {
        let state = args.get("stateKey").and_then(Value::as_str).unwrap_or("a state");
        let (doing, what) = match &self.command {
            Some(command) => ("Running", command.as_str()),
            None => ("Looking at", state),
        };
        let id = self.window.split_once('/').map_or(&*self.window, |(_, id)| id);
        format!("{doing} {} of {}", shorten(what, 40), shorten(id, 40))
    }

    fn parallel(&self) -> bool {
        self.command.is_none()
    }

    fn risk(&self) -> Option<Risk> {
        Some(if self.command.is_some() { AppCommand::RISK } else { AppQuery::RISK })
    }

    fn foresee<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Deed, String>> {
        let risk = self.risk().unwrap_or(Risk::Acts);
        let detail = Detail::Arguments { args: call.args.clone() };
        let deed = self.asked(&call.args);
        ready(deed.map(|_| Deed { risk, detail, subjects: Vec::new(), within: None })).boxed()
    }

    fn run(&self, call: Call) -> BoxFuture<'_, Result<Reply, String>> {
        async move {
            let asked = self.asked(&call.args)?;
            let question =
                Question { window: self.window.clone(), asked, key: None, address: None };
            ask(&self.house.host()?, &call, question).await.map(Into::into)
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests;
