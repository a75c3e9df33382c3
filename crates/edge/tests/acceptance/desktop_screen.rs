//! Desktops as the page has them: the live screen over its socket, hands on it, and what is told of that.

use std::{sync::Arc, time::Duration};

use kernel::desktop::{
    Action, Button, Desktop as _, DesktopError, Method, Pause, Point, Rect, Stay,
};
use serde_json::{Value, json};
use testkit::FakeDesktop;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use super::desktop::{Device, key};
use crate::common::{House, Socket, bad, error};

const PATIENCE: Duration = Duration::from_secs(30);
const SPOT: Rect = Rect { x: 600, y: 300, w: 60, h: 60 };

/// A house with a desktop of its own.
struct Studio {
    house: House,
    desktop: FakeDesktop,
    _stay: Stay,
}

impl Studio {
    async fn new() -> Self {
        let house = House::new([]).await;
        let desktop = FakeDesktop::default();
        let stay = house.host().devices.join("studio", Arc::new(desktop.clone()));
        Self { house, desktop, _stay: stay }
    }

    async fn stands(&self) -> Value {
        self.house.get("/api/desktop").await.1["devices"][0].clone()
    }

    async fn wish(&self, what: &str) {
        let path = format!("/api/desktop/{what}");
        let (status, answer) = self.house.post(&path, json!({ "device": "studio" })).await;
        assert_eq!(status, 200, "{answer}");
    }
}

/// Somebody who looks at a screen.
struct Looker(Socket);

#[derive(Debug)]
enum Seen {
    Text(Value),
    Frame(Vec<u8>),
}

impl Looker {
    async fn new(house: &House, device: &str) -> Self {
        let path = format!("/api/desktop/screen?device={device}");
        let bearer = [("Authorization", house.bearer())];
        Self(Socket::open(house.address(), &path, &bearer).await.unwrap())
    }

    async fn next(&mut self) -> Seen {
        loop {
            let message = timeout(PATIENCE, self.0.message()).await.unwrap();
            match message.unwrap().unwrap() {
                Message::Text(text) => return Seen::Text(serde_json::from_str(&text).unwrap()),
                Message::Binary(bytes) => return Seen::Frame(bytes.to_vec()),
                _ => (),
            }
        }
    }

    async fn frame(&mut self) -> Vec<u8> {
        loop {
            if let Seen::Frame(frame) = self.next().await {
                return frame;
            }
        }
    }

    /// What came of something that hands did, by what they called it.
    async fn done(&mut self, id: u32, command: Value) -> Value {
        self.0.send(json!({ "type": "input", "id": id, "command": command })).await;
        loop {
            match self.next().await {
                Seen::Text(text) if text["type"] == "done" => {
                    assert_eq!(text["id"], id);
                    return text["result"].clone();
                }
                _ => (),
            }
        }
    }

    async fn drawn(&mut self, frame: &[u8]) {
        self.0.send(json!({ "type": "drawn", "frame": number(frame) })).await;
    }
}

fn number(frame: &[u8]) -> u32 {
    u32::from_be_bytes(frame[..4].try_into().unwrap())
}

/// The first part of a frame: x, y, width, height.
fn part(frame: &[u8]) -> [u16; 4] {
    [6, 8, 10, 12].map(|at| u16::from_be_bytes(frame[at..at + 2].try_into().unwrap()))
}

#[tokio::test]
async fn only_the_owner_looks_and_only_at_what_is_there() {
    let house = House::new([]).await;
    let path = "/api/desktop/screen?device=studio";
    assert_eq!(Socket::open(house.address(), path, &[]).await.err().unwrap().0, 401);
    let viewer = key(&house, "wall", "viewer").await;
    let bearer = [("Authorization", format!("Bearer {viewer}"))];
    assert_eq!(Socket::open(house.address(), path, &bearer).await.err().unwrap().0, 401);
    let owner = [("Authorization", house.bearer())];
    assert_eq!(Socket::open(house.address(), path, &owner).await.err().unwrap().0, 404);
}

