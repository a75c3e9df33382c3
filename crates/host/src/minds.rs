//! `megaron models`: lists them, tries one, chooses the default, and looks for more.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use futures::{StreamExt as _, stream::BoxStream};
use kernel::{
    ports::{Clock as _, Model, ModelError, ModelInfo, Models as _, Piece},
    prompt::{Part, Prompt},
    update::{Failure, SessionId},
    visit::{Doing, Visit, names_agent},
};
use tokio::time::{Instant, timeout};

use crate::{
    ask,
    cli::{ModelsAction, ModelsArgs},
    clock::SystemClock,
    config::{self, Config, edit},
    detect::{self, Found, Surroundings},
    place,
    wire::{self, Lineup, Problem},
};

/// How long a model may take to answer a single word.
const PATIENCE: Duration = Duration::from_mins(2);
const QUESTION: &str = "Answer with one word: ok";

pub async fn run(args: ModelsArgs) -> anyhow::Result<ExitCode> {
    let data_dir = config::data_dir(&args.home)?;
    let config = Config::load(&data_dir)?;
    match args.action.unwrap_or(ModelsAction::List) {
        ModelsAction::List => list(&data_dir, &config).await,
        ModelsAction::Test { id } => Ok(test(&data_dir, config, &id).await),
        ModelsAction::Default { id } => choose(&data_dir, config, &id).await,
        ModelsAction::Use { id, session } => switch(data_dir, &id, &session).await,
        ModelsAction::Detect { write } => search(&data_dir, &config, write).await,
    }
}

