//! Who gets in: the owner, from a page of ours, by a name of ours.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, Uri, header, request::Parts, uri::Authority},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use kernel::ports::Clock;

use crate::{
    apps,
    caco::mcp::CALLBACK,
    codes::{Codes, Purpose},
    desktop::CONNECT,
    devices::{Device, Devices, Holder, Scope},
    error::ApiError,
    keys::{Keys, secret},
    leaving,
    listen::{Peer, Way},
    lockout::Lockout,
    login,
    window::{self, Caller, door},
};

/// How long a browser stays logged in.
const LOGIN_DAYS: i64 = 30;

pub struct Access {
    pub keys: Keys,
    pub clock: Arc<dyn Clock>,
    pub trust_loopback: bool,
    /// Names we answer to besides our address and `localhost`.
    pub names: Vec<String>,
    pub listen: SocketAddr,
    pub codes: Codes,
    pub devices: Arc<Devices>,
    pub lockout: Lockout,
    /// Of our certificate, where we have one.
    pub fingerprint: Option<String>,
}

/// Refuses before anything else looks at the request.
pub async fn guard(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    if let Some(wait) = access.lockout.shuts(from(&parts)).filter(|_| is_secret(&parts)) {
        return refused(ApiError::locked_out(wait), "429");
    }
    if door::is_ours(&parts.uri) {
        let Some(device) = access.phone(&parts) else { return access.shut(&parts) };
        if is_exposed(&parts) && !(device.plain_ws && parts.uri.path().ends_with("/ws")) {
            return refused(ApiError::exposed().into_response(), "403");
        }
        access.lockout.greeted(from(&parts));
        parts.extensions.insert(Caller(device));
        return next.run(Request::from_parts(parts, body)).await;
    }
    if is_exposed(&parts) {
        return refused(ApiError::exposed().into_response(), "403");
    }
    let device = match access.admit(&parts) {
        Ok(device) => device,
        Err(refusal) => {
            metrics::counter!("megaron_refused_total", "status" => refusal.name()).increment(1);
            return match refusal {
                Refusal::Forbidden(message) => ApiError::forbidden(message).into_response(),
                Refusal::Wrong(Some(wait)) => ApiError::locked_out(wait),
                Refusal::Unknown if is_visit(&parts) => login::page(&login::Reason::Unknown),
                Refusal::Unknown | Refusal::Wrong(None) => ApiError::unauthorized().into_response(),
            };
        }
    };
    let Some(device) = device else { return next.run(Request::from_parts(parts, body)).await };
    parts.extensions.insert(Entered(device.clone()));
    leaving::until(next.run(Request::from_parts(parts, body)).await, &device)
}

/// The device whose key let a request in, where it was not the owner's own.
#[derive(Clone)]
pub struct Entered(pub Arc<Device>);

/// What a request is let in by.
pub enum Entrance {
    /// A key, or what was given for one.
    Open(Holder),
    /// Something was presented that is no key.
    Wrong,
    Nothing,
}

/// Where a request comes from.
pub fn from(parts: &Parts) -> Option<IpAddr> {
    parts.extensions.get::<Peer>().map(|peer| peer.address.ip())
}

fn is_exposed(parts: &Parts) -> bool {
    parts.extensions.get::<Peer>().is_some_and(|peer| peer.way == Way::Exposed)
}

/// Whether it brings something that could be guessed, or wants to.
fn is_secret(parts: &Parts) -> bool {
    parts.headers.contains_key(header::AUTHORIZATION)
        || parts.uri.path() == "/login"
        || token(&parts.uri).is_some()
}

fn refused(response: Response, status: &'static str) -> Response {
    metrics::counter!("megaron_refused_total", "status" => status).increment(1);
    response
}

enum Refusal {
    Forbidden(&'static str),
    Unknown,
    /// A key was presented that is none; too many were, where there is a time to wait.
    Wrong(Option<Duration>),
}

impl Refusal {
    fn name(&self) -> &'static str {
        match self {
            Self::Forbidden(_) => "403",
            Self::Unknown | Self::Wrong(None) => "401",
            Self::Wrong(Some(_)) => "429",
        }
    }
}

/// A person who comes by the front door, not a program.
fn is_visit(parts: &Parts) -> bool {
    let wants_page =
        text(&parts.headers, header::ACCEPT).is_some_and(|it| it.contains("text/html"));
    parts.method == Method::GET && wants_page && !is_protocol(parts.uri.path())
}

