//! A provider of models on this machine that tells everybody what it was sent, keys and all.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::json;

/// What it does is the first part of the path: see [`answer`].
pub struct Provider {
    pub addr: SocketAddr,
    heard: Arc<Mutex<String>>,
}

impl Provider {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (addr, heard) = (listener.local_addr().unwrap(), Arc::default());
        let ears = Arc::clone(&heard);
        // Ends with the test.
        thread::spawn(move || {
            for guest in listener.incoming().flatten() {
                let ears = Arc::clone(&ears);
                thread::spawn(move || serve(guest, &ears));
            }
        });
        Self { addr, heard }
    }

    /// The heads of all requests.
    pub fn heard(&self) -> String {
        self.heard.lock().unwrap().clone()
    }
}

fn serve(mut guest: TcpStream, heard: &Mutex<String>) {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    let head = loop {
        let Ok(length @ 1..) = guest.read(&mut buffer) else { return };
        request.extend_from_slice(&buffer[..length]);
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n")
            && body.len() >= length_of(head)
        {
            break head.to_owned();
        }
    };
    heard.lock().unwrap().push_str(&head);
    // Whoever asked may have gone.
    guest.write_all(answer(&head).as_bytes()).ok();
}

fn length_of(head: &str) -> usize {
    let named = |line: &str| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then(|| value.parse().ok())?
    };
    head.lines().find_map(named).unwrap_or(0)
}

fn answer(head: &str) -> String {
    let target = head.split(' ').nth(1).unwrap_or_default();
    let behaviour = match target.strip_prefix('/') {
        Some(path) => path.split('/').next().unwrap_or_default(),
        // A proxy is asked for a whole address.
        None => "trouble",
    };
    let echo = head.replace("\r\n", " ");
    let error = json!({ "error": { "message": echo, "type": "strange" } }).to_string();
    let word = json!({ "choices": [{ "index": 0, "delta": { "content": "well" } }] });
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    let is_list = head.starts_with("GET ");
    let (status, body) = match behaviour {
        "locked" => ("401 No", error),
        "busy" => ("429 Later", error),
        "trouble" => ("500 Oops", echo.clone()),
        "garbage" if is_list => ("200 OK", format!("{{oops {echo}")),
        "garbage" => ("200 OK", format!("data: {{oops {echo}\n\n")),
        "broken" => ("200 OK", format!("data: {word}\n\ndata: {error}\n\n")),
        "cut" => ("200 OK", format!("data: {word}\n\ndata: {echo}")),
        _ if is_list => ("200 OK", json!({ "data": [{ "id": "m" }] }).to_string()),
        _ => ("200 OK", format!("data: {word}\n\ndata: {end}\n\ndata: [DONE]\n\n")),
    };
    format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: text/event-stream\r\nx-echo: \
         {echo}\r\nwww-authenticate: {echo}\r\nretry-after-ms: 1\r\n\r\n{body}"
    )
}
