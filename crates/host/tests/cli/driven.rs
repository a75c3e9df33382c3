//! Desktops from the terminal: keys for those that connect, and this machine's own for a hub.

use std::{
    io::{BufRead as _, BufReader},
    os::unix::fs::DirBuilderExt as _,
    process::{Child, Command, Stdio},
};

use jiff::Timestamp;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::home::{Home, Process, Ran, Server};

/// A display that nobody sees.
pub struct Display {
    server: Child,
    pub name: String,
}

impl Display {
    pub fn open() -> Self {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp", "-noreset"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { server, name: format!(":{}", line.trim()) }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

struct House {
    home: Home,
    display: Display,
    key: String,
}

impl House {
    fn device(&self, server: &Server, token: &str) -> Command {
        let url = format!("ws://{}/connect", server.addr);
        let mut command = self.home.command(&["desktop", "--connect", &url, "--token", token]);
        command.env("DISPLAY", &self.display.name);
        command
    }

    fn connected(&self, server: &Server, token: &str) -> Process {
        let mut device = Process::start(self.device(server, token));
        device.remark("this device is called studio there");
        device
    }

    #[expect(clippy::needless_pass_by_value, reason = "`json!` reads best without a `&`")]
    fn post(&self, server: &Server, path: &str, body: Value) -> (u16, Value) {
        server.ask("POST", path, &self.key, Some(&body))
    }

    /// Where the pointer is after it was moved there, or why it is not.
    fn moved(&self, server: &Server, x: u32, y: u32) -> (u16, Value) {
        let wish = json!({ "type": "mouse_move", "x": x, "y": y, "duration": 0 });
        let (status, answer) = self.post(server, "/api/command", wish);
        let message = if status == 200 { &answer["message"] } else { &answer["error"] };
        (status, message.clone())
    }

    /// What comes of a prompt to the demo, which does what it is told.
    fn asks(&self, prompt: &str) -> Ran {
        self.home.run(&["ask", "--model", "demo", "--mode", "full", "--json", prompt])
    }

    fn arm(&self, server: &Server) {
        assert_eq!(self.post(server, "/api/desktop/arm", json!({ "device": "studio" })).0, 200);
    }
}

/// A hub, a display for a device, and the key of one that is called studio.
fn hub() -> (House, Server, String) {
    let home = Home::new();
    let server = home.serve(&[]);
    let key = home.run(&["key"]).out.trim().to_owned();
    let token = home.run(&["desktop", "add", "studio"]).out.trim().to_owned();
    let house = House { home, display: Display::open(), key };
    (house, server, token)
}

#[test]
fn a_device_and_its_hub_survive_the_death_of_the_other() {
    let (house, server, token) = hub();
    let refused = Ran::of(house.device(&server, "mgd_wrong").output().unwrap());
    let line = format!("megaron: key refused by {}\n", server.addr);
    assert_eq!((refused.code, refused.err), (Some(1), line));

    let device = house.connected(&server, &token);
    assert_eq!(house.moved(&server, 10, 20), (409, json!("Desktop control is not armed")));
    house.arm(&server);
    assert_eq!(house.moved(&server, 10, 20), (200, json!("Moved mouse to (10, 20)")));
    device.signal(Signal::KILL);
    device.wait();
    while house.home.run(&["desktop", "list"]).out.contains("connected x11") {}
    assert_eq!(house.moved(&server, 30, 40), (503, json!("No client connected")));

    let mut device = house.connected(&server, &token);
    assert_eq!(house.moved(&server, 30, 40), (200, json!("Moved mouse to (30, 40)")));
    let addr = server.addr.clone();
    server.process.signal(Signal::KILL);
    server.process.wait();
    device.remark("trying again in ");
    let server = house.home.serve(&["--listen", &addr]);
    device.remark("this device is called studio there");
    // Whatever was allowed died with the hub.
    assert_eq!(house.moved(&server, 50, 60), (409, json!("Desktop control is not armed")));
    house.arm(&server);
    assert_eq!(house.moved(&server, 50, 60), (200, json!("Moved mouse to (50, 60)")));
    device.signal(Signal::TERM);
    assert_eq!(device.wait().code, Some(0));
}

#[test]
fn whoever_sits_at_a_device_reads_who_may_drive_it_and_who_has_it() {
    let (house, server, token) = hub();
    let mut device = house.connected(&server, &token);
    // Shorter and longer are told as well.
    for seconds in [900, 60, 1800] {
        let wish = json!({ "device": "studio", "seconds": seconds });
        let (_, armed) = house.post(&server, "/api/desktop/arm", wish);
        let until = Timestamp::from_millisecond(armed["until"].as_i64().unwrap()).unwrap();
        let until = until.to_zoned(house.home.time_zone()).strftime("%H:%M:%S");
        let line = format!("armed until {until}: this desktop may be used from there");
        assert_eq!(device.remark("armed until "), line);
    }
    let to = |x: u32| json!({ "type": "mouse_move", "x": x, "y": 0, "duration": 0 });
    let moved = house.post(&server, "/api/command", to(300));
    assert_eq!(moved.1["message"], "Moved mouse to (300, 0)", "{moved:?}");
    // To the device, what another program does with the pointer is a hand on the mouse.
    let (other, theirs) = served_at(&house.display, &["--desktop-arm", "15m"]);
    let key = other.run(&["key"]).out.trim().to_owned();
    let moved = theirs.ask("POST", "/api/command", &key, Some(&to(0)));
    assert_eq!(moved.1["message"], "Moved mouse to (0, 0)", "{moved:?}");
    let line = device.remark("paused by the pointer in the corner: ");
    assert!(line.ends_with("until ctrl+alt+return hands it back"), "{line}");
    for (path, words) in [("hand_back", "handed back: "), ("disarm", "disarmed: ")] {
        let path = format!("/api/desktop/{path}");
        let answer = house.post(&server, &path, json!({ "device": "studio" }));
        assert_eq!(answer.0, 200, "{answer:?}");
        device.remark(words);
    }
    device.signal(Signal::TERM);
    assert_eq!(device.wait().code, Some(0));
}

#[test]
fn a_part_of_a_real_screen_is_lent_and_the_pointer_stays_in_it() {
    let (house, server, token) = hub();
    let device = house.connected(&server, &token);
    let region = json!({ "x": 100, "y": 100, "w": 200, "h": 100 });
    let wish = json!({ "device": "studio", "region": region });
    assert_eq!(house.post(&server, "/api/desktop/arm", wish).0, 200);
    let ask = |wish: Value| house.post(&server, "/api/command", wish);
    let outside = |place: &str| {
        let only = "Desktop control is lent for a part of the screen only";
        (403, json!(format!("{only}: {place}")))
    };
    let click = json!({ "type": "mouse_click", "button": "left" });
    // A display begins with its pointer in the middle.
    let (status, refused) = ask(click.clone());
    assert_eq!((status, refused["error"].clone()), outside("(400, 300) lies outside"));
    assert_eq!(house.moved(&server, 299, 199), (200, json!("Moved mouse to (299, 199)")));
    assert_eq!(ask(click).0, 200);
    assert_eq!(house.moved(&server, 300, 199), outside("(300, 199) lies outside"));
    let (status, refused) = ask(json!({ "type": "mouse_move_by", "dx": 0, "dy": 1 }));
    assert_eq!((status, refused["error"].clone()), outside("(299, 200) lies outside"));
    let (status, refused) = ask(json!({ "type": "keyboard_input", "text": "a" }));
    assert_eq!((status, refused["error"].clone()), outside("no window is in focus"));
    let (_, at) = ask(json!({ "type": "get_mouse_position" }));
    assert_eq!((&at["x"], &at["y"]), (&json!(299), &json!(199)));
    device.signal(Signal::TERM);
    assert_eq!(device.wait().code, Some(0));
}

#[test]
fn a_name_that_cannot_be_had_ends_it_with_the_reason() {
    let (house, server, _) = hub();
    let mut device = house.device(&server, &house.key);
    let ran = Ran::of(device.args(["--name", "local"]).output().unwrap());
    let why = format!(
        "{} does not want this device: that is the name of the hub's own machine",
        server.addr
    );
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.ends_with(&format!("megaron: {why}\n")), "{ran:?}");
    assert!(ran.err.contains(&format!("{why}; trying again in ")), "{ran:?}");
}

#[test]
fn a_server_without_a_display_says_so_to_whoever_wants_its_own_desktop() {
    let text = "Mouse move failed: no display (DISPLAY and WAYLAND_DISPLAY are not set)";
    for (arguments, device, expected) in [
        (vec![], Value::Null, (503, json!("No client connected"), json!("disconnected"))),
        (vec![], json!("local"), (200, json!(text), json!("no_display"))),
        (vec!["--desktop-arm", "15m"], Value::Null, (200, json!(text), json!("no_display"))),
    ] {
        let home = Home::new();
        let server = home.serve(&arguments);
        let key = home.run(&["key"]).out.trim().to_owned();
        let wish = json!({ "type": "mouse_move", "x": 1, "y": 2, "device": device });
        let (status, answer) = server.ask("POST", "/api/command", &key, Some(&wish));
        assert_eq!((status, answer["error"].clone(), answer["code"].clone()), expected);
        let (_, listed) = server.ask("GET", "/api/status", &key, None);
        assert_eq!(listed["devices"], json!([]));
    }
}

#[test]
fn a_command_that_was_under_way_when_its_hub_died_is_said_to_be_interrupted_and_not_repeated() {
    let (house, server, token) = hub();
    let mut device = house.connected(&server, &token);
    let classes = json!(["look", "point", "type", "act"]);
    let armed = json!({ "device": "studio", "classes": classes });
    assert_eq!(house.post(&server, "/api/desktop/arm", armed).0, 200);
    let made = house.post(&server, "/api/sessions", json!({ "model": "demo", "mode": "full" })).1;
    let session = made["sessionId"].as_str().unwrap();
    let wish = json!({ "x": 700, "y": 500, "duration": 25 });
    let prompt = json!({ "prompt": format!("/tool mouse_move {wish}") });
    let said = house.post(&server, &format!("/api/sessions/{session}/messages"), prompt);
    assert_eq!(said.0, 200, "{said:?}");
    let looks = |server: &Server| {
        house.post(server, "/api/command", json!({ "type": "get_mouse_position" })).1
    };
    while looks(&server)["moving"] != true {}
    let addr = server.addr.clone();
    server.process.signal(Signal::KILL);
    server.process.wait();
    device.remark("trying again in ");
    let server = house.home.serve(&["--listen", &addr]);
    device.remark("this device is called studio there");
    assert_eq!(looks(&server)["error"], "Desktop control is not armed");
    let log = || server.ask("GET", &format!("/api/log?session={session}"), &house.key, None).1;
    while !log().to_string().contains("interrupted") {}
    house.arm(&server);
    // Nothing of it is being done, and nothing is done again.
    assert_eq!(looks(&server)["moving"], Value::Null);
    device.signal(Signal::TERM);
    assert_eq!(device.wait().code, Some(0));
}

#[test]
fn devices_are_added_listed_and_forgotten() {
    let home = Home::new();
    let server = home.serve(&[]);
    let added = home.run(&["desktop", "add", "studio"]);
    assert!(added.code == Some(0) && added.out.starts_with("mgd_"), "{added:?}");
    let key = added.out.trim();
    assert_eq!(server.ask("GET", "/api/sessions", key, None).0, 401);
    assert_eq!(home.run(&["desktop", "add", "wall", "--viewer"]).code, Some(0));
    let listed = home.run(&["desktop", "list"]).out;
    assert_eq!(listed, "studio                not connected\nwall                  watches\n");
    let twice = home.run(&["desktop", "add", "studio"]);
    assert_eq!(twice.code, Some(1), "{twice:?}");
    assert!(twice.err.contains("there is a key for that name already"), "{twice:?}");
    assert_eq!(home.run(&["desktop", "forget", "studio"]).code, Some(0));
    for name in ["studio", "../x"] {
        let gone = home.run(&["desktop", "forget", name]);
        assert_eq!(gone.err, format!("megaron: Device not found: {name}\n"));
    }
}

#[test]
fn what_cannot_be_driven_or_reached_is_said_in_one_line() {
    let home = Home::new();
    for (args, words) in [
        (&["desktop"][..], "say which hub: --connect ws://HOST/connect"),
        (
            &["desktop", "--connect", "http://127.0.0.1:1"],
            "begins with ws:// or wss://, not http://",
        ),
        (&["desktop", "--connect", "ws://hub.example/connect"], "use wss://, or say --insecure"),
        (&["desktop", "--connect", "ws://127.0.0.1:1", "--arm", "9h"], "at most 8h, not `9h`"),
        (&["desktop", "--connect", "ws://127.0.0.1:1/connect", "--token", "x"], "no display"),
    ] {
        let ran = home.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
        assert!(ran.err.starts_with("megaron: ") && ran.err.contains(words), "{ran:?}");
        assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
    }
}

/// The server on a machine with a display, which may be driven in every way.
fn at_a_display(arguments: &[&str]) -> (House, Server) {
    let display = Display::open();
    let (home, server) = served_at(&display, arguments);
    let key = home.run(&["key"]).out.trim().to_owned();
    (House { home, display, key }, server)
}

fn served_at(display: &Display, arguments: &[&str]) -> (Home, Server) {
    let home = Home::new();
    let config = "[shell]\nsandbox = \"never\"\n\n[desktop]\ndeny = [\"Vault*\"]\n";
    std::fs::DirBuilder::new().mode(0o700).create(home.path("home")).unwrap();
    home.write_private("config.toml", config);
    let mut command = home.command(&["serve", "--no-open", "--listen", "127.0.0.1:0"]);
    command.args(arguments).env("DISPLAY", &display.name).stderr(Stdio::null());
    let server = Server::begin(command);
    (home, server)
}

#[test]
fn an_agent_opens_a_terminal_types_a_command_and_reads_what_came_of_it() {
    let (house, server) = at_a_display(&[]);
    let classes = json!(["look", "point", "type", "act", "clipboard"]);
    assert_eq!(house.post(&server, "/api/desktop/arm", json!({ "classes": classes })).0, 200);
    let xterm = format!("xterm -display {} -geometry 80x20+0+0 -e sh", house.display.name);
    let wish = json!({ "command": xterm, "background": true, "sandbox": false });
    let opened = house.asks(&format!("/tool shell {wish}"));
    assert_eq!(opened.code, Some(0), "{opened:?}");
    let asked = |kind: &str| house.post(&server, "/api/command", json!({ "type": kind })).1;
    while asked("window_list")["windows"].as_array().is_none_or(Vec::is_empty) {}
    let clipboard = format!("xclip -display {} -selection clipboard", house.display.name);
    let command = format!(r"printf hall-%s $((6*7)) | {clipboard}\n");
    let prompt = format!(
        "/tool mouse_move {{\"x\": \"200\", \"y\": 150, \"duration\": 0}}\n\
         /tool keyboard_input {{\"text\": \"{command}\"}}"
    );
    let typed = house.asks(&prompt);
    assert_eq!(typed.code, Some(0), "{typed:?}");
    assert!(typed.out.contains("Moved mouse to (200, 150)"), "{typed:?}");
    while asked("clipboard_get")["text"] != "hall-42" {}
    let prompt = "/tool computer {\"action\": \"screenshot\"}\n\
                  /tool computer {\"action\": \"clipboard_get\"}";
    let read = house.asks(prompt);
    assert_eq!(read.code, Some(0), "{read:?}");
    assert!(read.out.contains("hall-42") && read.out.contains("800x600"), "{read:?}");
}

#[test]
fn a_server_that_is_killed_while_a_key_is_down_leaves_none_down() {
    let (house, server) = at_a_display(&["--desktop-arm", "15m"]);
    let held = json!({ "type": "key_down", "key": "shift" });
    assert_eq!(house.post(&server, "/api/command", held).1["message"], "Pressed shift");
    let journal = house.home.path("home").join("desktop.json");
    assert!(journal.exists());
    server.process.signal(Signal::KILL);
    server.process.wait();
    // Whoever puts things right takes the record of them away in the end.
    while journal.exists() {}
}

#[test]
fn what_the_configuration_denies_is_not_typed_into_and_a_message_is_a_turn() {
    let (house, server) = at_a_display(&["--desktop-arm", "15m"]);
    let xterm = format!("xterm -display {} -class Vaulted -e cat", house.display.name);
    let wish = json!({ "command": xterm, "background": true, "sandbox": false });
    assert_eq!(house.asks(&format!("/tool shell {wish}")).code, Some(0));
    let windows = || house.post(&server, "/api/command", json!({ "type": "window_list" })).1;
    let id = loop {
        if let Some(id) = windows()["windows"][0]["id"].as_u64() {
            break id;
        }
    };
    let focus = json!({ "type": "window_focus", "id": id });
    let (status, refused) = house.post(&server, "/api/command", focus);
    let text = "windows of Vaulted get no input";
    assert_eq!((status, &refused["error"]), (403, &json!(text)), "{refused}");

    let prompt = "/tool mouse_move {\"x\": \"700\", \"y\": 500, \"duration\": 0}";
    let (status, answer) = house.post(&server, "/api/chat", json!({ "message": prompt }));
    let arguments = json!({ "x": "700", "y": 500, "duration": 0 });
    let result = json!({ "type": "success", "message": "Moved mouse to (700, 500)" });
    let executed = json!([{ "tool": "mouse_move", "arguments": arguments, "result": result }]);
    assert_eq!((status, &answer["executedTools"]), (200, &executed), "{answer}");
    assert_eq!(answer["thinking"], Value::Null);
}
