use serde_json::json;

use super::*;

fn guise() -> Guise {
    let mut guise = Guise::default();
    guise.settle(&json!({
        "sessionId": "s",
        "modes": { "currentModeId": "ask", "availableModes": [
            { "id": "ask", "name": "Ask" },
            { "id": "plan", "name": "Plan", "description": "Only thinks" },
        ]},
        "configOptions": [
            { "id": "m", "name": "Model", "category": "model", "type": "select",
              "currentValue": "small", "options": [
                { "value": "small", "name": "Small" }, { "value": "big", "name": "Big one" } ] },
            { "id": "web", "name": "Web", "type": "boolean", "currentValue": false },
        ],
    }));
    guise
}

fn chosen(guise: &Guise, name: &str, value: &str) -> Result<(&'static str, Value), String> {
    guise.choose("s", name, value).map(|Request { method, params }| (method, params))
}

#[test]
fn what_is_chosen_is_asked_for_the_way_the_agent_offers_it() {
    let guise = guise();
    let mode = json!({ "sessionId": "s", "modeId": "plan" });
    assert_eq!(chosen(&guise, "mode", "plan"), Ok(("session/set_mode", mode)));
    let model = json!({ "sessionId": "s", "configId": "m", "value": "big" });
    for name in ["model", "m"] {
        let expected = ("session/set_config_option", model.clone());
        assert_eq!(chosen(&guise, name, "big"), Ok(expected));
    }
    let web = json!({ "sessionId": "s", "configId": "web", "type": "boolean", "value": true });
    assert_eq!(chosen(&guise, "web", "true"), Ok(("session/set_config_option", web)));
}

#[test]
fn what_is_not_offered_is_answered_with_what_is() {
    let guise = guise();
    let complaint = |name, value| chosen(&guise, name, value).unwrap_err();
    assert_eq!(complaint("mode", "fly"), "`fly` cannot be its mode; it has ask, plan");
    assert_eq!(complaint("model", "huge"), "`huge` cannot be its model; it has small, big");
    assert_eq!(complaint("web", "yes"), "`yes` cannot be its web; it has true, false");
    assert_eq!(complaint("taste", "x"), "it has no option `taste`; it has mode, m, web");
    let bare = Guise::default().choose("s", "mode", "plan").err();
    assert_eq!(bare.as_deref(), Some("it has no option `mode`; it has none"));
}

#[test]
fn what_it_tells_of_itself_can_be_read() {
    let mut guise = guise();
    let hear = |guise: &mut Guise, update: Value| {
        guise.hear(&serde_json::from_value(update).unwrap());
    };
    hear(&mut guise, json!({ "sessionUpdate": "current_mode_update", "currentModeId": "plan" }));
    hear(
        &mut guise,
        json!({ "sessionUpdate": "available_commands_update", "availableCommands": [
            { "name": "review", "description": "Looks at changes\nand more" } ] }),
    );
    let brief = |title: &str, text: &str| Brief { title: title.into(), text: text.into() };
    let expected = [
        brief("Its modes (mode)", "- `ask`: Ask\n- `plan` (now): Only thinks\n"),
        brief("Model (m)", "- `small` (now): Small\n- `big`: Big one\n"),
        brief("Web (web)", "- `true`\n- `false` (now)\n"),
        brief(
            "Commands that it knows, at the beginning of a message",
            "- `/review`: Looks at changes\n",
        ),
    ];
    assert_eq!(guise.briefs(), expected);
    guise.chosen("mode", "ask", &json!({}));
    assert!(guise.briefs()[0].text.contains("`ask` (now)"));
    assert_eq!(Guise::default().briefs(), []);
}
