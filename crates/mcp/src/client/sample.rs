//! A server's wish to have the session's model answer something, as far as the person allows it.

#![expect(deprecated, reason = "servers of the older versions sample")]

use futures::StreamExt as _;
use kernel::{
    approvals::Grant,
    host::Host,
    ports::Piece,
    prompt::{Part, Prompt},
    question::{About, Verdict},
    session::Session,
    toolbox::{Deed, Detail, Risk},
    update::Usage,
};
use rmcp::{
    ErrorData,
    model::{
        CreateMessageRequestParams, CreateMessageResult, Role, SamplingMessage,
        SamplingMessageContentBlock,
    },
};
use serde_json::Value;
use tokio::runtime::Handle;

use super::{calls::Running, guest::Guest, logbook::cut, settings::Sampling};

/// A token is rarely longer.
const BYTES_PER_TOKEN: usize = 4;
/// What a server may have said to a model.
const LONGEST: usize = 256 * 1024;

pub async fn answer(
    guest: &Guest,
    running: &Running,
    params: CreateMessageRequestParams,
) -> Result<CreateMessageResult, ErrorData> {
    let refused = |why: &str| ErrorData::invalid_request(why.to_owned(), None);
    let host = guest.host.upgrade().ok_or_else(|| refused("nobody is at home"))?;
    let prompt = prompt(&params);
    let size: usize = prompt.parts.iter().map(size).sum();
    if size + prompt.system.len() > LONGEST {
        return Err(refused("that is too long for the model"));
    }
    match guest.settings.sampling {
        Sampling::Deny => return Err(refused("this server may not use the model")),
        Sampling::Allow => (),
        Sampling::Ask if is_granted(guest, &host, running) => (),
        Sampling::Ask => ask(guest, running, &params).await.map_err(|why| refused(&why))?,
    }
    let state = host.roster.get(running.call.session.id()).unwrap_or_default();
    let model = host.ports.models.find(&state.model);
    let model = model.ok_or_else(|| refused("the session's model is not there"))?;
    let session = running.call.session.clone();
    let may = host.purse.check(Some(session.id()), model.as_ref()).await;
    may.map_err(|error| refused(&error.to_string()))?;
    let most = (params.max_tokens as usize).saturating_mul(BYTES_PER_TOKEN);
    let mut bill =
        Bill { session, to: guest.server.clone(), model: state.model.clone(), usage: None };
    let (mut said, mut whole) = (String::new(), true);
    let mut pieces = model.stream(&prompt);
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        match piece {
            Piece::Text(text) => said.push_str(&text),
            Piece::Usage(usage) => bill.usage = Some(usage),
            _ => (),
        }
        if said.len() > most {
            said.truncate(cut(&said, most).len());
            whole = false;
            break;
        }
    }
    bill.settle().await;
    let stop = if whole { "endTurn" } else { "maxTokens" };
    let message = SamplingMessage::assistant_text(said);
    Ok(CreateMessageResult::new(message, state.model.clone()).with_stop_reason(stop))
}

/// What is used, to be put on record however it ends: when it is dropped, at the latest.
struct Bill {
    session: Session,
    to: String,
    model: String,
    /// By the last word of the provider.
    usage: Option<Usage>,
}

impl Bill {
    async fn settle(&mut self) {
        if let Some(record) = self.record() {
            record.await;
        }
    }

    fn record(&mut self) -> Option<impl Future<Output = ()> + Send + use<>> {
        let usage = self.usage.take()?;
        let (session, to, model) = (self.session.clone(), self.to.clone(), self.model.clone());
        Some(async move {
            if !matches!(session.lend(to, model, usage).await, Ok(Ok(()))) {
                tracing::error!(session = %session.id(), "cannot record what a server used");
            }
        })
    }
}

impl Drop for Bill {
    fn drop(&mut self) {
        if let (Some(record), Ok(runtime)) = (self.record(), Handle::try_current()) {
            runtime.spawn(record);
        }
    }
}

fn prompt(params: &CreateMessageRequestParams) -> Prompt {
    let part = |message: &SamplingMessage| {
        let blocks = message.content.clone().into_vec();
        let texts: Vec<String> = blocks.into_iter().map(text).collect();
        let text = texts.join("\n");
        match message.role {
            Role::User => Part::User { text, images: Vec::new() },
            Role::Assistant => {
                Part::Assistant { text, reasoning: String::new(), calls: Vec::new(), trace: None }
            }
        }
    };
    Prompt {
        system: params.system_prompt.clone().unwrap_or_default(),
        parts: params.messages.iter().map(part).collect(),
        tools: Vec::new(),
    }
}

fn text(block: SamplingMessageContentBlock) -> String {
    match block {
        SamplingMessageContentBlock::Text(text) => text.text,
        SamplingMessageContentBlock::Image(_) => "[a picture, which is not passed on]".into(),
        _ => "[something that is not text]".into(),
    }
}

fn size(part: &Part) -> usize {
    match part {
        Part::User { text, .. } | Part::Assistant { text, .. } => text.len(),
        Part::Result { .. } | Part::Pictures { .. } => 0,
    }
}

async fn ask(
    guest: &Guest,
    running: &Running,
    params: &CreateMessageRequestParams,
) -> Result<(), String> {
    let args = serde_json::to_value(params).unwrap_or(Value::Null);
    let detail = Detail::Arguments { args };
    let deed = Deed { risk: Risk::Acts, detail, subjects: Vec::new(), within: None };
    let why = format!("the server {} wants your model to answer this", guest.server);
    let about = About::Leave { deed, why, doubt: None };
    let title = format!("{} wants to use the model", guest.server);
    match guest.put(running, name(guest), title, about).await {
        Some(Verdict::Allowed { .. }) => Ok(()),
        _ => Err("the person did not allow it".into()),
    }
}

/// Whether the person has said that this need not be asked again.
fn is_granted(guest: &Guest, host: &Host, running: &Running) -> bool {
    let session = running.call.session.id();
    let holds = |grant: &Grant| {
        grant.tool == name(guest)
            && grant.caller == running.call.caller
            && grant.session.is_none_or(|only| only == session)
    };
    host.approvals.all().iter().any(holds)
}

/// What is granted is this, and never the tool that was being called.
fn name(guest: &Guest) -> String {
    format!("sampling:{}", guest.server)
}
