//! The seed dialect: the behaviours S1 to S48 that its reference asserts.

use serde_json::{Value, json};
use widgets::{Capabilities, DisplayMode, LogLevel, Trouble, codes};

use super::world::{View, all, error};

#[tokio::test]
async fn a_host_that_offers_nothing_says_so_and_what_it_offers_comes_back() {
    let bare = View::set_up(widgets::Setup::default());
    let greeting = bare.ask("ui/initialize", json!({})).await;
    assert_eq!(
        greeting,
        json!({
            "protocolVersion": "2024-11-05",
            "hostInfo": { "name": "megaron", "version": "" },
            "hostCapabilities": {},
            "hostContext": {},
        })
    );
    let told = View::new().ask("ui/initialize", json!({ "protocolVersion": "2024-11-05" })).await;
    let capabilities = &told["hostCapabilities"];
    for flag in ["serverToolProxy", "openLink", "modelContextUpdate", "widgetTools", "logging"] {
        assert_eq!(capabilities[flag], json!(true), "{flag}");
    }
    assert_eq!(capabilities["displayModes"], json!(["inline", "fullscreen"]));
    // And the official keys beside them, for guests that look for either.
    assert_eq!(capabilities["serverTools"], json!({ "listChanged": true }));
    let around = &told["hostContext"];
    assert_eq!(around["viewport"], json!({ "width": 900, "height": 4000 }));
    assert_eq!((&around["timezone"], &around["timeZone"]), (&json!("UTC"), &json!("UTC")));
}

#[tokio::test]
async fn ids_are_echoed_exactly_and_no_handshake_is_needed() {
    for id in
        [json!(0), json!(1), json!("s"), json!(""), json!(9_007_199_254_740_991_u64), json!(-3)]
    {
        let request =
            json!({ "jsonrpc": "2.0", "id": id, "method": "ui/log", "params": { "message": "m" } });
        let answer = View::new().handler.handle(request).await;
        assert_eq!(answer, Some(json!({ "jsonrpc": "2.0", "id": id, "result": {} })));
    }
}

