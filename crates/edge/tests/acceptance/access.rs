//! Who gets in: the owner, from a page of ours, by a name of ours. Everybody else is told why not.

use edge::Settings;
use jiff::SignedDuration;
use serde_json::{Value, json};
use testkit::World;

use crate::common::{House, Reply, Socket, error, exchange};

fn unauthorized() -> (u16, Value) {
    (401, error("UNAUTHORIZED", "Authentication required"))
}

fn forbidden(text: &str) -> (u16, Value) {
    (403, error("FORBIDDEN", text))
}

const HOST: &str = "Host not allowed";
const ORIGIN: &str = "Origin not allowed";
const SITE: &str = "requests from other sites are not allowed";

/// Every route of the API, as a stranger might try it.
pub const ROUTES: [(&str, &str); 32] = [
    ("GET", "/api/session"),
    ("GET", "/api/sessions"),
    ("POST", "/api/sessions"),
    ("PATCH", "/api/sessions/S"),
    ("DELETE", "/api/sessions/S"),
    ("POST", "/api/sessions/S/resume"),
    ("POST", "/api/sessions/S/observe"),
    ("POST", "/api/sessions/S/messages"),
    ("POST", "/api/sessions/S/cancel"),
    ("GET", "/api/sessions/S/state"),
    ("GET", "/api/apps"),
    ("POST", "/api/apps"),
    ("DELETE", "/api/apps/scratchpad"),
    ("POST", "/api/apps/open"),
    ("GET", "/api/apps/scratchpad/icon"),
    ("GET", "/api/approvals"),
    ("POST", "/api/approvals/S"),
    ("GET", "/api/grants"),
    ("DELETE", "/api/grants/S"),
    ("GET", "/api/tasks"),
    ("GET", "/api/frames"),
    ("POST", "/api/frames"),
    ("DELETE", "/api/frames/S"),
    ("GET", "/api/preferences"),
    ("POST", "/api/preferences"),
    ("GET", "/api/log?session=S"),
    ("POST", "/api/socket-token"),
    ("GET", "/api/openapi.json"),
    ("GET", "/metrics"),
    ("GET", "/mcp"),
    ("POST", "/mcp"),
    ("GET", "/api/nothing"),
];

#[tokio::test]
async fn nothing_is_answered_without_the_key() {
    let house = House::new([]).await;
    let id = house.session().await;
    let before = house.snapshot(&id).await;
    let key = house.key();
    let wrong = [
        None,
        Some(("authorization", "Bearer wrong".to_owned())),
        Some(("authorization", "Bearer ".to_owned())),
        Some(("authorization", format!("Basic {key}"))),
        Some(("authorization", format!("Bearer {key}x"))),
        Some(("authorization", key.clone())),
        Some(("cookie", format!("megaron_{}={key}", house.address().port()))),
        Some(("x-api-key", key)),
    ];
    for (method, path) in ROUTES {
        let path = path.replace('S', &id);
        for credential in &wrong {
            let mut ask = house.ask_without_key(method, &path).header("accept", "text/html, */*");
            if let Some((name, value)) = credential {
                ask = ask.header(name, value);
            }
            let reply = ask.json(&json!({ "prompt": "hi", "name": "x" })).send().await;
            assert_eq!(reply.json(), unauthorized(), "{method} {path} {credential:?}");
        }
    }
    assert_eq!(house.snapshot(&id).await, before, "nothing was done");
    assert_eq!(house.ask_without_key("GET", "/healthz").send().await.json().0, 200);
}

