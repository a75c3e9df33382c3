//! Frames: tickets to content on an origin of its own, and what is said between it and the house.

use edge::Settings;
use serde_json::{Value, json};
use testkit::{World, model::text};

use crate::common::{Ask, House, Reply, Socket, error, exchange, no_session};

/// A frame of the built-in app, as the page gets it.
struct Frame {
    id: String,
    /// Where its content is, on the other origin.
    path: String,
    nonce: String,
}

async fn open(house: &House, session: Option<&str>) -> Frame {
    let wish = json!({ "kind": "app", "id": "demo", "sessionId": session });
    let (status, answer) = house.post("/api/frames", wish).await;
    assert_eq!(status, 200, "{answer}");
    let said = |name: &str| answer[name].as_str().unwrap().to_owned();
    let origin = format!("http://{}", house.sandbox());
    let path = said("url").strip_prefix(&origin).unwrap().to_owned();
    Frame { id: said("frameId"), path, nonce: said("nonce") }
}

fn fetch(house: &House, method: &str, path: &str) -> Ask {
    Ask::new(house.sandbox(), method, path)
}

async fn held(house: &House, frame: &Frame) -> Socket {
    let mut socket = house.socket().await;
    socket.send(json!({ "type": "holdFrame", "frameId": frame.id })).await;
    assert_eq!(socket.next().await, json!({ "type": "frameHeld", "frameId": frame.id }));
    assert_eq!(notes(&socket.next().await, frame), Vec::<String>::new());
    socket
}

/// The notes that a frame is told of.
fn notes(told: &Value, frame: &Frame) -> Vec<String> {
    assert_eq!(told["type"], "frameMessage", "{told}");
    assert_eq!(told["frameId"], frame.id.as_str(), "{told}");
    assert_eq!(told["message"]["type"], "notes", "{told}");
    let notes = told["message"]["notes"].as_array().unwrap();
    notes.iter().map(|note| note["text"].as_str().unwrap().to_owned()).collect()
}

fn said(frame: &Frame, message: &Value) -> Value {
    json!({ "type": "frameMessage", "frameId": frame.id, "message": message })
}

fn told_error(frame: &Frame, text: &str) -> Value {
    json!({ "type": "frameError", "frameId": frame.id, "error": text })
}

fn is_nothing(reply: &Reply) {
    assert_eq!(
        (reply.status, reply.text().as_str()),
        (404, "There is nothing here, or no longer.")
    );
}

#[tokio::test]
async fn a_ticket_leads_to_content_with_its_policy_and_nothing_of_the_owners() {
    let house = House::new([]).await;
    let (status, offers) = house.get("/api/frames").await;
    let offer = json!({ "kind": "app", "id": "demo", "title": "Notice board",
        "description": "Keep notes, and tell them to the agent" });
    assert_eq!((status, &offers["offers"][0]), (200, &offer));
    let rest = &offers["offers"].as_array().unwrap()[1..];
    let others = rest.iter().filter(|it| it["kind"] != "applet" && it["kind"] != "app");
    assert_eq!(others.count(), 0, "{rest:?}");

    let (status, answer) = house.post("/api/frames", json!({ "kind": "app", "id": "demo" })).await;
    assert_eq!(status, 200);
    let flags = "allow-scripts allow-forms allow-popups allow-modals allow-downloads";
    assert_eq!(answer["sandbox"], flags);
    assert_eq!(answer["allow"], "");
    assert_eq!(answer["title"], "Notice board");

    let frame = open(&house, None).await;
    let own = format!("{}{}", house.sandbox(), frame.path);
    let page = house.address();
    let reply = fetch(&house, "GET", &frame.path).send().await;
    assert_eq!(reply.status, 200);
    let policy = format!(
        "default-src 'none'; script-src {own}; style-src {own}; img-src {own} data: blob:; \
         font-src {own} data:; media-src {own} data: blob:; connect-src {own}; frame-src 'none'; \
         form-action {own}; base-uri 'none'; frame-ancestors http://{page} https://{page}; \
         sandbox {flags}"
    );
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", policy.as_str()),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
        ("access-control-allow-origin", "*"),
        ("cross-origin-resource-policy", "cross-origin"),
    ] {
        assert_eq!(reply.header(name), Some(value), "{name}");
    }
    assert_eq!(reply.header("set-cookie"), None);
    let tag = format!("<head><script src=\"{}__megaron/sdk.js\"></script>", frame.path);
    assert!(reply.text().contains(&tag), "{}", reply.text());

    let sdk = fetch(&house, "GET", &format!("{}__megaron/sdk.js", frame.path)).send().await;
    assert_eq!(sdk.header("content-type"), Some("text/javascript; charset=utf-8"));
    let word = format!("globalThis.__megaron={{\"nonce\":\"{}\"}};\n", frame.nonce);
    assert!(sdk.text().starts_with(&word));
    for (name, kind) in [("board.js", "text/javascript"), ("board.css", "text/css")] {
        let reply = fetch(&house, "GET", &format!("{}{name}", frame.path)).send().await;
        let kind = format!("{kind}; charset=utf-8");
        assert_eq!((reply.status, reply.header("content-type")), (200, Some(kind.as_str())));
        assert!(!reply.text().contains("__megaron/sdk.js"), "only documents are given the script");
    }
}

