//! Being there for other machines: the names of this one, its certificate, and word of it in the network.

pub mod announce;
pub mod certificate;

use std::{
    net::{IpAddr, SocketAddr},
    path::Path,
};

use anyhow::Context as _;

use crate::{
    cli::ServeArgs,
    clock::SystemClock,
    config::{self, Config},
    wire::Tls,
};
use certificate::Names;
use kernel::ports::Clock as _;

/// How this server is reached by others.
pub struct Lan {
    pub tls: Tls,
    pub names: Names,
}

/// Where to listen, now that others may come. An address that was asked for stays what it is.
pub fn address(args: &ServeArgs, config: &Config) -> SocketAddr {
    let listen = config.server.listen;
    let open = config.server.lan && args.overrides.listen.is_none() && listen.ip().is_loopback();
    if open { SocketAddr::new(IpAddr::from([0, 0, 0, 0]), listen.port()) } else { listen }
}

/// What is wrong with listening there like this.
pub fn check(config: &Config, listen: SocketAddr) -> anyhow::Result<()> {
    let config::Server { lan, plain_http, tls_cert, tls_key, .. } = &config.server;
    anyhow::ensure!(
        tls_cert.is_some() == tls_key.is_some(),
        "a certificate needs its key, and a key its certificate: --tls-cert FILE --tls-key FILE"
    );
    anyhow::ensure!(
        !plain_http || !(*lan || tls_cert.is_some()),
        "--plain-http says that nothing is encrypted here, and --lan or --tls-cert that it is: \
         choose one"
    );
    anyhow::ensure!(
        listen.ip().is_loopback() || *lan || *plain_http || tls_cert.is_some(),
        "on {listen} others could read along: --lan encrypts what goes to other machines; \
         --plain-http is for where a proxy in front does that, or the network itself, such as a VPN"
    );
    Ok(())
}

/// The certificate that is to be used, if any is.
pub fn open(config: &Config, data_dir: &Path) -> anyhow::Result<Option<Lan>> {
    let names = Names::of_this_machine(&config.allowed_hosts);
    let config::Server { lan, tls_cert, tls_key, .. } = &config.server;
    let kept = match (tls_cert, tls_key) {
        (Some(cert), Some(key)) => certificate::given(cert, key)?,
        _ if *lan => certificate::own(data_dir, &names, SystemClock.now())
            .context("cannot make a certificate")?,
        _ => return Ok(None),
    };
    Ok(Some(Lan { tls: kept, names }))
}
