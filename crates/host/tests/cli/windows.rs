//! Windows, as agents open them: the demo model, and a client of the Model Context Protocol.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::home::Home;

const CREATE: &str = r##"/tool window_create {"windowId":"note","title":"A note","renderer":"markdown","content":"# hi"}"##;

#[test]
fn a_window_that_a_model_opens_outlives_the_server() {
    let home = Home::new();
    let server = home.serve(&[]);
    let first = home.run(&["ask", CREATE]);
    assert_eq!(first.code, Some(0), "{first:?}");
    assert!(first.out.contains("The window \"note\" is open."), "{first:?}");
    server.stop();
    let _server = home.serve(&[]);
    let update =
        r#"/tool window_update {"windowId":"note","operation":"append","content":"\nmore"}"#;
    for (prompt, said) in [
        (update, "The window \"note\" is changed."),
        (r#"/tool window_list {"windowId":"note"}"#, r#""renderer": "markdown""#),
        (r#"/tool window_close {"windowId":"note"}"#, "The window \"note\" is closed."),
        ("/tool window_list {}", "No window is open."),
        (r#"/tool window_close {"windowId":"note"}"#, "Window \"note\" not found."),
    ] {
        let ran = home.run(&["ask", "--session", first.session(), prompt]);
        assert!(ran.out.contains(said) || ran.err.contains(said), "{prompt}: {ran:?}");
    }
}

#[test]
fn a_client_of_mcp_has_the_tools_for_windows() {
    let home = Home::new();
    let _server = home.serve(&[]);
    let mut command = home.command(&["mcp"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut client = command.spawn().unwrap();
    let mut input = client.stdin.take().unwrap();
    let mut output = BufReader::new(client.stdout.take().unwrap());
    let mut ask = |id: u32, method: &str, params: Value| {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(input, "{request}").unwrap();
        loop {
            let mut line = String::new();
            assert!(output.read_line(&mut line).unwrap() > 0, "it ended");
            let mut said: Value = serde_json::from_str(&line).unwrap();
            if said["id"] != id {
                continue;
            }
            if method == "initialize" {
                let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
                writeln!(input, "{begun}").unwrap();
            }
            return said["result"].take();
        }
    };
    let info = json!({ "name": "visitor", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
    ask(1, "initialize", hello);
    let listed = ask(2, "tools/list", json!({}));
    let names = listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str());
    let windows: Vec<_> = names.flatten().filter(|name| name.starts_with("window_")).collect();
    assert_eq!(windows, ["window_close", "window_create", "window_list", "window_update"]);
    let args = json!({ "windowId": "t", "title": "T", "renderer": "text", "content": "x" });
    let made = ask(3, "tools/call", json!({ "name": "window_create", "arguments": args }));
    assert_eq!(made["content"][0]["text"], "The window \"t\" is open.", "{made}");
    let args = json!({ "windowId": "gone" });
    let lost = ask(4, "tools/call", json!({ "name": "window_close", "arguments": args }));
    assert_eq!(
        (&lost["isError"], &lost["content"][0]["text"]),
        (&json!(true), &json!("Window \"gone\" not found."))
    );
    drop(input);
    client.wait().unwrap();
}
