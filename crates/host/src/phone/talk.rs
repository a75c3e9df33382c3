//! A conversation as a phone has it, line by line.

use std::{
    collections::HashSet,
    io::{BufRead as _, Write as _},
    path::Path,
    process::ExitCode,
    time::Duration,
};

use anyhow::Context as _;
use phone::{Event, News, Role, Row, Screen, Step, Telling, Timeline};
use serde_json::json;
use tokio::sync::mpsc;

use super::link::{Link, Shut, Socket};
use crate::{asked::plain, stops::Stops};

/// What a shell says of a command that Ctrl-C ended.
const CANCELLED: u8 = 130;
/// How often it is tried to come back, and how long lies between.
const TRIES: u32 = 120;
const PAUSE: Duration = Duration::from_millis(500);

pub async fn run(link: &Link) -> anyhow::Result<ExitCode> {
    let status = link.status().await?;
    let (rows, place) = link.history().await?;
    let mut stops = Stops::listen()?;
    let mut talk = Talk::new(link, link.resume(place).await?);
    talk.begin(&status.agent, rows, place);
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
            // Before it is known what the server speaks, nobody can say what a line means.
            line = lines.recv(), if typing && talk.greeted => match line {
                Some(line) => talk.typed(line.trim()).await?,
                None => typing = false,
            },
            told = talk.socket.telling() => talk.told(told).await?,
            () = stops.next() => return Ok(ExitCode::from(CANCELLED)),
        }
    }
    Ok(ExitCode::SUCCESS)
}

struct Talk<'a> {
    link: &'a Link,
    socket: Socket,
    screen: Screen,
    /// What was heard with version 2; told twice it is shown once.
    timeline: Timeline,
    greeted: bool,
    /// Whether the server speaks version 2.
    second: bool,
    /// What has been said and not been answered.
    waiting: HashSet<String>,
    /// Files that go with the next message.
    files: Vec<String>,
    said: u32,
    /// The reply that the last line belongs to.
    line: Option<String>,
}

impl<'a> Talk<'a> {
    fn new(link: &'a Link, socket: Socket) -> Self {
        Self {
            link,
            socket,
            screen: Screen::default(),
            timeline: Timeline::default(),
            greeted: false,
            second: false,
            waiting: HashSet::new(),
            files: Vec::new(),
            said: 0,
            line: None,
        }
    }

    fn begin(&mut self, agent: &str, rows: Vec<Row>, place: Option<i64>) {
        eprintln!("Connected to {}. Type a message; Ctrl-D ends.", plain(agent));
        for Row { role, content, .. } in &rows {
            let who = match role {
                Role::User => "you",
                Role::Agent => "agent",
            };
            eprintln!("{who}: {}", shown(content));
        }
        self.screen.load(rows.clone());
        self.timeline.load(rows, place);
    }