#[tokio::test]
async fn nothing_is_served_without_a_good_ticket() {
    let house = House::new([]).await;
    let frame = open(&house, None).await;
    let other = open(&house, None).await;
    let ticket = frame.path.trim_matches('/').strip_prefix("f/").unwrap();
    assert!(ticket.len() >= 43, "256 bits in base 64");
    assert_ne!(frame.path, other.path);
    let mut wrong = vec![
        "/".to_owned(),
        "/f".to_owned(),
        "/f/".to_owned(),
        "/f//".to_owned(),
        format!("/f/{ticket}"),
        format!("/f/{ticket}x/"),
        format!("/f/{}/", &ticket[..ticket.len() - 1]),
        format!("/f/{}/", ticket.to_lowercase()),
        format!("/f/{}/", frame.id),
        format!("/f/{}/", frame.nonce),
        format!("/g/{ticket}/"),
        format!("//f/{ticket}/"),
        "/index.html".to_owned(),
        "/sdk/megaron-frame.js".to_owned(),
        "/__megaron/sdk.js".to_owned(),
        format!("/?ticket={ticket}"),
    ];
    let traversals = [
        "nothing.js",
        "..",
        "../",
        "../../",
        "../key",
        "../../key",
        "%2e%2e/key",
        "%2e%2e%2fkey",
        "..%2f..%2fkey",
        "..%5c..%5ckey",
        "..\\key",
        "%252e%252e%252fkey",
        "//etc/passwd",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "./index.html",
        "a/../index.html",
        ".git/config",
        "index.html/",
        "index.html%00.js",
        "%c0%ae%c0%ae/key",
        "%ff",
        "__megaron/",
        "__megaron",
        "__megaron/../index.html",
        "index.html%20",
        "~root",
        "C:%5ckey",
        "file:///etc/passwd",
    ];
    wrong.extend(traversals.iter().map(|it| format!("{}{it}", frame.path)));
    for path in wrong {
        is_nothing(&fetch(&house, "GET", &path).send().await);
    }
    let (status, _) = house.delete(&format!("/api/frames/{}", frame.id)).await;
    assert_eq!(status, 200);
    is_nothing(&fetch(&house, "GET", &frame.path).send().await);
    assert_eq!(fetch(&house, "GET", &other.path).send().await.status, 200);
    let gone = (404, error("NOT_FOUND", &format!("Frame not found: {}", frame.id)));
    assert_eq!(house.delete(&format!("/api/frames/{}", frame.id)).await, gone);
}

#[tokio::test]
async fn tickets_die_with_the_server() {
    let mut house = House::new([]).await;
    let frame = open(&house, None).await;
    house.restart().await;
    is_nothing(&fetch(&house, "GET", &frame.path).send().await);
    let mut socket = house.socket().await;
    for wish in [
        json!({ "type": "holdFrame", "frameId": frame.id }),
        said(&frame, &json!({ "type": "note", "text": "hi" })),
        json!({ "type": "holdFrame", "frameId": "no frame" }),
    ] {
        let gone = json!({ "type": "frameGone", "frameId": wish["frameId"] });
        socket.send(wish).await;
        assert_eq!(socket.next().await, gone);
    }
}

