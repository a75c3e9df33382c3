//! A phone that speaks version 2: it goes on from where it was, and keeps a timeline of what it heard.

use phone::{News, Telling, Timeline};
use serde_json::{Value, json};

use super::{Ask, House, Reply, Socket};

pub struct Newer {
    pub key: String,
    pub socket: Option<Socket>,
    pub timeline: Timeline,
    /// All frames of the last socket, as they came.
    pub frames: Vec<Value>,
    model: String,
}

impl Newer {
    pub fn new(key: &str, model: &str) -> Self {
        let (key, model) = (key.to_owned(), model.to_owned());
        Self { key, socket: None, timeline: Timeline::default(), frames: Vec::new(), model }
    }

    /// One with a key of its own that has read the history.
    pub async fn paired(house: &House, name: &str) -> Self {
        let (_, paired) = house.post("/api/keys", json!({ "name": name })).await;
        let mut phone = Self::new(paired["key"].as_str().unwrap(), name);
        phone.load(house).await;
        phone.connect(house).await;
        phone
    }

    pub async fn load(&mut self, house: &House) {
        let reply = self.ask(house, "/messages?v=2&limit=200").await;
        let (rows, seq) = phone::history(&reply.text()).unwrap();
        self.timeline.load(rows, seq);
    }

    pub async fn ask(&self, house: &House, path: &str) -> Reply {
        let ask = Ask::new(house.address(), "GET", path).header("user-agent", &self.model);
        ask.header("authorization", &format!("Bearer {}", self.key)).send().await
    }

    /// From where the timeline ends.
    pub async fn connect(&mut self, house: &House) {
        let after = self.timeline.seq.map(|seq| format!("&after_seq={seq}")).unwrap_or_default();
        self.connect_with(house, &after).await.unwrap();
    }

    pub async fn connect_with(&mut self, house: &House, query: &str) -> Result<(), (u16, Value)> {
        let path = format!("/ws?token={}&v=2{query}", self.key);
        let headers = [("user-agent", self.model.clone())];
        self.socket = Some(Socket::open(house.address(), &path, &headers).await?);
        self.frames.clear();
        let first = self.next().await;
        assert!(matches!(first.news, News::Agreed { .. }), "{first:?}");
        Ok(())
    }

    pub fn cut(&mut self) {
        self.socket = None;
    }

    pub async fn say(&mut self, id: &str, content: &str) {
        self.timeline.sending.push((id.to_owned(), content.to_owned()));
        self.send(json!({ "type": "message.send", "id": id, "content": content })).await;
    }

    pub async fn send(&mut self, frame: Value) {
        self.socket.as_mut().unwrap().send(frame).await;
    }

    pub async fn next(&mut self) -> Telling {
        let frame = self.socket.as_mut().unwrap().next().await;
        let telling = phone::telling(&frame.to_string()).unwrap();
        let before = self.frames.last().and_then(|frame| frame["seq"].as_u64());
        let is_selected = frame["type"] == "session.selected";
        assert!(before <= frame["seq"].as_u64() || is_selected, "{frame} after {before:?}");
        self.timeline.hear(&telling);
        self.frames.push(frame);
        telling
    }

    /// All frames up to the first of this kind, it included.
    pub async fn until(&mut self, kind: &str) -> Value {
        loop {
            self.next().await;
            let last = self.frames.last().unwrap();
            if last["type"] == kind {
                return last.clone();
            }
        }
    }

    pub async fn until_idle(&mut self) {
        loop {
            self.until("status.update").await;
            if self.frames.last().unwrap()["status"] == "idle" {
                return;
            }
        }
    }

    /// Until so many rows are known and nothing goes on any more.
    pub async fn until_rows(&mut self, count: usize) {
        while self.timeline.rows.len() < count || self.timeline.busy {
            self.next().await;
        }
    }

    pub fn words(&self) -> Vec<&str> {
        self.timeline.rows.iter().map(|row| row.content.as_str()).collect()
    }
}
