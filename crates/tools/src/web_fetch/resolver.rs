//! Looks names up, and lets only addresses pass that may be asked: those are the ones connected to.

use std::{io, net::SocketAddr, sync::Arc};

use futures::{FutureExt as _, future::BoxFuture};
use reqwest::{
    Url,
    dns::{Addrs, Name, Resolve, Resolving},
};

use super::address::is_public;

/// How a name becomes addresses.
pub trait Lookup: Send + Sync {
    fn look_up(&self, host: String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>>;
}

/// As this machine does it.
pub struct System;

impl Lookup for System {
    fn look_up(&self, host: String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        async move { Ok(tokio::net::lookup_host((host, 0)).await?.collect()) }.boxed()
    }
}

#[derive(Clone)]
pub struct Guard {
    pub allow_private: bool,
    pub allow: Vec<String>,
    pub lookup: Arc<dyn Lookup>,
}

impl Guard {
    /// All that can be said of an address before its name is looked up.
    pub fn check(&self, url: &Url) -> Result<(), String> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("only http and https can be fetched, not {}", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("an address with a user name or a password is not fetched".into());
        }
        let Some(host) = url.host_str() else { return Err("the address names no host".into()) };
        if self.is_private(url) {
            return Err(Private(host.to_owned()).to_string());
        }
        Ok(())
    }

    /// Whether an address is one that may not be asked, by its numbers alone.
    pub fn is_private(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse();
        literal.is_ok_and(|address| !self.is_open(host) && !is_public(address))
    }

    /// Whether this host may be anywhere.
    fn is_open(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.');
        self.allow_private || self.allow.iter().any(|open| open.eq_ignore_ascii_case(host))
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let open = self.is_open(&host);
        let found = self.lookup.look_up(host.clone());
        Box::pin(async move {
            let found = found.await?.into_iter();
            let open: Vec<SocketAddr> = found.filter(|it| open || is_public(it.ip())).collect();
            if open.is_empty() {
                return Err(Private(host).into());
            }
            Ok(Box::new(open.into_iter()) as Addrs)
        })
    }
}

/// A host that is not on the open internet, and may not be asked.
#[derive(Debug, thiserror::Error)]
#[error("{0} is not on the open internet; the person can add it to `[web] allow`")]
pub struct Private(pub String);
