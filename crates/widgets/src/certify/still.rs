//! What can be judged of a widget without showing it.

use serde_json::Value;

use super::{Judged, Named, Page, Seen, doubtful, failed, passed, schema, skipped, some};
use crate::policy::{Declared, policy};

/// Beyond this a widget takes long to come over a slow line.
const HEAVY: usize = 1 << 20;
const FLAT: &str = "ui/resourceUri";

pub fn judge(seen: &Seen) -> Vec<Named> {
    let page = seen.page.as_ref();
    let unread = || skipped("the widget was not read");
    vec![
        ("metadata", metadata(&seen.meta)),
        ("address", address(&seen.meta)),
        (
            "resource",
            match page {
                Ok(page) => passed(format!("{} bytes", page.bytes)),
                Err(unread) => failed(format!("{}: {}", unread.verdict, unread.why)),
            },
        ),
        ("type", page.map_or_else(|_| unread(), mime)),
        ("weight", page.map_or_else(|_| unread(), weight)),
        ("domains", page.map_or_else(|_| unread(), domains)),
    ]
}

/// Where the tool says that its widget is, in either spelling.
fn place(meta: &Value) -> Option<&Value> {
    meta.get("ui").and_then(|ui| ui.get("resourceUri")).or_else(|| meta.get(FLAT))
}

fn metadata(meta: &Value) -> Judged {
    let Some(nested) = meta.get("ui") else {
        return doubtful(format!("`{FLAT}` is deprecated: say `_meta.ui.resourceUri`"));
    };
    let faults = schema::faults("McpUiToolMeta", nested);
    if !faults.is_empty() {
        return doubtful(format!("`_meta.ui` of the tool: {}", some(&faults)));
    }
    match meta.get(FLAT) {
        Some(flat) if Some(flat) != nested.get("resourceUri") => {
            failed(format!("`{FLAT}` says {flat}, and `_meta.ui.resourceUri` something else"))
        }
        _ => passed("`_meta.ui`, as published"),
    }
}

fn address(meta: &Value) -> Judged {
    match place(meta).and_then(Value::as_str) {
        Some(uri) if uri.strip_prefix("ui://").is_some_and(|rest| !rest.is_empty()) => passed(uri),
        Some(uri) => failed(format!("`{uri}` does not begin with ui://")),
        None => failed("it is no text"),
    }
}

fn mime(page: &Page) -> Judged {
    let plain: String = page.mime.chars().filter(|it| !it.is_whitespace() && *it != '"').collect();
    if plain.eq_ignore_ascii_case("text/html;profile=mcp-app") {
        passed(page.mime.clone())
    } else {
        doubtful(format!("`{}`, where most hosts know only text/html;profile=mcp-app", page.mime))
    }
}

fn weight(page: &Page) -> Judged {
    if page.bytes > HEAVY {
        doubtful(format!("{} bytes; above {HEAVY} it is slow to come", page.bytes))
    } else {
        passed(format!("{} bytes", page.bytes))
    }
}

fn domains(page: &Page) -> Judged {
    let Some(domains) = &page.declared else {
        return passed("none declared: it reaches nobody, and loads nothing from elsewhere");
    };
    let declared = Declared {
        connect: &domains.connect,
        resource: &domains.resource,
        frame: &domains.frame,
        base_uri: &domains.base_uri,
    };
    let dropped = policy("", Some(declared), "").dropped;
    if !dropped.is_empty() {
        return failed(format!("these are no hosts, and are left out: {}", some(&dropped)));
    }
    let all = [&domains.connect, &domains.resource, &domains.frame, &domains.base_uri];
    let all: Vec<String> = all.into_iter().flatten().cloned().collect();
    passed(if all.is_empty() { "declared, and empty".to_owned() } else { some(&all) })
}
