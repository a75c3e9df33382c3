//! What is said of widgets that were seen, good and bad.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use widgets::certify::{
    Check, Domains, Format, Outcome, Page, Report, Run, Seen, Unread, Watched, judge,
};

fn good() -> Seen {
    let greeting = json!({ "jsonrpc": "2.0", "id": 0, "method": "ui/initialize", "params": {
        "appInfo": { "name": "g", "version": "1" }, "appCapabilities": {},
        "protocolVersion": "2026-01-26" } });
    let ready = json!({ "jsonrpc": "2.0", "method": "ui/notifications/initialized" });
    let size = json!({ "jsonrpc": "2.0", "method": "ui/notifications/size-changed",
                       "params": { "width": 300, "height": 120 } });
    Seen {
        tool: "show".into(),
        meta: json!({ "ui": { "resourceUri": "ui://a/b" } }),
        page: Ok(Page { mime: "text/html; profile=mcp-app".into(), bytes: 9, declared: None }),
        run: Run::Watched(Watched {
            heard: vec![greeting, ready, size],
            parted: Some(true),
            ..Watched::default()
        }),
    }
}

fn report(seen: &Seen) -> Report {
    judge("a server", "2025-11-25", std::slice::from_ref(seen))
}

/// The checks that did not pass, each with what is said of it.
fn complaints(seen: &Seen) -> Vec<(&'static str, Outcome, String)> {
    let checks = report(seen).checks.into_iter().filter(|it| it.outcome != Outcome::Passed);
    checks.map(|Check { name, outcome, detail, .. }| (name, outcome, detail)).collect()
}

fn watched(change: impl FnOnce(&mut Watched)) -> Seen {
    let mut seen = good();
    if let Run::Watched(watched) = &mut seen.run {
        change(watched);
    }
    seen
}

#[test]
fn a_good_widget_passes_every_check() {
    assert_eq!(complaints(&good()), []);
    let report = report(&good());
    assert!(report.is_well());
    assert_eq!(report.count(Outcome::Passed), 14);
}

#[test]
fn what_a_tool_says_of_its_widget_is_judged() {
    use Outcome::{Doubtful, Failed};
    let flat = json!({ "ui/resourceUri": "ui://a/b" });
    let both = json!({ "ui": { "resourceUri": "ui://a/b" }, "ui/resourceUri": "ui://a/c" });
    let policy = json!({ "ui": { "resourceUri": "ui://a/b", "csp": {} } });
    let elsewhere = json!({ "ui": { "resourceUri": "https://a.example" } });
    for (meta, name, outcome) in [
        (flat, "metadata", Doubtful),
        (both, "metadata", Failed),
        (policy, "metadata", Doubtful),
        (elsewhere, "address", Failed),
        (json!({ "ui": { "resourceUri": "ui://" } }), "address", Failed),
    ] {
        let found = complaints(&Seen { meta: meta.clone(), ..good() });
        let found: Vec<_> = found.iter().map(|(name, outcome, _)| (*name, *outcome)).collect();
        assert_eq!(found, [(name, outcome)], "{meta}");
    }
}