#[tokio::test]
async fn a_screen_is_told_whole_and_then_by_what_changes_as_fast_as_it_is_drawn() {
    let studio = Studio::new().await;
    let mut looker = Looker::new(&studio.house, "studio").await;
    let Seen::Text(size) = looker.next().await else { panic!() };
    let area = json!({ "x": 0, "y": 0, "w": 1920, "h": 1080 });
    assert_eq!(size, json!({ "type": "screen", "width": 320, "height": 180, "area": area }));
    let first = looker.frame().await;
    assert_eq!((number(&first), part(&first)), (1, [0, 0, 320, 180]));
    // One more may be on its way before the first is drawn, and no third.
    studio.desktop.paint(SPOT, [255, 0, 0]);
    let second = looker.frame().await;
    assert_eq!((number(&second), part(&second)), (2, [64, 0, 64, 64]));
    studio.desktop.paint(SPOT, [0, 255, 0]);
    studio.desktop.paint(Rect { x: 0, y: 1000, w: 6, h: 6 }, [0, 0, 255]);
    let looked = studio.desktop.glances();
    looker.drawn(&second).await;
    let third = looker.frame().await;
    assert_eq!(number(&third), 3);
    // What happened meanwhile came as one: it was not looked at in between.
    assert_eq!(u16::from_be_bytes(third[4..6].try_into().unwrap()), 2);
    assert!(studio.desktop.glances() > looked);
}

#[tokio::test]
async fn so_many_may_look_at_a_time_and_who_has_left_does_not_count() {
    let studio = Studio::new().await;
    let looker = Looker::new(&studio.house, "studio").await;
    while studio.desktop.glances() == 0 {
        tokio::task::yield_now().await;
    }
    drop(looker);
    let mut crowd = Vec::new();
    // Eight may look at once, and those who have left are not counted.
    for _ in 0..8 {
        crowd.push(seen(&studio.house).await);
    }
    let mut ninth = Looker::new(&studio.house, "studio").await;
    let closed = ninth.0.closed().await.unwrap().unwrap();
    assert_eq!((u16::from(closed.code), closed.reason.as_str()), (1013, "too many are looking"));
}

#[tokio::test]
async fn where_nobody_looks_any_more_nothing_is_looked_at() {
    let studio = Studio::new().await;
    let mut looker = Looker::new(&studio.house, "studio").await;
    looker.frame().await;
    // One glance is under way, and would be for ever.
    studio.desktop.darken();
    timeout(PATIENCE, studio.desktop.looked_at_by(1)).await.unwrap();
    let looked = studio.desktop.glances();
    drop(looker);
    timeout(PATIENCE, studio.desktop.looked_at_by(0)).await.unwrap();
    assert_eq!(studio.desktop.glances(), looked);
}

/// Somebody who sees something; it is tried again while one who left still counts.
async fn seen(house: &House) -> Looker {
    loop {
        let mut looker = Looker::new(house, "studio").await;
        let message = timeout(PATIENCE, looker.0.message()).await.unwrap();
        if let Some(Ok(Message::Text(_))) = message {
            return looker;
        }
    }
}

#[tokio::test]
async fn hands_reach_through_the_screen_once_the_desktop_is_taken_over() {
    let studio = Studio::new().await;
    let mut page = studio.house.socket().await;
    let mut looker = Looker::new(&studio.house, "studio").await;
    let down = json!({ "type": "mouse_down", "button": "left", "x": 600, "y": 300 });
    let refused = looker.done(1, down.clone()).await;
    assert_eq!((&refused["type"], &refused["code"]), (&json!("error"), &json!("denied")));
    studio.wish("take_over").await;
    assert_eq!(studio.stands().await["inHands"], true);
    assert_eq!(looker.done(2, down).await["message"], "Pressed left button at (0, 0)");
    let wrong = looker.done(3, json!({ "type": "mouse_down", "button": "Left" })).await;
    assert_eq!(wrong["error"], "Invalid button: Left");
    let never = looker.done(4, json!({ "type": "hand_back" })).await;
    assert_eq!(never["error"], "that is not something hands can do");
    looker.0.send_raw(Message::text("not json")).await;
    looker.0.send(json!({ "type": "unheard of" })).await;
    let typed = json!({ "type": "keyboard_type", "text": "hush", "secret": true });
    assert_eq!(looker.done(5, typed).await["message"], "Typed 4 characters");
    let at = Some(Point { x: 600, y: 300 });
    let text = "hush".to_owned();
    let secret = Action::KeyboardType { text, method: Method::Auto, secret: true, delay_ms: 0 };
    assert_eq!(studio.desktop.done(), [Action::MouseDown { button: Button::Left, at }, secret]);

    let mut told = Vec::new();
    while told.len() < 3 {
        let frame = page.next().await;
        if frame["event"]["type"] == "desktop.acted" {
            told.push(frame["event"]["data"]["action"].clone());
        }
    }
    let results: Vec<&Value> = told.iter().map(|it| &it["result"]["type"]).collect();
    assert_eq!(results, ["error", "success", "success"]);
    assert!(!told.iter().any(|it| it.to_string().contains("hush")), "{told:?}");
}