/// Where programs talk, as opposed to where people look.
fn is_protocol(path: &str) -> bool {
    path.starts_with("/api/")
        || path == "/api"
        || path.starts_with("/v1/")
        || path.ends_with("/ws")
        || path == "/mcp"
        || path == CONNECT
        || path == "/metrics"
}

impl Access {
    fn admit(&self, parts: &Parts) -> Result<Option<Arc<Device>>, Refusal> {
        let host = self.check_host(&parts.headers, &parts.uri)?;
        check_origin(&parts.headers, host)?;
        let acts = parts.method != Method::GET && parts.method != Method::HEAD;
        // Whoever comes back from signing in elsewhere comes from elsewhere.
        let returns = !acts && parts.uri.path() == CALLBACK;
        if acts || (is_protocol(parts.uri.path()) && !returns) {
            check_site(&parts.headers)?;
        }
        // Devices have keys of their own, which that door knows.
        let open = matches!(
            parts.uri.path(),
            "/healthz" | "/login" | "/login.css" | "/pair" | "/pair.js" | CONNECT
        );
        if open || returns {
            return Ok(None);
        }
        let from = from(parts);
        match self.entrance(parts) {
            Entrance::Open(holder) => {
                self.lockout.greeted(from);
                Ok(holder.device())
            }
            Entrance::Wrong => Err(Refusal::Wrong(self.lockout.mistook(from))),
            Entrance::Nothing => Err(Refusal::Unknown),
        }
    }

