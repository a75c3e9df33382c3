//! Descriptions as authors write them, well and badly.

use kernel::cabinet::{Asks, Permission};
use serde_json::json;

use super::*;

fn described(fields: &Value, files: &[&str]) -> Card {
    read("my-app", &fields.to_string(), |path| files.contains(&path))
}

fn problems(fields: &Value) -> Vec<String> {
    let card = described(fields, &["index.html"]);
    card.problems.iter().map(|it| format!("{}: {}", it.path, it.what)).collect()
}

#[test]
fn an_app_needs_to_say_nothing_of_itself() {
    let expected = Card {
        id: "my-app".into(),
        name: "My App".into(),
        entry: "index.html".into(),
        ..Card::default()
    };
    assert_eq!(described(&json!({}), &["index.html"]), expected);
    let nothing = json!({ "name": null, "icon": null, "fileAssociations": null, "storage": null });
    assert_eq!(described(&nothing, &["index.html"]), expected);
}

#[test]
fn everything_that_is_said_is_understood() {
    let fields = json!({
        "name": "Sheet", "icon": "📊", "description": "A spreadsheet", "version": "1.2", "author": "Ann",
        "hidden": true, "appProtocol": true, "variant": "panel", "dockEdge": "top", "frameless": true,
        "windowStyle": { "a": 1 }, "defaultWidth": 640, "defaultHeight": 480.5, "entry": "start.html",
        "fileAssociations": [
            { "extensions": ["csv", ".TSV"], "command": "openFile", "paramKey": "content" },
            { "extensions": [".tar.gz"], "command": "open", "paramKey": "data", "encoding": "base64" },
        ],
        "permissions": ["downloads", "storage:shared/", "yaar://storage/notes/**",
            { "uri": "yaar://storage/read/", "verbs": ["read", "list"] }, "downloads"],
        "storage": { "quota": 1024 },
        "domains": { "connect": ["api.example.com", "wss://live.example.com"], "load": ["https://*.example.org"] },
        "run": "ignored", "bundles": ["ignored"],
    });
    let storage = |prefix: &str, writes| Permission::Storage { prefix: prefix.into(), writes };
    let association = |extensions: &[&str], command: &str, param: &str, encoding| Association {
        extensions: extensions.iter().map(|it| (*it).to_owned()).collect(),
        command: command.into(),
        param: param.into(),
        encoding,
    };
    let expected = Card {
        id: "my-app".into(),
        name: "Sheet".into(),
        icon: Some(Icon::Emoji("📊".into())),
        description: Some("A spreadsheet".into()),
        version: Some("1.2".into()),
        author: Some("Ann".into()),
        hidden: true,
        protocol: true,
        associations: vec![
            association(&[".csv", ".tsv"], "openFile", "content", Encoding::Text),
            association(&[".tar.gz"], "open", "data", Encoding::Base64),
        ],
        looks: Looks {
            variant: Some("panel"),
            dock_edge: Some("top"),
            frameless: true,
            window_style: Some(json!({ "a": 1 })),
            width: Some(640.0),
            height: Some(480.5),
        },
        entry: "start.html".into(),
        asks: Asks {
            permissions: vec![
                Permission::Downloads,
                storage("notes/", true),
                storage("read/", false),
                storage("shared/", true),
            ],
            connect: vec!["https://api.example.com".into(), "wss://live.example.com".into()],
            load: vec!["https://*.example.org".into()],
            storage: Some(1024),
        },
        folder: None,
        problems: vec![],
    };
    assert_eq!(described(&fields, &["start.html"]), expected);
    let pictured = described(&fields, &["start.html", "icon.webp"]);
    assert_eq!(pictured.icon, Some(Icon::Picture), "a picture wins");
    let built = described(&json!({}), &["dist/index.html", "dist/protocol.json"]);
    assert_eq!((built.entry.as_str(), built.protocol), ("dist/index.html", true));
}