#[tokio::test]
async fn a_connected_device_is_asked_for_its_picture_while_somebody_looks() {
    let house = House::new([]).await;
    let key = key(&house, "den", "device").await;
    let device = Device::connected(&house, &key, "den").await;
    let mut looker = Looker::new(&house, "den").await;
    // Its own arming is its own affair.
    let Seen::Text(told) = looker.next().await else { panic!() };
    assert_eq!(
        (&told["type"], &told["width"], &told["area"]["w"]),
        (&json!("screen"), &json!(16), &json!(1920))
    );
    assert_eq!(part(&looker.frame().await), [0, 0, 16, 9]);
    assert_eq!(device.desktop.done(), []);
}

#[tokio::test]
async fn what_is_recorded_through_the_screen_is_done_again_by_its_name() {
    let studio = Studio::new().await;
    let house = &studio.house;
    studio.wish("take_over").await;
    studio.wish("record").await;
    let twice = house.post("/api/desktop/record", json!({})).await;
    let text = "What is done there is being recorded already";
    assert_eq!(twice, (409, error("CONFLICT", text)));
    let mut looker = Looker::new(house, "studio").await;
    let click = json!({ "type": "mouse_click_at", "x": 600, "y": 300 });
    looker.done(1, click).await;
    looker.done(2, json!({ "type": "keyboard_type", "text": "hello" })).await;
    assert_eq!(studio.stands().await["recording"]["steps"], 2);
    let unnamed = house.post("/api/desktop/trajectories", json!({ "name": " " })).await;
    assert_eq!(unnamed, bad("a name has 1 to 80 characters"));
    let (status, kept) = house.post("/api/desktop/trajectories", json!({ "name": "greet" })).await;
    assert_eq!((status, &kept["trajectory"]["name"]), (200, &json!("greet")), "{kept}");
    assert_eq!(studio.stands().await["recording"], Value::Null);
    let id = kept["trajectory"]["id"].as_str().unwrap();
    let place = format!("/api/desktop/trajectories/{id}");
    assert_eq!(house.patch(&place, json!({ "name": "welcome" })).await.0, 200);
    let (_, list) = house.get("/api/desktop/trajectories").await;
    let steps = json!([
        { "title": "Click at 600, 300", "looks": true }, { "title": "Type “hello”", "looks": false },
    ]);
    assert_eq!(
        (&list["trajectories"][0]["name"], &list["trajectories"][0]["steps"]),
        (&json!("welcome"), &steps)
    );

    let replay = format!("{place}/replay");
    let (status, again) = house.post(&replay, json!({})).await;
    let all = json!({ "done": 2, "of": 2, "text": "Did all 2 steps of welcome." });
    assert_eq!((status, again), (200, all));
    assert_eq!(studio.desktop.done().len(), 4);
    studio.desktop.paint(Rect { x: 0, y: 0, w: 1920, h: 1080 }, [0, 0, 0]);
    let (_, stopped) = house.post(&replay, json!({})).await;
    assert_eq!((&stopped["done"], &stopped["stopped"]), (&json!(0), &json!("differs")));
    assert!(stopped["expected"].as_str().unwrap().starts_with("data:image/png;base64,"));
    assert_ne!(stopped["expected"], stopped["found"]);
    let (_, on) = house.post(&replay, json!({ "from": 0, "anyway": true })).await;
    assert_eq!((&on["done"], on.get("stopped")), (&json!(2), None));
    assert_eq!(house.delete(&place).await.0, 200);
    assert_eq!(house.delete(&place).await.0, 404);
    assert_eq!(house.post(&replay, json!({})).await.0, 404);
}

