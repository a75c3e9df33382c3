//! Measures the release binary beside references in the same run, and prints a table.
//!
//! Without arguments everything is measured; with some, only what has one of them in its name.

mod apps;
mod bare;
mod calls;
mod client;
mod desktop;
mod devices;
mod echo;
mod fan_out;
mod files;
mod footprint;
mod history;
mod instant;
mod latency;
mod minds;
mod page;
mod phones;
mod round_trip;
mod search;
mod seed;
mod server;
mod storage;
mod table;
mod widgets;

use std::env;

use table::{Row, Table};

type Measure = fn() -> anyhow::Result<Vec<Row>>;

fn main() -> anyhow::Result<()> {
    let wanted: Vec<String> = env::args().skip(1).collect();
    if wanted.first().is_some_and(|first| first == bare::COMMAND) {
        return bare::serve(&wanted[1..]);
    }
    if wanted.first().is_some_and(|first| first == echo::COMMAND) {
        return echo::serve();
    }
    if wanted.first().is_some_and(|first| first == calls::COMMAND) {
        return calls::lend();
    }
    if wanted.first().is_some_and(|first| first == desktop::XCAP) {
        return desktop::xcap();
    }
    let measurements: [(&str, Measure); 17] = [
        ("footprint", footprint::measure),
        ("sessions", history::sessions),
        ("history", history::history),
        ("latency", latency::measure),
        ("fan-out", fan_out::measure),
        ("storage", storage::measure),
        ("minds", minds::measure),
        ("search", search::measure),
        ("calls", calls::measure),
        ("page", page::measure),
        ("phones", phones::measure),
        ("apps", apps::measure),
        ("files", files::measure),
        ("widgets", widgets::measure),
        ("widgets in the page", round_trip::measure),
        ("devices", devices::measure),
        ("desktop", desktop::measure),
    ];
    // The clients of other rooms are built here too, and need one although nothing is encrypted.
    rustls::crypto::ring::default_provider().install_default().ok();
    let mut table = Table::default();
    for (name, measure) in measurements {
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            eprintln!("measuring {name} …");
            match measure() {
                Ok(rows) => table.add(rows),
                // What was measured before is not lost.
                Err(error) => eprintln!("{name} could not be measured: {error:#}"),
            }
        }
    }
    print!("{table}");
    Ok(())
}
