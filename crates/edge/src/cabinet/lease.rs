//! What one app in one frame may do: its tokens, what it may keep, and whom it may speak to.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use kernel::{
    cabinet::{Card, Permission},
    host::Host,
    leave::Wish,
    toolbox::{Caller, Deed, Detail, Risk},
    update::SessionId,
};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    error::ApiError,
    frames::{Kept, asking::Asking},
};

/// Who has not answered by then has not allowed it.
const PATIENCE: Duration = Duration::from_mins(1);

pub struct Lease {
    asking: Asking,
    pub id: String,
    name: String,
    /// Good for everything that the app may.
    token: String,
    /// Good for reading what it keeps, and may stand in an address.
    reading: String,
}

/// What a request may do by the token it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bearer {
    App,
    /// Whoever was given an address by the app.
    Reader,
}

impl Lease {
    /// Its tokens follow from what the page was given for the frame: a document that outlives the
    /// server keeps the ones it has. Whoever has that could read them in the document anyway.
    pub fn new(host: Arc<Host>, card: &Card, session: Option<SessionId>, given: &Kept) -> Self {
        let caller = Caller::App { id: card.id.clone() };
        Self {
            asking: Asking::new(host, session, caller),
            id: card.id.clone(),
            name: card.name.clone(),
            token: token("app", &card.id, given),
            reading: token("reader", &card.id, given),
        }
    }

    pub fn host(&self) -> &Host {
        &self.asking.host
    }

    /// What its documents are told.
    pub fn told(&self) -> Map<String, Value> {
        let told = [("app", &self.id), ("token", &self.token), ("readToken", &self.reading)];
        told.into_iter().map(|(name, value)| (name.to_owned(), value.clone().into())).collect()
    }

    /// Who comes with this token, in a header or in the address.
    pub fn bearer(&self, header: Option<&str>, query: Option<&str>) -> Result<Bearer, ApiError> {
        match (header, query) {
            (Some(token), _) if same(token, &self.token) => Ok(Bearer::App),
            (None, Some(token)) if same(token, &self.reading) => Ok(Bearer::Reader),
            (None, None) => Err(ApiError::no_token()),
            _ => Err(ApiError::forbidden("Invalid iframe token")),
        }
    }

    /// What its description says now; none if it is gone.
    pub async fn card(&self) -> Option<Card> {
        let cards = self.host().ports.cabinet.list().await;
        cards.iter().find(|card| card.id == self.id).cloned()
    }

    /// Returns once the app may use this place among what apps keep.
    pub async fn enter(&self, path: &str, writes: bool) -> Result<(), ApiError> {
        let own = format!("apps/{}", self.id);
        if path == own || path.strip_prefix(&own).is_some_and(|rest| rest.starts_with('/')) {
            return Ok(());
        }
        let denied = || ApiError::forbidden("Access denied");
        let asks = self.card().await.map(|card| card.asks.permissions).unwrap_or_default();
        let within = |prefix: &str| format!("{path}/").starts_with(prefix);
        let covering = asks.into_iter().find_map(|permission| match permission {
            Permission::Storage { prefix, writes: may } if within(&prefix) && (may || !writes) => {
                Some((prefix, may))
            }
            _ => None,
        });
        let (prefix, may_write) = covering.ok_or_else(denied)?;
        let session = self.asking.session.ok_or_else(denied)?;
        let permission = Permission::Storage { prefix: prefix.clone(), writes: may_write }.name();
        let what = if may_write { "read and change" } else { "read" };
        let wish = Wish {
            name: permission.clone(),
            title: format!("The app {} wants to {what} what is kept in {prefix}", self.name),
            deed: Deed {
                risk: Risk::Acts,
                detail: Detail::Arguments { args: json!({ "folder": prefix }) },
                subjects: Vec::new(),
                within: None,
            },
        };
        if self.ask(session, &permission, wish).await? { Ok(()) } else { Err(denied()) }
    }

    /// Returns once the app may speak to this domain.
    pub async fn reach(&self, domain: &str, url: &str) -> Result<(), ApiError> {
        let Some(session) = self.asking.session else {
            return Err(ApiError::forbidden(format!(
                "Domain \"{domain}\" is not in the allowed list. It is asked about in a session, and \
                 this app is in none."
            )));
        };
        let wish = Wish {
            name: "app_fetch".to_owned(),
            title: format!("The app {} wants to speak to {domain}", self.name),
            deed: Deed {
                risk: Risk::Reaches,
                detail: Detail::Address { url: url.to_owned() },
                subjects: vec![domain.to_owned()],
                within: None,
            },
        };
        if self.ask(session, &format!("fetch {domain}"), wish).await? {
            return Ok(());
        }
        Err(ApiError::forbidden(format!("User denied access to domain \"{domain}\".")))
    }

    async fn ask(&self, session: SessionId, about: &str, wish: Wish) -> Result<bool, ApiError> {
        let asked = tokio::time::timeout(PATIENCE, self.asking.ask(session, about, wish)).await;
        asked.unwrap_or(Ok(false))
    }
}

/// One of the tokens of a frame. None of its parts has the sign between them.
fn token(bearer: &str, app: &str, Kept { ticket, nonce, .. }: &Kept) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(format!("{bearer}/{app}/{ticket}/{nonce}")))
}

/// Takes the same time whatever is presented.
fn same(presented: &str, token: &str) -> bool {
    Sha256::digest(presented.as_bytes()) == Sha256::digest(token.as_bytes())
}

#[cfg(test)]
mod tests {
    use kernel::host::Settings;
    use testkit::World;

    use super::*;

    #[tokio::test]
    async fn each_token_is_good_for_its_own_and_none_for_another_frame() {
        let host = Host::start(World::new([]).ports(), Settings::default()).await.unwrap();
        let card = Card { id: "a".into(), ..Card::default() };
        let given =
            |ticket: &str| Kept { id: uuid::Uuid::nil(), ticket: ticket.into(), nonce: "n".into() };
        let lease = Lease::new(host.clone(), &card, None, &given("a"));
        let other = Lease::new(host.clone(), &card, None, &given("b"));
        let again = Lease::new(host, &card, None, &given("a"));
        assert_eq!(again.told(), lease.told());
        let bearer = |header: Option<&str>, query: Option<&str>| {
            lease.bearer(header, query).map_err(|error| error.told().0.as_u16())
        };
        let (token, reading) = (lease.token.as_str(), lease.reading.as_str());
        assert_eq!(bearer(Some(token), None), Ok(Bearer::App));
        assert_eq!(bearer(None, Some(reading)), Ok(Bearer::Reader));
        assert_eq!(bearer(None, None), Err(401));
        for (header, query) in [
            (Some(reading), None),
            (None, Some(token)),
            (Some(""), None),
            (Some(""), Some(reading)),
            (Some(other.token.as_str()), None),
            (None, Some(other.reading.as_str())),
        ] {
            assert_eq!(bearer(header, query), Err(403));
        }
        for (path, writes, expected) in [
            ("apps/a", true, Ok(())),
            ("apps/a/b/c", true, Ok(())),
            ("apps/ab", false, Err(403)),
            ("apps", false, Err(403)),
            ("", false, Err(403)),
            ("apps/b/x", false, Err(403)),
            ("shared/x", false, Err(403)),
        ] {
            let entered = lease.enter(path, writes).await.map_err(|it| it.told().0.as_u16());
            assert_eq!(entered, expected, "{path}");
        }
    }
}
