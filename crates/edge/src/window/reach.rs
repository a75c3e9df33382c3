//! By which address other machines reach this one, as far as it listens for them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Reach {
    /// What to type into a phone: an address and a port.
    #[schema(example = "192.168.1.20:53000")]
    host: String,
    /// Whether only programs on this machine get there.
    local: bool,
    /// The same with how it is spoken to.
    #[schema(example = "https://192.168.1.20:53000")]
    url: String,
    /// The SHA-256 of the certificate; absent where nothing is encrypted by the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
}

impl Reach {
    pub fn of(listen: SocketAddr, fingerprint: Option<String>) -> Self {
        let ip = match listen.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => outward(Ipv4Addr::UNSPECIFIED.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => {
                outward(Ipv4Addr::UNSPECIFIED.into()).or_else(|| outward(ip.into()))
            }
            ip => Some(ip),
        };
        let ip = ip.unwrap_or_else(|| match listen.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
        let host = SocketAddr::new(ip, listen.port()).to_string();
        let scheme = if fingerprint.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{host}");
        Self { host, local: ip.is_loopback(), url, fingerprint }
    }
}

/// The address from which this machine would speak to another. Nothing is sent to find that out.
fn outward(from: IpAddr) -> Option<IpAddr> {
    let elsewhere: SocketAddr = match from {
        IpAddr::V4(_) => (Ipv4Addr::new(192, 0, 2, 1), 9).into(),
        IpAddr::V6(_) => (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), 9).into(),
    };
    let socket = UdpSocket::bind((from, 0)).ok()?;
    socket.connect(elsewhere).ok()?;
    socket.local_addr().ok().map(|address| address.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_listens_on_loopback_is_reached_from_nowhere_else() {
        for (listen, host, local) in [
            ("127.0.0.1:53000", "127.0.0.1:53000", true),
            ("[::1]:53000", "[::1]:53000", true),
            ("192.168.1.20:80", "192.168.1.20:80", false),
        ] {
            let mut reach = Reach {
                host: host.to_owned(),
                local,
                url: format!("http://{host}"),
                fingerprint: None,
            };
            assert_eq!(Reach::of(listen.parse().unwrap(), None), reach);
            reach.fingerprint = Some("AB:CD".to_owned());
            reach.url = format!("https://{host}");
            assert_eq!(Reach::of(listen.parse().unwrap(), Some("AB:CD".to_owned())), reach);
        }
        let any = Reach::of("0.0.0.0:53000".parse().unwrap(), None);
        assert!(any.host.ends_with(":53000") && !any.host.starts_with("0."), "{any:?}");
    }
}
