//! Reading what a device answered, which may be anything.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use imagesize::ImageType;
use kernel::desktop::{
    Action, Code, DesktopError, Display, Done, Format, Frame, Method, Outcome, Pane, Point, Rect,
    Screen,
};
use serde::Deserialize;
use serde_json::Value;

/// The longest text of a device that is passed on, in characters: it is read by models.
const LONGEST: usize = 30_000;
/// How many things of a kind are listed.
const MOST: usize = 1_000;

/// What came of this action, if the answer is one to it. The envelope may still be around it.
pub fn read(action: &Action, reply: &Value) -> Result<Outcome, DesktopError> {
    let strange = |what: &str| {
        action
            .failed(DesktopError::failed(format!("the device's answer is not understood: {what}")))
    };
    let kind = reply["type"].as_str().unwrap_or_default();
    if kind == "error" {
        return Err(refused(action, reply));
    }
    let expected = expected(action);
    if kind != expected {
        return Err(strange(&format!("expected {expected}, not `{}`", short(kind, 40))));
    }
    let outcome = match action {
        Action::GetMousePosition => position(reply),
        Action::Screenshot(_) | Action::Zoom(_) => picture(reply).map(Outcome::Picture),
        Action::ScreenInfo => screen(reply),
        Action::WindowList => windows(reply),
        Action::ClipboardGet => clipboard(reply),
        Action::Batch { actions, .. } => batch(actions, reply),
        _ => done(reply),
    };
    outcome.map_err(|error| strange(&error))
}

fn expected(action: &Action) -> &'static str {
    match action {
        Action::GetMousePosition => "mouse_position",
        Action::Screenshot(_) | Action::Zoom(_) => "screenshot",
        Action::ScreenInfo => "screen_info",
        Action::WindowList => "window_list",
        Action::ClipboardGet => "clipboard",
        Action::Batch { .. } => "batch",
        _ => "success",
    }
}

fn refused(action: &Action, reply: &Value) -> DesktopError {
    let text = reply["error"].as_str().unwrap_or("the device did not say why");
    // One that knows only the seed has no codes; its words are all there is.
    let code = reply["code"].as_str().and_then(Code::parse).unwrap_or(Code::Failed);
    let expected = reply["expected"].as_array().into_iter().flatten();
    let expected = expected.filter_map(Value::as_str).take(16).map(|it| short(it, 100));
    let text = if action.is_secret() { hidden(text, action) } else { text.to_owned() };
    DesktopError::new(code, short(&text, LONGEST)).expecting(expected)
}

/// A device that repeats a secret in its error shall not have it passed on.
fn hidden(text: &str, action: &Action) -> String {
    let mut text = text.to_owned();
    for secret in secrets(action) {
        if !secret.is_empty() {
            text = text.replace(secret, "[secret]");
        }
    }
    text
}

fn secrets(action: &Action) -> Vec<&str> {
    match action {
        Action::Batch { actions, .. } => actions.iter().flat_map(secrets).collect(),
        _ => action.secret().into_iter().collect(),
    }
}

fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn fields<'a, T: Deserialize<'a>>(reply: &'a Value) -> Result<T, String> {
    T::deserialize(reply).map_err(|error| short(&error.to_string(), 200))
}

fn position(reply: &Value) -> Result<Outcome, String> {
    #[derive(Deserialize)]
    struct Position {
        x: i32,
        y: i32,
        #[serde(default)]
        moving: bool,
    }
    let Position { x, y, moving } = fields(reply)?;
    Ok(Outcome::Position { x, y, moving })
}

fn done(reply: &Value) -> Result<Outcome, String> {
    #[derive(Deserialize)]
    struct Success {
        message: String,
        before: Option<Point>,
        x: Option<u32>,
        y: Option<u32>,
        window: Option<String>,
        method: Option<String>,
        screenshot: Option<Value>,
    }
    let Success { message, before, x, y, window, method, screenshot } = fields(reply)?;
    Ok(Outcome::Done(Done {
        message: short(&message, LONGEST),
        before,
        at: x.zip(y).map(|(x, y)| Point { x, y }),
        window: window.map(|window| short(&window, LONGEST)),
        method: method.and_then(|method| Method::parse(&method).ok()),
        picture: screenshot.as_ref().map(picture).transpose()?,
    }))
}

