//! `megaron usage`: prints what was used, by model and by day, and how the budgets stand.

use std::process::ExitCode;

use serde::Deserialize;
use serde_json::Value;

use crate::{
    ask::{self, client::Client},
    cli::UsageArgs,
    config,
};

/// As `megaron ask` says it.
const UNREACHABLE: u8 = 3;

/// What is read of `GET /api/usage`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Usage {
    total: Total,
    by_model: Vec<ModelUsage>,
    by_day: Vec<DayUsage>,
    budgets: Vec<Budget>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Total {
    requests: u64,
    input_tokens: u64,
    output_tokens: u64,
    cost: f64,
}

#[derive(Deserialize)]
struct ModelUsage {
    model: String,
    #[serde(flatten)]
    total: Total,
}

#[derive(Deserialize)]
struct DayUsage {
    day: String,
    models: Vec<ModelUsage>,
}

#[derive(Deserialize)]
struct Budget {
    name: String,
    limit: serde_json::Number,
    spent: serde_json::Number,
    state: String,
}

pub async fn run(args: UsageArgs) -> anyhow::Result<ExitCode> {
    match told(&args).await {
        Ok(text) => {
            print!("{text}");
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            eprintln!("megaron: {error:#}");
            Ok(ExitCode::from(UNREACHABLE))
        }
    }
}

async fn told(args: &UsageArgs) -> anyhow::Result<String> {
    let data_dir = config::data_dir(&args.home)?;
    let Some(client) = ask::running(&data_dir).await? else {
        anyhow::bail!(
            "no server runs on {}; start one with `megaron serve`, then ask again",
            data_dir.display()
        );
    };
    if args.json {
        let used: Value = client.usage(args.days).await?;
        return Ok(format!("{used:#}\n"));
    }
    read(&client, args.days).await
}

async fn read(client: &Client, days: u16) -> anyhow::Result<String> {
    let used: Usage = client.usage(days).await?;
    let tables = [Some(by_model(&used)), by_day(&used.by_day), budgets(&used.budgets)];
    Ok(tables.into_iter().flatten().collect::<Vec<_>>().join("\n"))
}

fn by_model(used: &Usage) -> String {
    if used.by_model.is_empty() {
        return "Nothing was used yet.\n".to_owned();
    }
    let rows = used.by_model.iter().map(|it| row([&it.model], it.total));
    let sum = (used.by_model.len() > 1).then(|| row(["all"], used.total));
    table(&head(["MODEL"]), rows.chain(sum))
}

fn by_day(days: &[DayUsage]) -> Option<String> {
    let rows = days
        .iter()
        .flat_map(|it| it.models.iter().map(|model| row([&it.day, &model.model], model.total)));
    (!days.is_empty()).then(|| table(&head(["DAY", "MODEL"]), rows))
}

fn budgets(budgets: &[Budget]) -> Option<String> {
    let amount = |name: &str, number: &serde_json::Number| match number.as_f64() {
        Some(dollars) if name.ends_with("_usd") => money(dollars),
        _ => number.to_string(),
    };
    let rows = budgets.iter().map(|Budget { name, limit, spent, state }| {
        vec![name.clone(), amount(name, spent), amount(name, limit), state.clone()]
    });
    let head = ["BUDGET", "SPENT", "LIMIT", "STATE"].map(str::to_owned);
    (!budgets.is_empty()).then(|| table(&head, rows))
}

fn head<const N: usize>(names: [&str; N]) -> Vec<String> {
    let counts = ["REQUESTS", "INPUT", "OUTPUT", "COST"];
    names.iter().chain(&counts).map(|&name| name.to_owned()).collect()
}

fn row<const N: usize>(names: [&str; N], total: Total) -> Vec<String> {
    let Total { requests, input_tokens, output_tokens, cost } = total;
    let counts = [requests, input_tokens, output_tokens].map(|count| count.to_string());
    let names = names.iter().map(|&name| name.to_owned());
    names.chain(counts).chain([money(cost)]).collect()
}

fn money(dollars: f64) -> String {
    format!("${dollars:.4}")
}

/// Numbers stand at the right, under each other.
fn table(head: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let rows: Vec<Vec<String>> = std::iter::once(head.to_vec()).chain(rows).collect();
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let is_text = |name: &str| matches!(name, "MODEL" | "DAY" | "BUDGET" | "STATE");
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).zip(head).map(|((cell, &width), name)| {
            if is_text(name) { format!("{cell:width$}") } else { format!("{cell:>width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(used: Value) -> Usage {
        serde_json::from_value(used).unwrap()
    }

    fn total(requests: u64, input: u64, cost: f64, more: &Value) -> Value {
        let mut total = json!({ "requests": requests, "inputTokens": input, "outputTokens": 7,
                                "reasoningTokens": 1, "cost": cost });
        total.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        total
    }

    #[test]
    fn numbers_stand_under_each_other() {
        let demo = |requests| total(requests, 1200, 0.0, &json!({ "model": "demo" }));
        let dear = total(1, 30, 0.25, &json!({ "model": "anthropic/opus" }));
        let used = read(json!({
            "usage": null,
            "total": total(13, 1230, 0.25, &json!({})),
            "byModel": [dear, demo(12)],
            "byDay": [total(2, 1, 0.0, &json!({ "day": "2026-02-01", "models": [dear, demo(1)] }))],
            "budgets": [
                { "name": "day_usd", "limit": 5.0, "spent": 0.25, "state": "ok" },
                { "name": "month_tokens", "limit": 1000, "spent": 1237, "state": "spent" },
            ],
        }));
        let models = "\
MODEL           REQUESTS  INPUT  OUTPUT     COST
anthropic/opus         1     30       7  $0.2500
demo                  12   1200       7  $0.0000
all                   13   1230       7  $0.2500
";
        assert_eq!(by_model(&used), models);
        let days = "\
DAY         MODEL           REQUESTS  INPUT  OUTPUT     COST
2026-02-01  anthropic/opus         1     30       7  $0.2500
2026-02-01  demo                   1   1200       7  $0.0000
";
        assert_eq!(by_day(&used.by_day).as_deref(), Some(days));
        let standing = "\
BUDGET          SPENT    LIMIT  STATE
day_usd       $0.2500  $5.0000  ok
month_tokens     1237     1000  spent
";
        assert_eq!(budgets(&used.budgets).as_deref(), Some(standing));
    }
}