#[tokio::test]
async fn the_two_origins_have_nothing_in_common() {
    let house = House::new([]).await;
    let frame = open(&house, None).await;
    for path in
        ["/", "/api/sessions", "/api/frames", "/login", "/healthz", "/metrics", "/mcp", "/ws"]
    {
        let ask = fetch(&house, "GET", path).header("authorization", &house.bearer());
        is_nothing(&ask.send().await);
    }
    let headers = [("authorization", house.bearer())];
    let refused = Socket::open(house.sandbox(), "/ws", &headers).await;
    assert!(matches!(refused, Err((404, _))), "no socket is opened there");
    let missing = house.ask("GET", &frame.path).send().await;
    assert_eq!(missing.json().0, 404, "and no frame here");

    let plain = fetch(&house, "GET", &frame.path).send().await;
    let cookie = format!("megaron_{}=anything", house.address().port());
    let dressed = fetch(&house, "GET", &frame.path).header("cookie", &cookie);
    let dressed = dressed.header("authorization", &house.bearer()).send().await;
    assert_eq!(
        (plain.status, &plain.body),
        (dressed.status, &dressed.body),
        "nobody looks at keys"
    );
}

#[tokio::test]
async fn the_other_origin_answers_to_our_names_and_to_reading_alone() {
    let house = House::new([]).await;
    let frame = open(&house, None).await;
    let port = house.sandbox().port();
    for host in ["evil.example", "localhost.evil.example", "10.1.2.3", ""] {
        let reply = fetch(&house, "GET", &frame.path).header("host", host).send().await;
        assert_eq!((reply.status, reply.text().as_str()), (403, "Host not allowed"), "{host}");
    }
    let two = format!(
        "GET {} HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\nconnection: close\r\n\r\n",
        frame.path
    );
    assert_eq!(Reply::parse(&exchange(house.sandbox(), two.as_bytes()).await).status, 403);
    let named = format!("localhost:{port}");
    let reply = fetch(&house, "GET", &frame.path).header("host", &named).send().await;
    let policy = reply.header("content-security-policy").unwrap();
    assert!(policy.contains(&format!("script-src {named}{}", frame.path)), "{policy}");

    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        let reply = fetch(&house, method, &frame.path).send().await;
        assert_eq!((reply.status, reply.header("allow")), (405, Some("GET, HEAD")), "{method}");
    }
    let head = fetch(&house, "HEAD", &frame.path).send().await;
    assert_eq!((head.status, head.body.len()), (200, 0));
}

#[tokio::test]
async fn the_address_of_a_frame_follows_the_name_of_the_page() {
    let house = House::new([]).await;
    let (page, port) = (house.address().port(), house.sandbox().port());
    let wish = json!({ "kind": "app", "id": "demo" });
    let ask = |host: &str| house.ask("POST", "/api/frames").header("host", host).json(&wish);
    let reply = ask(&format!("localhost:{page}")).send().await;
    let url = reply.json().1["url"].as_str().unwrap().to_owned();
    assert!(url.starts_with(&format!("http://localhost:{port}/f/")), "{url}");
    let framing = |reply: &Reply| {
        let policy = reply.header("content-security-policy").unwrap().to_owned();
        policy.split("; ").find(|it| it.starts_with("frame-src")).map(str::to_owned)
    };
    // Besides those who play what was embedded.
    let players = "https://www.youtube-nocookie.com https://player.vimeo.com \
        https://w.soundcloud.com https://open.spotify.com https://platform.twitter.com";
    let expected = format!("frame-src 'self' http://localhost:{port} {players}");
    assert_eq!(framing(&reply), Some(expected));
    let reply = ask(&format!("[::1]:{page}")).send().await;
    let text = "frames need a host name or an IPv4 address: come by one of those instead";
    assert_eq!(reply.json(), (400, error("NO_FRAME_ORIGIN", text)));
    assert_eq!(framing(&reply), Some(format!("frame-src 'self' {players}")));
}

