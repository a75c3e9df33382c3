//! The description of the API, which must be whole and true.

use serde_json::Value;

use crate::common::House;

/// Every route, with the answers that are described.
const ROUTES: &[(&str, &str, &[&str])] = &[
    ("get", "/api/session", &["200"]),
    ("get", "/api/sessions", &["200"]),
    ("post", "/api/sessions", &["200", "400"]),
    ("patch", "/api/sessions/{id}", &["200", "400", "404"]),
    ("delete", "/api/sessions/{id}", &["200", "400"]),
    ("post", "/api/sessions/{id}/resume", &["200", "400"]),
    ("post", "/api/sessions/{id}/observe", &["200", "404"]),
    ("get", "/api/sessions/{id}/state", &["200", "404"]),
    ("post", "/api/sessions/{id}/compact", &["200", "404"]),
    ("get", "/api/sessions/{id}/events", &["200", "400", "404"]),
    ("get", "/api/sessions/{id}/search", &["200", "400", "404"]),
    ("post", "/api/sessions/{id}/messages", &["200", "400", "404", "409", "413", "422"]),
    ("post", "/api/sessions/{id}/cancel", &["200"]),
    ("delete", "/api/sessions/{id}/queue/{which}", &["200", "404", "409"]),
    ("get", "/api/sessions/{id}/pictures/{seq}/{index}", &["404", "410", "415"]),
    ("get", "/api/applets", &["200"]),
    ("post", "/api/applets/{slug}/load", &["200", "404", "500"]),
    ("get", "/api/applet/state", &["200", "400", "404"]),
    ("post", "/api/applet/state", &["200", "400", "404", "413"]),
    ("get", "/api/apps", &["200"]),
    ("post", "/api/apps", &["200", "400", "413", "415"]),
    ("delete", "/api/apps/{id}", &["200", "404", "409"]),
    ("post", "/api/apps/open", &["200", "400", "403", "404", "409", "413"]),
    ("get", "/api/apps/openers", &["200"]),
    ("get", "/api/apps/{id}/icon", &["404"]),
    ("get", "/api/approvals", &["200", "404"]),
    ("post", "/api/approvals/{id}", &["200", "400", "404", "409"]),
    ("get", "/api/grants", &["200"]),
    ("delete", "/api/grants/{id}", &["200", "404"]),
    ("get", "/api/tasks", &["200", "404"]),
    ("get", "/api/frames", &["200"]),
    ("post", "/api/frames", &["200", "400", "404", "409"]),
    ("delete", "/api/frames/{id}", &["200", "404"]),
    ("get", "/api/widgets", &["200"]),
    ("get", "/api/widgets/bridge.js", &["400"]),
    ("post", "/api/widgets/features", &["200", "400"]),
    ("get", "/api/sessions/{id}/widgets", &["200", "404"]),
    ("get", "/api/sessions/{id}/widgets/{call}", &["200", "404"]),
    ("get", "/api/windows", &["200", "404"]),
    ("post", "/api/windows", &["200", "400", "404", "409", "413"]),
    ("patch", "/api/windows/{id}", &["200", "400", "404", "409", "413"]),
    ("delete", "/api/windows/{id}", &["200", "404", "409"]),
    ("get", "/api/windows/{id}/app", &["200", "404"]),
    ("get", "/api/windows/{id}/traffic", &["200", "404"]),
    ("post", "/api/windows/{id}/ask", &["200", "400", "404"]),
    ("post", "/api/windows/{id}/hands", &["200", "400", "404", "409"]),
    ("post", "/api/windows/{id}/undo", &["200", "400", "404", "409"]),
    ("get", "/api/windows/{id}/history", &["200", "404", "409"]),
    ("get", "/api/preferences", &["200"]),
    ("post", "/api/preferences", &["200", "400"]),
    ("get", "/api/models", &["200", "500"]),
    ("get", "/api/welcome", &["200"]),
    ("get", "/api/usage", &["200", "400"]),
    ("get", "/api/budgets", &["200"]),
    ("put", "/api/budgets", &["200", "400"]),
    ("delete", "/api/budgets", &["200"]),
    ("get", "/api/schedule", &["200"]),
    ("get", "/api/schedule/{slug}", &["200", "404"]),
    ("put", "/api/schedule/{slug}", &["200", "400"]),
    ("patch", "/api/schedule/{slug}", &["200", "400", "404"]),
    ("delete", "/api/schedule/{slug}", &["200", "404"]),
    ("post", "/api/schedule/{slug}/run", &["200", "404", "409"]),
    ("get", "/api/schedule/{slug}/runs", &["200", "400", "404"]),
    ("post", "/api/schedule/{slug}/rehearse", &["200", "400"]),
    ("post", "/api/schedule/{slug}/grants", &["200", "400", "404"]),
    ("post", "/api/schedule/preview", &["200", "400"]),
    ("get", "/api/debug/messages", &["200"]),
    ("get", "/api/log", &["200", "404"]),
    ("post", "/api/socket-token", &["200", "401"]),
    ("get", "/api/sessions/{id}/prompt", &["200", "404"]),
    ("put", "/api/instructions", &["200", "400"]),
    ("get", "/api/mcp/servers", &["200"]),
    ("post", "/api/mcp/servers", &["200", "400", "409"]),
    ("patch", "/api/mcp/servers/{name}", &["200", "400", "404"]),
    ("delete", "/api/mcp/servers/{name}", &["200", "404", "409"]),
    ("post", "/api/mcp/servers/{name}/restart", &["200", "404"]),
    ("post", "/api/mcp/reload", &["200"]),
    ("get", "/api/mcp/servers/{name}/logs", &["200", "404"]),
    ("post", "/api/command", &["200", "400", "403", "409", "413", "429", "502", "503", "504"]),
    ("post", "/api/chat", &["200", "400", "429", "500"]),
    ("get", "/api/status", &["200"]),
    ("get", "/api/devices", &["200"]),
    ("post", "/api/devices", &["200", "400", "409"]),
    ("patch", "/api/devices/{name}", &["200", "400", "404", "409"]),
    ("delete", "/api/devices/{name}", &["200", "404"]),
    ("post", "/api/desktop/arm", &["200", "400", "404"]),
    ("post", "/api/desktop/disarm", &["200", "400", "404"]),
    ("post", "/api/desktop/stop", &["200", "400", "404"]),
    ("post", "/api/desktop/hand_back", &["200", "400", "404", "409"]),
    ("post", "/api/desktop/take_over", &["200", "400", "404", "409"]),
    ("get", "/api/desktop/target", &["400", "404", "503"]),
    ("get", "/api/desktop", &["200"]),
    ("get", "/api/desktop/log", &["200", "400", "404"]),
    ("post", "/api/desktop/record", &["200", "404", "409"]),
    ("get", "/api/desktop/trajectories", &["200"]),
    ("post", "/api/desktop/trajectories", &["200", "400", "409"]),
    ("patch", "/api/desktop/trajectories/{id}", &["200", "400", "404", "409"]),
    ("delete", "/api/desktop/trajectories/{id}", &["200", "404"]),
    ("post", "/api/desktop/trajectories/{id}/replay", &["200", "404", "409"]),
    ("get", "/api/files", &["200", "403", "500"]),
    ("put", "/api/files/{path}", &["200", "400", "403", "412", "413", "500"]),
    ("get", "/api/file", &["400", "403", "404", "413", "416"]),
    ("post", "/api/tmpfile", &["200", "400", "413"]),
    ("get", "/api/mcp/tools", &["200"]),
    ("post", "/api/mcp/read_file", &["200", "400", "403"]),
    ("post", "/api/mcp/write_file", &["200", "400", "403"]),
    ("post", "/api/mcp/list_directory", &["200", "400", "403"]),
    ("post", "/api/shell", &["200", "400", "403", "408", "500"]),
    ("get", "/api/outputs/{id}", &["200", "404"]),
    ("get", "/status", &["200", "401", "503"]),
    ("get", "/messages", &["200", "400", "401", "429"]),
    ("post", "/window/attachments", &["201", "400", "401", "413", "507"]),
    ("get", "/window/attachments/{session}/{seq}/{index}", &["401", "404", "410"]),
    ("get", "/api/keys", &["200"]),
    ("post", "/api/keys", &["200", "400", "404", "409"]),
    ("delete", "/api/keys/{id}", &["200", "404"]),
    ("get", "/window/push/key", &["200", "401"]),
    ("post", "/window/push/subscriptions", &["201", "400", "401", "409"]),
    ("delete", "/window/push/subscriptions", &["200", "400", "401", "404"]),
    ("get", "/api/push", &["200"]),
    ("post", "/api/push/subscriptions", &["200", "400", "409"]),
    ("patch", "/api/push/subscriptions/{id}", &["200", "400", "404"]),
    ("delete", "/api/push/subscriptions/{id}", &["200", "404"]),
    ("post", "/api/push/subscriptions/{id}/test", &["200", "404", "502"]),
    ("get", "/v1/models", &["200"]),
    ("post", "/v1/chat/completions", &["400", "404", "429"]),
    ("post", "/v1/responses", &["400", "404", "429"]),
];