#[tokio::test]
async fn requests_from_elsewhere_are_refused_even_with_the_key() {
    let house = House::new([]).await;
    let id = house.session().await;
    let before = house.snapshot(&id).await;
    let (address, port) = (house.address(), house.address().port());
    let cases = [
        (vec![("host", "evil.example".to_owned())], HOST),
        (vec![("host", format!("evil.example:{port}"))], HOST),
        (vec![("host", format!("localhost.evil.example:{port}"))], HOST),
        (vec![("host", "10.1.2.3".to_owned())], HOST),
        (vec![("host", String::new())], HOST),
        (vec![("host", format!("{address}@evil.example"))], HOST),
        (
            vec![("host", address.to_string()), ("host", "evil.example".to_owned())],
            "exactly one Host header is required",
        ),
        (vec![("origin", "http://evil.example".to_owned())], ORIGIN),
        (vec![("origin", format!("http://evil.example:{port}"))], ORIGIN),
        (vec![("origin", "null".to_owned())], ORIGIN),
        (vec![("origin", String::new())], ORIGIN),
        (vec![("origin", format!("http://127.0.0.1:{}", port ^ 1))], ORIGIN),
        (vec![("origin", format!("http://localhost:{port}"))], ORIGIN),
        (vec![("origin", format!("file://{address}"))], ORIGIN),
        (vec![("origin", format!("http://{address}")), ("origin", "null".to_owned())], ORIGIN),
        (vec![("sec-fetch-site", "cross-site".to_owned())], SITE),
        (vec![("sec-fetch-site", "same-site".to_owned())], SITE),
    ];
    for (method, path) in ROUTES.into_iter().chain([("GET", "/ws"), ("GET", "/caco/ws")]) {
        for (headers, text) in &cases {
            let mut ask = house.ask(method, &path.replace('S', &id));
            for (name, value) in headers {
                ask = ask.header(name, value);
            }
            let reply = ask.json(&json!({ "prompt": "hi", "name": "x" })).send().await;
            assert_eq!(reply.json(), forbidden(text), "{method} {path} {headers:?}");
        }
    }
    assert_eq!(house.snapshot(&id).await, before, "nothing was done");
    for (name, value) in [
        ("host", format!("localhost:{port}")),
        ("host", format!("LOCALHOST:{port}")),
        ("host", format!("[::1]:{port}")),
        ("origin", format!("http://{address}")),
        ("sec-fetch-site", "same-origin".to_owned()),
        ("sec-fetch-site", "none".to_owned()),
    ] {
        let reply = house.ask("GET", "/api/session").header(name, &value).send().await;
        assert_eq!(reply.status, 200, "{name}: {value}");
    }
}

#[tokio::test]
async fn the_host_is_checked_however_it_is_written() {
    let house = House::new([]).await;
    let (address, bearer) = (house.address(), house.bearer());
    let ask = |line: &str, host: &str| {
        format!("{line}\r\n{host}connection: close\r\nauthorization: {bearer}\r\n\r\n")
    };
    let ours = format!("host: {address}\r\n");
    for (request, answer) in [
        (ask("GET /api/session HTTP/1.1", ""), forbidden("exactly one Host header is required")),
        (ask("GET /api/session HTTP/1.0", ""), forbidden("exactly one Host header is required")),
        (ask("GET http://evil.example/api/session HTTP/1.1", &ours), forbidden(HOST)),
        (ask("GET http://evil.example/api/session HTTP/1.1", ""), {
            forbidden("exactly one Host header is required")
        }),
    ] {
        let reply = Reply::parse(&exchange(address, request.as_bytes()).await);
        assert_eq!(reply.json(), answer, "{request}");
    }
    let absolute = ask(&format!("GET http://{address}/api/session HTTP/1.1"), &ours);
    let reply = Reply::parse(&exchange(address, absolute.as_bytes()).await);
    assert_eq!(reply.status, 200);
}

#[tokio::test]
async fn what_is_not_http_harms_nobody() {
    let house = House::new([]).await;
    let address = house.address();
    let (many, long) = ("x: y\r\n".repeat(200), "x".repeat(1_000_000));
    for bytes in [
        b"\x16\x03\x01\x02\x00".to_vec(),
        b"nonsense\r\n\r\n".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"GET /\xff\xfe HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec(),
        b"POST /api/sessions HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n".to_vec(),
        format!("GET / HTTP/1.1\r\n{many}\r\n").into_bytes(),
        format!("GET /{long} HTTP/1.1\r\n\r\n").into_bytes(),
        format!("GET / HTTP/1.1\r\nhost: {long}\r\n\r\n").into_bytes(),
    ] {
        let answer = exchange(address, &[&bytes[..], b"\r\n\r\n"].concat()).await;
        let reply = Reply::parse(&answer);
        assert!((400..500).contains(&reply.status), "{reply:?}");
    }
    assert_eq!(house.ask("GET", "/healthz").send().await.status, 200);
}

#[tokio::test]
async fn forms_cannot_act() {
    let house = House::new([]).await;
    let id = house.session().await;
    let before = house.snapshot(&id).await;
    let text = "Content-Type must be application/json";
    let refused = (415, error("UNSUPPORTED_MEDIA_TYPE", text));
    for (method, path) in [
        ("POST", "/api/sessions".to_owned()),
        ("PATCH", format!("/api/sessions/{id}")),
        ("POST", format!("/api/sessions/{id}/messages")),
        ("POST", "/api/preferences".to_owned()),
    ] {
        for kind in ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data", ""] {
            let body = r#"{"prompt":"hi","name":"x","lastModel":"y"}"#;
            let reply = house.ask(method, &path).body(kind, body).send().await;
            assert_eq!(reply.json(), refused, "{method} {path} {kind}");
        }
    }
    assert_eq!(house.snapshot(&id).await, before, "nothing was done");
}

