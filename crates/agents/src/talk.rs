//! What an agent asks of us while it answers: leave, files, commands. It waits for each answer, and need not wait in turn.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use agent_client_protocol::v1::schema::{
    CLIENT_METHOD_NAMES, CreateTerminalRequest, CreateTerminalResponse, KillTerminalResponse,
    ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalResponse, ToolCallUpdate,
    WaitForTerminalExitResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use futures::{FutureExt as _, future::BoxFuture};
use kernel::{
    toolbox::{Companion, Reply},
    visit::{Choice, Doing, Means, Wish},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::{
    agreed::Agreed,
    calls::{Calls, TooMuch},
    deed::{deed, diffs},
    files,
    line::{Fault, code},
    terminals::{self, Terminal, Terminals},
};

/// How many options are passed on.
const OPTIONS: usize = 32;
/// The tool of the house that writes for agents: it asks the person, and knows no way out of the
/// folder.
const WRITE: &str = "write_file";
/// And the one that runs commands for them.
const SHELL: &str = "shell";

/// What is to be done about a request, and the answer as soon as there is one.
pub struct Handled {
    pub doings: Vec<Doing>,
    pub answer: BoxFuture<'static, Result<Value, Fault>>,
}

impl Handled {
    fn refused(fault: Fault) -> Self {
        Self::at_once(Err(fault))
    }

    fn at_once(answer: Result<Value, Fault>) -> Self {
        Self { doings: Vec::new(), answer: async { answer }.boxed() }
    }
}

/// What is under way in one turn.
pub struct Talk {
    cwd: PathBuf,
    pub calls: Calls,
    agreed: Agreed,
    terminals: Terminals,
}

impl Talk {
    pub fn new(cwd: &Path) -> Self {
        let (calls, agreed, terminals) = Default::default();
        Self { cwd: cwd.to_owned(), calls, agreed, terminals }
    }

    pub async fn handle(&mut self, method: &str, params: Value) -> Result<Handled, TooMuch> {
        let names = CLIENT_METHOD_NAMES;
        let handled = match method {
            it if it == names.session_request_permission => self.leave(params)?,
            it if it == names.fs_read_text_file => read(self.cwd.clone(), params),
            it if it == names.fs_write_text_file => self.write(params).await,
            it if it == names.terminal_create => self.run(params),
            it if it == names.terminal_output => self.output(params),
            it if it == names.terminal_wait_for_exit => self.exit(params),
            it if it == names.terminal_kill => self.kill(params),
            it if it == names.terminal_release => self.release(params),
            _ => Err(unknown(method)),
        };
        Ok(handled.unwrap_or_else(Handled::refused))
    }

    fn leave(&mut self, params: Value) -> Result<Result<Handled, Fault>, TooMuch> {
        let Permission { tool_call, options } = match understand(params) {
            Ok(asked) => asked,
            Err(fault) => return Ok(Err(fault)),
        };
        let call = tool_call.tool_call_id.to_string();
        let mut doings = self.calls.change(tool_call)?;
        let Some(about) = self.calls.get(&call) else {
            return Ok(Err(invalid(format!("the call `{call}` has ended"))));
        };
        let options: Vec<Choice> = options.into_iter().take(OPTIONS).map(Choice::from).collect();
        let (deed, shown) = (deed(about, &self.cwd), diffs(about).cloned().collect());
        let allows = |it: &Choice| matches!(it.means, Means::AllowOnce | Means::AllowAlways);
        let yes: Vec<String> =
            options.iter().filter(|it| allows(it)).map(|it| it.id.clone()).collect();
        let (answer, answered) = oneshot::channel::<Option<String>>();
        let agreed = self.agreed.clone();
        doings.push(Doing::Asks { call: call.clone(), deed, options, answer });
        let answer = async move {
            let option = answered.await.ok().flatten();
            if option.as_ref().is_some_and(|id| yes.contains(id)) {
                agreed.add(&call, shown);
            }
            Ok(chosen(option))
        };
        Ok(Ok(Handled { doings, answer: answer.boxed() }))
    }

    async fn write(&self, params: Value) -> Result<Handled, Fault> {
        let WriteTextFileRequest { path, content, .. } = understand(params)?;
        let under = self.agreed.take(&self.cwd, &path, &content).await;
        let args = json!({ "path": path, "content": content });
        let (answer, answered) = oneshot::channel::<Result<Reply, String>>();
        let wish = Wish { under, ..Wish::new(WRITE, args) };
        let answer_to = async {
            answered.await.map_err(over)?.map_err(failed)?;
            given(&WriteTextFileResponse::new())
        };
        Ok(Handled { doings: vec![Doing::Wants { wish, answer }], answer: answer_to.boxed() })
    }

    fn run(&mut self, params: Value) -> Result<Handled, Fault> {
        let request: CreateTerminalRequest = understand(params)?;
        let line = terminals::line(&request, &self.cwd).map_err(invalid)?;
        let (name, terminal) = self.terminals.open(request.output_byte_limit).map_err(failed)?;
        let (answer, answered) = oneshot::channel();
        let companion: Arc<dyn Companion> = terminal.clone();
        let wish =
            Wish { companion: Some(companion), ..Wish::new(SHELL, json!({ "command": line })) };
        let (told, refused) = oneshot::channel();
        tokio::spawn({
            let terminal = terminal.clone();
            async move {
                let ended = Err("the turn has ended".to_owned());
                let result = answered.await.unwrap_or(ended);
                terminal.end(&result);
                // Of interest only if it was never begun.
                told.send(result).ok();
            }
        });
        let answer_to = async move {
            if terminal.has_begun().await {
                return given(&CreateTerminalResponse::new(name));
            }
            match refused.await.map_err(over)? {
                // It was over before anybody looked.
                Ok(_) => given(&CreateTerminalResponse::new(name)),
                Err(why) => Err(failed(why)),
            }
        };
        Ok(Handled { doings: vec![Doing::Wants { wish, answer }], answer: answer_to.boxed() })
    }

    fn output(&self, params: Value) -> Result<Handled, Fault> {
        Ok(Handled::at_once(given(&self.terminal(params)?.output())))
    }

    fn exit(&self, params: Value) -> Result<Handled, Fault> {
        let terminal = self.terminal(params)?;
        let answer = async move { given(&WaitForTerminalExitResponse::new(terminal.exit().await)) };
        Ok(Handled { doings: Vec::new(), answer: answer.boxed() })
    }

    fn kill(&self, params: Value) -> Result<Handled, Fault> {
        self.terminal(params)?.kill();
        Ok(Handled::at_once(given(&KillTerminalResponse::new())))
    }

    fn release(&mut self, params: Value) -> Result<Handled, Fault> {
        let Named { terminal_id } = understand(params)?;
        self.terminals.release(&terminal_id).map_err(invalid)?;
        Ok(Handled::at_once(given(&ReleaseTerminalResponse::new())))
    }

    fn terminal(&self, params: Value) -> Result<Arc<Terminal>, Fault> {
        let Named { terminal_id } = understand(params)?;
        self.terminals.get(&terminal_id).map_err(invalid)
    }
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

impl From<Offered> for Choice {
    fn from(Offered { option_id: id, name, kind }: Offered) -> Self {
        let means = match kind.as_str() {
            "allow_once" => Means::AllowOnce,
            "allow_always" => Means::AllowAlways,
            "reject_once" => Means::RejectOnce,
            "reject_always" => Means::RejectAlways,
            _ => Means::Other,
        };
        Self { id, name, means }
    }
}

/// All that most requests about a terminal say.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    terminal_id: String,
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

fn given(value: &impl serde::Serialize) -> Result<Value, Fault> {
    serde_json::to_value(value).map_err(|error| failed(error.to_string()))
}

fn failed(message: String) -> Fault {
    Fault { code: code::INTERNAL, message }
}

fn invalid(message: impl Into<String>) -> Fault {
    Fault { code: code::INVALID_PARAMS, message: message.into() }
}

fn over(_: oneshot::error::RecvError) -> Fault {
    failed("the turn has ended".to_owned())
}

fn unknown(method: &str) -> Fault {
    Fault { code: code::METHOD_NOT_FOUND, message: format!("`{method}` is not offered here") }
}

fn understand<T: DeserializeOwned>(params: Value) -> Result<T, Fault> {
    serde_json::from_value(params).map_err(|error| invalid(error.to_string()))
}
