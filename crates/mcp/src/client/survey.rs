//! A server looked into from outside the house: its tools as they came, its widgets, and calls that nobody is asked about.

use std::{path::Path, sync::Arc};

use kernel::{
    ports::Clock,
    widget::{NoWidget, WidgetPage},
};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, JsonObject, ServerResult,
};
use serde_json::Value;
use tokio::time::timeout;

use super::{
    link::Connection,
    listing::{self, ListError},
    probe,
    settings::Settings,
    widget,
};

pub struct Survey {
    connection: Connection,
    settings: Arc<Settings>,
    /// The version of the protocol that was agreed on.
    pub protocol: String,
    pub tools: Vec<SurveyedTool>,
}

/// A tool as its server lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct SurveyedTool {
    pub name: String,
    pub schema: Value,
    pub meta: Value,
    /// Where its widget is said to be, good or not.
    pub widget: Option<String>,
}

impl Survey {
    pub async fn begin(
        name: &str,
        settings: Settings,
        clock: Arc<dyn Clock>,
        data_dir: &Path,
    ) -> Result<Self, String> {
        settings.check()?;
        let settings = Arc::new(settings);
        let connection = probe::connect(name, settings.clone(), clock, data_dir).await?;
        let listed = listing::fetch(connection.link.peer.clone()).await;
        let tools = match listed {
            Ok(tools) => tools.iter().map(|tool| surveyed(tool)).collect(),
            Err(error) => {
                connection.close().await;
                return Err(ListError::reason(error));
            }
        };
        let info = connection.link.info.as_ref();
        let protocol = info.map(|info| info.protocol_version.to_string()).unwrap_or_default();
        Ok(Self { connection, settings, protocol, tools })
    }

    /// The widget of a tool, and of what type its server says it is.
    pub async fn read(&self, tool: &SurveyedTool) -> Result<(String, WidgetPage), NoWidget> {
        let uri = widget::placed(tool.widget.as_deref())?;
        widget::inspect(&self.connection.link, uri).await
    }

    /// Calls a tool; gives back the whole result.
    pub async fn call(&self, tool: &str, arguments: JsonObject) -> Result<Value, String> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let seconds = self.settings.call_seconds;
        let calling = self.connection.link.peer.send_request(request);
        let limit = std::time::Duration::from_secs(seconds);
        let answer = timeout(limit, calling).await;
        let answer = answer.map_err(|_| format!("it did not answer for {seconds} seconds"))?;
        match answer.map_err(|error| self.settings.hide(&error.to_string()))? {
            ServerResult::CallToolResult(result) => {
                serde_json::to_value(result).map_err(|error| error.to_string())
            }
            ServerResult::InputRequiredResult(_) => {
                Err("it wants to know something first, which nobody is here to say".into())
            }
            _ => Err("it answered with something that is no result".into()),
        }
    }

    pub async fn close(self) {
        self.connection.close().await;
    }
}

fn surveyed(tool: &listing::Listed) -> SurveyedTool {
    let meta = tool.raw.meta.as_ref().and_then(|meta| serde_json::to_value(meta).ok());
    SurveyedTool {
        name: tool.name.clone(),
        schema: Value::Object((*tool.raw.input_schema).clone()),
        meta: meta.unwrap_or_default(),
        widget: tool.shows.uri.clone(),
    }
}
