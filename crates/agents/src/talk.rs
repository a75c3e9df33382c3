//! What an agent asks of us while it answers: leave, files. It waits for each answer, and need not wait in turn.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{
    CLIENT_METHOD_NAMES, ReadTextFileRequest, ReadTextFileResponse, ToolCallUpdate,
    WriteTextFileRequest, WriteTextFileResponse,
};
use futures::{FutureExt as _, future::BoxFuture};
use kernel::visit::{Choice, Doing, Means};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::{
    calls::{Calls, TooMuch},
    deed::deed,
    files,
    line::{Fault, code},
};

/// How many options are passed on.
const OPTIONS: usize = 32;
/// The tool of the house that writes for agents: it asks the person, and knows no way out of the
/// folder.
const WRITE: &str = "write_file";

/// What is to be done about a request, and the answer as soon as there is one.
pub struct Handled {
    pub doings: Vec<Doing>,
    pub answer: BoxFuture<'static, Result<Value, Fault>>,
}

impl Handled {
    fn refused(fault: Fault) -> Self {
        Self { doings: Vec::new(), answer: async { Err(fault) }.boxed() }
    }
}

pub fn handle(
    calls: &mut Calls,
    cwd: &Path,
    method: &str,
    params: Value,
) -> Result<Handled, TooMuch> {
    let names = CLIENT_METHOD_NAMES;
    let handled = match method {
        it if it == names.session_request_permission => leave(calls, cwd, params)?,
        it if it == names.fs_read_text_file => read(cwd.to_owned(), params),
        it if it == names.fs_write_text_file => write(params),
        _ => Err(unknown(method)),
    };
    Ok(handled.unwrap_or_else(Handled::refused))
}

/// What is said to one who asks while nobody listens.
pub fn dismiss(method: &str) -> Result<Value, Fault> {
    if method == CLIENT_METHOD_NAMES.session_request_permission {
        return Ok(chosen(None));
    }
    let message = "nothing can be asked for between two turns".to_owned();
    Err(Fault { code: code::INTERNAL, message })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Permission {
    tool_call: ToolCallUpdate,
    options: Vec<Offered>,
}

/// Read by hand: an option of a kind that we do not know is an option all the same.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Offered {
    option_id: String,
    name: String,
    #[serde(default)]
    kind: String,
}

fn leave(calls: &mut Calls, cwd: &Path, params: Value) -> Result<Result<Handled, Fault>, TooMuch> {
    let Permission { tool_call, options } = match understand(params) {
        Ok(asked) => asked,
        Err(fault) => return Ok(Err(fault)),
    };
    let call = tool_call.tool_call_id.to_string();
    let mut doings = calls.change(tool_call)?;
    let Some(about) = calls.get(&call) else {
        let message = format!("the call `{call}` has ended");
        return Ok(Err(Fault { code: code::INVALID_PARAMS, message }));
    };
    let choice = |Offered { option_id: id, name, kind }: Offered| {
        let means = match kind.as_str() {
            "allow_once" => Means::AllowOnce,
            "allow_always" => Means::AllowAlways,
            "reject_once" => Means::RejectOnce,
            "reject_always" => Means::RejectAlways,
            _ => Means::Other,
        };
        Choice { id, name, means }
    };
    let options = options.into_iter().take(OPTIONS).map(choice).collect();
    let (answer, answered) = oneshot::channel();
    doings.push(Doing::Asks { call, deed: deed(about, cwd), options, answer });
    let answer = async { Ok(chosen(answered.await.ok().flatten())) }.boxed();
    Ok(Ok(Handled { doings, answer }))
}

fn chosen(option: Option<String>) -> Value {
    match option {
        Some(id) => json!({ "outcome": { "outcome": "selected", "optionId": id } }),
        None => json!({ "outcome": { "outcome": "cancelled" } }),
    }
}

fn read(cwd: PathBuf, params: Value) -> Result<Handled, Fault> {
    let ReadTextFileRequest { path, line, limit, .. } = understand(params)?;
    let answer = async move {
        let text = files::read(cwd, path, line, limit).await.map_err(failed)?;
        given(&ReadTextFileResponse::new(text))
    };
    Ok(Handled { doings: Vec::new(), answer: answer.boxed() })
}

fn write(params: Value) -> Result<Handled, Fault> {
    let WriteTextFileRequest { path, content, .. } = understand(params)?;
    let args = json!({ "path": path, "content": content });
    let (answer, answered) = oneshot::channel();
    let doings = vec![Doing::Wants { tool: WRITE.to_owned(), args, answer }];
    let answer = async {
        let ended = |_| failed("the turn has ended".to_owned());
        answered.await.map_err(ended)?.map_err(failed)?;
        given(&WriteTextFileResponse::new())
    };
    Ok(Handled { doings, answer: answer.boxed() })
}

fn given(value: &impl serde::Serialize) -> Result<Value, Fault> {
    serde_json::to_value(value).map_err(|error| failed(error.to_string()))
}

fn failed(message: String) -> Fault {
    Fault { code: code::INTERNAL, message }
}

fn unknown(method: &str) -> Fault {
    Fault { code: code::METHOD_NOT_FOUND, message: format!("`{method}` is not offered here") }
}

fn understand<T: DeserializeOwned>(params: Value) -> Result<T, Fault> {
    serde_json::from_value(params)
        .map_err(|error| Fault { code: code::INVALID_PARAMS, message: error.to_string() })
}
