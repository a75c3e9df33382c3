//! One port for plain and encrypted words: who may speak which, and what follows from it.

use std::sync::Arc;

use edge::{Settings, Tls};
use rustls::{ClientConfig, RootCertStore, ServerConfig, pki_types::PrivateKeyDer};
use serde_json::json;
use testkit::{World, model::text};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::common::{House, Phone, Reply, Socket, error, exchange};

/// A house with a certificate, and a client that trusts it. Where it is strict, even this machine must
/// encrypt, as others must.
async fn house(strict: bool) -> (House, Arc<ClientConfig>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (cert, key) = (made.cert.der().clone(), made.signing_key.serialize_der());
    let key = PrivateKeyDer::try_from(key).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.clone()], key)
        .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(cert).unwrap();
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let tls = Tls { config: Arc::new(config), fingerprint: "AB:CD".to_owned(), strict };
    let settings = Settings {
        tls: Some(tls),
        allowed_hosts: vec!["hall.local".to_owned()],
        ..Settings::default()
    };
    let world = World::new([vec![text("Yes.")]]);
    (House::with(world, settings).await, Arc::new(client))
}

async fn encrypted(
    client: &Arc<ClientConfig>,
    address: std::net::SocketAddr,
    request: &str,
) -> Reply {
    let stream = TcpStream::connect(address).await.unwrap();
    let name = "localhost".try_into().unwrap();
    let connector = tokio_rustls::TlsConnector::from(client.clone());
    let mut stream = connector.connect(name, stream).await.unwrap();
    let request = format!("{request}connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // Some leave without a goodbye.
    stream.read_to_end(&mut answer).await.ok();
    Reply::parse(&answer)
}

#[tokio::test]
async fn one_port_speaks_both_and_each_page_frames_its_own_kind() {
    let (house, client) = house(false).await;
    let (address, sandbox) = (house.address(), house.sandbox());
    let get = |path: &str, host: &str| {
        format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: {}\r\n", house.bearer())
    };
    let named = format!("hall.local:{}", address.port());
    let policy = |reply: &Reply| reply.header("content-security-policy").unwrap().to_owned();
    let page = encrypted(&client, address, &get("/", &named)).await;
    let origin = format!(" https://hall.local:{} ", sandbox.port());
    assert!(policy(&page).contains(&origin), "{}", policy(&page));
    let plain = house.ask("GET", "/").header("host", &named).send().await;
    let origin = format!(" http://hall.local:{} ", sandbox.port());
    assert!(policy(&plain).contains(&origin), "{}", policy(&plain));
    // A name that is not ours is refused by either way, and on the other origin too.
    let other = encrypted(&client, address, &get("/", "evil.example")).await;
    assert_eq!(other.status, 403);
    assert_eq!(encrypted(&client, sandbox, &get("/f/x/", "evil.example")).await.status, 403);
    assert_eq!(encrypted(&client, sandbox, &get("/f/x/", &named)).await.status, 404);
    let body = format!("key={}", house.key());
    let login = format!(
        "POST /login HTTP/1.1\r\nhost: {named}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let cookie = encrypted(&client, address, &login).await;
    assert!(cookie.header("set-cookie").unwrap().ends_with("; Secure"), "{cookie:?}");
    let cookie = house.ask_without_key("POST", "/login").body("text/plain", body).send().await;
    assert!(!cookie.header("set-cookie").unwrap().contains("Secure"), "{cookie:?}");
    assert!(encrypted(&client, address, &get("/pair", &named)).await.text().contains("AB:CD"));
    let (_, keys) = house.get("/api/keys").await;
    assert_eq!(
        (&keys["fingerprint"], &keys["url"]),
        (&json!("AB:CD"), &json!(format!("https://{address}")))
    );
    // What only looks like a handshake ends, and hurts nobody.
    exchange(address, b"\x16\x03\x01\x00\x05\xff\x00\x00\x01\x00").await;
    assert_eq!(house.get("/api/sessions").await.0, 200);
}

#[tokio::test]
async fn plain_words_are_refused_but_for_the_socket_of_a_device_that_knows_no_other() {
    let (house, client) = house(true).await;
    let address = house.address();
    let key = house.key();
    let exposed =
        (403, error("FORBIDDEN", "this server is reached by https:// from other machines"));
    for path in ["/status", "/messages", "/api/sessions", "/healthz", "/login", "/pair"] {
        assert_eq!(house.ask("GET", path).send().await.json(), exposed, "{path}");
    }
    let socket = |key: &str| {
        let path = format!("/ws?token={key}");
        async move { Socket::open(address, &path, &[]).await }
    };
    assert_eq!(socket(&key).await.err(), Some(exposed));
    let body = json!({ "name": "phone", "plainWs": true }).to_string();
    let pair = format!(
        "POST /api/keys HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let (_, paired) = encrypted(&client, address, &pair).await.json();
    let own = paired["key"].as_str().unwrap();
    let mut phone = socket(own).await.unwrap();
    assert_eq!(phone.next().await["type"], "connected");
    assert_eq!(Phone::new(&house, own, "phone").ask("/status").await.status, 403);
    let frames = exchange(
        house.sandbox(),
        b"GET /f/x/ HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    );
    assert_eq!(Reply::parse(&frames.await).status, 403);
}
