//! Whether a server speaks the protocol as phones need it: one line for each thing that is looked at.

use std::{process::ExitCode, time::Duration};

use phone::{Event, Role, Screen};

use super::link::{Link, Shut, Socket};

/// How long an agent may take to answer.
const ANSWERING: Duration = Duration::from_mins(5);
const ID: &str = "msg_C4EC4000";
/// How a wrong key is answered: also where too many of them came before, ours among them.
const REFUSED: [u16; 2] = [401, 429];

pub async fn run(link: &Link) -> anyhow::Result<ExitCode> {
    let mut report = Report::default();
    // Where nobody is, nothing more can be found out.
    if report.note("the server answers", link.get("/status", &link.key).await).is_none() {
        println!("{}", report.last_words());
        return Ok(ExitCode::FAILURE);
    }
    report.note("status can be read", link.status().await);
    report.note("history can be read", link.messages("?limit=20").await);
    report.note("the end of the history is an empty page", beginning(link).await);
    let connected = report.note("the socket opens and says connected first", connect(link).await);
    if let Some((mut socket, screen)) = connected {
        let talk = tokio::time::timeout(ANSWERING, talk(&mut socket, screen)).await;
        let talk = talk.unwrap_or_else(|_| Err(anyhow::anyhow!("no answer within five minutes")));
        if let Some(answer) = report.note("a message is answered once and whole", talk) {
            report.note("the answer is in the history by the same name", kept(link, &answer).await);
        }
    }
    // Last, for a server may shut out whoever has tried one.
    report.note("a wrong key is refused", wrong_key(link).await);
    println!("{}", report.last_words());
    Ok(if report.faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Default)]
struct Report {
    faults: usize,
}

impl Report {
    fn note<T>(&mut self, what: &str, found: anyhow::Result<T>) -> Option<T> {
        match found {
            Ok(found) => {
                println!("ok     {what}");
                Some(found)
            }
            Err(error) => {
                self.faults += 1;
                println!("fault  {what}: {error:#}");
                None
            }
        }
    }

    fn last_words(&self) -> String {
        match self.faults {
            0 => "A phone can use this server.".to_owned(),
            1 => "There is 1 fault.".to_owned(),
            many => format!("There are {many} faults."),
        }
    }
}

async fn wrong_key(link: &Link) -> anyhow::Result<()> {
    let wrong = "this-is-not-the-key";
    for path in ["/status", "/messages"] {
        let (status, _) = link.get(path, wrong).await?;
        anyhow::ensure!(REFUSED.contains(&status), "{path} is answered with {status}, not 401");
    }
    match link.connect(wrong).await {
        Ok(_) => anyhow::bail!("the socket opens"),
        Err(error) => match error.downcast_ref::<Shut>() {
            Some(Shut(status)) if REFUSED.contains(status) => Ok(()),
            _ => Err(error),
        },
    }
}

async fn beginning(link: &Link) -> anyhow::Result<()> {
    let rows = link.messages("?before=1970-01-02T00:00:00Z").await?;
    anyhow::ensure!(rows.is_empty(), "{} messages are said to be from 1970", rows.len());
    Ok(())
}

async fn connect(link: &Link) -> anyhow::Result<(Socket, Screen)> {
    let mut socket = link.connect(&link.key).await?;
    let (text, event) = socket.next().await?;
    anyhow::ensure!(matches!(event, Event::Connected { .. }), "the first frame is {text:.200}");
    let mut screen = Screen::default();
    screen.hear(event);
    Ok((socket, screen))
}

/// The name of the answer.
async fn talk(socket: &mut Socket, mut screen: Screen) -> anyhow::Result<String> {
    socket.send(ID, "hello").await?;
    let mut streamed = String::new();
    loop {
        let (_, event) = socket.next().await?;
        screen.hear(event.clone());
        match event {
            Event::Connected { .. } => anyhow::bail!("connected comes twice"),
            Event::Stream { reply_to, delta } if reply_to == ID => streamed.push_str(&delta),
            Event::Complete { reply_to, id, content, .. } if reply_to == ID => {
                anyhow::ensure!(!content.is_empty(), "the answer is empty");
                let fits = streamed.is_empty() || content.starts_with(&streamed);
                anyhow::ensure!(fits, "its pieces are not its beginning");
                let open = screen.bubbles.iter().filter(|bubble| bubble.streaming).count();
                anyhow::ensure!(open == 0, "a bubble is left as being written");
                return Ok(id);
            }
            Event::Stream { .. }
            | Event::Complete { .. }
            | Event::TaskCreated(_)
            | Event::TaskUpdated { .. }
            | Event::TaskCompleted { .. }
            | Event::StatusUpdate { .. }
            | Event::Other(_) => (),
        }
    }
}

async fn kept(link: &Link, answer: &str) -> anyhow::Result<()> {
    let rows = link.messages("?limit=20").await?;
    let found = rows.iter().any(|row| row.id == answer && row.role == Role::Agent);
    anyhow::ensure!(found, "no agent's message there is called {answer}");
    Ok(())
}
