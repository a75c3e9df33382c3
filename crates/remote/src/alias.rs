//! Names that models have learnt elsewhere, in the words of the protocol.

use serde_json::{Map, Value, json};

use crate::coerce::number_of_pixels;

/// How far a step of the wheel goes for those who count in pixels.
const PIXELS: f64 = 100.0;

/// A command by the name that it has here.
#[derive(Clone, Debug, PartialEq)]
pub struct Spoken {
    pub kind: String,
    pub arguments: Map<String, Value>,
    /// What was said twice, or contradicts the name.
    pub ignored: Vec<String>,
}

/// What is known by no other name stays as it is. Values are not looked at, so that whoever reads
/// them next says what is wrong with them.
pub fn spoken(kind: &str, given: &Map<String, Value>) -> Result<Spoken, String> {
    let mut saying = Saying { given: given.clone(), ..Saying::default() };
    let kind = saying.translated(kind)?;
    Ok(saying.spoken(kind))
}

#[derive(Default)]
struct Saying {
    /// As it came, without what has been understood.
    given: Map<String, Value>,
    said: Map<String, Value>,
    ignored: Vec<String>,
}

impl Saying {
    fn translated<'a>(&mut self, kind: &'a str) -> Result<&'a str, String> {
        Ok(match kind {
            "left_click" => self.click("left", 1)?,
            "right_click" => self.click("right", 1)?,
            "middle_click" => self.click("middle", 1)?,
            "double_click" => self.click("left", 2)?,
            "triple_click" => self.click("left", 3)?,
            "click" => {
                self.held();
                self.place()?;
                if self.given.get("button").is_some_and(|it| it == "wheel") {
                    self.given.remove("button");
                    self.say("button", "middle");
                }
                "mouse_click_at"
            }
            "left_click_drag" | "drag" => self.drag(kind == "left_click_drag")?,
            "left_mouse_down" => self.press("mouse_down")?,
            "left_mouse_up" => self.press("mouse_up")?,
            "mouse_click_at" | "mouse_down" | "mouse_up" | "mouse_scroll_at" => {
                self.place()?;
                kind
            }
            "mouse_move" if !self.has("coordinate") => kind,
            "move" | "mouse_move" => {
                self.place()?;
                // Whoever speaks so expects it to be there at once.
                if !self.has("duration") {
                    self.say("duration", 0);
                }
                "mouse_move"
            }
            "scroll" => self.scroll()?,
            "key" | "keypress" | "hotkey" => {
                self.rename("text", "keys");
                self.rename("key", "keys");
                "key_combo"
            }
            "hold_key" => {
                self.rename("text", "keys");
                kind
            }
            "key_down" | "key_up" => {
                self.rename("text", "key");
                kind
            }
            "type" => "keyboard_type",
            "cursor_position" => "get_mouse_position",
            "take_screenshot" => "screenshot",
            other => other,
        })
    }

    fn click(&mut self, button: &str, count: u8) -> Result<&'static str, String> {
        self.held();
        self.place()?;
        self.say("button", button);
        self.say("count", count);
        Ok("mouse_click_at")
    }

    fn press(&mut self, kind: &'static str) -> Result<&'static str, String> {
        self.place()?;
        self.say("button", "left");
        Ok(kind)
    }

    fn drag(&mut self, left: bool) -> Result<&'static str, String> {
        self.held();
        let path = match self.take("path") {
            Some(Value::Array(points)) => points.into_iter().map(paired).collect(),
            Some(other) => other,
            None => {
                let from = self.take("start_coordinate").ok_or("missing field `start_coordinate`");
                let to = self.take("coordinate").or_else(|| {
                    let (x, y) = (self.take("x")?, self.take("y")?);
                    Some(json!([x, y]))
                });
                json!([from?, to.ok_or("missing field `coordinate`")?])
            }
        };
        self.say("path", path);
        if left {
            self.say("button", "left");
        }
        Ok("mouse_drag")
    }

    fn scroll(&mut self) -> Result<&'static str, String> {
        self.held();
        self.place()?;
        self.rename("scroll_direction", "direction");
        self.rename("scroll_amount", "intensity");
        if !self.has("direction") {
            self.turned()?;
        }
        if self.has("x") || self.has("y") {
            return Ok("mouse_scroll_at");
        }
        if self.has("modifiers") {
            // To turn the wheel without them would be another thing.
            return Err("missing field `coordinate`; keys are held where a point is named".into());
        }
        Ok("mouse_scroll")
    }

    /// By so many pixels: the way that is meant most, and how many steps that is.
    fn turned(&mut self) -> Result<(), String> {
        let mut pixels = |name| self.take(name).map_or(Ok(0.0), |it| number_of_pixels(&it));
        let (x, y) = (pixels("scroll_x")?, pixels("scroll_y")?);
        let upright = y.abs() >= x.abs();
        let (direction, most) = match () {
            () if x == 0.0 && y == 0.0 => return Err("missing field `scroll_direction`".into()),
            () if upright && y < 0.0 => ("up", -y),
            () if upright => ("down", y),
            () if x < 0.0 => ("left", -x),
            () => ("right", x),
        };
        if x != 0.0 && y != 0.0 {
            self.ignored.push(if upright { "scroll_x" } else { "scroll_y" }.to_owned());
        }
        let steps = (most / PIXELS).ceil().min(f64::from(u32::MAX));
        self.say("direction", direction);
        self.say("intensity", steps);
        Ok(())
    }

    /// `[x, y]` as two numbers.
    fn place(&mut self) -> Result<(), String> {
        let Some(place) = self.take("coordinate") else { return Ok(()) };
        let Value::Array(pair) = paired(place) else {
            return Err("coordinate must be [x, y]".into());
        };
        let [x, y] = <[Value; 2]>::try_from(pair).map_err(|_| "coordinate must be [x, y]")?;
        self.say("x", x);
        self.say("y", y);
        Ok(())
    }

    /// Keys that are down meanwhile, as a list or like `ctrl+shift`.
    fn held(&mut self) {
        let Some(keys) = self.take("keys").or_else(|| self.take("text")) else { return };
        let Value::String(names) = keys else { return self.say("modifiers", keys) };
        let names: Vec<&str> = names.split(['+', ' ']).filter(|name| !name.is_empty()).collect();
        if !names.is_empty() {
            self.say("modifiers", names);
        }
    }

    fn has(&self, name: &str) -> bool {
        self.said.contains_key(name) || self.given.get(name).is_some_and(|it| !it.is_null())
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.given.remove(name).filter(|value| !value.is_null())
    }

    /// Unless the right name is there too.
    fn rename(&mut self, from: &str, to: &str) {
        if !self.has(to)
            && let Some(value) = self.take(from)
        {
            self.say(to, value);
        }
    }

    fn say(&mut self, name: &str, value: impl Into<Value>) {
        self.said.insert(name.to_owned(), value.into());
    }

    fn spoken(self, kind: &str) -> Spoken {
        let Self { given, said: mut arguments, mut ignored } = self;
        for (name, value) in given {
            match arguments.get(&name) {
                Some(said) if *said == value => (),
                Some(_) if value.is_null() => (),
                Some(_) => ignored.push(name),
                None => drop(arguments.insert(name, value)),
            }
        }
        Spoken { kind: kind.to_owned(), arguments, ignored }
    }
}

/// A point with names as one without.
fn paired(point: Value) -> Value {
    match point {
        Value::Object(mut named) => match (named.remove("x"), named.remove("y")) {
            (Some(x), Some(y)) => json!([x, y]),
            _ => Value::Object(named),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests;
