//! Lines that are typed while an answer is awaited.

use std::io::{self, BufRead as _, IsTerminal as _};

use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::mpsc;

pub struct Keyboard {
    lines: mpsc::Receiver<String>,
    /// Reads the terminal, from the first question on: until then, what is typed is not for us.
    reading: Option<mpsc::Sender<String>>,
    real: bool,
}

impl Keyboard {
    /// The terminal, if a person sits there: they see what is asked, and can type.
    pub fn of_the_terminal() -> Option<Self> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return None;
        }
        let (typed, keyboard) = Self::by_hand();
        Some(Self { reading: Some(typed), real: true, ..keyboard })
    }

    pub fn by_hand() -> (mpsc::Sender<String>, Self) {
        let (typed, lines) = mpsc::channel(8);
        (typed, Self { lines, reading: None, real: false })
    }

    /// Forgets what was typed before it was asked for: it cannot have been meant as an answer.
    pub fn begin(&mut self) {
        if self.real {
            // Nothing is lost but convenience should the terminal refuse.
            tcflush(io::stdin(), QueueSelector::IFlush).ok();
            while self.lines.try_recv().is_ok() {}
        }
        if let Some(typed) = self.reading.take() {
            // A thread of its own: reading cannot be given up, and must not keep the program alive.
            std::thread::spawn(move || read(&typed));
        }
    }

    /// Cancel safe. Waits for ever once nobody types any more.
    pub async fn line(&mut self) -> String {
        match self.lines.recv().await {
            Some(line) => line,
            None => std::future::pending().await,
        }
    }
}

fn read(typed: &mpsc::Sender<String>) {
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        if typed.blocking_send(line).is_err() {
            return;
        }
    }
}
