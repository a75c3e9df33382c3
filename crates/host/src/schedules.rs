//! `megaron schedules`: what is planned, what came of it, and how it is set going, stopped and removed.

use std::process::ExitCode;

use serde_json::Value;

use crate::{
    asked::plain,
    cli::{SchedulesAction, SchedulesArgs},
    config, inbox,
};

pub async fn run(args: SchedulesArgs) -> anyhow::Result<ExitCode> {
    let data_dir = config::data_dir(&args.home)?;
    let client = inbox::client(&data_dir, args.server).await?;
    match args.action.unwrap_or_default() {
        SchedulesAction::List => {
            let schedules = client.schedules().await?;
            let text = if args.json { format!("{schedules:#}\n") } else { list(&schedules) };
            print!("{text}");
        }
        SchedulesAction::Run { name } => {
            println!("{}", client.run_schedule(&name).await?);
        }
        SchedulesAction::Enable { name } => {
            let next = client.enable_schedule(&name, true).await?;
            let next = next.unwrap_or_else(|| "never".to_owned());
            eprintln!("on; runs next at {next}");
        }
        SchedulesAction::Disable { name } => {
            client.enable_schedule(&name, false).await?;
            eprintln!("off");
        }
        SchedulesAction::Remove { name } => {
            client.remove_schedule(&name).await?;
            eprintln!("removed");
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(schedules: &Value) -> String {
    let schedules = schedules["schedules"].as_array().map(Vec::as_slice).unwrap_or_default();
    if schedules.is_empty() {
        return "nothing is scheduled\n".to_owned();
    }
    schedules.iter().map(line).collect()
}

fn line(schedule: &Value) -> String {
    let text = |value: &Value| value.as_str().map(plain);
    let when = match &schedule["schedule"]["intervalMinutes"] {
        Value::Null => {
            let expression = text(&schedule["schedule"]["expression"]).unwrap_or_default();
            let zone = text(&schedule["schedule"]["timezone"]);
            zone.map_or_else(|| expression.clone(), |zone| format!("{expression} in {zone}"))
        }
        minutes => format!("every {minutes} minutes"),
    };
    let next = match (&schedule["running"], text(&schedule["nextRun"])) {
        (Value::Bool(true), _) => "running now".to_owned(),
        (_, Some(next)) => format!("next at {next}"),
        (_, None) => "off".to_owned(),
    };
    let last = match (text(&schedule["lastRun"]), text(&schedule["lastError"])) {
        (None, _) => "never ran".to_owned(),
        (Some(at), None) => format!("ran well at {at}"),
        (Some(at), Some(error)) => format!("failed at {at}: {error}"),
    };
    let prompt = schedule["prompt"].as_str().unwrap_or_default();
    let prompt = plain(prompt.lines().next().unwrap_or_default());
    let slug = text(&schedule["slug"]).unwrap_or_default();
    format!("{slug}  {when}, {next}\n  {prompt}\n  {last}\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schedules_say_when_they_run_and_how_they_ran() {
        let cron = json!({ "type": "cron", "expression": "@daily", "timezone": "UTC" });
        let interval = json!({ "type": "interval", "intervalMinutes": 5 });
        let schedules = json!({ "schedules": [
            { "slug": "a", "prompt": "one\ntwo", "schedule": cron, "nextRun": "later",
              "lastRun": "then", "lastError": null, "running": false },
            { "slug": "b", "prompt": "p", "schedule": interval, "nextRun": "later",
              "lastRun": "then", "lastError": "no key", "running": true },
            { "slug": "c", "prompt": "p", "schedule": interval, "nextRun": null,
              "lastRun": null, "lastError": null, "running": false },
        ] });
        let expected = "a  @daily in UTC, next at later\n  one\n  ran well at then\n\
                        b  every 5 minutes, running now\n  p\n  failed at then: no key\n\
                        c  every 5 minutes, off\n  p\n  never ran\n";
        assert_eq!(list(&schedules), expected);
        assert_eq!(list(&json!({ "schedules": [] })), "nothing is scheduled\n");
    }
}
