//! The person at the terminal: what they are asked while an answer is awaited, one thing at a time.

use std::collections::VecDeque;

use super::{
    client::{Client, Refused},
    frames::Settled,
    keyboard::Keyboard,
    screen::Screen,
};
use crate::asked::Asked;

pub struct Person {
    /// Where they type, if they can.
    keyboard: Option<Keyboard>,
    /// What they are asked, the first of it now.
    open: VecDeque<Asked>,
}

impl Person {
    pub fn new(keyboard: Option<Keyboard>) -> Self {
        Self { keyboard, open: VecDeque::new() }
    }

    pub fn ask(&mut self, asked: Asked, client: &Client, screen: &mut Screen) {
        if self.keyboard.is_none() || asked.prompt().is_none() {
            let mut lines = marked(&asked);
            lines.push(format!("  it waits; answer in the page, or: {}", client.command(&asked)));
            return screen.ask(&lines);
        }
        self.open.push_back(asked);
        if self.open.len() == 1 {
            self.put(screen);
        }
    }

    /// The question was answered, here or elsewhere, or no longer matters.
    pub fn settled(&mut self, settled: &Settled, screen: &mut Screen) {
        let Settled { approval_id, verdict, by } = settled;
        let Some(place) = self.open.iter().position(|asked| asked.id == *approval_id) else {
            return;
        };
        self.open.remove(place);
        screen.note(&format!("{verdict}: {by}"));
        if place == 0 {
            self.put(screen);
        }
    }

    /// What they typed in answer to a question. Cancel safe; waits for ever while none is open.
    pub async fn typed(&mut self) -> String {
        match &mut self.keyboard {
            Some(keyboard) if !self.open.is_empty() => keyboard.line().await,
            _ => std::future::pending().await,
        }
    }

    pub async fn answer(&mut self, typed: &str, client: &Client, screen: &mut Screen) {
        let Some(asked) = self.open.front() else { return };
        let body = match asked.answer(typed) {
            Ok(body) => body,
            Err(expected) => return screen.ask(&[format!("  {expected}")]),
        };
        match client.decide(&asked.id, &body).await {
            Ok(_) => (),
            // It will be told what came of it.
            Err(error) if error.is::<Refused>() => screen.note(&format!("{error:#}")),
            Err(error) => return screen.note(&format!("{error:#}; it still waits")),
        }
        self.open.pop_front();
        self.put(screen);
    }

    fn put(&mut self, screen: &mut Screen) {
        let (Some(asked), Some(keyboard)) = (self.open.front(), &mut self.keyboard) else { return };
        let mut lines = marked(asked);
        lines.extend(asked.prompt().map(|prompt| format!("  {prompt}")));
        keyboard.begin();
        screen.ask(&lines);
    }
}

fn marked(asked: &Asked) -> Vec<String> {
    let mut lines = asked.lines();
    if let Some(first) = lines.first_mut() {
        first.insert_str(0, "? ");
    }
    lines
}
