//! What a message tells the demo to do, line by line. Pure: text in, orders out.

use std::time::Duration;

use kernel::update::Failure;
use serde_json::{Value, json};

const SLOWEST: u64 = 60_000;
const LONGEST: u64 = 1_000_000;

/// How failures are named in a message.
pub const FAILURES: [(&str, Fail); 9] = [
    ("bad_key", Fail::With(Failure::BadKey)),
    ("no_quota", Fail::With(Failure::NoQuota)),
    ("rate_limited", Fail::With(Failure::RateLimited)),
    ("overloaded", Fail::With(Failure::Overloaded)),
    ("context_too_long", Fail::With(Failure::ContextTooLong)),
    ("refused", Fail::With(Failure::Refused)),
    ("network", Fail::With(Failure::Network)),
    ("protocol", Fail::With(Failure::Protocol)),
    ("mid", Fail::Midway),
];

/// A message, taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The calls of each step, in order.
    pub steps: Vec<Vec<Order>>,
    /// How long to wait before each piece.
    pub pause: Duration,
    /// How many chunks to answer with.
    pub chunks: Option<u64>,
    pub reason: bool,
    pub fail: Option<Fail>,
    /// The lines that are no directive.
    pub plain: String,
    /// What is wrong with those that are.
    pub problems: Vec<String>,
}

/// A tool to call.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    pub name: String,
    pub args: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fail {
    With(Failure),
    /// In the middle of a sentence.
    Midway,
}

pub fn parse(message: &str) -> Script {
    let mut script = Script::default();
    let mut together = false;
    let mut plain = Vec::new();
    for line in unmarked(message).lines().map(str::trim) {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let read = match word {
            "/tool" => order(rest).map(|order| match script.steps.last_mut() {
                Some(step) if together => step.push(order),
                _ => script.steps.push(vec![order]),
            }),
            "/par" => {
                together = true;
                script.steps.push(Vec::new());
                Ok(())
            }
            "/slow" => number(word, rest)
                .map(|millis| script.pause = Duration::from_millis(millis.min(SLOWEST))),
            "/long" => number(word, rest).map(|count| script.chunks = Some(count.min(LONGEST))),
            "/reason" => {
                script.reason = true;
                Ok(())
            }
            "/fail" => failure(rest).map(|fail| script.fail = Some(fail)),
            _ => {
                plain.push(line);
                Ok(())
            }
        };
        script.problems.extend(read.err());
    }
    script.steps.retain(|step| !step.is_empty());
    plain.join("\n").trim().clone_into(&mut script.plain);
    script
}

/// The message without the mark that says who sent it.
fn unmarked(message: &str) -> &str {
    let marked = ["[applet:", "[agent:", "[scheduler:"];
    match message.split_once("] ") {
        Some((mark, rest))
            if marked.iter().any(|start| mark.starts_with(start)) && !mark.contains('\n') =>
        {
            rest
        }
        _ => message,
    }
}

fn order(text: &str) -> Result<Order, String> {
    let end = text.find(|c: char| c.is_whitespace() || c == '{').unwrap_or(text.len());
    let (name, args) = text.split_at(end);
    if name.is_empty() {
        return Err("`/tool` needs the name of a tool, as in `/tool current_time {}`.".into());
    }
    let args = match args.trim() {
        "" => json!({}),
        args => serde_json::from_str(args).map_err(|error| {
            format!(
                "The arguments of `{name}` are not JSON: {error}. Write them on the same line, as \
                 in `/tool {name} {{\"key\": \"value\"}}`."
            )
        })?,
    };
    Ok(Order { name: name.into(), args })
}

fn number(word: &str, text: &str) -> Result<u64, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("`{word}` needs a number, as in `{word} 100`."));
    }
    // Digits that do not fit are simply too many; there is a limit to all of them.
    Ok(text.parse().unwrap_or(u64::MAX))
}

