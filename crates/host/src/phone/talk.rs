//! A conversation as a phone has it, line by line.

use std::{
    collections::HashSet,
    io::{BufRead as _, Write as _},
    process::ExitCode,
};

use phone::{Event, Role, Row, Screen, Step};
use tokio::sync::mpsc;

use super::link::{Link, Socket};
use crate::{asked::plain, stops::Stops};

/// What a shell says of a command that Ctrl-C ended.
const CANCELLED: u8 = 130;

pub async fn run(link: &Link) -> anyhow::Result<ExitCode> {
    let status = link.status().await?;
    let rows = link.messages("?limit=20").await?;
    let mut stops = Stops::listen()?;
    let mut talk = Talk::new(link.connect(&link.key).await?);
    talk.begin(&status.agent, rows);
    let (typed, mut lines) = mpsc::channel(8);
    // A thread of its own: reading cannot be given up, and must not keep the program alive.
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if typed.blocking_send(line).is_err() {
                return;
            }
        }
    });
    let mut typing = true;
    while typing || !talk.waiting.is_empty() {
        tokio::select! {
            line = lines.recv(), if typing => match line {
                Some(line) => talk.say(line.trim()).await?,
                None => typing = false,
            },
            event = talk.socket.next() => talk.hear(event?.1)?,
            () = stops.next() => return Ok(ExitCode::from(CANCELLED)),
        }
    }
    Ok(ExitCode::SUCCESS)
}

struct Talk {
    socket: Socket,
    screen: Screen,
    /// What has been said and not been answered.
    waiting: HashSet<String>,
    said: u32,
    /// The reply that the last line belongs to.
    line: Option<String>,
}

impl Talk {
    fn new(socket: Socket) -> Self {
        let (screen, waiting) = (Screen::default(), HashSet::new());
        Self { socket, screen, waiting, said: 0, line: None }
    }

    fn begin(&mut self, agent: &str, rows: Vec<Row>) {
        eprintln!("Connected to {}. Type a message; Ctrl-D ends.", plain(agent));
        for Row { role, content, .. } in &rows {
            let who = match role {
                Role::User => "you",
                Role::Agent => "agent",
            };
            eprintln!("{who}: {}", shown(content));
        }
        self.screen.load(rows);
    }

    async fn say(&mut self, text: &str) -> anyhow::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.said += 1;
        let id = format!("msg_{:08X}", std::process::id().rotate_left(12) ^ self.said);
        self.waiting.insert(id.clone());
        self.screen.typed(&id, text);
        self.socket.send(&id, text).await
    }

    fn hear(&mut self, event: Event) -> anyhow::Result<()> {
        self.screen.hear(event.clone());
        match event {
            Event::Stream { reply_to, delta } => {
                self.turn_to(&reply_to);
                print!("{}", shown(&delta));
            }
            Event::Complete { reply_to, content, .. } => {
                // What came in pieces is on the screen already.
                if self.line.as_deref() != Some(reply_to.as_str()) {
                    self.turn_to(&reply_to);
                    print!("{}", shown(&content));
                }
                println!();
                self.line = None;
                self.waiting.remove(&reply_to);
            }
            Event::TaskCreated(task) => {
                if self.screen.cards.iter().any(|card| card.id == task.id) {
                    card(&task.title, task.progress, &task.steps);
                }
            }
            Event::TaskUpdated { id, progress, steps } => {
                if let Some(shown) = self.screen.cards.iter().find(|card| card.id == id) {
                    card(&shown.title, progress, &steps);
                }
            }
            Event::TaskCompleted { id, result } => {
                if let Some(card) = self.screen.cards.iter().find(|card| card.id == id) {
                    eprintln!("[{}] {}", plain(&card.title), plain(&result));
                }
            }
            Event::Connected { .. } | Event::StatusUpdate { .. } | Event::Other(_) => (),
        }
        std::io::stdout().flush()?;
        Ok(())
    }

    /// Begins a line of its own for what belongs to another reply.
    fn turn_to(&mut self, reply_to: &str) {
        if self.line.as_deref().is_some_and(|line| line != reply_to) {
            println!();
        }
        self.line = Some(reply_to.to_owned());
    }
}

fn card(title: &str, progress: f64, steps: &[Step]) {
    let active = steps.iter().find(|step| step.status == "in_progress");
    let now = active.or(steps.last()).map(|step| plain(&step.name)).unwrap_or_default();
    eprintln!("[{}] {:.0} % · {now}", plain(title), progress * 100.0);
}

/// Nothing in it commands the terminal; lines stay lines.
fn shown(text: &str) -> String {
    text.split('\n').map(plain).collect::<Vec<_>>().join("\n")
}
