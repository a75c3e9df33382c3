//! Where a hub is, and the key that it wants.

use std::net::IpAddr;

use url::{Host, Url};

/// An address that can be connected to.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    url: Url,
    key: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("`{0}` is not an address of a hub; one looks like ws://127.0.0.1:53000/connect")]
    Malformed(String),
    #[error("an address of a hub begins with ws:// or wss://, not {0}://")]
    Scheme(String),
    #[error(
        "whoever is between here and {0} could read and write everything: use wss://, or say --insecure"
    )]
    Open(String),
}

impl Address {
    /// A key in the address itself is taken out of it, so that nobody is shown it.
    pub fn new(text: &str, key: Option<String>, insecure: bool) -> Result<Self, AddressError> {
        let mut url = Url::parse(text).map_err(|_| AddressError::Malformed(hide(text)))?;
        match url.scheme() {
            "ws" | "wss" => (),
            other => return Err(AddressError::Scheme(other.to_owned())),
        }
        let Some(host) = url.host() else { return Err(AddressError::Malformed(hide(text))) };
        if url.scheme() == "ws" && !insecure && !is_here(&host) {
            return Err(AddressError::Open(host.to_string()));
        }
        if url.path() == "/" {
            url.set_path("/connect");
        }
        let given = url.query_pairs().find(|(name, _)| name == "token");
        let given = given.map(|(_, key)| key.into_owned());
        let rest: Vec<(String, String)> = url
            .query_pairs()
            .filter(|(name, _)| name != "token")
            .map(|(a, b)| (a.into(), b.into()))
            .collect();
        url.set_query(None);
        if !rest.is_empty() {
            url.query_pairs_mut().extend_pairs(rest);
        }
        url.set_fragment(None);
        Ok(Self { url, key: key.or(given) })
    }

    /// The same with another key.
    #[must_use]
    pub fn with_key(self, key: Option<String>) -> Self {
        Self { key, ..self }
    }

    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Whether it is on this machine.
    pub fn is_here(&self) -> bool {
        self.url.host().is_some_and(|host| is_here(&host))
    }

    /// Host and port, as a person reads them.
    pub fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }
}

fn is_here(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => name.eq_ignore_ascii_case("localhost"),
        Host::Ipv4(ip) => IpAddr::from(*ip).is_loopback(),
        Host::Ipv6(ip) => IpAddr::from(*ip).is_loopback(),
    }
}

/// What is not understood is shown without what may be a key.
fn hide(text: &str) -> String {
    text.split('?').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(String, Option<String>), String> {
        let address = Address::new(text, None, false).map_err(|error| error.to_string())?;
        Ok((address.url().to_owned(), address.key().map(str::to_owned)))
    }

    #[test]
    fn a_key_in_the_address_is_taken_out_of_it() {
        for (text, url, key) in [
            (
                "ws://127.0.0.1:1/connect?token=a%20b&x=1#f",
                "ws://127.0.0.1:1/connect?x=1",
                Some("a b"),
            ),
            ("ws://localhost:8787", "ws://localhost:8787/connect", None),
            ("wss://hub.example/connect", "wss://hub.example/connect", None),
            ("ws://[::1]:1/other", "ws://[::1]:1/other", None),
        ] {
            assert_eq!(read(text), Ok((url.to_owned(), key.map(str::to_owned))));
        }
    }

    #[test]
    fn an_address_that_would_not_do_is_refused_with_a_reason() {
        let open = read("ws://hub.example/connect").unwrap_err();
        assert!(open.contains("wss://") && open.contains("hub.example"), "{open}");
        let scheme = "an address of a hub begins with ws:// or wss://, not http://";
        assert_eq!(read("http://a/"), Err(scheme.to_owned()));
        let strange = read("nonsense?token=secret").unwrap_err();
        assert!(strange.contains("`nonsense`") && !strange.contains("secret"), "{strange}");
        assert!(Address::new("ws://hub.example/connect", None, true).is_ok());
    }
}
