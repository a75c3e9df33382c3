//! Every method: its checks, in the order in which the first that fails wins, and what it comes to.

mod notices;
mod seed;

use serde_json::{Map, Value, json};
use url::Url;

use crate::{
    answer::{no_result, not_done, not_remembered, nothing, plain},
    capability::DisplayMode,
    context::{Link, Said, Size, ToolCall},
    dialect::{Dialect, OFFICIAL_VERSION, Op, SEED_VERSION, greeted},
    fault::{Fault, codes, expected},
    handler::Handler,
    life::surroundings,
    memory::{ModelContext, PICTURES, is_picture},
};

pub type Outcome = Result<Value, Fault>;
type Params = Map<String, Value>;

/// Under which name a view of our own bridge finds what it had kept.
const KEPT: &str = "megaron/widgetState";
impl Handler {
    pub(crate) async fn carry_out(
        &self,
        op: Op,
        style: Dialect,
        method: &str,
        params: Params,
    ) -> Outcome {
        match (op, style) {
            (Op::Initialize, _) => self.initialize(&params),
            (Op::Ping, _) => Ok(nothing()),
            (Op::CallTool, Dialect::Seed) => self.seed_call(params).await,
            (Op::CallTool, Dialect::Official) => self.call_tool(method, params).await,
            (Op::SetModelContext, Dialect::Seed) => self.seed_remember(params).await,
            (Op::SetModelContext, Dialect::Official) => self.remember(method, params).await,
            (Op::OpenLink, Dialect::Seed) => self.seed_open(&params).await,
            (Op::OpenLink, Dialect::Official) => self.open(method, &params).await,
            (Op::SetDisplayMode, Dialect::Seed) => self.seed_show(&params).await,
            (Op::SetDisplayMode, Dialect::Official) => self.show(method, &params).await,
            (Op::Message, _) => self.say(style, method, params).await,
            (Op::Close, _) => self.seed_close(&params).await,
            (Op::Log, _) => self.seed_log(&params),
            (Op::RegisterTool, _) => self.seed_register(params),
            (Op::UnregisterTool, _) => self.seed_unregister(&params),
            (Op::SetSize, _) => {
                self.resize(Size::read(&params));
                Ok(nothing())
            }
            (Op::Download, _) => self.download(method, params).await,
            (Op::ReadResource, _) => self.read(method, params).await,
            (Op::ListResources, _) => self.resources("resources/list", params).await,
            (Op::ListTemplates, _) => self.resources("resources/templates/list", params).await,
            (Op::Sample, _) if self.setup.capabilities.sampling => {
                self.context.sample(params).await.map_err(plain)
            }
            (Op::ListPrompts | Op::Sample, _) => Err(unknown(method)),
        }
    }

    fn initialize(&self, params: &Params) -> Outcome {
        let dialect = greeted(params);
        if dialect == Dialect::Official {
            check_greeting(params)?;
        }
        let app = params.get("appCapabilities");
        let said = |path: &str| app.and_then(|app| app.pointer(path));
        let version = params.get("protocolVersion").and_then(Value::as_str);
        let version = match dialect {
            Dialect::Seed => version.unwrap_or(SEED_VERSION),
            Dialect::Official => OFFICIAL_VERSION,
        };
        let mut state = self.state();
        state.dialect = Some(dialect);
        state.streams = said("/supportsPartialInput") == Some(&Value::Bool(true));
        state.bridge = said("/experimental/megaron~1bridge").is_some_and(Value::is_object);
        state.offers_tools = said("/tools").is_some_and(Value::is_object);
        state.modes = said("/availableDisplayModes").and_then(Value::as_array).cloned();
        state.greeted = true;
        state.life.forget_changes();
        let mut around = surroundings(state.surroundings.clone(), dialect);
        let kept = state.kept.clone().filter(|_| state.bridge);
        around.extend(kept.map(|kept| (KEPT.to_owned(), kept)));
        drop(state);
        self.wake();
        Ok(json!({
            "protocolVersion": version,
            "hostInfo": { "name": "megaron", "version": self.setup.version },
            "hostCapabilities": self.setup.capabilities.to_value(dialect),
            "hostContext": around,
        }))
    }