fn failure(text: &str) -> Result<Fail, String> {
    let known = FAILURES.iter().find(|(name, _)| *name == text);
    known.map(|(_, fail)| *fail).ok_or_else(|| {
        let names: Vec<&str> = FAILURES.iter().map(|(name, _)| *name).collect();
        format!("`/fail` needs one of: {}.", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, option, prelude::*};

    use super::*;

    fn call(name: &str, args: Value) -> Order {
        Order { name: name.into(), args }
    }

    #[test]
    fn each_tool_line_is_a_step_until_par_gathers_the_rest() {
        let script = parse(
            "/tool a\n/tool b {\"x\": 1}\n/par\n/tool c []\nhello\r\n  /tool d{}  \n/par\n/tool e",
        );
        let expected = Script {
            steps: vec![
                vec![call("a", json!({}))],
                vec![call("b", json!({ "x": 1 }))],
                vec![call("c", json!([])), call("d", json!({}))],
                vec![call("e", json!({}))],
            ],
            plain: "hello".into(),
            ..Script::default()
        };
        assert_eq!(script, expected);
    }

    #[test]
    fn a_directive_may_follow_the_mark_of_its_sender() {
        let expected = Script { reason: true, ..Script::default() };
        for mark in ["", "[applet:calc] ", "[agent:0190-x] ", "[scheduler:daily] "] {
            assert_eq!(parse(&format!("{mark}/reason")), expected, "{mark}");
        }
        assert_eq!(parse("[other:x] /reason").plain, "[other:x] /reason");
    }

    #[test]
    fn numbers_have_a_limit() {
        let script = parse("/slow 99999999999999999999999\n/long 1000001");
        let pause = Duration::from_mins(1);
        let expected = Script { pause, chunks: Some(1_000_000), ..Script::default() };
        assert_eq!(script, expected);
    }

    #[test]
    fn what_cannot_be_read_is_explained() {
        let script = parse("/tool\n/tool a {x}\n/slow\n/long -1\n/fail often\n/par");
        let expected = [
            "`/tool` needs the name of a tool, as in `/tool current_time {}`.",
            "The arguments of `a` are not JSON: key must be a string at line 1 column 2. Write \
             them on the same line, as in `/tool a {\"key\": \"value\"}`.",
            "`/slow` needs a number, as in `/slow 100`.",
            "`/long` needs a number, as in `/long 100`.",
            "`/fail` needs one of: bad_key, no_quota, rate_limited, overloaded, context_too_long, \
             refused, network, protocol, mid.",
        ];
        assert_eq!(script.problems, expected);
        assert_eq!(script.steps, Vec::<Vec<Order>>::new());
    }

    #[test]
    fn what_merely_looks_like_a_directive_is_plain_text() {
        let text = "/etc/hosts\n/tools\nplease /reason";
        assert_eq!(parse(text), Script { plain: text.into(), ..Script::default() });
    }

    fn written(script: &Script) -> String {
        let mut lines = Vec::new();
        for step in &script.steps {
            lines.push("/par".to_owned());
            lines.extend(step.iter().map(|Order { name, args }| format!("/tool {name} {args}")));
        }
        lines.push(format!("/slow {}", script.pause.as_millis()));
        lines.extend(script.chunks.map(|count| format!("/long {count}")));
        lines.extend(script.reason.then(|| "/reason".to_owned()));
        let name = |fail| FAILURES.iter().find(|(_, known)| *known == fail).unwrap().0;
        lines.extend(script.fail.map(|fail| format!("/fail {}", name(fail))));
        lines.push(script.plain.clone());
        lines.join("\n")
    }

    fn scripts() -> impl Strategy<Value = Script> {
        let args = "\\PC*".prop_map(|text| json!({ "text": text }));
        let order = ("[a-z_]{1,9}", args).prop_map(|(name, args)| Order { name, args });
        let steps = vec(vec(order, 1..4), 0..4);
        let fail = option::of((0..FAILURES.len()).prop_map(|at| FAILURES[at].1));
        let long = option::of(0..=LONGEST);
        (steps, 0..=SLOWEST, long, any::<bool>(), fail, "([a-z]{1,9}( [a-z]{1,9}){0,3})?").prop_map(
            |(steps, pause, chunks, reason, fail, plain)| Script {
                steps,
                pause: Duration::from_millis(pause),
                chunks,
                reason,
                fail,
                plain,
                problems: Vec::new(),
            },
        )
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in any::<String>()) {
            parse(&text);
        }

        #[test]
        fn any_directive_can_be_read(
            word in "/(tool|par|slow|long|reason|fail)",
            rest in vec(any::<char>(), 0..40),
        ) {
            parse(&format!("{word} {}", String::from_iter(rest)));
        }

        #[test]
        fn what_is_written_is_read(script in scripts()) {
            prop_assert_eq!(parse(&written(&script)), script);
        }
    }
}