#[tokio::test]
async fn behind_a_proxy_frames_have_the_name_that_it_gives_them() {
    let frame_origin = Some("https://frames.example:8443".parse().unwrap());
    let allowed_hosts = vec!["megaron.example".to_owned()];
    let settings = Settings { frame_origin, allowed_hosts, ..Settings::default() };
    let house = House::with(World::new([]), settings).await;
    for host in ["megaron.example", "[::1]"] {
        let wish = json!({ "kind": "app", "id": "demo" });
        let reply = house.ask("POST", "/api/frames").header("host", host).json(&wish).send().await;
        let policy = reply.header("content-security-policy").unwrap();
        assert!(policy.contains("frame-src 'self' https://frames.example:8443 "), "{policy}");
        let url = reply.json().1["url"].as_str().unwrap().to_owned();
        let path = url.strip_prefix("https://frames.example:8443").unwrap().to_owned();
        // However the proxy speaks of itself.
        for name in ["frames.example:8443", "frames.example", "127.0.0.1"] {
            let shown = fetch(&house, "GET", &path).header("host", name).send().await;
            let policy = shown.header("content-security-policy").unwrap();
            assert!(policy.contains(&format!("script-src frames.example:8443{path}")), "{policy}");
            assert!(policy.contains(&format!("frame-ancestors http://{host} https://{host}")));
        }
    }
    let refused = fetch(&house, "GET", "/").header("host", "other.example").send().await;
    assert_eq!(refused.status, 403);
}

#[tokio::test]
async fn a_frame_that_cannot_be_opened_says_why() {
    let house = House::new([]).await;
    for (wish, answer) in [
        (
            json!({ "kind": "app", "id": "dmo" }),
            (404, "no app is called `dmo`; did you mean `demo`?"),
        ),
        (
            json!({ "kind": "ship", "id": "demo" }),
            (
                400,
                "no kind of frame is called `ship`; there are `app`, `applet`, `widget` and \
             `window`",
            ),
        ),
        (json!({ "id": "demo" }), (400, "Invalid JSON body: missing field `kind`")),
        (
            json!({ "kind": "app", "id": 5 }),
            (400, "Invalid JSON body: id: invalid type: integer `5`, expected a string"),
        ),
    ] {
        let code = if answer.0 == 404 { "NOT_FOUND" } else { "BAD_REQUEST" };
        assert_eq!(house.post("/api/frames", wish).await, (answer.0, error(code, answer.1)));
    }
    let wish = json!({ "kind": "app", "id": "demo", "sessionId": "nobody" });
    assert_eq!(house.post("/api/frames", wish).await, no_session("nobody"));
}

#[tokio::test]
async fn the_oldest_frame_that_nobody_shows_makes_room() {
    let house = House::new([]).await;
    let (shown, unused) = (open(&house, None).await, open(&house, None).await);
    let _page = held(&house, &shown).await;
    for _ in 0..254 {
        open(&house, None).await;
    }
    assert_eq!(fetch(&house, "GET", &shown.path).send().await.status, 200);
    open(&house, None).await;
    is_nothing(&fetch(&house, "GET", &unused.path).send().await);
    assert_eq!(fetch(&house, "GET", &shown.path).send().await.status, 200);
}

