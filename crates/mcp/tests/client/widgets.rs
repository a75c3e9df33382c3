//! Widgets of servers: where they are said to be, who may call what, and reading them.

use kernel::{
    inbox::CallError,
    servers::{ServerTool, Servers as _},
    toolbox::{Caller, ToolError},
    widget::{Domains, Feature, NoWidget, Wants, WidgetPage},
};
use serde_json::{Value, json};

use crate::home::{Home, odd, peer};

async fn home() -> Home {
    let home = Home::new(json!({ "odd": odd("widgets"), "other": odd("plain") })).await;
    home.until_ready("odd").await;
    home.until_ready("other").await;
    home
}

fn tool(home: &Home, name: &str) -> ServerTool {
    home.info("odd").tools.into_iter().find(|tool| tool.name == name).unwrap()
}

async fn read(home: &Home, tool: &str) -> Result<WidgetPage, NoWidget> {
    home.servers.widget("odd".into(), tool.into()).await
}

#[tokio::test]
async fn a_widget_is_found_in_every_spelling_and_read_even_if_nobody_lists_it() {
    let home = home().await;
    for (name, uri) in [
        ("plain", Some("ui://odd/plain")),
        ("nested", Some("ui://odd/nested")),
        ("flat", Some("ui://odd/flat")),
        ("old", Some("ui://odd/old")),
        ("none", None),
    ] {
        assert_eq!(tool(&home, name).widget.as_deref(), uri, "{name}");
        let page = read(&home, name).await;
        assert_eq!(page.as_ref().ok().map(|page| page.uri.as_str()), uri, "{name}: {page:?}");
        if let Ok(page) = page {
            assert_eq!(
                (page.html.as_str(), page.wants),
                ("<!doctype html><p>hi", Wants::default())
            );
        }
    }
    // One that cannot be there is told of all the same, so that it has a place where that is said.
    let elsewhere = tool(&home, "elsewhere");
    assert_eq!(elsewhere.widget.as_deref(), Some("https://a.example/"));
    let warning = elsewhere.warning.unwrap();
    let bad = "the widget is said to be at `https://a.example/`, which does not begin with ui://";
    assert_eq!(warning, bad);
    assert_eq!(tool(&home, "plain").warning, None);
    assert_eq!(read(&home, "blob").await.unwrap().html, "<p>日本語");
    home.servers.close().await;
}

#[tokio::test]
async fn what_cannot_be_shown_is_called_by_its_name_and_the_tool_works_all_the_same() {
    let home = home().await;
    let failed = |why: &str| NoWidget::ReadFailed(why.to_owned());
    for (name, expected) in [
        ("none", NoWidget::NoMeta),
        ("elsewhere", NoWidget::BadUri("https://a.example/".into())),
        ("latin", failed("its blob is not UTF-8")),
        ("text", NoWidget::WrongMime("text/plain".into())),
        ("empty", NoWidget::EmptyHtml),
        ("large", NoWidget::TooLarge { size: 9_000_000, most: 8 << 20 }),
        ("unheard", NoWidget::NoTool("unheard".into())),
    ] {
        assert_eq!(read(&home, name).await, Err(expected), "{name}");
    }
    let missing = read(&home, "missing").await.unwrap_err();
    assert_eq!(missing.name(), "read-failed");
    assert!(missing.to_string().contains("Resource not found"), "{missing}");
    let nobody = home.servers.widget("nobody".into(), "plain".into()).await;
    assert_eq!(nobody, Err(NoWidget::NoServer("nobody".into())));
    assert!(home.text("greeting", json!({})).await.contains("megaron"));
    home.servers.close().await;
}

#[tokio::test]
async fn what_a_widget_wants_is_said_with_it_or_else_where_it_is_listed() {
    let home = home().await;
    let wants = async |name: &str| read(&home, name).await.unwrap().wants;
    let one = |domain: &str| vec![domain.to_owned()];
    assert_eq!(
        wants("wishes").await,
        Wants {
            domains: Some(Domains {
                connect: one("https://a.example"),
                resource: one("https://b.example"),
                frame: one("https://c.example"),
                base_uri: one("https://d.example"),
            }),
            features: vec![Feature::Microphone, Feature::ClipboardWrite],
            domain: Some("x".into()),
            border: Some(true),
        }
    );
    let listed = Domains { connect: one("https://list.example"), ..Domains::default() };
    assert_eq!(wants("listed").await, Wants { domains: Some(listed), ..Wants::default() });
    // What it says itself counts as a whole, even where that is nothing.
    assert_eq!(wants("overruled").await, Wants::default());
    home.servers.close().await;
}

