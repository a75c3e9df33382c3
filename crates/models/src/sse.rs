//! Server-sent events, from bytes that arrive in any portions.

/// More than any provider sends in one event.
const LARGEST: usize = 32 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub name: Option<String>,
    pub data: String,
}

/// Not a stream of events, or one that never ends an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    /// The last byte ended a line with a carriage return, so a line feed now belongs to it.
    after_return: bool,
    /// Anything was read of the first line.
    begun: bool,
    name: Option<String>,
    data: Option<String>,
}

impl Parser {
    /// The events that these bytes complete.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLarge> {
        let mut events = Vec::new();
        let mut rest = bytes;
        if self.after_return && !rest.is_empty() {
            self.after_return = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.extend_from_slice(&rest[..end]);
            let is_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if is_return && rest.is_empty() {
                self.after_return = true;
            } else if is_return {
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
            events.extend(self.end_line());
        }
        self.line.extend_from_slice(rest);
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held > LARGEST { Err(TooLarge) } else { Ok(events) }
    }

    /// What was left when the stream ended: some servers forget the last blank line.
    pub fn finish(&mut self) -> Option<Event> {
        let last = if self.line.is_empty() { None } else { self.end_line() };
        last.or_else(|| self.end_event())
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let mut line = String::from_utf8_lossy(&line).into_owned();
        if !self.begun {
            self.begun = true;
            line = line.trim_start_matches('\u{feff}').to_owned();
        }
        if line.is_empty() {
            return self.end_event();
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "event" => self.name = Some(value.to_owned()),
            // Comments have an empty name; `id` and `retry` are for those who reconnect.
            _ => (),
        }
        None
    }

    fn end_event(&mut self) -> Option<Event> {
        let name = self.name.take().filter(|name| !name.is_empty());
        self.data.take().map(|data| Event { name, data })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(name: &str, data: &str) -> Event {
        Event { name: (!name.is_empty()).then(|| name.to_owned()), data: data.to_owned() }
    }

    fn parse<'a>(portions: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
        let mut parser = Parser::default();
        let mut events = Vec::new();
        for portion in portions {
            events.extend(parser.push(portion).unwrap());
        }
        events.extend(parser.finish());
        events
    }

    const STREAM: &str = "\u{feff}: hello\r\nevent: a\r\ndata: {\"x\":\r\ndata:1}\r\n\r\n\
        data: öß\u{1f600}\n\nevent: alone\n\n:\rdata\r\rid: 7\nretry: 10\ndata: [DONE]";

    fn events() -> Vec<Event> {
        vec![event("a", "{\"x\":\n1}"), event("", "öß😀"), event("", ""), event("", "[DONE]")]
    }

    #[test]
    fn a_stream_of_every_shape_is_read() {
        assert_eq!(parse([STREAM.as_bytes()]), events());
        assert_eq!(parse([&b""[..]]), []);
    }

    #[test]
    fn any_two_portions_give_the_same_events() {
        let bytes = STREAM.as_bytes();
        for at in 0..=bytes.len() {
            assert_eq!(parse([&bytes[..at], &bytes[at..]]), events(), "split at {at}");
        }
        assert_eq!(parse(bytes.chunks(1)), events());
    }

    #[test]
    fn an_event_without_an_end_is_given_up() {
        let mut parser = Parser::default();
        let portion = vec![b'x'; LARGEST / 2 + 1];
        assert_eq!(parser.push(&portion), Ok(vec![]));
        assert_eq!(parser.push(&portion), Err(TooLarge));
    }

    proptest! {
        #[test]
        fn garbage_never_breaks_it(bytes in prop::collection::vec(any::<u8>(), 0..300), size in 1_usize..20) {
            prop_assert_eq!(parse(bytes.chunks(size)), parse([&bytes[..]]));
        }
    }
}