    async fn call_tool(&self, method: &str, params: Params) -> Outcome {
        self.offered(self.setup.capabilities.server_tools, method)?;
        let name = text(method, "name", &params)?;
        match params.get("arguments") {
            None | Some(Value::Object(_)) => (),
            other => return Err(expected(method, "arguments", "object", other)),
        }
        self.call_server(Dialect::Official, name, params).await
    }

    async fn call_server(&self, style: Dialect, name: String, mut params: Params) -> Outcome {
        let arguments = match params.remove("arguments") {
            Some(Value::Object(arguments)) => arguments,
            _ => Map::new(),
        };
        let progress = params.get("_meta").and_then(|meta| meta.get("progressToken")).cloned();
        let call = ToolCall { name: name.clone(), arguments, progress, patience: self.patience() };
        match self.context.call_tool(call).await {
            Ok(result) => Ok(result),
            Err(trouble) => no_result(style, &name, trouble),
        }
    }

    async fn remember(&self, method: &str, mut params: Params) -> Outcome {
        self.offered(self.setup.capabilities.model_context, method)?;
        let content = match params.remove("content") {
            None => None,
            Some(Value::Array(content)) => Some(content),
            other => return Err(expected(method, "content", "array", other.as_ref())),
        };
        self.check_pictures(method, content.as_deref().unwrap_or_default())?;
        let structured = match params.remove("structuredContent") {
            None => None,
            Some(value @ Value::Object(_)) => Some(value),
            other => return Err(expected(method, "structuredContent", "record", other.as_ref())),
        };
        let next = self.state().memory.replaced(content, structured);
        self.keep(Dialect::Official, next).await
    }

    fn check_pictures(&self, method: &str, content: &[Value]) -> Result<(), Fault> {
        let blocks = content.iter().enumerate();
        let pictures: Vec<_> = blocks.filter(|(_, block)| is_picture(block)).collect();
        if !pictures.is_empty() && !self.setup.capabilities.context_images {
            let why = "Invalid content format: the model of this session takes no images";
            return Err(Fault::new(codes::REFUSED, why));
        }
        for (index, block) in &pictures {
            let (mime, data) = (block.get("mimeType"), block.get("data"));
            let known = mime.and_then(Value::as_str).is_some_and(|mime| PICTURES.contains(&mime));
            if !known {
                let kinds = PICTURES.join(" or ");
                return Err(expected(method, &format!("content.{index}.mimeType"), &kinds, mime));
            }
            if !data.is_some_and(Value::is_string) {
                return Err(expected(method, &format!("content.{index}.data"), "string", data));
            }
        }
        let most = self.setup.limits.context_pictures;
        if pictures.len() > most { Err(Fault::limit("contextPictures", most)) } else { Ok(()) }
    }

    /// Keeps what the model is to know, unless that is nothing new or too much.
    async fn keep(&self, style: Dialect, next: Option<ModelContext>) -> Outcome {
        let Some(next) = next else { return Ok(nothing()) };
        let most = self.setup.limits.context_bytes;
        if next.bytes() > most {
            return Err(Fault::limit("contextBytes", most));
        }
        let before = std::mem::replace(&mut self.state().memory, next.clone());
        let version = next.version;
        if let Err(trouble) = self.context.remember(next).await {
            let mut state = self.state();
            if state.memory.version == version {
                state.memory = before;
            }
            return Err(not_remembered(style, trouble));
        }
        Ok(nothing())
    }

