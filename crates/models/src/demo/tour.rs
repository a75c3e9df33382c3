//! What the demo shows to whoever looks around: a plan that is carried out, and how answers are set.

use serde_json::json;

use super::script::Order;

const STEPS: [&str; 3] = ["Look at the folder", "Look at the clock", "Tell how it went"];

/// Everything an answer can hold besides plain words.
pub const SHOW: &str = "\
Answers are more than plain text. A table:

| Sense | What it reaches |
|---|---|
| `read_file` | files of this folder |
| `shell` | programs, locked in |
| `fetch` | pages, if you allow it |

A formula, as the sum of the first $n$ numbers is $\\frac{n(n+1)}{2}$:

$$\\sum_{k=1}^{n} k = \\frac{n(n+1)}{2}$$

A diagram of what happens to your words:

```mermaid
flowchart LR
  You -->|a message| Log[(Log)]
  Log --> Model
  Model -->|a call| Tools
  Tools -->|a result| Log
```

And code:

```rust
fn sum(n: u64) -> u64 {
    (1..=n).sum() // or n * (n + 1) / 2
}
```";

/// The calls of a plan in three steps, one after the other.
pub fn plan() -> Vec<Vec<Order>> {
    vec![
        vec![told(0)],
        vec![Order { name: "list_directory".into(), args: json!({}) }],
        vec![told(1)],
        vec![Order { name: "current_time".into(), args: json!({}) }],
        vec![told(2)],
        vec![told(STEPS.len())],
    ]
}

/// The plan when so many of its steps are done.
fn told(done: usize) -> Order {
    let status = |at: usize| match at {
        at if at < done => "done",
        at if at == done => "active",
        _ => "pending",
    };
    let steps: Vec<_> = STEPS
        .iter()
        .enumerate()
        .map(|(at, text)| json!({ "text": text, "status": status(at) }))
        .collect();
    Order { name: "plan".into(), args: json!({ "title": "Looking around", "steps": steps }) }
}
