//! What a device answers, written by one that was asked and read by one that asked.

mod read;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kernel::desktop::{DesktopError, Display, Done, Frame, Outcome, Pane, Point, Rect, Screen};
use serde_json::{Map, Value, json};

pub use read::read;

/// Who writes, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Whether the reader showed that it knows more than the seed.
    pub extended: bool,
    /// When it was written, in milliseconds since 1970.
    pub now: i64,
    /// How long it took, in milliseconds, where that is known.
    pub ms: Option<u64>,
    /// Numbers pictures.
    pub shot: u64,
}

impl Envelope {
    /// The words of the seed and no others.
    pub const PLAIN: Self = Self { extended: false, now: 0, ms: None, shot: 0 };
}

/// Without the id of the command.
pub fn written(result: &Result<Outcome, DesktopError>, to: Envelope) -> Map<String, Value> {
    let outcome = match result {
        Ok(outcome) => outcome,
        Err(error) => return refused(error, to),
    };
    let mut frame = match outcome {
        Outcome::Done(done) => succeeded(done, to),
        Outcome::Position { x, y, moving } => {
            let mut frame = typed("mouse_position", json!({ "x": x, "y": y }));
            if to.extended && *moving {
                frame.insert("moving".to_owned(), true.into());
            }
            frame
        }
        Outcome::Picture(picture) => self::picture(picture, to),
        Outcome::Screen(screen) => self::screen(screen),
        Outcome::Windows(windows) => {
            let windows: Vec<Value> = windows.iter().map(window).collect();
            typed("window_list", json!({ "windows": windows }))
        }
        Outcome::Clipboard { text } => typed("clipboard", json!({ "text": text })),
        Outcome::Batch(results) => {
            let completed = results.iter().filter(|result| result.is_ok()).count();
            let each = Envelope { ms: None, ..to };
            let results: Vec<Value> =
                results.iter().map(|result| Value::Object(written(result, each))).collect();
            typed("batch", json!({ "results": results, "completed": completed }))
        }
    };
    if let Some(ms) = to.ms.filter(|_| to.extended) {
        frame.insert("ms".to_owned(), ms.into());
    }
    frame
}

fn typed(kind: &str, fields: Value) -> Map<String, Value> {
    let mut frame = Map::from_iter([("type".to_owned(), kind.into())]);
    if let Value::Object(fields) = fields {
        frame.extend(fields);
    }
    frame
}

fn refused(error: &DesktopError, to: Envelope) -> Map<String, Value> {
    let mut frame = typed("error", json!({ "error": error.text }));
    if to.extended {
        frame.insert("code".to_owned(), error.code.name().into());
        if !error.expected.is_empty() {
            frame.insert("expected".to_owned(), error.expected.clone().into());
        }
    }
    frame
}

fn succeeded(done: &Done, to: Envelope) -> Map<String, Value> {
    let Done { message, before, at, window, method, picture } = done;
    let mut frame = typed("success", json!({ "message": message }));
    if !to.extended {
        return frame;
    }
    if let Some(at) = at {
        frame.insert("x".to_owned(), at.x.into());
        frame.insert("y".to_owned(), at.y.into());
    }
    if let Some(Point { x, y }) = before {
        frame.insert("before".to_owned(), json!({ "x": x, "y": y }));
    }
    if let Some(window) = window {
        frame.insert("window".to_owned(), window.as_str().into());
    }
    if let Some(method) = method {
        frame.insert("method".to_owned(), method.name().into());
    }
    if let Some(picture) = picture {
        let mut picture = self::picture(picture, to);
        picture.remove("type");
        frame.insert("screenshot".to_owned(), Value::Object(picture));
    }
    frame
}

fn picture(picture: &Frame, to: Envelope) -> Map<String, Value> {
    let Frame { bytes, format, width, height, screen } = picture;
    let mut frame = typed("screenshot", json!({ "data": STANDARD.encode(bytes) }));
    if to.extended {
        let scale = f64::from(*width) / f64::from(screen.w.max(1));
        let scale = (scale * 1e6).round() / 1e6;
        let Rect { x, y, w, h } = *screen;
        let more = json!({
            "format": format.name(), "width": width, "height": height, "scale": scale,
            "screen": { "x": x, "y": y, "w": w, "h": h },
            "id": format!("shot_{}", to.shot), "ts": to.now,
        });
        frame.extend(more.as_object().cloned().unwrap_or_default());
    }
    frame
}

fn screen(screen: &Screen) -> Map<String, Value> {
    let Screen { w, h, displays, backend, layout, group } = screen;
    let display = |Display { id, name, area, scale, primary }: &Display| {
        json!({
            "id": id, "name": name, "x": area.x, "y": area.y, "w": area.w, "h": area.h,
            "scale": scale, "primary": primary,
        })
    };
    let displays: Vec<Value> = displays.iter().map(display).collect();
    typed(
        "screen_info",
        json!({
            "virtual": { "w": w, "h": h }, "displays": displays,
            "backend": backend, "layout": layout, "group": group,
        }),
    )
}

fn window(pane: &Pane) -> Value {
    let Pane { id, title, class, pid, x, y, w, h, focused, minimized, display } = pane;
    json!({
        "id": id, "title": title, "class": class, "pid": pid, "x": x, "y": y, "w": w, "h": h,
        "focused": focused, "minimized": minimized, "display": display,
    })
}

#[cfg(test)]
mod tests;