async fn list(data_dir: &Path, config: &Config) -> anyhow::Result<ExitCode> {
    let models = wire::models(data_dir, config)?;
    models.learn().await;
    let agents = wire::guests(data_dir, config).await?;
    let known: Vec<ModelInfo> = models.list().await?.into_iter().chain(agents.list()).collect();
    let default = config.default_model.clone();
    print!("{}", table(&known, &default, config));
    for Problem { provider, what, fix } in models.problems() {
        eprintln!("! {provider} {what}\n  → {fix}");
    }
    if known.iter().all(|model| model.id != default) {
        eprintln!(
            "The default, {default}, is not listed; `megaron models test {default}` tries it."
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn table(models: &[ModelInfo], default: &str, config: &Config) -> String {
    let head = ["", "ID", "NAME", "PAID BY", "FROM"].map(str::to_owned);
    let row = |model: &ModelInfo| {
        let mark = if model.id == default { "*" } else { "" };
        [mark.into(), model.id.clone(), model.name.clone(), model.payer.clone(), {
            origin(&model.id, config)
        }]
    };
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(models.iter().map(row)).collect();
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3, 4].map(width);
    let line = |row: &[String; 5]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Where it is configured.
fn origin(id: &str, config: &Config) -> String {
    match id.split_once('/') {
        Some((name, _)) if config.providers.contains_key(name) => format!("providers.{name}"),
        Some(("agent", name)) if config.agents.named.contains_key(name) => format!("agents.{name}"),
        Some(("agent", _)) => "found on the PATH".to_owned(),
        _ => "built in".to_owned(),
    }
}

async fn test(data_dir: &Path, config: Config, id: &str) -> ExitCode {
    match say_ok(data_dir, config, id).await {
        Ok(Tried { first, whole }) => {
            let (first, whole) = (first.as_secs_f64(), whole.as_secs_f64());
            println!("ok: {id} began to answer after {first:.2} s and was done after {whole:.2} s");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("megaron: {id} does not answer: {error:#}");
            ExitCode::FAILURE
        }
    }
}

struct Tried {
    first: Duration,
    whole: Duration,
}

async fn say_ok(data_dir: &Path, config: Config, id: &str) -> anyhow::Result<Tried> {
    // As the default, so that an unknown name is explained, and another's fault is not ours.
    let config = Config { default_model: id.to_owned(), ..config };
    let mut answer = if names_agent(id) {
        visit(data_dir, &config, id).await?
    } else {
        sample(data_dir, &config, id).await?
    };
    let begun = Instant::now();
    let mut first = None;
    let listen = async {
        while let Some(is_word) = answer.next().await {
            if is_word? {
                first.get_or_insert(begun.elapsed());
            }
        }
        Ok::<(), ModelError>(())
    };
    let late = |_| ModelError::new(Failure::Network, format!("nothing came for {PATIENCE:?}"));
    timeout(PATIENCE, listen).await.map_err(late)??;
    let first = first.ok_or_else(|| anyhow::anyhow!("it answered without a word"))?;
    Ok(Tried { first, whole: begun.elapsed() })
}

/// An answer: for each piece, whether it is a word.
type Heard = BoxStream<'static, Result<bool, ModelError>>;

async fn sample(data_dir: &Path, config: &Config, id: &str) -> anyhow::Result<Heard> {
    let models = wire::models(data_dir, config)?;
    let model = known(&models, id).await?;
    let parts = vec![Part::User { text: QUESTION.to_owned(), images: Vec::new() }];
    let answer = model.stream(&Prompt { system: String::new(), parts, tools: Vec::new() });
    let is_word = |piece| matches!(piece, Piece::Text(_) | Piece::Reasoning(_));
    Ok(answer.map(move |piece| piece.map(is_word)).boxed())
}

/// In a folder of its own, where there is nothing to be done.
async fn visit(data_dir: &Path, config: &Config, id: &str) -> anyhow::Result<Heard> {
    let agents = wire::guests(data_dir, config).await?;
    let agent = agents.find(id).with_context(|| format!("no agent is named `{id}`"))?;
    place::prepare(data_dir)?;
    let cwd = data_dir.join("trial");
    std::fs::create_dir_all(&cwd)?;
    let answer = agent.visit(Visit {
        session: SessionId(SystemClock.id()),
        cwd,
        text: QUESTION.to_owned(),
        images: Vec::new(),
        memory: None,
        since: String::new(),
        past: String::new(),
    });
    let is_word = |doing| matches!(doing, Doing::Text(_) | Doing::Reasoning(_));
    Ok(answer.map(move |doing| doing.map(is_word)).boxed())
}

/// A model that its provider has, or may have if it does not tell.
async fn known(models: &Lineup, id: &str) -> anyhow::Result<Arc<dyn Model>> {
    models.learn().await;
    if let Some(model) = models.find(id) {
        return Ok(model);
    }
    let listed = models.list().await?;
    let near = wire::near(id, listed.iter().map(|model| model.id.as_str()));
    anyhow::bail!("no model is named `{id}`{}", wire::did_you_mean(&near))
}

async fn switch(data_dir: PathBuf, id: &str, session: &str) -> anyhow::Result<ExitCode> {
    let news = ask::use_model(data_dir, session, id).await?;
    let still = if news { "from now on" } else { "as before" };
    println!("Session {session} is answered by {id} {still}.");
    Ok(ExitCode::SUCCESS)
}

async fn choose(data_dir: &Path, config: Config, id: &str) -> anyhow::Result<ExitCode> {
    let config = Config { default_model: id.to_owned(), ..config };
    let models = wire::models(data_dir, &config)?;
    if names_agent(id) {
        // An error if it is not there.
        wire::guests(data_dir, &config).await?;
    } else {
        known(&models, id).await?;
    }
    edit::set_default(data_dir, id)?;
    println!("New sessions are answered by {id}.");
    if place::find(data_dir).is_some() {
        eprintln!("The server that is running goes on as it was until it is started again.");
    }
    Ok(ExitCode::SUCCESS)
}

async fn search(data_dir: &Path, config: &Config, write: bool) -> anyhow::Result<ExitCode> {
    let found = detect::look(Surroundings::real()).await;
    if !write {
        print!("{}", report(&found, config)?);
        return Ok(ExitCode::SUCCESS);
    }
    let new = detect::unused(&found, config);
    if new.is_empty() {
        println!("There is nothing to add to config.toml.");
        return Ok(ExitCode::SUCCESS);
    }
    edit::add(data_dir, &new)?;
    for (name, _) in new {
        println!("Added [providers.{name}] to config.toml.");
    }
    println!("`megaron models` lists what there is now; `megaron models default ID` chooses.");
    Ok(ExitCode::SUCCESS)
}

/// What was found, who pays for it, and what to do with it.
pub fn report(found: &[Found], config: &Config) -> anyhow::Result<String> {
    if found.is_empty() {
        let known = "no key in the environment, no server of models, no agent";
        return Ok(format!("Found on this machine: {known}. The model `demo` needs none.\n"));
    }
    let mut text = "Found on this machine:\n".to_owned();
    for Found { what, payer, models, .. } in found {
        text.extend(["  ", what, "\n      paid by ", payer, "\n"]);
        if let Some(some) = some(models) {
            text.extend(["      has ", &some, "\n"]);
        }
    }
    let new = detect::unused(found, config);
    if new.is_empty() {
        return Ok(text);
    }
    text.push_str("\n`megaron models detect --write` adds this to config.toml:\n");
    for (name, provider) in new {
        text.push_str(&config::provider::written(name, provider)?);
    }
    text.push_str("\nThen `megaron models` lists them, and `megaron models default ID` chooses.\n");
    Ok(text)
}

/// The first few, and how many more.
fn some(models: &[String]) -> Option<String> {
    const SHOWN: usize = 5;
    let shown = models.get(..models.len().min(SHOWN)).filter(|shown| !shown.is_empty())?;
    let more = models.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(shown.join(", ") + &more)
}

#[cfg(test)]
mod tests {
    use kernel::ports::Known;

    use super::*;

    #[test]
    fn the_table_marks_the_default_and_says_where_each_comes_from() {
        let model = |id: &str, name: &str, payer: &str| ModelInfo {
            id: id.into(),
            name: name.into(),
            cost: 0.0,
            payer: payer.into(),
            known: Known::default(),
        };
        let models = [model("demo", "Demo", "nobody"), model("box/small", "small", "you")];
        let text = "[providers.box]\nkind = \"openai-chat\"";
        let config: Config = toml::from_str(text).unwrap();
        let expected = "   ID         NAME   PAID BY  FROM\n   \
                        demo       Demo   nobody   built in\n\
                        *  box/small  small  you      providers.box\n";
        assert_eq!(table(&models, "box/small", &config), expected);
    }

    #[test]
    fn only_the_first_models_are_named() {
        let names: Vec<String> = (1..=7).map(|it| format!("m{it}")).collect();
        assert_eq!(some(&names), Some("m1, m2, m3, m4, m5 and 2 more".into()));
        assert_eq!(some(&names[..2]), Some("m1, m2".into()));
        assert_eq!(some(&[]), None);
    }
}
