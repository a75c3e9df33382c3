//! Transcripts: the bytes of a whole stream in, pieces out, however the bytes are cut.

use kernel::{
    ports::Piece,
    prompt::{Part, Prompt},
    toolbox::ToolSpec,
    update::{Attachment, Failure, Output, ToolRequest, Trace},
};
use proptest::{
    collection::vec,
    test_runner::{Config, TestRunner},
};
use serde_json::{Value, json};

use super::Ask;
use crate::{
    config::Kind,
    pictures::Pictures,
    reader::{Heard, Reader},
};

pub fn said(text: &str) -> Piece {
    Piece::Text(text.into())
}

pub fn thought(text: &str) -> Piece {
    Piece::Reasoning(text.into())
}

pub fn calling(index: usize, name: &str, args: &str) -> Piece {
    Piece::Calling { index, name: name.into(), args: args.into() }
}

pub fn call(id: &str, name: &str, args: Value) -> Piece {
    Piece::Call { id: id.into(), name: name.into(), args }
}

/// The stream of these data, each an event of its own.
pub fn stream(data: &[&str]) -> String {
    let events: Vec<String> = data.iter().map(|data| format!("data: {data}\n\n")).collect();
    events.concat()
}

/// The stream of these data, each with its own type as the name of its event.
pub fn named(data: &[Value]) -> String {
    let event =
        |data: &Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
    data.iter().map(event).collect()
}

fn read<'a>(kind: Kind, portions: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    let mut reader = Reader::new(kind);
    let mut pieces = Vec::new();
    for portion in portions {
        let (more, error) = reader.push(portion);
        pieces.extend(more);
        if error.is_some() {
            return (pieces, error);
        }
        if reader.is_done() {
            break;
        }
    }
    let (more, error) = reader.finish();
    pieces.extend(more);
    (pieces, error)
}

/// The stream says exactly this: cut at every byte, into single bytes, and at random.
pub fn check(kind: Kind, stream: &str, pieces: &[Piece]) {
    assert_eq!(everywhere(kind, stream), (pieces.to_vec(), None));
}

/// The same of a stream that fails in the end.
pub fn fails(kind: Kind, stream: &str, pieces: &[Piece], failure: Failure, message: &str) {
    let (heard, error) = everywhere(kind, stream);
    assert_eq!(heard, pieces);
    let error = error.unwrap();
    assert_eq!(error.kind, failure, "{error}");
    assert!(error.message.contains(message), "{error}");
}

fn everywhere(kind: Kind, stream: &str) -> Heard {
    let bytes = stream.as_bytes();
    let whole = read(kind, [bytes]);
    assert_eq!(read(kind, bytes.chunks(1)), whole, "byte by byte");
    assert_eq!(read(kind, [stream.replace('\n', "\r\n").as_bytes()]), whole, "with returns");
    for at in 0..=bytes.len() {
        assert_eq!(read(kind, [&bytes[..at], &bytes[at..]]), whole, "cut at {at}");
    }
    let config = Config { cases: 64, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let cuts = runner.run(&vec(1_usize..60, 1..60), |sizes| {
        let mut rest = bytes;
        let mut portions: Vec<&[u8]> = Vec::new();
        for size in sizes {
            let (portion, more) = rest.split_at(size.min(rest.len()));
            portions.push(portion);
            rest = more;
        }
        portions.push(rest);
        proptest::prop_assert_eq!(read(kind, portions), whole.clone());
        Ok(())
    });
    cuts.unwrap();
    whole
}

/// A conversation with everything in it.
pub fn prompt(trace: Value) -> Prompt {
    let image = |name: &str| Attachment {
        path: format!("/attic/{name}").into(),
        mime: "image/png".into(),
        name: name.into(),
    };
    let request = |id: &str, args: Value| ToolRequest {
        id: id.into(),
        name: "read".into(),
        args,
        title: "Reading".into(),
    };
    let user = |text: &str| Part::User { text: text.into(), images: Vec::new() };
    let done = |call: &str, output: Output| Part::Result { call: call.into(), output };
    Prompt {
        system: "Be kind.".into(),
        parts: vec![
            Part::User { text: "Look".into(), images: vec![image("cat.png"), image("gone.png")] },
            Part::Assistant {
                text: "I see.".into(),
                reasoning: "Hm.".into(),
                calls: vec![
                    request("toolu_1", json!({"path": "a"})),
                    request("functions.read:1", Value::String("{\"pa".into())),
                ],
                trace: Some(Trace { model: "house/best".into(), data: trace }),
            },
            done("toolu_1", Output::done("A")),
            done("functions.read:1", Output::failed("bad arguments")),
            Part::Assistant {
                text: String::new(),
                reasoning: "Elsewhere.".into(),
                calls: vec![request("call_3", json!({}))],
                trace: Some(Trace {
                    model: "other/model".into(),
                    data: json!({"chat": "reasoning"}),
                }),
            },
            done("call_3", Output::done("")),
            user("So?"),
            user("Well?"),
        ],
        tools: vec![ToolSpec {
            name: "read".into(),
            description: "Reads.".into(),
            schema: json!({
                "type": "object",
                "additionalProperties": false,
                "properties": { "path": { "type": "string" } },
                "required": ["path"],
            }),
        }],
    }
}

/// What is sent for that conversation.
pub fn sent(prompt: &Prompt, request: impl Fn(Ask) -> Value, change: impl Fn(&mut Ask)) -> Value {
    let pictures = Pictures::of("/attic/cat.png", b"meow");
    let mut ask = Ask {
        prompt,
        pictures: &pictures,
        model: "best",
        known_as: ["house/best", "best"],
        max_tokens: None,
        effort: None,
        at_openai: false,
        computer: false,
    };
    change(&mut ask);
    request(ask)
}

/// What became of the id that only some accept.
pub fn strange() -> String {
    super::accepted("functions.read:1")
}
