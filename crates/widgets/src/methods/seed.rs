//! The methods that only the seed has, and its own checks for those that both have.

use serde_json::{Map, Value};
use url::Url;

use super::Outcome;
use crate::{
    answer::{not_done, nothing, plain},
    capability::DisplayMode,
    context::{LogEntry, LogLevel},
    dialect::Dialect,
    fault::Fault,
    handler::Handler,
    tools::WidgetTool,
};

type Params = Map<String, Value>;

impl Handler {
    pub(super) async fn seed_call(&self, params: Params) -> Outcome {
        if !self.setup.capabilities.server_tools {
            return Err(Fault::unsupported("Server tool proxy not supported by host"));
        }
        let name = required(&params, "name", "Tool name is required")?;
        self.call_server(Dialect::Seed, name, params).await
    }

    pub(super) async fn seed_remember(&self, mut params: Params) -> Outcome {
        if !self.setup.capabilities.model_context {
            return Err(Fault::unsupported("Model context update not advertised by host"));
        }
        if !self.context.ports().model_context {
            return Err(Fault::unsupported("Model context update not supported by host"));
        }
        let context = params.remove("context").unwrap_or_default();
        let merge = params.get("merge") != Some(&Value::Bool(false));
        let next = self.state().memory.merged(context, merge);
        self.keep(Dialect::Seed, next).await
    }

    pub(super) async fn seed_open(&self, params: &Params) -> Outcome {
        if !self.setup.capabilities.open_link {
            return Err(Fault::unsupported("Open link not advertised by host"));
        }
        if !self.context.ports().open_link {
            return Err(Fault::unsupported("Open link not supported by host"));
        }
        let url = required(params, "url", "URL is required")?;
        let parsed = Url::parse(&url).map_err(|_| Fault::params("Invalid URL format"))?;
        let scheme = parsed.scheme();
        if !matches!(scheme, "http" | "https") {
            return Err(Fault::params(format!(
                "URL scheme '{scheme}:' not allowed. Only http: and https: are permitted."
            )));
        }
        self.follow(Dialect::Seed, url).await
    }

    pub(super) async fn seed_show(&self, params: &Params) -> Outcome {
        let mode = params.get("mode").and_then(Value::as_str).and_then(DisplayMode::parse);
        let mode = mode.ok_or_else(|| {
            Fault::params("Invalid display mode. Must be inline, fullscreen, or pip")
        })?;
        if !self.setup.capabilities.shows(mode) {
            let name = mode.name();
            return Err(Fault::unsupported(format!(
                "Display mode '{name}' not advertised by host"
            )));
        }
        if !self.context.ports().display_mode {
            return Err(Fault::unsupported("Display mode change not supported by host"));
        }
        match self.context.show(mode).await {
            Ok(shown) => self.shown_as(shown),
            Err(trouble) => return not_done(Dialect::Seed, trouble),
        }
        Ok(nothing())
    }

    pub(super) async fn seed_close(&self, params: &Params) -> Outcome {
        if !self.context.ports().close {
            return Err(Fault::unsupported("Widget close not supported by host"));
        }
        let reason = params.get("reason").and_then(Value::as_str).map(str::to_owned);
        self.context.close(reason).await.map_err(plain)?;
        Ok(nothing())
    }

    pub(super) fn seed_log(&self, params: &Params) -> Outcome {
        if !self.setup.capabilities.logging {
            return Err(Fault::unsupported("Logging not supported by host"));
        }
        let message = required(params, "message", "Log message is required")?;
        let level = match params.get("level").filter(|level| is_truthy(level)) {
            None => LogLevel::Info,
            Some(level) => {
                let name = level.as_str().map_or_else(|| level.to_string(), str::to_owned);
                LogLevel::parse_seed(&name).ok_or_else(|| {
                    Fault::params(format!(
                        "Invalid log level '{name}'. Must be one of: debug, info, warn, error"
                    ))
                })?
            }
        };
        let data = params.get("data").cloned();
        self.context.log(LogEntry { level, logger: None, message: Some(message), data });
        Ok(nothing())
    }

    pub(super) fn seed_register(&self, mut params: Params) -> Outcome {
        self.takes_tools("Widget tool registration not supported by host")?;
        let name = required(&params, "name", "Tool name is required")?;
        let description = required(&params, "description", "Tool description is required")?;
        let schema = params.remove("inputSchema").filter(Value::is_object);
        let input_schema =
            schema.ok_or_else(|| Fault::params("Tool input schema must be a non-null object"))?;
        let mut tool = WidgetTool {
            name,
            description,
            input_schema,
            output_schema: None,
            annotations: None,
            callable: true,
        };
        tool.check().map_err(|wrong| Fault::params(format!("Invalid tool: {wrong}")))?;
        let tools = {
            let mut state = self.state();
            tool.callable = state.answers();
            let most = self.setup.limits.tools;
            let full = state.tools.len() >= most;
            match state.tools.iter_mut().find(|known| known.name == tool.name) {
                Some(known) => *known = tool,
                None if full => return Err(Fault::limit("tools", most)),
                None => state.tools.push(tool),
            }
            state.tools.clone()
        };
        self.context.tools_changed(tools);
        Ok(nothing())
    }

    pub(super) fn seed_unregister(&self, params: &Params) -> Outcome {
        self.takes_tools("Widget tool unregistration not supported by host")?;
        let name = required(params, "name", "Tool name is required")?;
        let tools = {
            let mut state = self.state();
            state.tools.retain(|tool| tool.name != name);
            state.tools.clone()
        };
        self.context.tools_changed(tools);
        Ok(nothing())
    }

    fn takes_tools(&self, otherwise: &str) -> Result<(), Fault> {
        if !self.setup.capabilities.widget_tools {
            return Err(Fault::unsupported("Widget tools not advertised by host"));
        }
        if !self.context.ports().widget_tools {
            return Err(Fault::unsupported(otherwise));
        }
        Ok(())
    }
}

fn required(params: &Params, name: &str, otherwise: &str) -> Result<String, Fault> {
    let text = params.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    text.map(str::to_owned).ok_or_else(|| Fault::params(otherwise))
}

/// As JavaScript sees it, in which the reference is written.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Bool(true) | Value::Array(_) | Value::Object(_) => true,
    }
}