/// What it says of itself is believed where it agrees with the picture.
fn picture(reply: &Value) -> Result<Frame, String> {
    #[derive(Deserialize)]
    struct Picture<'a> {
        data: &'a str,
        width: Option<u32>,
        height: Option<u32>,
        screen: Option<Rect>,
    }
    let Picture { data, width, height, screen } = fields(reply)?;
    let bytes = STANDARD.decode(data).map_err(|_| "the picture is not base64".to_owned())?;
    let format = match imagesize::image_type(&bytes) {
        Ok(ImageType::Webp) => Format::Webp,
        Ok(ImageType::Png) => Format::Png,
        Ok(ImageType::Jpeg) => Format::Jpeg,
        _ => return Err("the picture is neither webp, png nor jpeg".to_owned()),
    };
    let size = imagesize::blob_size(&bytes).map_err(|_| "the picture is broken".to_owned())?;
    let side = |side: usize| u32::try_from(side).ok().filter(|side| (1..=65_535).contains(side));
    let (Some(w), Some(h)) = (side(size.width), side(size.height)) else {
        return Err("the picture is empty or too large".to_owned());
    };
    if width.is_some_and(|it| it != w) || height.is_some_and(|it| it != h) {
        return Err("the picture is not as large as it says".to_owned());
    }
    let screen = screen.unwrap_or(Rect { x: 0, y: 0, w, h });
    let sane = |from: u32, length: u32| length > 0 && from.checked_add(length).is_some();
    if !sane(screen.x, screen.w) || !sane(screen.y, screen.h) {
        return Err("the picture shows no part of a screen".to_owned());
    }
    Ok(Frame { bytes, format, width: w, height: h, screen })
}

fn screen(reply: &Value) -> Result<Outcome, String> {
    #[derive(Deserialize)]
    struct Size {
        w: u32,
        h: u32,
    }
    #[derive(Deserialize)]
    struct Info {
        r#virtual: Size,
        #[serde(default)]
        displays: Vec<One>,
        #[serde(default)]
        backend: String,
        #[serde(default)]
        layout: String,
        #[serde(default)]
        group: u32,
    }
    #[derive(Deserialize)]
    struct One {
        id: u32,
        #[serde(default)]
        name: String,
        #[serde(flatten)]
        area: Rect,
        #[serde(default)]
        scale: f64,
        #[serde(default)]
        primary: bool,
    }
    let Info { r#virtual, displays, backend, layout, group } = fields(reply)?;
    let display = |One { id, name, area, scale, primary }| Display {
        id,
        name: short(&name, 100),
        area,
        scale,
        primary,
    };
    Ok(Outcome::Screen(Screen {
        w: r#virtual.w,
        h: r#virtual.h,
        displays: displays.into_iter().take(MOST).map(display).collect(),
        backend: short(&backend, 100),
        layout: short(&layout, 100),
        group,
    }))
}

fn windows(reply: &Value) -> Result<Outcome, String> {
    #[derive(Deserialize)]
    struct List {
        windows: Vec<One>,
    }
    #[derive(Deserialize)]
    struct One {
        id: u32,
        #[serde(default)]
        title: String,
        #[serde(default)]
        class: String,
        pid: Option<u32>,
        x: i32,
        y: i32,
        w: u32,
        h: u32,
        #[serde(default)]
        focused: bool,
        #[serde(default)]
        minimized: bool,
        display: Option<u32>,
    }
    let List { windows } = fields(reply)?;
    let pane = |One { id, title, class, pid, x, y, w, h, focused, minimized, display }| Pane {
        id,
        title: short(&title, 500),
        class: short(&class, 100),
        pid,
        x,
        y,
        w,
        h,
        focused,
        minimized,
        display,
    };
    Ok(Outcome::Windows(windows.into_iter().take(MOST).map(pane).collect()))
}

fn clipboard(reply: &Value) -> Result<Outcome, String> {
    #[derive(Deserialize)]
    struct Clipboard {
        text: Option<String>,
    }
    let Clipboard { text } = fields(reply)?;
    Ok(Outcome::Clipboard { text })
}

fn batch(actions: &[Action], reply: &Value) -> Result<Outcome, String> {
    let results = reply["results"].as_array().ok_or("a batch without results")?;
    if results.len() > actions.len() {
        return Err(format!("{} results of {} actions", results.len(), actions.len()));
    }
    let each = actions.iter().zip(results).map(|(action, reply)| read(action, reply));
    Ok(Outcome::Batch(each.collect()))
}
