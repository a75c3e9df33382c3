//! Opens an app in a window of a session, and a file in an app.

use std::{collections::BTreeMap, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use super::{
    Card, Encoding, Looks,
    opening::{self, Choice, OpeningError, PREFERENCES},
};
use crate::{
    apps::{AppCall, AppFact, Asked, Cause, protocol::Answer, texts},
    host::{ArrangeError, Host, OpenError},
    ports::{Shelf, StoreError},
    update::SessionId,
    windows::{
        Bounds, By, Content, DockEdge, Named, Opening, Pane, Renderer, Variant, Windows, Wish,
    },
};

/// A file as it is handed to an app.
#[derive(Clone, Debug)]
pub struct Handed {
    pub path: String,
    pub bytes: Vec<u8>,
    /// The app that shall open it; else the best.
    pub app: Option<String>,
    /// What a model calls the call.
    pub tool_call: Option<String>,
}

/// A file that an app has opened.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    pub app: String,
    pub window: String,
    /// What the app said to it, as a caller reads it.
    pub said: String,
}

/// An app that could open a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opener {
    pub id: String,
    pub name: String,
    /// The person has chosen it for such files.
    pub preferred: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error(transparent)]
    Opening(#[from] OpeningError),
    #[error(transparent)]
    Window(#[from] ArrangeError),
    #[error(transparent)]
    Session(#[from] OpenError),
    /// In the words of the protocol.
    #[error("{0}")]
    App(String),
}

impl From<StoreError> for LaunchError {
    fn from(error: StoreError) -> Self {
        Self::Session(error.into())
    }
}

impl Host {
    /// An app in a window: the one that is named, the one that shows it already, or a new one. It
    /// comes to the front.
    pub async fn open_app(
        &self,
        session: SessionId,
        id: &str,
        window: Option<&str>,
        by: By,
    ) -> Result<Pane, LaunchError> {
        let cards = self.ports.cabinet.list().await;
        let card = cards.iter().find(|card| card.id == id);
        let card = card.ok_or_else(|| OpeningError::UnknownApp(id.to_owned()))?;
        let windows = self.windows(session).await?;
        let wish = if let Some(pane) = shown(&windows, card, window) {
            Wish::Show { window: Named::new(pane.window.key()) }
        } else {
            let name = window.map_or_else(|| free(&windows, &card.id), str::to_owned);
            Wish::Open(Box::new(fresh(card, name)))
        };
        // Let go, or the change would be made in a copy.
        drop(windows);
        Ok(self.arrange(session, wish, by).await?)
    }

    /// Hands a file to the app that opens such files, in a window that is there or a new one.
    pub async fn open_file(
        self: &Arc<Self>,
        session: SessionId,
        file: Handed,
        by: By,
    ) -> Result<Taken, LaunchError> {
        let cards = self.ports.cabinet.list().await;
        let preferred = self.preferred_apps().await?;
        let choice = opening::choose(&cards, &file.path, file.app.as_deref(), &preferred)?;
        let text = opening::text(choice.association, &file.path, &file.bytes)?;
        let app = choice.card.id.clone();
        let window = self.open_app(session, &app, None, by.clone()).await?.window.key();
        let params = self.params(session, &window, choice, text, &file.bytes).await?;
        let command = choice.association.command.clone();
        let asked = Asked::Command { command, params: Some(params) };
        let call = AppCall {
            cause: Cause::File,
            tool_call: file.tool_call,
            by,
            ..AppCall::new(window.clone(), asked)
        };
        let answer = self.ask_app(session, call).await?;
        let fact = AppFact::File { window: window.clone(), path: file.path };
        // The command itself is on record; where it came from is only worth knowing.
        if let Ok(open) = self.open(session).await {
            open.note_apps(vec![fact]).await.ok();
        }
        Ok(Taken { app, window, said: said(answer)? })
    }

    /// What the command is given, once the app has told that it knows it.
    async fn params(
        self: &Arc<Self>,
        session: SessionId,
        window: &str,
        Choice { card, association, extension }: Choice<'_>,
        text: Option<String>,
        bytes: &[u8],
    ) -> Result<Value, LaunchError> {
        let call = AppCall { cause: Cause::File, ..AppCall::new(window, Asked::Manifest) };
        let manifest = match self.ask_app(session, call).await? {
            Answer::Said { kind, response, .. } => {
                // Only to hear what is wrong, if anything is.
                texts::result(kind, &response).map_err(LaunchError::App)?;
                response.value.unwrap_or_default()
            }
            other => return said(other).map(Value::from),
        };
        let commands = manifest.get("commands").and_then(Value::as_object);
        let Some(command) = commands.and_then(|all| all.get(&association.command)) else {
            return Err(LaunchError::Opening(OpeningError::Unregistered {
                app: card.id.clone(),
                extension: extension.to_owned(),
                command: association.command.clone(),
            }));
        };
        let mut params = Map::new();
        let content = text.unwrap_or_else(|| STANDARD.encode(bytes));
        params.insert(association.param.clone(), content.into());
        let takes = |name: &str| {
            command.pointer("/params/properties").is_some_and(|it| it.get(name).is_some())
        };
        if association.encoding == Encoding::Base64 && takes("encoding") {
            params.insert("encoding".to_owned(), json!("base64"));
        }
        Ok(params.into())
    }

    /// Which app the person prefers for each extension.
    pub async fn preferred_apps(&self) -> Result<BTreeMap<String, String>, StoreError> {
        Ok(self.ports.catalog.load(Shelf::Apps, PREFERENCES).await?.unwrap_or_default())
    }

    /// The apps that open a file of this name, the best first, and whether it is for the person to
    /// say which.
    pub async fn openers(&self, file: &str) -> Result<(Vec<Opener>, bool), StoreError> {
        let cards = self.ports.cabinet.list().await;
        let preferred = self.preferred_apps().await?;
        let choices = opening::choices(&cards, file, &preferred);
        let is_open = opening::is_open(&choices, &preferred);
        let opener = |Choice { card, extension, .. }: Choice<'_>| Opener {
            id: card.id.clone(),
            name: card.name.clone(),
            preferred: preferred.get(extension) == Some(&card.id),
        };
        Ok((choices.into_iter().map(opener).collect(), is_open))
    }

    /// From now on this app opens files like this one.
    pub async fn prefer_app(&self, file: &str, app: &str) -> Result<(), LaunchError> {
        let cards = self.ports.cabinet.list().await;
        let mut preferred = self.preferred_apps().await?;
        let extension = opening::choose(&cards, file, Some(app), &preferred)?.extension.to_owned();
        preferred.insert(extension, app.to_owned());
        Ok(self.ports.catalog.save(Shelf::Apps, PREFERENCES, &preferred).await?)
    }
}

fn said(answer: Answer) -> Result<String, LaunchError> {
    match answer {
        Answer::Said { kind, response, .. } => {
            texts::result(kind, &response).map_err(LaunchError::App)
        }
        Answer::Free { note } => Ok(note.unwrap_or_default()),
        Answer::Refused(text) => Err(LaunchError::App(text)),
        Answer::Open { request } => {
            Err(LaunchError::App(format!("{} {}", texts::NO_RESPONSE, texts::still_open(&request))))
        }
    }
}

/// The window that shows this app: of the name that was given, or any.
fn shown<'a>(windows: &'a Windows, card: &Card, window: Option<&str>) -> Option<&'a Pane> {
    let shows = |pane: &&Pane| pane.window.app.as_deref() == Some(&card.id);
    match window {
        Some(name) => windows.find(name, None).ok().filter(shows),
        None => windows.list().into_iter().filter(shows).max_by_key(|pane| pane.raised),
    }
}

