//! `megaron approvals`: what waits for the person, their answers, and what they have allowed for longer.

use std::{path::Path, process::ExitCode, time::Duration};

use anyhow::Context as _;
use jiff::{Span, SpanRelativeTo};
use serde_json::{Value, json};

use crate::{
    ask::{self, client::Client},
    asked::{Asked, answered, denied, plain},
    cli::{Allow, ApprovalsAction, ApprovalsArgs},
    config,
};

pub async fn run(args: ApprovalsArgs) -> anyhow::Result<ExitCode> {
    let data_dir = config::data_dir(&args.home)?;
    let client = client(&data_dir, args.server).await?;
    match args.action.unwrap_or_default() {
        ApprovalsAction::List => {
            let waiting = client.approvals().await?;
            let text = if args.json { format!("{waiting:#}\n") } else { list(waiting)? };
            print!("{text}");
        }
        ApprovalsAction::Grants => {
            let grants = client.grants().await?;
            let text = if args.json { format!("{grants:#}\n") } else { grants_list(&grants) };
            print!("{text}");
        }
        ApprovalsAction::Allow(allow) => {
            let lasting = allow.session || allow.always || allow.pattern.is_some();
            let brief = allow.lasts.is_none() || lasting;
            anyhow::ensure!(brief, "--for needs --session, --always or --pattern");
            let id = allow.id.clone();
            tell(&client.decide(&id, &allowed(allow)).await?);
        }
        ApprovalsAction::Deny { id, reason } => {
            tell(&client.decide(&id, &denied(reason.as_deref())).await?);
        }
        ApprovalsAction::Answer { id, text } => tell(&answer(&client, &id, &text).await?),
        ApprovalsAction::Revoke { id } => {
            client.revoke(&id).await?;
            eprintln!("revoked");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The server that runs on this data directory, or the one that is named.
pub async fn client(data_dir: &Path, server: Option<String>) -> anyhow::Result<Client> {
    if let Some(url) = server {
        return Client::new(url, ask::key(data_dir)?, None);
    }
    let running = ask::running(data_dir).await?;
    running.context("no server runs on this data directory; `megaron serve` starts one")
}

fn tell(verdict: &str) {
    eprintln!("{verdict}");
}

/// As typed for a question; for a form, the values as JSON.
async fn answer(client: &Client, id: &str, text: &str) -> anyhow::Result<String> {
    let waiting = client.approvals().await?;
    let all = waiting["approvals"].as_array().map(Vec::as_slice).unwrap_or_default();
    let form = all.iter().any(|it| it["id"] == id && it["kind"] == "form");
    let value = if form {
        serde_json::from_str(text).context("a form is answered with an object in JSON")?
    } else {
        Value::from(text)
    };
    client.decide(id, &answered(value)).await
}

fn allowed(Allow { session, always, pattern, lasts, .. }: Allow) -> Value {
    let mut body = match (&pattern, always, session) {
        (Some(_), true, _) => json!({ "decision": "pattern", "scope": "always" }),
        (Some(_), false, _) => json!({ "decision": "pattern" }),
        (None, true, _) => json!({ "decision": "always" }),
        (None, false, true) => json!({ "decision": "session" }),
        (None, false, false) => json!({ "decision": "once" }),
    };
    if let Some(pattern) = pattern {
        body["pattern"] = pattern.into();
    }
    if let Some(lasts) = lasts {
        body["expiresInSeconds"] = lasts.as_secs().into();
    }
    body
}

/// `90s`, `2h`, `1d 12h`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let problem = || format!("`{text}` is no length of time such as 30m, 2h or 7d");
    let span: Span = text.parse().map_err(|_| problem())?;
    let length = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| problem())?;
    Duration::try_from(length).ok().filter(|it| it.as_secs() > 0).ok_or_else(problem)
}

fn list(mut waiting: Value) -> anyhow::Result<String> {
    let waiting: Vec<Asked> = serde_json::from_value(waiting["approvals"].take())
        .context("the server's answer is not understood")?;
    if waiting.is_empty() {
        return Ok("nothing waits for you\n".to_owned());
    }
    let shown = waiting.iter().map(|asked| {
        let Asked { id, session_id, session_name, expires_at, patterns, .. } = asked;
        let name = match session_name.as_str() {
            "" => session_id.clone(),
            name => format!("{} ({session_id})", plain(name)),
        };
        let until = expires_at.as_ref().map(|it| format!(", until {it}")).unwrap_or_default();
        let mut lines = vec![id.clone()];
        lines.extend(asked.lines().into_iter().map(|line| format!("  {line}")));
        lines.push(format!("  in {name}{until}"));
        if !patterns.is_empty() {
            let patterns: Vec<String> = patterns.iter().map(|it| plain(it)).collect();
            lines.push(format!("  could be allowed as: {}", patterns.join("   ")));
        }
        lines.join("\n") + "\n"
    });
    Ok(shown.collect::<Vec<_>>().join("\n"))
}

fn grants_list(grants: &Value) -> String {
    let grants = grants["grants"].as_array().map(Vec::as_slice).unwrap_or_default();
    if grants.is_empty() {
        return "nothing is allowed beyond what the modes of sessions allow\n".to_owned();
    }
    let text = |value: &Value| plain(value.as_str().unwrap_or_default());
    let line = |grant: &Value| {
        let what = match &grant["pattern"] {
            Value::Null => "whatever it does".to_owned(),
            pattern => text(pattern),
        };
        let place = match (&grant["scheduleSlug"], &grant["sessionId"]) {
            (Value::Null, Value::Null) => "every session".to_owned(),
            (Value::Null, session) => text(session),
            (schedule, _) => format!("runs of the schedule {}", text(schedule)),
        };
        let until = match &grant["expiresAt"] {
            Value::Null => String::new(),
            end => format!(", until {}", text(end)),
        };
        let (id, tool, caller) = (text(&grant["id"]), text(&grant["tool"]), text(&grant["caller"]));
        format!("{id}  {tool}: {what}\n  by {caller}, in {place}{until}\n")
    };
    grants.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_is_read_or_explained() {
        for (text, seconds) in [("90s", 90), ("30m", 1800), ("2h", 7200), ("1d 12h", 129_600)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "2", "soon", "-2h", "0s", "1 month"] {
            let problem = format!("`{text}` is no length of time such as 30m, 2h or 7d");
            assert_eq!(duration(text), Err(problem));
        }
    }

    #[test]
    fn what_is_allowed_reaches_as_far_as_was_said() {
        let allow = |session, always, pattern: Option<&str>, lasts: Option<u64>| {
            let (pattern, lasts) = (pattern.map(Into::into), lasts.map(Duration::from_secs));
            allowed(Allow { id: String::new(), session, always, pattern, lasts })
        };
        assert_eq!(allow(false, false, None, None), json!({ "decision": "once" }));
        assert_eq!(allow(true, false, None, None), json!({ "decision": "session" }));
        let brief = json!({ "decision": "always", "expiresInSeconds": 60 });
        assert_eq!(allow(false, true, None, Some(60)), brief);
        let pattern = json!({ "decision": "pattern", "pattern": "git *" });
        assert_eq!(allow(false, false, Some("git *"), None), pattern);
        assert_eq!(allow(true, false, Some("git *"), None), pattern);
        let wide = json!({ "decision": "pattern", "pattern": "git *", "scope": "always" });
        assert_eq!(allow(false, true, Some("git *"), None), wide);
    }

    #[test]
    fn grants_say_what_they_are_about() {
        let grants = json!({ "grants": [
            { "id": "G", "tool": "bash", "caller": "model", "sessionId": "S", "pattern": "git *",
              "expiresAt": "later", "grantedAt": "now" },
            { "id": "H", "tool": "bash", "caller": "client", "grantedAt": "now" },
            { "id": "I", "tool": "bash", "caller": "model", "scheduleSlug": "daily",
              "grantedAt": "now" },
        ] });
        let expected = "G  bash: git *\n  by model, in S, until later\n\
                        H  bash: whatever it does\n  by client, in every session\n\
                        I  bash: whatever it does\n  by model, in runs of the schedule daily\n";
        assert_eq!(grants_list(&grants), expected);
    }
}
