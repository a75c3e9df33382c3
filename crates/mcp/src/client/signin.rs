//! Signing in at a server: where the person goes, what comes back, and where that is kept.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use rmcp::transport::{
    AuthClient, AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession,
    CredentialStore, StoredCredentials, auth::OAuthClientConfig,
};
use url::Url;

use super::{settings::Settings, vault::Vault, web::Web};

pub struct SignIn {
    kept: Kept,
    /// Where browsers come back to.
    callback: String,
    pending: Mutex<Option<Pending>>,
}

/// The person is away, signing in.
struct Pending {
    state: String,
    session: AuthorizationSession,
}

impl SignIn {
    pub fn new(server: &str, vault: Vault, callback: String) -> Self {
        let kept = Kept { vault, name: file(server) };
        Self { kept, callback, pending: Mutex::default() }
    }

    /// A client that shows what was kept, and renews it when it has run out.
    pub async fn client(
        &self,
        settings: &Settings,
        url: &str,
        web: Web,
    ) -> Result<AuthClient<Web>, AuthError> {
        let mut manager = self.manager(url).await?;
        let known = manager.initialize_from_store().await?;
        if let (true, Some(id), Some(secret)) =
            (known, &settings.client_id, &settings.client_secret)
        {
            // What is kept leaves out the secret, and nothing is renewed without it.
            let config = OAuthClientConfig::new(id, &self.callback).with_client_secret(secret);
            manager.configure_client(config)?;
        }
        Ok(AuthClient::new(web, manager))
    }

    /// Where the person has to go.
    pub async fn begin(
        &self,
        settings: &Settings,
        challenge: Option<&str>,
    ) -> Result<String, AuthError> {
        let mut manager = self.manager(settings.url.as_deref().unwrap_or_default()).await?;
        let found = match challenge {
            Some(_) => manager.resolve_metadata_from_challenge(challenge).await?,
            None => manager.resolve_metadata().await?,
        };
        let granted = self.granted(found.metadata.issuer.as_deref()).await?;
        manager.set_metadata(found.metadata);
        let mut request = AuthorizationRequest::new(self.callback.clone())
            .with_client_name("Megaron")
            .with_application_type("native");
        if let Some(challenge) = challenge {
            request = request.with_challenge(challenge);
        }
        let mut scopes = settings.scopes.clone();
        if scopes.is_empty() && !granted.is_empty() {
            scopes = manager.select_scopes(None, &[]);
        }
        scopes.extend(granted);
        let mut seen = BTreeSet::new();
        scopes.retain(|scope| seen.insert(scope.clone()));
        if !scopes.is_empty() {
            request = request.with_scopes(scopes);
        }
        if let Some(id) = &settings.client_id {
            request = request.with_preregistered_client(id.clone());
        }
        if let Some(secret) = &settings.client_secret {
            request = request.with_client_secret(secret.clone());
        }
        let session = AuthorizationSession::new(manager, request).await;
        let session = session.map_err(|(_, error)| error)?;
        let url = session.get_authorization_url().to_owned();
        let state = parameter(&url, "state");
        let state = state.ok_or_else(|| AuthError::InternalError("no state".into()))?;
        *self.pending.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Pending { state, session });
        Ok(url)
    }

    /// Whether a browser that came back with this query was sent by us.
    pub fn is_for(&self, query: &str) -> bool {
        let state = parameter(&format!("{}?{query}", self.callback), "state");
        let pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.as_ref().is_some_and(|pending| Some(&pending.state) == state.as_ref())
    }

    /// Trades what the browser brought for a token, once.
    pub async fn finish(&self, query: &str) -> Result<(), String> {
        let pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner).take();
        let pending = pending.ok_or("nobody is signing in")?;
        let url = format!("{}?{query}", self.callback);
        if let Some(error) = parameter(&url, "error") {
            let more = parameter(&url, "error_description").unwrap_or_default();
            return Err(format!("the server refused: {error} {more}").trim_end().to_owned());
        }
        let token = pending.session.handle_callback_url(&url).await;
        token.map(drop).map_err(|error| error.to_string())
    }

    /// What we were already allowed there: signing in for more is not to lose it.
    async fn granted(&self, issuer: Option<&str>) -> Result<Vec<String>, AuthError> {
        let kept = self.kept.load().await?.filter(|kept| kept.issuer.as_deref() == issuer);
        Ok(kept.map(|kept| kept.granted_scopes).unwrap_or_default())
    }

    async fn manager(&self, url: &str) -> Result<AuthorizationManager, AuthError> {
        let mut manager = AuthorizationManager::new(url).await?;
        manager.set_credential_store(self.kept.clone());
        Ok(manager)
    }
}

/// The file in the vault.
pub fn file(server: &str) -> String {
    format!("{server}.tokens.json")
}

fn parameter(url: &str, name: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

#[derive(Clone)]
struct Kept {
    vault: Vault,
    name: String,
}

#[async_trait]
impl CredentialStore for Kept {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        self.vault.load(&self.name).map_err(failed)
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.vault.save(&self.name, &credentials).map_err(failed)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.vault.remove(&self.name).map_err(failed)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to map_err")]
fn failed(error: std::io::Error) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}