#[tokio::test]
async fn the_description_names_every_route_and_all_its_answers() {
    let house = House::new([]).await;
    let (status, api) = house.get("/api/openapi.json").await;
    assert_eq!(status, 200);
    for (method, path, statuses) in ROUTES {
        let operation = &api["paths"][*path][*method];
        assert!(operation["summary"].is_string(), "{method} {path} says what it does");
        for status in *statuses {
            let answer = &operation["responses"][*status];
            let schema = &answer["content"]["application/json"]["schema"];
            assert!(schema.is_object(), "{method} {path} {status}: {answer}");
        }
        let named = path.contains("{id}");
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        let id = parameters.iter().any(|it| it["name"] == "id" && it["in"] == "path");
        assert_eq!(id, named, "{method} {path} describes what it is named by");
    }
    let paths = api["paths"].as_object().unwrap();
    let count: usize = paths.values().map(|path| path.as_object().unwrap().len()).sum();
    assert_eq!(count, ROUTES.len(), "and no other: {:?}", paths.keys());
}

#[tokio::test]
async fn every_reference_in_the_description_leads_somewhere() {
    let house = House::new([]).await;
    let (_, api) = house.get("/api/openapi.json").await;
    let mut seen = 0;
    let mut open = vec![&api];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get("$ref") {
                    let pointer = reference.strip_prefix('#').unwrap();
                    assert!(api.pointer(pointer).is_some(), "{reference} leads nowhere");
                    seen += 1;
                }
                open.extend(fields.values());
            }
            _ => (),
        }
    }
    assert!(seen > 20, "only {seen} references");
}