    /// A name that an attacker controls may resolve to us; it is still not ours.
    fn check_host<'a>(&self, headers: &'a HeaderMap, uri: &'a Uri) -> Result<&'a str, Refusal> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(Refusal::Forbidden("exactly one Host header is required"));
        };
        let host = host.to_str().map_err(|_| Refusal::Forbidden("Host not allowed"))?;
        let named = uri.authority().map(Authority::as_str);
        if [Some(host), named].into_iter().flatten().all(|name| self.answers_to(name)) {
            Ok(host)
        } else {
            Err(Refusal::Forbidden("Host not allowed"))
        }
    }

    fn answers_to(&self, host: &str) -> bool {
        answers_to(host, self.listen.ip(), &self.names)
    }

    /// A cookie that is none was nobody's guess: it is an old one.
    pub fn entrance(&self, parts: &Parts) -> Entrance {
        let Parts { headers, uri, .. } = parts;
        if self.trust_loopback && from(parts).is_some_and(|ip| ip.is_loopback()) {
            return Entrance::Open(Holder::of(self.device(headers)));
        }
        if self.cookie(headers).is_some_and(|cookie| self.logged_in(cookie)) {
            return Entrance::Open(Holder::of(self.by_cookie(headers)));
        }
        let (key, token) = (bearer(headers), token(uri).filter(|_| takes_tokens(uri)));
        let opened = key.and_then(|key| self.by_key(key));
        match opened.or_else(|| token.and_then(|token| self.by_token(token))) {
            Some(holder) => Entrance::Open(holder),
            None if key.is_some() || token.is_some() => Entrance::Wrong,
            None => Entrance::Nothing,
        }
    }

    /// What a phone is told whose key opens nothing.
    fn shut(&self, parts: &Parts) -> Response {
        let presented = bearer(&parts.headers).is_some() || token(&parts.uri).is_some();
        match self.lockout.mistook(from(parts).filter(|_| presented)) {
            Some(wait) => refused(ApiError::locked_out(wait), "429"),
            None => refused(window::not_let_in(), "401"),
        }
    }

    /// The main key, or that of a device which may do everything.
    fn by_key(&self, key: &str) -> Option<Holder> {
        if self.keys.accepts(key) {
            return Some(Holder::Owner);
        }
        let device = self.devices.find(key.as_bytes());
        let device = device.filter(|device| device.scope == Scope::Everything)?;
        self.devices.saw(&device);
        Some(Holder::Device(device))
    }

    /// A one-time token, or the key itself from a client that can send nothing but a URL.
    fn by_token(&self, token: &str) -> Option<Holder> {
        let redeemed = self.codes.redeem(token, Purpose::Socket, self.clock.now());
        redeemed.or_else(|| self.keys.accepts(token).then_some(Holder::Owner))
    }

    /// Browsers do not separate cookies by port, so the name does.
    fn cookie_name(&self) -> String {
        format!("megaron_{}", self.listen.port())
    }

    fn cookie<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let name = self.cookie_name();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|it| it.to_str().ok());
        let mut pairs =
            cookies.flat_map(|it| it.split(';')).filter_map(|it| it.trim().split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// A cookie is a date and the key's seal on it: nothing to store, and a new key ends them all. One
    /// that a device got names it, and ends with it.
    fn logged_in(&self, cookie: &str) -> bool {
        let Some((message, seal)) = cookie.rsplit_once('.') else { return false };
        let mut parts = message.split('.');
        let expiry = parts.next().and_then(|it| it.parse::<i64>().ok());
        let valid = expiry.is_some_and(|expiry| self.clock.now().as_second() < expiry);
        let device = parts.nth(1).map(|device| self.full_device(device));
        if !valid || matches!(device, Some(None)) || !self.keys.sealed(message, seal) {
            return false;
        }
        device.flatten().inspect(|device| self.devices.saw(device));
        true
    }

    /// Whose key this is, or whose login.
    fn device(&self, headers: &HeaderMap) -> Option<Arc<Device>> {
        match bearer(headers) {
            Some(key) => self.devices.find(key.as_bytes()),
            None => self.by_cookie(headers),
        }
    }

    fn by_cookie(&self, headers: &HeaderMap) -> Option<Arc<Device>> {
        let cookie = self.cookie(headers).filter(|cookie| self.logged_in(cookie))?;
        let (message, _) = cookie.rsplit_once('.')?;
        self.full_device(message.split('.').nth(2)?)
    }

    fn full_device(&self, id: &str) -> Option<Arc<Device>> {
        let device = self.devices.named(id).filter(|device| device.id == id);
        device.filter(|device| device.scope == Scope::Everything)
    }

    /// What takes the cookie of a login away again.
    pub fn logout_cookie(&self) -> io::Result<HeaderValue> {
        let name = self.cookie_name();
        let cookie = format!("{name}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
        HeaderValue::try_from(cookie).map_err(io::Error::other)
    }

    pub fn login_cookie(
        &self,
        device: Option<&Device>,
        way: Way,
    ) -> io::Result<Option<HeaderValue>> {
        let seconds = LOGIN_DAYS * 24 * 60 * 60;
        let named = device.map(|device| format!(".{}", device.id)).unwrap_or_default();
        let message = format!("{}.{}{named}", self.clock.now().as_second() + seconds, secret()?);
        let Some(seal) = self.keys.seal(&message) else { return Ok(None) };
        let name = self.cookie_name();
        let secure = if way == Way::Encrypted { "; Secure" } else { "" };
        let cookie = format!(
            "{name}={message}.{seal}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{secure}"
        );
        HeaderValue::try_from(cookie).map(Some).map_err(io::Error::other)
    }
}

/// Whether this is a name for whoever listens at `ours`, or one of `names`.
pub fn answers_to(host: &str, ours: IpAddr, names: &[String]) -> bool {
    let name = without_port(host);
    if let Ok(ip) = name.trim_matches(['[', ']']).parse::<IpAddr>() {
        // An address cannot be made to resolve elsewhere.
        return ip.is_loopback() || ip == ours || ours.is_unspecified();
    }
    name.eq_ignore_ascii_case("localhost") || names.iter().any(|it| it.eq_ignore_ascii_case(name))
}

/// Where clients cannot always send headers.
fn takes_tokens(uri: &Uri) -> bool {
    match uri.path() {
        "/caco/ws" | "/apps/ws" | CONNECT | "/api/command" | "/api/status" => true,
        "/ws" => apps::is_wanted(uri),
        _ => false,
    }
}

fn check_origin(headers: &HeaderMap, host: &str) -> Result<(), Refusal> {
    for origin in headers.get_all(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        let name = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        if !name.is_some_and(|name| name.eq_ignore_ascii_case(host)) {
            return Err(Refusal::Forbidden("Origin not allowed"));
        }
    }
    Ok(())
}

fn check_site(headers: &HeaderMap) -> Result<(), Refusal> {
    match text(headers, "sec-fetch-site") {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) => Err(Refusal::Forbidden("requests from other sites are not allowed")),
    }
}

pub fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => host,
    }
}

pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, key) = text(headers, header::AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

fn token(uri: &Uri) -> Option<&str> {
    query(uri, "token")
}

/// A parameter as it stands, which is all a code or a token needs.
pub fn query<'a>(uri: &'a Uri, name: &str) -> Option<&'a str> {
    let pairs = uri.query()?.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

fn text(headers: &HeaderMap, name: impl header::AsHeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}