/// A name that no window has yet.
fn free(windows: &Windows, id: &str) -> String {
    let taken = |name: &str| windows.list().iter().any(|pane| pane.window.id == name);
    let numbered = (2..).map(|nth: u32| format!("{id}-{nth}"));
    let mut names = std::iter::once(id.to_owned()).chain(numbered);
    names.find(|name| !taken(name)).unwrap_or_else(|| id.to_owned())
}

fn fresh(card: &Card, name: String) -> Opening {
    let address = json!(format!("/api/apps/{}/{}", card.id, card.entry));
    let content = Content { renderer: Renderer::Iframe, data: address };
    let Looks { variant, dock_edge, frameless, width, height, .. } = &card.looks;
    Opening {
        app: Some(card.id.clone()),
        frameless: *frameless,
        variant: variant.map(|variant| match variant {
            "widget" => Variant::Widget,
            "panel" => Variant::Panel,
            _ => Variant::Standard,
        }),
        dock_edge: dock_edge
            .map(|edge| if edge == "top" { DockEdge::Top } else { DockEdge::Bottom }),
        bounds: bounds(*width, *height),
        ..Opening::new(name, card.name.clone(), content)
    }
}

/// As large as the app likes to be, if it says so.
fn bounds(width: Option<f64>, height: Option<f64>) -> Option<Bounds> {
    // They were found to be from 1 to 10000.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked when read"
    )]
    let whole = |size: f64| size.round() as u32;
    Some(Bounds { x: 40, y: 40, w: whole(width?), h: whole(height?) })
}
