//! What was answered to which command, so that one that is sent again is not done again.

use std::collections::VecDeque;

const MOST: usize = 256;
/// Larger answers are pictures and lists: looking twice does no harm.
const LONGEST: usize = 64 * 1024;

#[derive(Default)]
pub struct Memory(VecDeque<(String, String)>);

impl Memory {
    /// The empty name is nobody's.
    pub fn keep(&mut self, id: &str, reply: &str) {
        if id.is_empty() || reply.len() > LONGEST {
            return;
        }
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back((id.to_owned(), reply.to_owned()));
    }

    pub fn recall(&self, id: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(kept, _)| kept == id);
        found.map(|(_, reply)| reply.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answers_are_remembered_and_no_more() {
        let mut memory = Memory::default();
        for number in 0..=MOST {
            memory.keep(&number.to_string(), &format!("answer {number}"));
        }
        memory.keep("", "nobody's");
        memory.keep("large", &"x".repeat(LONGEST + 1));
        let recalled = ["0", "1", "256", "", "large"].map(|id| memory.recall(id));
        assert_eq!(recalled, [None, Some("answer 1"), Some("answer 256"), None, None]);
    }
}
