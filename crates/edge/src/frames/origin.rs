//! The other origin under a name of its own, as a proxy in front of the server has it.

use std::{fmt, str::FromStr};

use axum::http::{Uri, uri::Authority};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameOrigin {
    scheme: &'static str,
    authority: Authority,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not an origin like `https://frames.example`, without a path behind it")]
pub struct NoOrigin(String);

impl FrameOrigin {
    /// Without its port.
    pub fn name(&self) -> &str {
        self.authority.host()
    }

    /// As requests name it in `Host`.
    pub fn authority(&self) -> &str {
        self.authority.as_str()
    }
}

impl FromStr for FrameOrigin {
    type Err = NoOrigin;

    fn from_str(text: &str) -> Result<Self, NoOrigin> {
        let no = || NoOrigin(text.to_owned());
        let uri: Uri = text.to_ascii_lowercase().parse().map_err(|_| no())?;
        let scheme = match uri.scheme_str() {
            Some("https") => "https",
            Some("http") => "http",
            _ => return Err(no()),
        };
        let authority = uri.authority().ok_or_else(no)?.clone();
        let bare = uri.path() == "/" && uri.query().is_none() && !text.ends_with('/');
        (bare && is_name(&authority)).then_some(Self { scheme, authority }).ok_or_else(no)
    }
}

/// Whether a policy can name it: addresses of the sixth version it cannot, and nobody signs in there.
fn is_name(authority: &Authority) -> bool {
    let plain = |it: u8| it.is_ascii_alphanumeric() || it == b'.' || it == b'-';
    let name = authority.host();
    let port = authority.as_str().strip_prefix(name);
    let whole = port.is_some_and(|port| port.is_empty() || authority.port_u16().is_some());
    whole && !name.is_empty() && name.bytes().all(plain)
}

impl fmt::Display for FrameOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_scheme_a_name_and_perhaps_a_port() {
        for (text, expected) in [
            ("https://frames.example", Some("https://frames.example")),
            ("HTTPS://Frames.Example:8443", Some("https://frames.example:8443")),
            ("http://10.0.0.7:81", Some("http://10.0.0.7:81")),
            ("https://frames.example/", None),
            ("https://frames.example/f", None),
            ("https://frames.example?x", None),
            ("https://me@frames.example", None),
            ("https://[::1]", None),
            ("https://frames.example:", None),
            ("https://frames.example:x", None),
            ("https://frames.example; script-src *", None),
            ("ftp://frames.example", None),
            ("frames.example", None),
            ("//frames.example", None),
            ("https://", None),
            ("", None),
        ] {
            let read = text.parse::<FrameOrigin>().ok().map(|it| it.to_string());
            assert_eq!(read.as_deref(), expected, "{text}");
        }
    }
}