    async fn open(&self, method: &str, params: &Params) -> Outcome {
        self.offered(self.setup.capabilities.open_link, method)?;
        let url = text(method, "url", params)?;
        let of_the_web = Url::parse(&url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        if !of_the_web {
            return Ok(json!({ "isError": true }));
        }
        self.follow(Dialect::Official, url).await
    }

    async fn follow(&self, style: Dialect, url: String) -> Outcome {
        let link = Link { url, patience: self.patience() };
        match self.context.open_link(link).await {
            Ok(()) => Ok(nothing()),
            Err(trouble) => not_done(style, trouble),
        }
    }

    async fn show(&self, method: &str, params: &Params) -> Outcome {
        let mode = params.get("mode").and_then(Value::as_str).and_then(DisplayMode::parse);
        let mode = mode.ok_or_else(|| {
            Fault::params(format!("Invalid params for {method}: mode: Invalid input"))
        })?;
        let (now, taken) = {
            let state = self.state();
            let modes = state.modes.as_ref();
            let taken = modes.is_none_or(|modes| modes.iter().any(|it| it == mode.name()));
            (state.shown(), taken)
        };
        let offered = self.setup.capabilities.shows(mode) && self.context.ports().display_mode;
        if !taken || !offered || mode == now {
            return Ok(json!({ "mode": now.name() }));
        }
        // However it is refused, the view goes on as it was.
        let shown = self.context.show(mode).await.unwrap_or(now);
        self.shown_as(shown);
        Ok(json!({ "mode": shown.name() }))
    }

    /// Lets the view know how it is shown, before it hears whether that is what it wished.
    fn shown_as(&self, mode: DisplayMode) {
        self.change(Map::from_iter([("displayMode".to_owned(), mode.name().into())]));
    }

    async fn say(&self, style: Dialect, method: &str, mut params: Params) -> Outcome {
        self.offered(self.setup.capabilities.message, method)?;
        let is_user = |role: &Value| role == "user";
        let role = params.get("role");
        if !role.map_or(style == Dialect::Seed, is_user) {
            return Err(Fault::params(format!(
                "Invalid params for {method}: role: Invalid input: expected \"user\""
            )));
        }
        let content = match params.remove("content") {
            Some(Value::Array(blocks)) if blocks.iter().all(Value::is_object) => blocks,
            Some(Value::String(text)) => vec![json!({ "type": "text", "text": text })],
            Some(block @ Value::Object(_)) => vec![block],
            other => return Err(expected(method, "content", "array", other.as_ref())),
        };
        match self.context.say(Said { content, patience: self.patience() }).await {
            Ok(()) => Ok(nothing()),
            Err(trouble) => not_done(style, trouble),
        }
    }

    async fn download(&self, method: &str, mut params: Params) -> Outcome {
        self.offered(self.setup.capabilities.download, method)?;
        let contents = match params.remove("contents") {
            Some(Value::Array(contents)) if contents.iter().all(is_file) => contents,
            Some(Value::Array(_)) => {
                return Err(Fault::params(format!(
                    "Invalid params for {method}: contents: Invalid input: expected resource or \
                     resource_link"
                )));
            }
            other => return Err(expected(method, "contents", "array", other.as_ref())),
        };
        match self.context.download(contents).await {
            Ok(()) => Ok(nothing()),
            Err(trouble) => not_done(Dialect::Official, trouble),
        }
    }

    async fn read(&self, method: &str, params: Params) -> Outcome {
        self.offered(self.setup.capabilities.server_resources, method)?;
        text(method, "uri", &params)?;
        self.context.resources("resources/read", params).await.map_err(plain)
    }

    async fn resources(&self, method: &'static str, params: Params) -> Outcome {
        self.offered(self.setup.capabilities.server_resources, method)?;
        self.context.resources(method, params).await.map_err(plain)
    }

    /// What was not offered is not there.
    fn offered(&self, offered: bool, method: &str) -> Result<(), Fault> {
        if offered { Ok(()) } else { Err(Fault::method(self.state().speaks(), method)) }
    }
}

fn unknown(method: &str) -> Fault {
    Fault::method(Dialect::Official, method)
}

fn check_greeting(params: &Params) -> Result<(), Fault> {
    for name in ["appInfo", "appCapabilities"] {
        let value = params.get(name);
        if !value.is_some_and(Value::is_object) {
            return Err(expected("ui/initialize", name, "object", value));
        }
    }
    let version = params.get("protocolVersion");
    if !version.is_some_and(Value::is_string) {
        return Err(expected("ui/initialize", "protocolVersion", "string", version));
    }
    Ok(())
}

/// A parameter that must be there, and be a text.
fn text(method: &str, name: &str, params: &Params) -> Result<String, Fault> {
    match params.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
        other => Err(expected(method, name, "string", other)),
    }
}

fn is_file(item: &Value) -> bool {
    let kind = item.get("type").and_then(Value::as_str);
    let resource = item.pointer("/resource/uri").is_some_and(Value::is_string);
    let link = item.get("uri").is_some_and(Value::is_string);
    match kind {
        Some("resource") => resource,
        Some("resource_link") => link,
        _ => false,
    }
}