#[tokio::test]
async fn each_tool_is_called_by_those_it_is_meant_for() {
    let home = home().await;
    let names = |caller: &Caller| -> Vec<String> {
        let specs = home.host.ports.tools.specs(caller);
        specs.into_iter().map(|spec| spec.name).collect()
    };
    let widget = Caller::widget("odd");
    let has = |caller: &Caller, name: &str| names(caller).iter().any(|it| it == name);
    let agent = Caller::Agent { name: "a".into() };
    for (caller, for_app, for_model) in [
        (Caller::Model, false, true),
        (Caller::Client, false, true),
        (agent, false, true),
        (Caller::Owner, true, true),
        (widget.clone(), true, false),
        (Caller::widget("other"), false, false),
    ] {
        assert_eq!((has(&caller, "for_app"), has(&caller, "for_model")), (for_app, for_model));
    }
    assert!(has(&widget, "plain") && !has(&widget, "ping"));
    let session = home.session().await;
    let call = async |caller: Caller, name: &str| match home
        .host
        .call(session, caller, name, json!({}))
        .await
    {
        Ok(reply) => Ok(reply.text),
        Err(CallError::Tool(error)) => Err(error),
        Err(CallError::Open(error)) => Err(ToolError::Failed(error.to_string())),
    };
    let whole = home.host.call(session, widget.clone(), "for_app", json!({})).await.unwrap().data;
    let said = json!([{ "type": "text", "text": "for the app" }]);
    assert_eq!(whole.unwrap()["content"], said);
    let shown = home.host.call(session, Caller::Model, "plain", json!({})).await.unwrap();
    assert_eq!(shown.text, "shown");
    let expected = json!({ "content": [{ "type": "text", "text": "shown" }] });
    assert_eq!(shown.data, Some(expected));
    let refused = |name: &str| Err(ToolError::Refused(name.into()));
    assert_eq!(call(widget.clone(), "for_app").await, Ok(String::new()));
    assert_eq!(call(widget.clone(), "for_model").await, refused("for_model"));
    assert_eq!(call(widget, "ping").await, refused("ping"));
    assert_eq!(call(Caller::Model, "for_app").await, refused("for_app"));
    assert_eq!(call(Caller::Model, "for_model").await, Ok("for the model".into()));
    home.servers.close().await;
}

#[tokio::test]
async fn a_server_is_told_that_widgets_can_be_shown_unless_that_was_chosen_otherwise() {
    let key = "io.modelcontextprotocol/ui";
    let home = home().await;
    let greeting: Value = serde_json::from_str(&home.text("greeting", json!({})).await).unwrap();
    let expected = json!({ "mimeTypes": ["text/html;profile=mcp-app"] });
    for slot in ["extensions", "experimental"] {
        assert_eq!(greeting["capabilities"][slot][key], expected, "{greeting}");
    }
    home.servers.close().await;
    let mut server = odd("widgets");
    server["widgets"] = false.into();
    let silent = Home::new(json!({ "odd": server })).await;
    silent.until_ready("odd").await;
    let greeting: Value = serde_json::from_str(&silent.text("greeting", json!({})).await).unwrap();
    let told = |slot: &str| greeting["capabilities"][slot].get(key).cloned();
    assert_eq!((told("extensions"), told("experimental")), (None, None), "{greeting}");
    silent.servers.close().await;
}

#[tokio::test]
async fn the_published_example_is_read_as_it_is() {
    let server = peer("server-basic-vanillajs");
    let home = Home::new(json!({
        "example": { "command": "node", "args": [server, "--stdio"] },
    }))
    .await;
    home.until_ready("example").await;
    let tools = home.info("example").tools;
    let tool = tools.iter().find(|tool| tool.name == "get-time").unwrap();
    assert_eq!(tool.widget.as_deref(), Some("ui://get-time/mcp-app.html"));
    let page = home.servers.widget("example".into(), "get-time".into()).await.unwrap();
    assert!(page.html.to_ascii_lowercase().starts_with("<!doctype html>"));
    assert_eq!(home.tools(), ["get-time"]);
    home.servers.close().await;
}

#[tokio::test]
async fn what_a_published_server_means_for_its_widget_alone_no_agent_sees() {
    let server = peer("server-debug");
    let debug = json!({ "command": "node", "args": [server, "--stdio"], "trusted": true });
    let home = Home::new(json!({ "debug": debug })).await;
    home.until_ready("debug").await;
    let names = |caller: &Caller| -> Vec<String> {
        let specs = home.host.ports.tools.specs(caller);
        specs.into_iter().map(|spec| spec.name).collect()
    };
    let seen = names(&Caller::Model);
    let of_debug: Vec<_> = seen.iter().filter(|name| name.starts_with("debug-")).collect();
    assert_eq!(of_debug, ["debug-tool"]);
    let widget = Caller::widget("debug");
    assert_eq!(names(&widget), ["debug-log", "debug-refresh", "debug-tool"]);
    let session = home.session().await;
    let refused = home.host.call(session, Caller::Model, "debug-refresh", json!({})).await;
    assert!(matches!(refused, Err(CallError::Tool(ToolError::Refused(_)))), "{refused:?}");
    home.servers.close().await;
}
