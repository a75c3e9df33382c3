//! A `[mcp.servers.NAME]` table: a server that lends its tools. What it means is decided where it is used.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::provider::{HIDDEN, without_user};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lenders {
    /// By a name that the person gave.
    pub servers: BTreeMap<String, Lender>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lender {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass_env: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer_env: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lazy: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub widgets: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gesture: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disabled_tools: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampling {
    Ask,
    Deny,
    Allow,
}

pub use super::keys::lender as written;

/// The same without what may be a secret: values of variables and headers, a secret by its name,
/// parts of an address.
pub fn shown(lender: &Lender) -> Lender {
    let mut shown = lender.clone();
    let values = shown.env.values_mut().chain(shown.headers.values_mut());
    for value in values.chain(&mut shown.client_secret) {
        HIDDEN.clone_into(value);
    }
    if let Some(url) = &mut shown.url {
        let open = without_user(url);
        *url = match open.split_once('?') {
            Some((address, _)) => format!("{address}?{HIDDEN}"),
            None => open,
        };
    }
    shown
}