#[tokio::test]
async fn a_tool_is_called_once_with_what_was_given_and_its_value_comes_back() {
    let view = View::seed().await;
    view.will(Ok(json!({ "temperature": 72 })));
    let params = json!({ "name": "weather", "arguments": { "city": "NYC" } });
    assert_eq!(view.ask("ui/callServerTool", params).await, json!({ "temperature": 72 }));
    assert_eq!(view.world.taken(), [r#"call weather {"city":"NYC"}"#]);
    for method in ["ui/callServerTool", "tools/call"] {
        view.ask(method, json!({ "name": "weather" })).await;
        assert_eq!(view.world.taken(), ["call weather {}"]);
        let nameless = view.ask(method, json!({ "name": "" })).await;
        assert_eq!(nameless, error(-32602, "Tool name is required"));
    }
}

#[tokio::test]
async fn trouble_with_a_tool_has_a_code_of_its_own() {
    for (trouble, expected) in [
        (Trouble::NotFound, error(-32001, "Tool not found: t")),
        (Trouble::NotAvailable, error(-32001, "Tool not found: t")),
        (Trouble::Failed("lost".into()), error(-32002, "Tool execution failed: lost")),
        (
            Trouble::Server { code: -32603, message: "bad".into(), data: None },
            error(-32002, "Tool execution failed: bad"),
        ),
        (Trouble::Denied("no".into()), error(-32004, "no")),
        (Trouble::Cancelled("gone".into()), error(-32004, "gone")),
        (Trouble::Other("odd".into()), error(-32603, "odd")),
    ] {
        let view = View::seed().await;
        view.will(Err(trouble));
        assert_eq!(view.ask("ui/callServerTool", json!({ "name": "t" })).await, expected);
    }
}

/// The rows of one method, each with an earlier fault than the next: two at once yield the earlier.
#[tokio::test]
async fn the_first_check_that_fails_wins() {
    let none = Capabilities { display_modes: Some(Vec::new()), ..Capabilities::default() };
    let silent = |method: &'static str, params: Value, message: &'static str| {
        (View::with(none.clone()).without_ports(), method, params, -32003, message)
    };
    let alone = |method: &'static str, params: Value, message: &'static str| {
        (View::with(all()).without_ports(), method, params, -32003, message)
    };
    let wrong = |method: &'static str, params: Value, message: &'static str| {
        (View::with(all()), method, params, -32602, message)
    };
    let tool = |name: Value, description: Value, schema: Value| json!({ "name": name, "description": description, "inputSchema": schema });
    let schema = "Tool input schema must be a non-null object";
    let scheme = "URL scheme 'javascript:' not allowed. Only http: and https: are permitted.";
    let mode = "Invalid display mode. Must be inline, fullscreen, or pip";
    let level = "Invalid log level 'x'. Must be one of: debug, info, warn, error";
    for (view, method, params, code, message) in [
        silent("ui/callServerTool", json!({}), "Server tool proxy not supported by host"),
        wrong("ui/callServerTool", json!({}), "Tool name is required"),
        wrong("ui/callServerTool", json!({ "name": 3 }), "Tool name is required"),
        silent("ui/updateModelContext", json!({}), "Model context update not advertised by host"),
        alone("ui/updateModelContext", json!({}), "Model context update not supported by host"),
        silent("ui/openLink", json!({}), "Open link not advertised by host"),
        alone("ui/openLink", json!({}), "Open link not supported by host"),
        wrong("ui/openLink", json!({}), "URL is required"),
        wrong("ui/openLink", json!({ "url": "no url" }), "Invalid URL format"),
        wrong("ui/openLink", json!({ "url": "javascript:alert(1)" }), scheme),
        wrong("ui/setDisplayMode", json!({ "mode": "x" }), mode),
        (
            View::with(none.clone()).without_ports(),
            "ui/setDisplayMode",
            json!({ "mode": "x" }),
            -32602,
            mode,
        ),
        silent(
            "ui/setDisplayMode",
            json!({ "mode": "pip" }),
            "Display mode 'pip' not advertised by host",
        ),
        alone(
            "ui/setDisplayMode",
            json!({ "mode": "inline" }),
            "Display mode change not supported by host",
        ),
        silent("ui/close", json!({}), "Widget close not supported by host"),
        silent("ui/log", json!({ "level": "x" }), "Logging not supported by host"),
        wrong("ui/log", json!({ "level": "x" }), "Log message is required"),
        wrong("ui/log", json!({ "level": "x", "message": "m" }), level),
        silent("ui/registerTool", json!({}), "Widget tools not advertised by host"),
        alone("ui/registerTool", json!({}), "Widget tool registration not supported by host"),
        wrong("ui/registerTool", json!({}), "Tool name is required"),
        wrong("ui/registerTool", json!({ "name": "n" }), "Tool description is required"),
        wrong("ui/registerTool", tool(json!("n"), json!("d"), json!(null)), schema),
        wrong("ui/registerTool", tool(json!("n"), json!("d"), json!([])), schema),
        wrong("ui/registerTool", tool(json!("n"), json!("d"), json!(1)), schema),
        wrong("ui/registerTool", json!({ "name": "n", "description": "d" }), schema),
        silent("ui/unregisterTool", json!({}), "Widget tools not advertised by host"),
        alone("ui/unregisterTool", json!({}), "Widget tool unregistration not supported by host"),
        wrong("ui/unregisterTool", json!({}), "Tool name is required"),
    ] {
        assert_eq!(
            view.ask(method, params.clone()).await,
            error(code, message),
            "{method} {params}"
        );
        assert_eq!(view.world.taken(), [""; 0], "{method} {params}");
    }
}

#[tokio::test]
async fn a_context_is_laid_over_the_one_before_unless_it_shall_not_be() {
    let view = View::seed().await;
    for (params, expected) in [
        (json!({ "context": { "a": 1 } }), r#"remember 1 {"structuredContent":{"a":1}}"#),
        (
            json!({ "context": { "b": 2 }, "merge": true }),
            r#"remember 2 {"structuredContent":{"a":1,"b":2}}"#,
        ),
        (
            json!({ "context": { "a": null } }),
            r#"remember 3 {"structuredContent":{"a":null,"b":2}}"#,
        ),
        (
            json!({ "context": { "c": 3 }, "merge": false }),
            r#"remember 4 {"structuredContent":{"c":3}}"#,
        ),
        (json!({ "context": "text" }), r#"remember 5 {"structuredContent":"text"}"#),
    ] {
        assert_eq!(view.ask("ui/updateModelContext", params).await, json!({}));
        assert_eq!(view.world.taken(), [expected]);
    }
    // The same once more is nothing new.
    assert_eq!(view.ask("ui/updateModelContext", json!({ "context": "text" })).await, json!({}));
    assert_eq!(view.world.taken(), [""; 0]);
}

#[tokio::test]
async fn only_links_of_the_web_are_opened_and_a_no_is_told() {
    let view = View::seed().await;
    assert_eq!(view.ask("ui/openLink", json!({ "url": "https://e.x/" })).await, json!({}));
    assert_eq!(view.world.taken(), ["open https://e.x/"]);
    for url in ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "JavaScript:x"] {
        let refused = view.ask("ui/openLink", json!({ "url": url })).await;
        assert_eq!(refused["code"], json!(-32602), "{url}");
    }
    assert_eq!(view.world.taken(), [""; 0]);
    view.refuses(Trouble::Denied("not now".into()));
    let denied = view.ask("ui/openLink", json!({ "url": "https://e.x/" })).await;
    assert_eq!(denied, error(-32004, "not now"));
}

#[tokio::test]
async fn a_display_mode_reaches_whoever_shows_the_view() {
    let anything = View::with(Capabilities::default());
    assert_eq!(anything.ask("ui/setDisplayMode", json!({ "mode": "fullscreen" })).await, json!({}));
    assert_eq!(anything.world.taken(), ["show fullscreen"]);
    for mode in DisplayMode::ALL.map(DisplayMode::name) {
        let none = Capabilities { display_modes: Some(Vec::new()), ..Capabilities::default() };
        let refused = View::with(none).ask("ui/setDisplayMode", json!({ "mode": mode })).await;
        assert_eq!(
            refused,
            error(-32003, &format!("Display mode '{mode}' not advertised by host"))
        );
    }
}

#[tokio::test]
async fn closing_passes_the_reason_if_there_is_one() {
    let view = View::seed().await;
    assert_eq!(view.ask("ui/close", json!({ "reason": "done" })).await, json!({}));
    assert_eq!(view.ask("ui/close", json!({})).await, json!({}));
    assert_eq!(view.world.taken(), [r#"close Some("done")"#, "close None"]);
}

#[tokio::test]
async fn remarks_are_kept_at_their_level() {
    let view = View::seed().await;
    let mut expected = Vec::new();
    for (level, kept) in [
        (json!("debug"), "Debug"),
        (json!("info"), "Info"),
        (json!("warn"), "Warning"),
        (json!("error"), "Error"),
        (json!(""), "Info"),
        (json!(null), "Info"),
        (json!(0), "Info"),
    ] {
        let params = json!({ "level": level, "message": "m", "data": { "d": 1 } });
        assert_eq!(view.ask("ui/log", params).await, json!({}));
        expected.push(format!("log {kept}  m {{\"d\":1}}"));
    }
    view.ask("ui/log", json!({ "message": "m" })).await;
    expected.push("log Info  m ".into());
    assert_eq!(view.world.taken(), expected);
}

#[tokio::test]
async fn what_nobody_knows_is_said_to_be_unknown_and_bad_parameters_come_first() {
    let view = View::seed().await;
    let unknown = error(-32601, "Unknown ext-apps method: ui/foo");
    assert_eq!(view.ask("ui/foo", json!({})).await, unknown);
    for params in [json!(null), json!([]), json!("x"), json!(1)] {
        let wrong = error(-32602, "Invalid params: expected object");
        assert_eq!(view.ask("ui/log", params.clone()).await, wrong);
        assert_eq!(view.ask("ui/foo", params).await, wrong);
    }
    let absent = json!({ "jsonrpc": "2.0", "id": 1, "method": "ui/close" });
    let closed = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
    assert_eq!(view.handler.handle(absent).await, Some(closed));
}

#[tokio::test]
async fn what_only_its_bridge_sends_is_served_as_well() {
    let view = View::seed().await;
    assert_eq!(view.ask("ui/message", json!({ "content": "hello" })).await, json!({}));
    assert_eq!(view.ask("ui/setSize", json!({ "height": 10, "width": 20 })).await, json!({}));
    let expected = [r#"say [{"type":"text","text":"hello"}]"#, "resize Some(20.0) Some(10.0) None"];
    assert_eq!(view.world.taken(), expected);
}

#[test]
fn there_are_nine_codes_three_modes_and_four_levels() {
    let nine = [
        codes::PARSE_ERROR,
        codes::INVALID_REQUEST,
        codes::METHOD_NOT_FOUND,
        codes::INVALID_PARAMS,
        codes::INTERNAL_ERROR,
        codes::TOOL_NOT_FOUND,
        codes::TOOL_EXECUTION_FAILED,
        codes::NOT_SUPPORTED,
        codes::CANCELLED,
    ];
    assert_eq!(nine, [-32700, -32600, -32601, -32602, -32603, -32001, -32002, -32003, -32004]);
    assert_eq!(DisplayMode::ALL.map(DisplayMode::name), ["inline", "fullscreen", "pip"]);
    let levels = ["debug", "info", "warn", "error"].map(LogLevel::parse_seed);
    assert_eq!(
        levels,
        [LogLevel::Debug, LogLevel::Info, LogLevel::Warning, LogLevel::Error].map(Some)
    );
    assert_eq!(LogLevel::parse_seed("warning"), None);
}
