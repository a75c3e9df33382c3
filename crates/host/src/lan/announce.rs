//! Word of this server in its network, by multicast DNS: that it is there, under which name and port.

use std::net::IpAddr;

use anyhow::Context as _;
use mdns_sd::{ServiceDaemon, ServiceInfo};

use super::certificate::Names;

/// What kind of service this is.
pub const KIND: &str = "_megaron._tcp.local.";

/// The announcement while it stands; dropping this takes it back.
pub struct Announced {
    daemon: ServiceDaemon,
    name: String,
}

/// Says that we are there. Nothing in it is a secret: whoever comes needs a key.
pub fn announce(names: &Names, port: u16, fingerprint: &str) -> anyhow::Result<Announced> {
    let daemon = ServiceDaemon::new().context("cannot speak to the network")?;
    post(daemon, names, port, fingerprint)
}

fn post(
    daemon: ServiceDaemon,
    names: &Names,
    port: u16,
    fingerprint: &str,
) -> anyhow::Result<Announced> {
    let service = service(names, port, fingerprint)?;
    let name = service.get_fullname().to_owned();
    daemon.register(service).context("cannot announce the server")?;
    Ok(Announced { daemon, name })
}

fn service(names: &Names, port: u16, fingerprint: &str) -> anyhow::Result<ServiceInfo> {
    let local = names.local().context("this machine has no name to announce")?;
    let instance = local.trim_end_matches(".local");
    let told = [
        ("version", env!("CARGO_PKG_VERSION")),
        ("path", "/"),
        ("scheme", "https"),
        ("sha256", fingerprint),
    ];
    let addresses: Vec<IpAddr> = names.outward().filter(IpAddr::is_ipv4).collect();
    let service =
        ServiceInfo::new(KIND, instance, &format!("{local}."), &addresses[..], port, &told[..]);
    service.context("cannot put the announcement into words")
}

impl Drop for Announced {
    fn drop(&mut self) {
        // The daemon says goodbye by itself; an error means that nobody is there to do so.
        let _ = self.daemon.unregister(&self.name);
        let _ = self.daemon.shutdown();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let addresses = ["192.168.1.20", "127.0.0.1", "::1", "2001:db8::1"];
        Names {
            names: vec!["localhost".to_owned(), "hall".to_owned(), "hall.local".to_owned()],
            addresses: addresses.iter().map(|it| it.parse().unwrap()).collect(),
        }
    }

    #[test]
    fn the_announcement_tells_where_to_come_and_nothing_else() {
        let service = service(&names(), 53000, "AB:CD").unwrap();
        assert_eq!(service.get_fullname(), "hall._megaron._tcp.local.");
        assert_eq!((service.get_hostname(), service.get_port()), ("hall.local.", 53000));
        let mut told: Vec<String> =
            service.get_properties().iter().map(ToString::to_string).collect();
        told.sort();
        let version = format!("version={}", env!("CARGO_PKG_VERSION"));
        assert_eq!(told, ["path=/", "scheme=https", "sha256=AB:CD", version.as_str()]);
        let addresses: Vec<String> =
            service.get_addresses().iter().map(ToString::to_string).collect();
        assert_eq!(addresses, ["192.168.1.20"]);
    }

    #[test]
    fn a_machine_without_a_name_is_not_announced() {
        assert!(service(&Names::default(), 1, "").is_err());
    }
}