    /// A wish of its own begins with a slash; everything else is said.
    async fn typed(&mut self, line: &str) -> anyhow::Result<()> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            _ if !self.second => self.say(line).await,
            "/sessions" if rest.is_empty() => {
                self.socket.wish(&json!({ "type": "session.list", "id": "sessions" })).await
            }
            "/session" => {
                let wish = json!({ "type": "session.select", "id": "session", "session": rest });
                self.socket.wish(&wish).await
            }
            "/cancel" if rest.is_empty() => {
                self.socket.wish(&json!({ "type": "message.cancel" })).await
            }
            "/approve" if rest.is_empty() => self.answer("once").await,
            "/approve" if rest == "session" => self.answer("session").await,
            "/deny" if rest.is_empty() => self.answer("deny").await,
            "/attach" => {
                if let Err(error) = self.attach(rest).await {
                    eprintln!("not attached: {error:#}");
                }
                Ok(())
            }
            _ => self.say(line).await,
        }
    }

    async fn say(&mut self, text: &str) -> anyhow::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.said += 1;
        let id = format!("msg_{:08X}", std::process::id().rotate_left(12) ^ self.said);
        self.waiting.insert(id.clone());
        self.screen.typed(&id, text);
        self.timeline.sending.push((id.clone(), text.to_owned()));
        let files: Vec<_> = self.files.drain(..).map(|id| json!({ "id": id })).collect();
        if files.is_empty() {
            return self.socket.send(&id, text).await;
        }
        let wish =
            json!({ "type": "message.send", "id": id, "content": text, "attachments": files });
        self.socket.wish(&wish).await
    }

    /// To the oldest question that is open.
    async fn answer(&mut self, decision: &str) -> anyhow::Result<()> {
        let Some(asked) = self.timeline.asked.first() else {
            eprintln!("Nothing waits for an answer.");
            return Ok(());
        };
        let wish = json!({ "type": "approval.respond", "id": "approval", "approval_id": asked.id, "decision": decision });
        self.socket.wish(&wish).await
    }

    async fn attach(&mut self, path: &str) -> anyhow::Result<()> {
        let path = Path::new(path);
        let bytes = tokio::fs::read(path).await;
        let bytes = bytes.with_context(|| format!("cannot read {}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let kind = match path.extension().and_then(|it| it.to_str()).unwrap_or_default() {
            "png" => "image/png",
            "jpg" | "jpeg" => "image/jpeg",
            "gif" => "image/gif",
            "webp" => "image/webp",
            _ => "application/octet-stream",
        };
        self.files.push(self.link.attach(&name, kind, bytes).await?);
        eprintln!("{} goes with the next message.", plain(&name));
        Ok(())
    }

    /// Comes back where the connection is lost, if the server can go on from there.
    async fn told(&mut self, told: anyhow::Result<Telling>) -> anyhow::Result<()> {
        let told = match told {
            Ok(told) => told,
            Err(error) if !self.second => return Err(error),
            Err(error) => return self.come_back(error).await,
        };
        let known = self.timeline.rows.len();
        let is_end = matches!(told.news, News::Known(Event::Complete { .. }));
        self.timeline.hear(&told);
        let is_new = !is_end || !self.second || self.timeline.rows.len() > known;
        self.hear(told.news, is_new);
        std::io::stdout().flush()?;
        Ok(())
    }

    async fn come_back(&mut self, lost: anyhow::Error) -> anyhow::Result<()> {
        eprintln!("The connection is lost; trying to come back.");
        for _ in 0..TRIES {
            match self.link.resume(self.timeline.seq).await {
                Ok(socket) => {
                    self.socket = socket;
                    return self.repeat().await;
                }
                Err(error) if error.is::<Shut>() => return Err(error),
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
        Err(lost)
    }

    /// What may not have arrived is said again under the same name, which changes nothing if it has.
    async fn repeat(&mut self) -> anyhow::Result<()> {
        for (id, text) in self.timeline.sending.clone() {
            self.socket.send(&id, &text).await?;
        }
        Ok(())
    }

    fn hear(&mut self, news: News, is_new: bool) {
        match news {
            News::Known(event) => {
                self.greeted |= matches!(event, Event::Connected { .. });
                self.known(event, is_new);
            }
            News::Agreed { .. } => {
                (self.greeted, self.second) = (true, true);
                self.line = None;
            }
            News::Replaced { reply_to, text } => {
                self.turn_to(&reply_to);
                print!("{}", shown(&text));
            }
            News::User { content, origin, .. } if is_new => {
                eprintln!("{}: {}", plain(&origin), shown(&content));
            }
            News::TaskFailed { id, error, .. } => self.ended(&id, &error),
            News::Asked(asked) => {
                let answers = "/approve, /approve session or /deny";
                eprintln!("? {}: answer with {answers}", plain(&asked.title));
                eprintln!("{}", shown(&asked.detail));
            }
            News::Resolved { decision, by, .. } => {
                eprintln!("Answered by {}: {}", plain(&by), plain(&decision));
            }
            News::Sessions { sessions, .. } => {
                for session in sessions {
                    eprintln!("{}  {}  {}", session.id, session.updated_at, plain(&session.name));
                }
            }
            News::Selected { session, .. } => eprintln!("This is {} now.", plain(&session)),
            News::Error { reply_to, message, .. } => {
                eprintln!("not done: {}", plain(&message));
                if let Some(id) = reply_to {
                    self.timeline.sending.retain(|(it, _)| *it != id);
                    self.waiting.remove(&id);
                }
            }
            News::Reset => eprintln!("Some of what was said meanwhile is not shown here."),
            News::User { .. } | News::Accepted { .. } | News::CaughtUp | News::Typing { .. } => (),
        }
    }

    fn known(&mut self, event: Event, is_new: bool) {
        self.screen.hear(event.clone());
        match event {
            Event::Stream { reply_to, delta } => {
                self.turn_to(&reply_to);
                print!("{}", shown(&delta));
            }
            Event::Complete { reply_to, content, .. } => {
                // What came in pieces is on the screen already.
                if self.line.as_deref() != Some(reply_to.as_str()) && is_new {
                    self.turn_to(&reply_to);
                    print!("{}", shown(&content));
                }
                if is_new {
                    println!();
                }
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
            Event::TaskCompleted { id, result } => self.ended(&id, &result),
            Event::Connected { .. } | Event::StatusUpdate { .. } | Event::Other(_) => (),
        }
    }

    fn ended(&self, id: &str, with: &str) {
        if let Some(card) = self.screen.cards.iter().find(|card| card.id == id) {
            eprintln!("[{}] {}", plain(&card.title), plain(with));
        }
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
