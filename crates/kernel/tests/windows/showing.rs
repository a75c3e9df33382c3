//! What windows show: what fits each renderer, and how it is added to.

use kernel::windows::Operation;
use serde_json::json;

use crate::*;

#[test]
fn content_is_kept_as_its_renderer_shows_it() {
    for (renderer, data, kept) in [
        (Renderer::Markdown, json!("# hi"), json!("# hi")),
        (Renderer::Text, json!(""), json!("")),
        (
            Renderer::Table,
            json!({ "headers": ["a", 2], "rows": [[null, true]], "more": 1 }),
            json!({ "headers": ["a", "2"], "rows": [["", "true"]] }),
        ),
        (Renderer::Table, json!({ "headers": [] }), json!({ "headers": [], "rows": [] })),
        (Renderer::Image, json!("data:image/png;base64,AA=="), json!("data:image/png;base64,AA==")),
        (Renderer::Image, json!({ "url": "/x.png" }), json!({ "url": "/x.png" })),
        (Renderer::Iframe, json!("HTTPS://example.org"), json!("HTTPS://example.org")),
    ] {
        assert_eq!(shows(renderer, data).checked(), Ok(shows(renderer, kept)));
    }
}

#[test]
fn content_that_does_not_fit_is_refused_with_what_was_expected() {
    let table = r#"expected {"headers": [string, …], "rows": [[string, …], …]}"#;
    let address = "expected an address, https://… or /api/…, as a string or as {\"url\": string}";
    let image = "expected an address, https://… or /api/…, or data:image/…, as a string or as {\"url\": string}";
    for (renderer, data, problem) in [
        (
            Renderer::Html,
            json!({}),
            "an html window shows a text; expected a string, found an object".to_owned(),
        ),
        (
            Renderer::Table,
            json!([]),
            format!("a table window shows a table; {table}, found a list"),
        ),
        (
            Renderer::Table,
            json!({ "rows": [] }),
            format!("the table has no list `headers`; {table}"),
        ),
        (
            Renderer::Table,
            json!({ "headers": ["a"], "rows": ["x"] }),
            "row 1 is a string; expected a list of strings".to_owned(),
        ),
        (
            Renderer::Table,
            json!({ "headers": ["a"], "rows": [["x"], ["x", "y"]] }),
            "row 2 has 2 cells; expected 1, one for each header".to_owned(),
        ),
        (
            Renderer::Table,
            json!({ "headers": ["a"], "rows": [[{}]] }),
            "cell 1 of row 1 is an object; expected a string".to_owned(),
        ),
        (
            Renderer::Iframe,
            json!(5),
            format!("an iframe window shows what is at an address; {address}, found a number"),
        ),
        (
            Renderer::Iframe,
            json!("javascript:alert(1)"),
            format!("an iframe window cannot show `javascript:alert(1)`; {address}"),
        ),
        (
            Renderer::Iframe,
            json!("//elsewhere.org"),
            format!("an iframe window cannot show `//elsewhere.org`; {address}"),
        ),
        (
            Renderer::Iframe,
            json!({ "url": "/\\elsewhere.org" }),
            format!("an iframe window cannot show `/\\elsewhere.org`; {address}"),
        ),
        (
            Renderer::Iframe,
            json!("data:image/png;base64,AA=="),
            format!("an iframe window cannot show `data:image/png;base64,AA==`; {address}"),
        ),
        (
            Renderer::Image,
            json!("data:text/html,x"),
            format!("an image window cannot show `data:text/html,x`; {image}"),
        ),
    ] {
        assert_eq!(shows(renderer, data).checked(), Err(problem));
    }
}

#[test]
fn what_is_shown_is_added_to() {
    let table = |rows: Value| json!({ "headers": ["a", "b"], "rows": rows });
    let insert = |position, data| Operation::InsertAt { position, data };
    for (before, operation, after) in [
        (json!("b"), Operation::Append { data: json!("c") }, json!("bc")),
        (json!("b"), Operation::Prepend { data: json!("a") }, json!("ab")),
        (json!("b"), Operation::Replace { data: json!("x") }, json!("x")),
        (json!("b"), Operation::Clear, json!("")),
        (json!("a🏛ä"), insert(0, json!("-")), json!("-a🏛ä")),
        (json!("a🏛ä"), insert(2, json!("-")), json!("a-🏛ä")),
        (json!("a🏛ä"), insert(3, json!("-")), json!("a🏛-ä")),
        (json!("a🏛ä"), insert(u64::MAX, json!("-")), json!("a🏛ä-")),
        (
            table(json!([["1", "2"]])),
            Operation::Append { data: json!([[3, null]]) },
            table(json!([["1", "2"], ["3", ""]])),
        ),
        (
            table(json!([["1", "2"], ["3", "4"]])),
            insert(1, json!([["x", "y"]])),
            table(json!([["1", "2"], ["x", "y"], ["3", "4"]])),
        ),
        (table(json!([["1", "2"]])), Operation::Clear, table(json!([]))),
    ] {
        let renderer = if before.is_string() { Renderer::Markdown } else { Renderer::Table };
        let mut content = shows(renderer, before);
        assert_eq!(content.update(&operation), Ok(()));
        assert_eq!(content, shows(renderer, after));
    }
}

#[test]
fn what_cannot_be_added_leaves_everything_as_it_was() {
    let table = json!({ "headers": ["a", "b"], "rows": [["1", "2"]] });
    let framed =
        "what an iframe window shows can only be replaced; expected the operation `replace`";
    for (content, operation, problem) in [
        (shows(Renderer::Iframe, "/x"), Operation::Clear, framed),
        (
            shows(Renderer::Table, table.clone()),
            Operation::Append { data: json!([["1"]]) },
            "row 1 has 1 cells; expected 2, one for each header",
        ),
        (
            shows(Renderer::Html, "x"),
            Operation::Append { data: json!(["x"]) },
            "an html window shows a text; expected a string, found a list",
        ),
        (
            shows(Renderer::Image, "/x.png"),
            Operation::Replace { data: json!("") },
            "an image window cannot show ``; expected an address, https://… or /api/…, or \
             data:image/…, as a string or as {\"url\": string}",
        ),
    ] {
        let mut changed = content.clone();
        assert_eq!(changed.update(&operation), Err(problem.to_owned()));
        assert_eq!(changed, content);
    }
}