#[tokio::test]
async fn how_desktops_stand_is_told_and_what_was_done_is_read_a_page_at_a_time() {
    let studio = Studio::new().await;
    let house = &studio.house;
    let session = house.session().await;
    let mut page = house.socket().await;
    let wish = json!({ "device": "studio", "seconds": 600, "session": session });
    assert_eq!(house.post("/api/desktop/arm", wish).await.0, 200);
    while page.next().await["event"]["type"] != "desktop.changed" {}
    let stands = studio.stands().await;
    let arming = &stands["armings"][0];
    assert_eq!(
        (&arming["session"], &arming["classes"]),
        (&json!(session), &json!(["look", "point", "type"]))
    );
    assert_eq!((&stands["inHands"], &stands["paused"]), (&json!(false), &Value::Null));
    studio.desktop.take(Some(Pause::Human));
    let mut states = studio.desktop.states();
    states.wait_for(|state| state.paused.is_some()).await.unwrap();
    assert_eq!(studio.stands().await["paused"], "human");
    studio.wish("take_over").await;
    let mut looker = Looker::new(house, "studio").await;
    for (id, text) in [(1, "a"), (2, "bb"), (3, "ccc")] {
        looker.done(id, json!({ "type": "keyboard_type", "text": text })).await;
    }
    let (_, newest) = house.get("/api/desktop/log?device=studio&limit=2").await;
    let texts = |page: &Value| -> Vec<Value> {
        let actions = page["actions"].as_array().unwrap().iter();
        actions.map(|it| it["arguments"]["text"].clone()).collect()
    };
    // That the person typed is told, and how much; not what.
    assert_eq!(texts(&newest), ["[secret, 3 chars]", "[secret, 2 chars]"]);
    let before = &newest["before"];
    let (_, oldest) = house.get(&format!("/api/desktop/log?limit=2&before={before}")).await;
    assert_eq!(
        (texts(&oldest), &oldest["before"]),
        (vec![json!("[secret, 1 chars]")], &Value::Null)
    );
    let action = &oldest["actions"][0];
    let result = json!({ "type": "success", "message": "Typed 1 characters" });
    assert_eq!(
        (&action["tool"], &action["result"], &action["caller"]),
        (&json!("keyboard_type"), &result, &json!("owner"))
    );
    // Nothing of that was done for the session.
    let (_, own) = house.get(&format!("/api/desktop/log?session={session}")).await;
    assert_eq!(own, json!({ "actions": [], "before": null }));
    assert_eq!(
        house.get("/api/desktop/log?limit=0").await,
        bad("limit must be from 1 to 200, not 0")
    );
    assert_eq!(house.get("/api/desktop/log?session=nobody").await.0, 404);
}

#[tokio::test]
async fn whoever_is_asked_sees_what_would_be_touched_as_it_looks_now() {
    let studio = Studio::new().await;
    studio.desktop.paint(SPOT, [255, 0, 0]);
    let target = async |place: &str| {
        let path = format!("/api/desktop/target?device=studio{place}");
        studio.house.ask("GET", &path).send().await
    };
    let near = target("&x=600&y=330").await;
    assert_eq!((near.status, near.header("content-type")), (200, Some("image/png")));
    assert_eq!(near.header("cache-control"), Some("no-store"));
    assert_eq!(size(&near.body), (260, 180));
    studio.desktop.paint(SPOT, [0, 255, 0]);
    assert_ne!(target("&x=600&y=330").await.body, near.body);
    // Without a point it is the window that would get what is typed.
    assert_eq!(size(&target("").await.body), (320, 180));

    let outside = target("&x=1920&y=0").await;
    assert_eq!(outside.json(), bad("(1920, 0) is not on the screen"));
    assert_eq!(target("&x=left&y=0").await.status, 400);
    let nobody = studio.house.ask_without_key("GET", "/api/desktop/target").send().await;
    assert_eq!(nobody.status, 401);
    let gone = studio.house.get("/api/desktop/target?device=gone").await;
    assert_eq!(gone, (404, error("NOT_FOUND", "No device is named gone")));
    let wall = FakeDesktop::broken(DesktopError::failed("it is dark"));
    let _stay = studio.house.host().devices.join("wall", Arc::new(wall));
    let (status, answer) = studio.house.get("/api/desktop/target?device=wall").await;
    assert_eq!((status, &answer["error"]), (503, &json!("it is dark")), "{answer}");
}

/// As a PNG tells it.
fn size(png: &[u8]) -> (u32, u32) {
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}
