//! What was used as a person meets it: counted, priced, told, and stopped.

use std::{
    fs,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    thread,
};

use rustix::process::Signal;
use serde_json::Value;

use crate::home::Home;

/// A provider on this machine that answers everything with one word, for a million tokens and half.
fn provider() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // Whoever asked may have gone, or be killed.
            thread::spawn(move || answer(stream).ok());
        }
    });
    port
}

fn answer(mut stream: TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let line = line.trim().to_ascii_lowercase();
        if let Some(count) = line.strip_prefix("content-length:") {
            length = count.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    reader.read_exact(&mut vec![0; length])?;
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"word\"}}]}\n\n\
                data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":\
                {\"prompt_tokens\":1000000,\"completion_tokens\":500000}}\n\n\
                data: [DONE]\n\n";
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    stream.write_all(format!("{head}{body}").as_bytes())
}

fn configure(home: &Home, more: &str) {
    let text = format!(
        "default_model = \"local/m\"\n{more}\n[providers.local]\nkind = \"openai-chat\"\n\
         base_url = \"http://127.0.0.1:{}/v1\"\nmodels = [\"m\"]\n\
         price = {{ input = 2.0, output = 8.0 }}\n",
        provider()
    );
    fs::create_dir_all(home.path("home")).unwrap();
    fs::write(home.path("home/config.toml"), text).unwrap();
}

#[test]
fn usage_is_printed_with_the_prices_that_were_configured_and_survives_a_kill() {
    let home = Home::new();
    configure(&home, "[budgets]\nmonth_usd = 7");
    let server = home.serve(&[]);
    for args in [&["ask", "hi"][..], &["ask", "--model", "demo", "/long 2"]] {
        let ran = home.run(args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    let used = home.run(&["usage"]);
    assert_eq!(used.code, Some(0), "{used:?}");
    let row = |model: &str| {
        let line = used.out.lines().find(|line| line.starts_with(model)).unwrap();
        line.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("local/m"), ["1", "1000000", "500000", "$6.0000"]);
    assert_eq!(row("demo").last().unwrap(), "$0.0000");
    assert_eq!(row("month_usd"), ["$6.0000", "$7.0000", "warned"]);
    server.process.signal(Signal::KILL);
    server.process.wait();
    let server = home.serve(&[]);
    assert_eq!(home.run(&["usage"]).out, used.out);
    let whole: Value = serde_json::from_str(&home.run(&["usage", "--json"]).out).unwrap();
    assert_eq!(whole["total"]["cost"], 6.0);
    drop(server);
}

#[test]
fn a_spent_budget_stops_what_costs_and_not_what_is_free() {
    let home = Home::new();
    configure(&home, "[budgets]\nday_usd = 5");
    assert_eq!(home.run(&["ask", "hi"]).code, Some(0));
    let ran = home.run(&["ask", "hi"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let words = "the budget day_usd for today is spent: $6.00 of $5.00";
    assert!(ran.err.contains(words) && ran.out.is_empty(), "{ran:?}");
    let ran = home.run(&["ask", "--model", "demo", "/long 2"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "word1 word2\n"), "{ran:?}");
}

#[test]
fn without_a_server_there_is_nobody_to_ask() {
    let home = Home::new();
    let ran = home.run(&["usage"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""));
    assert!(ran.err.contains("no server runs on") && ran.err.contains("megaron serve"), "{ran:?}");
    let ran = home.run(&["usage", "--days", "400"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
}