#[tokio::test]
async fn no_frame_that_is_on_show_makes_room() {
    let house = House::new([]).await;
    let mut page = house.socket().await;
    for _ in 0..256 {
        let frame = open(&house, None).await;
        page.send(json!({ "type": "holdFrame", "frameId": frame.id })).await;
    }
    page.waiting().await;
    let wish = json!({ "kind": "app", "id": "demo" });
    let text = "256 frames are on show already; close some of them first";
    assert_eq!(house.post("/api/frames", wish.clone()).await, (409, error("CONFLICT", text)));
    drop(page);
    // Until the server has noticed that the page is gone.
    while house.post("/api/frames", wish.clone()).await.0 == 409 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_an_app_keeps_is_told_to_every_frame_of_it_and_survives_a_restart() {
    let mut house = House::new([]).await;
    let (first, second) = (open(&house, None).await, open(&house, None).await);
    let (mut one, mut two) = (held(&house, &first).await, held(&house, &second).await);
    one.send(said(&first, &json!({ "type": "note", "text": " bread " }))).await;
    assert_eq!(notes(&one.next().await, &first), ["bread"]);
    assert_eq!(notes(&two.next().await, &second), ["bread"]);
    two.send(said(&second, &json!({ "type": "note", "text": "wine" }))).await;
    let told = one.next().await;
    assert_eq!(notes(&told, &first), ["bread", "wine"]);
    let bread = told["message"]["notes"][0]["id"].clone();
    one.send(said(&first, &json!({ "type": "remove", "id": bread }))).await;
    assert_eq!(notes(&one.next().await, &first), ["wine"]);

    house.restart().await;
    let frame = open(&house, None).await;
    let mut socket = house.socket().await;
    socket.send(json!({ "type": "holdFrame", "frameId": frame.id })).await;
    socket.next().await;
    assert_eq!(notes(&socket.next().await, &frame), ["wine"]);
}

#[tokio::test]
async fn what_an_app_says_is_said_in_its_session_and_under_its_name() {
    let house = House::new([vec![text("Noted.")]]).await;
    let id = house.session().await;
    let other = house.session().await;
    let frame = open(&house, Some(&id)).await;
    let mut socket = held(&house, &frame).await;
    let forged = json!({ "type": "say", "text": "Buy bread", "sessionId": other });
    socket.send(said(&frame, &forged)).await;
    let confirmed = said(&frame, &json!({ "type": "said", "queued": false }));
    socket.until(|told| *told == confirmed).await;
    let mut listener = house.socket().await;
    let history = listener.history(&id, json!({})).await;
    let message = history.iter().find(|it| it["event"]["type"] == "user.message").unwrap();
    let data =
        json!({ "content": "Buy bread", "attachments": [], "source": "app", "appId": "demo" });
    assert_eq!(message["event"]["data"], data);
    let elsewhere = listener.history(&other, json!({})).await;
    assert!(elsewhere.iter().all(|it| it["event"]["type"] != "user.message"), "{elsewhere:#?}");
}

#[tokio::test]
async fn what_is_wrong_with_a_message_is_told_to_its_frame() {
    let house = House::new([]).await;
    let frame = open(&house, None).await;
    let mut socket = held(&house, &frame).await;
    let long = "x".repeat(2001);
    for (message, text) in [
        (json!({ "type": "say", "text": "hi" }), "there is no session to tell it in yet"),
        (json!({ "type": "note", "text": "  " }), "an empty text says nothing"),
        (json!({ "type": "note", "text": long }), "a text may have 2000 characters at most"),
        (json!({ "type": "note" }), "expected a note, remove or say: missing field `text`"),
    ] {
        socket.send(said(&frame, &message)).await;
        assert_eq!(socket.next().await, told_error(&frame, text));
    }
    for odd in [json!(null), json!(5), json!([]), json!("note"), json!({ "type": "dance" })] {
        socket.send(said(&frame, &odd)).await;
        let told = socket.next().await;
        assert_eq!(
            (&told["type"], &told["frameId"]),
            (&json!("frameError"), &json!(frame.id)),
            "{odd}"
        );
    }
}

#[tokio::test]
async fn only_the_page_that_shows_a_frame_speaks_and_hears_for_it() {
    let house = House::new([]).await;
    let frame = open(&house, None).await;
    let mut first = held(&house, &frame).await;
    let mut stranger = house.socket().await;
    stranger.send(said(&frame, &json!({ "type": "note", "text": "forged" }))).await;
    assert_eq!(stranger.next().await, told_error(&frame, "another page shows this frame"));

    let mut second = held(&house, &frame).await;
    second.send(said(&frame, &json!({ "type": "note", "text": "mine" }))).await;
    assert_eq!(notes(&second.next().await, &frame), ["mine"]);
    assert_eq!(first.waiting().await, Vec::<Value>::new(), "who let go hears nothing");
    assert_eq!(stranger.waiting().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_flood_is_cut_short_with_one_complaint_and_the_connection_lives() {
    let house = House::new([]).await;
    let frame = open(&house, None).await;
    let mut socket = held(&house, &frame).await;
    // Time stands still in this world, so that nothing is forgiven meanwhile.
    for _ in 0..2000 {
        socket.send(said(&frame, &json!({ "type": "note", "text": "" }))).await;
    }
    let heard = socket.waiting().await;
    let text = "messages come too fast; those that came meanwhile were dropped";
    let complaints = heard.iter().filter(|it| **it == told_error(&frame, text)).count();
    assert_eq!(complaints, 1, "{heard:#?}");
    assert!(heard.len() <= 241, "{}", heard.len());
    let other = open(&house, None).await;
    let mut beside = held(&house, &other).await;
    beside.send(said(&other, &json!({ "type": "note", "text": "fine" }))).await;
    assert_eq!(notes(&beside.next().await, &other), ["fine"]);
}
