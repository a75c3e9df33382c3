//! Who comes by the phone's door, told by a key and nothing else.

use std::sync::Arc;

use axum::http::{Uri, header, request::Parts};
use percent_encoding::percent_decode_str;

use crate::{
    apps,
    auth::{self, Access},
    devices::Device,
    listen::Peer,
};

/// Whoever was let in.
#[derive(Clone)]
pub struct Caller(pub Arc<Device>);

/// Whether this is a request of a phone.
pub fn is_ours(uri: &Uri) -> bool {
    match uri.path() {
        "/status" | "/messages" => true,
        "/ws" => auth::query(uri, "token").is_some() && !apps::is_wanted(uri),
        path => is_alias(path),
    }
}

fn is_alias(path: &str) -> bool {
    matches!(path, "/window/status" | "/window/messages" | "/window/ws" | "/window/attachments")
        || matches!(path, "/window/push/key" | "/window/push/subscriptions")
        || path.starts_with("/window/attachments/")
}

/// A host typed with a slash at its end makes two of them: they count as one.
pub fn collapsed(uri: &Uri) -> Option<Uri> {
    let path = uri.path();
    if !path.contains("//") {
        return None;
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let path = format!("/{}", parts.join("/"));
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let collapsed: Uri = format!("{path}{query}").parse().ok()?;
    is_ours(&collapsed).then_some(collapsed)
}

impl Access {
    /// The device that a request comes from.
    pub fn phone(&self, parts: &Parts) -> Option<Arc<Device>> {
        let Parts { headers, uri, extensions, .. } = parts;
        let bearer = auth::bearer(headers).map(|key| key.as_bytes().to_vec());
        let is_socket = uri.path().ends_with("/ws");
        let keys: Vec<Vec<u8>> = match auth::query(uri, "token").filter(|_| is_socket) {
            // As it stands first: a form would have turned `+` into a blank.
            Some(token) => {
                vec![token.as_bytes().to_vec(), percent_decode_str(token).collect::<Vec<u8>>()]
            }
            None => bearer.into_iter().collect(),
        };
        for key in keys {
            if let Some(device) = self.devices.find(&key) {
                self.devices.saw(&device);
                return Some(device);
            }
            if std::str::from_utf8(&key).is_ok_and(|key| self.keys.accepts(key)) {
                let address = extensions.get::<Peer>().map(|peer| peer.address.ip().to_string());
                let agent = headers.get(header::USER_AGENT).and_then(|it| it.to_str().ok());
                let (address, agent) = (address.unwrap_or_default(), agent.unwrap_or_default());
                let device = Device::of_owner(&address, agent, self.clock.now());
                return Some(Arc::new(device));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_slashes_count_as_one_where_phones_come_in() {
        for (written, meant) in [
            ("//status", Some("/status")),
            ("//messages?limit=20", Some("/messages?limit=20")),
            ("//ws?token=a%20b", Some("/ws?token=a%20b")),
            ("/window//ws", Some("/window/ws")),
            ("///window///status", Some("/window/status")),
            ("/status", None),
            ("//ws", None),
            ("//api/log", None),
        ] {
            let collapsed = collapsed(&written.parse().unwrap());
            assert_eq!(collapsed, meant.map(|meant| meant.parse().unwrap()), "{written}");
        }
    }
}
