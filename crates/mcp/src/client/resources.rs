//! Resources of a server, for a widget of the same server: asked for as it says, answered as it is.

use std::time::Duration;

use kernel::servers::AskError;
use rmcp::{
    ServiceError,
    model::{
        ClientRequest, ListResourceTemplatesRequest, ListResourcesRequest, PaginatedRequestParams,
        ReadResourceRequest, ReadResourceRequestParams,
    },
};
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::link::Link;

const WAITING: Duration = Duration::from_secs(30);

pub async fn ask(
    link: &Link,
    method: &'static str,
    params: Map<String, Value>,
) -> Result<Value, AskError> {
    let request = request(method, &params)?;
    let answer = timeout(WAITING, link.peer.send_request(request)).await;
    let seconds = WAITING.as_secs();
    let late = || unreachable(format!("the server did not answer for {seconds} seconds"));
    let hide = |text: &str| link.guest.settings.hide(text);
    match answer.map_err(|_| late())? {
        Ok(result) => serde_json::to_value(result).map_err(|error| unreachable(error.to_string())),
        Err(ServiceError::McpError(error)) => Err(AskError::Refused {
            code: error.code.0.into(),
            message: hide(&error.message),
            data: error.data,
        }),
        Err(error) => Err(unreachable(hide(&error.to_string()))),
    }
}

fn request(method: &'static str, params: &Map<String, Value>) -> Result<ClientRequest, AskError> {
    let text = |name: &str| params.get(name).and_then(Value::as_str).map(str::to_owned);
    let page = || {
        let mut page = PaginatedRequestParams::default();
        page.cursor = text("cursor");
        page
    };
    Ok(match method {
        "resources/read" => {
            let uri = text("uri").ok_or_else(|| unreachable("a uri is needed".into()))?;
            let params = ReadResourceRequestParams::new(uri);
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
        }
        "resources/list" => {
            ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(page()))
        }
        "resources/templates/list" => ClientRequest::ListResourceTemplatesRequest(
            ListResourceTemplatesRequest::with_param(page()),
        ),
        other => return Err(unreachable(format!("{other} is not asked of servers"))),
    })
}

fn unreachable(why: String) -> AskError {
    AskError::Unreachable(why)
}
