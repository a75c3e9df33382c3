//! A phone with the shipped app: it reads with that app's decoder, and shows what that app would.

use std::{collections::VecDeque, net::SocketAddr};

use futures::FutureExt as _;
use phone::{Event, Row, Screen, Status};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{
    Message,
    protocol::{CloseFrame, frame::coding::CloseCode},
};

use super::{Ask, House, Reply, Socket};

pub struct Phone {
    address: SocketAddr,
    key: String,
    /// What tells devices apart that come with one key.
    model: String,
    socket: Option<Socket>,
    /// What came while it waited for something else.
    ahead: VecDeque<Value>,
    pub screen: Screen,
    /// All that came on its sockets.
    pub heard: Vec<Event>,
}

impl Phone {
    pub fn new(house: &House, key: &str, model: &str) -> Self {
        Self {
            address: house.address(),
            key: key.to_owned(),
            model: model.to_owned(),
            socket: None,
            ahead: VecDeque::new(),
            screen: Screen::default(),
            heard: Vec::new(),
        }
    }

    /// One that comes with the main key and has run its whole way in.
    pub async fn open(house: &House, model: &str) -> Self {
        let mut phone = Self::new(house, &house.key(), model);
        phone.start().await;
        phone
    }

    /// As the app does when it is opened.
    pub async fn start(&mut self) {
        self.status().await;
        self.load().await;
        self.connect().await;
    }

    pub fn ask(&self, path: &str) -> impl Future<Output = Reply> + Send + use<> {
        let ask = Ask::new(self.address, "GET", path).header("user-agent", &self.model);
        ask.header("authorization", &format!("Bearer {}", self.key)).send()
    }

    /// It goes on reading meanwhile, as the app does.
    pub async fn status(&mut self) -> Status {
        let asking = self.ask("/status").boxed();
        let (mut asking, socket) = (asking, &mut self.socket);
        let reply = loop {
            let Some(socket) = socket else { break asking.await };
            tokio::select! {
                reply = &mut asking => break reply,
                frame = socket.next() => self.ahead.push_back(frame),
            }
        };
        assert_eq!(reply.status, 200, "{}", reply.text());
        phone::status(&reply.text()).unwrap()
    }

    pub async fn rows(&self, query: &str) -> Vec<Row> {
        let reply = self.ask(&format!("/messages{query}")).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        phone::messages(&reply.text()).unwrap()
    }

    pub async fn load(&mut self) {
        let rows = self.rows("?limit=20").await;
        self.screen.load(rows);
    }

    pub async fn connect(&mut self) {
        let path = format!("/ws?token={}", self.key);
        let headers = [("user-agent", self.model.clone())];
        self.socket = Some(Socket::open(self.address, &path, &headers).await.unwrap());
        let first = self.next().await;
        assert!(matches!(first, Event::Connected { .. }), "{first:?}");
    }

    /// The server is another one, at another address.
    pub fn moved(&mut self, house: &House) {
        self.address = house.address();
    }

    /// Its connection is cut, without a goodbye.
    pub fn cut(&mut self) {
        self.socket = None;
        self.ahead.clear();
    }

    /// Its connection is lost without anybody's knowing: it stays open as long as this is kept.
    pub fn detach(&mut self) -> Option<Socket> {
        self.ahead.clear();
        self.socket.take()
    }

    /// The person chose to disconnect.
    pub async fn leave(&mut self) {
        let goodbye = CloseFrame { code: CloseCode::Normal, reason: "".into() };
        self.socket().send_raw(Message::Close(Some(goodbye))).await;
        // The answer says that it was heard.
        self.socket().closed().await.unwrap();
        self.cut();
    }

    pub fn socket(&mut self) -> &mut Socket {
        self.socket.as_mut().unwrap()
    }

    /// The person types and sends.
    pub async fn say(&mut self, id: &str, content: &str) {
        self.screen.typed(id, content);
        self.send(json!({ "type": "message.send", "id": id, "content": content })).await;
    }

    pub async fn send(&mut self, frame: Value) {
        self.socket().send(frame).await;
    }

    pub async fn next(&mut self) -> Event {
        let frame = match self.ahead.pop_front() {
            Some(frame) => frame,
            None => self.socket().next().await,
        };
        let event = phone::event(&frame.to_string()).unwrap();
        self.screen.hear(event.clone());
        self.heard.push(event.clone());
        event
    }

    /// Whether there was something more to hear: the server may have given it up.
    pub async fn try_next(&mut self) -> bool {
        let frame = match self.socket().message().await {
            Some(Ok(Message::Text(text))) => text.to_string(),
            _ => return false,
        };
        let event = phone::event(&frame).unwrap();
        self.screen.hear(event.clone());
        self.heard.push(event);
        true
    }

    /// All up to the first event like this.
    pub async fn until(&mut self, is_last: impl Fn(&Event) -> bool) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            events.push(self.next().await);
            if events.last().is_some_and(&is_last) {
                return events;
            }
        }
    }

    /// All up to the end of what is going on.
    pub async fn until_idle(&mut self) -> Vec<Event> {
        self.until(|event| matches!(event, Event::StatusUpdate { busy: false, .. })).await
    }

    /// What is shown of the conversation, without names.
    pub fn words(&self) -> Vec<&str> {
        self.screen.bubbles.iter().map(|bubble| bubble.content.as_str()).collect()
    }
}
