//! The page behind a pairing link: it shows host and key, which stay in the browser.

use std::sync::Arc;

use axum::{
    extract::State,
    http::header,
    response::{Html, IntoResponse},
};

use crate::auth::Access;

/// The key is in the fragment of the address, which no browser sends to anybody.
pub async fn page(State(access): State<Arc<Access>>) -> impl IntoResponse {
    // Letters, digits and colons: nothing that a page would have to escape.
    let certificate = access.fingerprint.as_ref().map(|fingerprint| {
        format!(
            "<p>The certificate of this server has the SHA-256 fingerprint \
             <code>{fingerprint}</code>. Compare it with what <code>megaron pair</code> says.</p>"
        )
    });
    let head = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
        content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light \
        dark\"><title>Pair a phone with Megaron</title><link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" \
        href=\"/login.css\"><script src=\"/pair.js\" defer></script><main><h1>Pair this \
        phone</h1><p>Copy these two into the app.</p><p><label for=\"host\">Host</label> <input \
        id=\"host\" readonly></p><p><label for=\"key\">Key</label> <input id=\"key\" \
        readonly></p><p id=\"missing\" role=\"alert\" hidden>There is no key in this address. \
        <code>megaron pair</code> makes one.</p><form id=\"enter\" method=\"post\" action=\"/login\" \
        hidden><p>Or use the page itself, if the key was made for it.</p><input type=\"hidden\" id=\"sent\" \
        name=\"key\"><button>Open Megaron here</button></form>";
    let html = format!("{head}{}</main>", certificate.unwrap_or_default());
    ([(header::CACHE_CONTROL, "no-store")], Html(html))
}

pub async fn script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("pairing.js"))
}