/// The cookie of a login page that lets in, as it is sent back.
pub fn cookie(reply: &Reply) -> String {
    assert_eq!(reply.status, 200, "{reply:?}");
    let cookie = reply.header("set-cookie").unwrap();
    let parts: Vec<&str> = cookie.split("; ").collect();
    let expected = ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=2592000"];
    assert_eq!(parts[1..], expected);
    parts[0].to_owned()
}

#[tokio::test]
async fn the_login_address_works_once_and_its_cookie_until_the_key_changes() {
    let house = House::new([]).await;
    let with = |cookie: &str| {
        let ask = house.ask_without_key("GET", "/api/session").header("cookie", cookie);
        async { ask.send().await.json() }
    };
    let visit = || house.ask_without_key("GET", house.login_path());
    let login = cookie(&visit().send().await);
    assert_eq!(with(&login).await.0, 200);
    assert_eq!(with(&format!("other=1; {login}; more=2")).await.0, 200);
    let socket = Socket::open(house.address(), "/ws", &[("cookie", login.clone())]).await;
    assert!(socket.is_ok(), "a socket as well");
    let again = visit().send().await;
    assert_eq!((again.status, again.header("set-cookie")), (401, None), "the address is used up");
    assert_eq!(with(&format!("{login}x")).await, unauthorized());
    let (name, value) = login.split_once('=').unwrap();
    assert_eq!(with(&format!("{name}=9{value}")).await, unauthorized(), "no other date");
    assert_eq!(with(&format!("megaron_1={value}")).await, unauthorized(), "no other port");
    house.world.clock.advance(SignedDuration::from_hours(30 * 24));
    assert_eq!(with(&login).await, unauthorized(), "and not for ever");

    let leave = house.ask_without_key("POST", "/logout");
    assert_eq!(leave.send().await.json(), unauthorized(), "whoever is not in cannot leave");
    let left = house.ask("POST", "/logout").send().await;
    let ended = format!("{name}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
    assert_eq!((left.status, left.header("set-cookie")), (200, Some(ended.as_str())));

    let form = |body: String| {
        let ask = house.ask_without_key("POST", "/login");
        let origin = format!("http://{}", house.address());
        let ask = ask.header("origin", &origin).header("sec-fetch-site", "same-origin");
        ask.body("application/x-www-form-urlencoded", body).send()
    };
    let login = cookie(&form(format!("key={}", house.key())).await);
    assert_eq!(with(&login).await.0, 200);
    for body in ["key=wrong".to_owned(), String::new(), format!("x={}", house.key())] {
        let refused = form(body).await;
        assert_eq!((refused.status, refused.header("set-cookie")), (401, None));
    }
    let foreign = house.ask_without_key("POST", "/login").header("origin", "http://evil.example");
    let body = format!("key={}", house.key());
    let reply = foreign.body("application/x-www-form-urlencoded", body).send().await;
    assert_eq!(reply.json(), forbidden(ORIGIN));

    let old = house.bearer();
    house.keys().renew().unwrap();
    assert_eq!(with(&login).await, unauthorized(), "a new key ends every login");
    let ask = house.ask_without_key("GET", "/api/session").header("authorization", &old);
    assert_eq!(ask.send().await.json(), unauthorized());
    assert_eq!(house.get("/api/session").await.0, 200);
}

#[tokio::test]
async fn sockets_are_opened_with_the_key_or_a_token_and_never_from_another_page() {
    let house = House::new([]).await;
    let (address, key) = (house.address(), house.key());
    let open = |path: String, headers: Vec<(&'static str, String)>| async move {
        let socket = Socket::open(address, &path, &headers).await;
        socket.map(|_| "open")
    };
    let bearer = || ("authorization", house.bearer());
    assert_eq!(open("/ws".into(), vec![]).await, Err(unauthorized()));
    assert_eq!(open("/ws".into(), vec![bearer()]).await, Ok("open"));
    assert_eq!(open("/ws?any=thing".into(), vec![bearer()]).await, Ok("open"));
    assert_eq!(open("/caco/ws".into(), vec![bearer()]).await, Ok("open"));
    for (name, value) in [
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("host", "evil.example"),
    ] {
        for path in [format!("/caco/ws?token={key}"), "/ws".to_owned()] {
            let refused = open(path, vec![bearer(), (name, value.to_owned())]).await;
            assert_eq!(refused.unwrap_err().0, 403, "{name}: {value}");
        }
    }
    assert_eq!(open(format!("/caco/ws?token={key}"), vec![]).await, Ok("open"));
    assert_eq!(open("/caco/ws?token=wrong".into(), vec![]).await, Err(unauthorized()));
    // With a token it is a phone's, see phone_doors.rs.
    assert_eq!(open(format!("/ws?token={key}"), vec![]).await, Ok("open"));

    let token = || async {
        let (status, issued) = house.ask("POST", "/api/socket-token").send().await.json();
        assert_eq!((status, &issued["expiresIn"]), (200, &json!(60)));
        format!("/caco/ws?token={}", issued["token"].as_str().unwrap())
    };
    let path = token().await;
    assert_eq!(open(path.clone(), vec![]).await, Ok("open"));
    assert_eq!(open(path, vec![]).await, Err(unauthorized()), "once");
    let path = token().await;
    let http = path.replace("/caco/ws", "/api/session");
    let reply = house.ask_without_key("GET", &http).send().await;
    assert_eq!(reply.json(), unauthorized(), "a token opens a socket and nothing else");
    house.world.clock.advance(SignedDuration::from_secs(60));
    assert_eq!(open(path, vec![]).await, Err(unauthorized()), "and soon");
    let plain = house.ask("GET", "/ws").send().await.json();
    assert_eq!((plain.0, &plain.1["code"]), (400, &json!("BAD_REQUEST")), "{}", plain.1);
}

#[tokio::test]
async fn trust_in_this_machine_waives_the_key_and_nothing_else() {
    let settings = Settings { trust_loopback: true, ..Settings::default() };
    let house = House::with(World::new([]), settings).await;
    let post = || house.ask_without_key("POST", "/api/sessions");
    assert_eq!(post().json(&json!({})).send().await.status, 200);
    assert!(Socket::open(house.address(), "/ws", &[]).await.is_ok());
    for (name, value, text) in [
        ("host", "evil.example", HOST),
        ("origin", "http://evil.example", ORIGIN),
        ("origin", "null", ORIGIN),
        ("sec-fetch-site", "cross-site", SITE),
    ] {
        let reply = post().header(name, value).json(&json!({})).send().await;
        assert_eq!(reply.json(), forbidden(text));
        let socket = Socket::open(house.address(), "/ws", &[(name, value.to_owned())]).await;
        assert_eq!(socket.map(|_| ()).unwrap_err(), forbidden(text));
    }
    let form = post().body("application/x-www-form-urlencoded", "cwd=/").send().await;
    assert_eq!(form.status, 415);
    let (_, list) = house.get("/api/sessions").await;
    assert_eq!(
        list["grouped"][house.cwd()].as_array().unwrap().len(),
        1,
        "only the first was made"
    );
}

#[tokio::test]
async fn a_configured_name_is_answered_to() {
    let settings =
        Settings { allowed_hosts: vec!["hall.example".to_owned()], ..Settings::default() };
    let house = House::with(World::new([]), settings).await;
    let ask = |host: &str, origin: &str| {
        let ask = house.ask("GET", "/api/session").header("host", host);
        ask.header("origin", origin).send()
    };
    assert_eq!(ask("hall.example", "https://hall.example").await.status, 200);
    assert_eq!(ask("HALL.example:8443", "https://hall.example:8443").await.status, 200);
    assert_eq!(ask("hall.example", "https://evil.example").await.json(), forbidden(ORIGIN));
    assert_eq!(ask("x.hall.example", "https://x.hall.example").await.json(), forbidden(HOST));
}

#[tokio::test]
async fn what_is_not_there_is_told_by_its_name() {
    let house = House::new([]).await;
    let id = house.session().await;
    for (method, path) in [
        ("GET", "/api/nothing".to_owned()),
        ("GET", "/api".to_owned()),
        ("GET", "/api/".to_owned()),
        ("GET", "/api/sessions/".to_owned()),
        ("POST", "/nothing".to_owned()),
        ("DELETE", "/".to_owned()),
        ("PUT", "/api/sessions".to_owned()),
        ("POST", "/api/session".to_owned()),
        ("GET", format!("/api/sessions/{id}")),
        ("GET", format!("/api/sessions/{id}/messages")),
        ("POST", "/api/models".to_owned()),
        ("POST", "/healthz".to_owned()),
        ("BREW", "/api/sessions".to_owned()),
        ("GET", "/nothing.html".to_owned()),
        ("GET", "/..%2f..%2fetc/passwd".to_owned()),
    ] {
        let reply = house.ask(method, &path).header("accept", "text/html").send().await;
        let text = format!("Not found: {method} {path}");
        assert_eq!(reply.json(), (404, error("NOT_FOUND", &text)));
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    }
}