#[test]
fn a_page_is_judged_by_its_type_its_weight_and_its_domains() {
    use Outcome::{Doubtful, Failed};
    let page = |change: &dyn Fn(&mut Page)| {
        let mut page = good().page.unwrap();
        change(&mut page);
        Seen { page: Ok(page), ..good() }
    };
    let reaching = |domain: &str| {
        let connect = vec![domain.to_owned()];
        page(&|page| {
            page.declared = Some(Domains { connect: connect.clone(), ..Domains::default() });
        })
    };
    for (seen, name, outcome, said) in [
        (page(&|it| it.mime = "text/html+mcp".into()), "type", Doubtful, "text/html+mcp"),
        (page(&|it| it.bytes = 2 << 20), "weight", Doubtful, "2097152 bytes"),
        (reaching("https://a.com; script-src *"), "domains", Failed, "https://a.com; script-src *"),
        (reaching("https://*"), "domains", Failed, "https://*"),
    ] {
        let found = complaints(&seen);
        let [(found, judged, detail)] = found.as_slice() else { unreachable!("{found:?}") };
        assert_eq!((*found, *judged), (name, outcome));
        assert!(detail.contains(said), "{detail}");
    }
    assert_eq!(complaints(&reaching("https://*.example.com")), []);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_skipped() {
    let unread = Unread { verdict: "wrong-mime", why: "it is text/plain".into() };
    let run = Run::Skipped("there is nothing to show".into());
    let report = report(&Seen { page: Err(unread), run, ..good() });
    let failed: Vec<_> = report.checks.iter().filter(|it| it.outcome == Outcome::Failed).collect();
    assert_eq!(failed.len(), 1);
    assert_eq!((failed[0].name, &*failed[0].detail), ("resource", "wrong-mime: it is text/plain"));
    assert_eq!(report.count(Outcome::Skipped), 11);
    assert!(!report.is_well());
}

#[test]
fn what_a_view_does_is_judged() {
    use Outcome::{Doubtful, Failed};
    let size = |height: Value| {
        json!({ "jsonrpc": "2.0", "method": "ui/notifications/size-changed",
                "params": { "height": height } })
    };
    for (seen, expected) in [
        (watched(|it| it.heard.truncate(1)), vec![("handshake", Failed), ("sizes", Doubtful)]),
        (
            watched(|it| it.heard.clear()),
            vec![("handshake", Failed), ("order", Outcome::Skipped), ("sizes", Doubtful)],
        ),
        (watched(|it| it.heard.rotate_right(1)), vec![("order", Failed)]),
        (watched(|it| it.heard.swap(1, 2)), vec![("order", Doubtful)]),
        (watched(|it| it.heard.push(size(json!("tall")))), vec![("messages", Failed)]),
        (watched(|it| it.heard.push(json!({ "method": "ping" }))), vec![("messages", Failed)]),
        (watched(|it| it.heard.extend(vec![size(json!(7)); 61])), vec![("sizes", Failed)]),
        (
            watched(|it| it.blocked = vec!["connect-src https://x.example".into()]),
            vec![("policy", Failed)],
        ),
        (watched(|it| it.blocked = vec!["script-src eval".into()]), vec![("policy", Doubtful)]),
        (watched(|it| it.broke = vec!["x is not defined".into()]), vec![("scripts", Failed)]),
        (watched(|it| it.unnamed = vec!["a button".into()]), vec![("accessibility", Doubtful)]),
        (watched(|it| it.parted = Some(false)), vec![("teardown", Doubtful)]),
    ] {
        let found: Vec<_> =
            complaints(&seen).into_iter().map(|(name, how, _)| (name, how)).collect();
        assert_eq!(found, expected, "{seen:?}");
    }
}

#[test]
fn a_report_is_text_json_and_junit_and_nobodys_words_break_it() {
    let mut seen = watched(|it| it.broke = vec!["<b>\u{1b}[31m & \"x\"".into()]);
    seen.tool = "a<b".into();
    let report = report(&seen);
    let text = report.written(Format::Text);
    assert!(text.starts_with("a server (2025-11-25)\n\na<b\n  ok   metadata"), "{text}");
    assert!(text.contains("  FAIL scripts        errors: <b>\\u{1b}[31m & \"x\"\n"), "{text}");
    assert!(text.ends_with("\n13 passed, 1 failed, 0 doubtful, 0 skipped\n"), "{text}");
    let json: Value = serde_json::from_str(&report.written(Format::Json)).unwrap();
    assert_eq!((&json["ok"], json["checks"].as_array().unwrap().len()), (&json!(false), 14));
    let junit = report.written(Format::Junit);
    let suite = "<testsuite name=\"a&lt;b\" tests=\"14\" failures=\"1\" skipped=\"0\">";
    assert!(junit.contains(suite), "{junit}");
    let failure =
        "name=\"scripts\"><failure message=\"errors: &lt;b&gt;[31m &amp; &quot;x&quot;\"/>";
    assert!(junit.contains(failure), "{junit}");
    let nothing = judge("s", "p", &[]).written(Format::Text);
    assert_eq!(
        nothing,
        "s (p)\nnone of its tools has a widget\n\n0 passed, 0 failed, 0 doubtful, 0 skipped\n"
    );
}

#[test]
fn the_schema_is_the_published_one() {
    let build = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let folder = build.parent().unwrap().join("peers/node_modules/@modelcontextprotocol/ext-apps");
    let path = folder.join("dist/src/generated/schema.json");
    let text = fs::read_to_string(&path);
    assert!(text.is_ok(), "{} is not there; run `make peers`", path.display());
    let published: Value = serde_json::from_str(&text.unwrap()).unwrap();
    let ours: Value = serde_json::from_str(include_str!("../../schema/views.json")).unwrap();
    for (name, definition) in ours.as_object().unwrap() {
        assert_eq!(*definition, wordless(&published["$defs"][name]), "{name}");
    }
}

/// Without what is meant for readers.
fn wordless(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, it)| *name != "description" || !it.is_string());
            Value::Object(kept.map(|(name, it)| (name.clone(), wordless(it))).collect())
        }
        Value::Array(items) => items.iter().map(wordless).collect(),
        other => other.clone(),
    }
}