#[test]
fn every_problem_is_named_with_its_place_and_what_was_expected() {
    let fields = json!({
        "name": 1, "icon": "", "hidden": "yes", "variant": "huge", "defaultWidth": 0,
        "windowStyle": [], "entry": "../index.html",
        "fileAssociations": [
            { "extensions": ["csv", 2, ""], "command": "open", "paramKey": "p" },
            { "extensions": [], "command": "open", "paramKey": "p" },
            { "extensions": [".x"], "paramKey": 3, "encoding": "hex" },
            "no",
        ],
        "permissions": ["root", 7, { "uri": "yaar://apps/" }, "storage:../", "storage:"],
        "storage": { "quota": -1 },
        "domains": ["https://a.example; script-src *", 5],
    });
    let expected = [
        "/icon: expected a text that is not empty",
        "/name: expected a string, got a number",
        "/hidden: expected true or false, got \"yes\"",
        "/fileAssociations/0/extensions/1: expected a string, got a number",
        "/fileAssociations/0/extensions/2: expected an extension like \".csv\"",
        "/fileAssociations/1/extensions: expected a list with at least one extension",
        "/fileAssociations/2/command: expected a string, and it is missing",
        "/fileAssociations/2/paramKey: expected a string, got a number",
        "/fileAssociations/2/encoding: expected \"text\" or \"base64\", got \"hex\"",
        "/fileAssociations/3: expected an object, got \"no\"",
        "/windowStyle: expected an object, got a list",
        "/variant: expected \"standard\" or \"widget\" or \"panel\", got \"huge\"",
        "/defaultWidth: expected a number of pixels from 1 to 10000",
        "/entry: expected the path of an HTML file within the app",
    ];
    let found = problems(&fields);
    assert_eq!(found[..expected.len()], expected);
    let known = "expected one of clipboard, downloads, modals, popups, storage:PREFIX/ or \
                 storage-read:PREFIX/, got";
    let form = "expected a domain like \"api.example.com\" or \"https://*.example.com\", got";
    let asks = [
        format!("/permissions/0: {known} \"root\""),
        "/permissions/1: expected a string or an object, got a number".into(),
        "/permissions/2/uri: expected an address like \"yaar://storage/shared/\", got \"yaar://apps/\"".into(),
        format!("/permissions/3: {known} \"storage:../\""),
        format!("/permissions/4: {known} \"storage:\""),
        format!("/domains/0: {form} \"https://a.example; script-src *\""),
        format!("/domains/1: {form} a number"),
        "/storage/quota: expected a number of bytes from 1 to 4294967296".into(),
    ];
    assert_eq!(found[expected.len()..], asks);
    let card = described(&fields, &["index.html"]);
    assert_eq!(card.associations.len(), 1, "what is right is used");
    assert_eq!(card.asks, Asks::default());
}

#[test]
fn what_is_no_description_is_said_to_be_none() {
    for (text, what) in [
        ("", "expected JSON: EOF while parsing a value at line 1 column 0"),
        ("{", "expected JSON: EOF while parsing an object at line 1 column 1"),
        ("[]", "expected an object, got a list"),
    ] {
        let card = read("my-app", text, |_| true);
        assert_eq!(card.problems, [Problem { path: String::new(), what: what.into() }], "{text}");
    }
    let gone = described(&json!({ "entry": "a.html" }), &[]).problems;
    assert_eq!(gone[0].what, "expected a document that is there; `a.html` is not");
    let none = described(&json!({}), &[]).problems;
    assert_eq!(none[0].what, "expected a document: there is no index.html");
}

#[test]
fn an_app_may_give_itself_an_id() {
    assert_eq!(own_id(r#"{"id":"sheet"}"#), Some("sheet".into()));
    for text in [r#"{"id":"../x"}"#, r#"{"id":1}"#, "{}", "[]", ""] {
        assert_eq!(own_id(text), None, "{text}");
    }
}
