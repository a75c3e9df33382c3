//! Starting anew in the same place: the same program, arguments and addresses.

use std::{env, io, net::SocketAddr, os::unix::process::CommandExt as _, process::Command};

use anyhow::Context as _;

/// Tells the next one where this one was.
const NAME: &str = "MEGARON_AGAIN";

/// Where a server listens, by itself and for frames. Any free port stays the one that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    pub hall: SocketAddr,
    pub frames: SocketAddr,
}

impl Again {
    /// What the server before this one left, if this process was one before.
    pub fn found() -> Option<Self> {
        Self::parse(&env::var(NAME).ok()?)
    }

    /// Makes this process the next server. Returns only if that is not possible.
    pub fn begin(self) -> anyhow::Error {
        let replaced = |program| -> io::Error {
            Command::new(program).args(env::args_os().skip(1)).env(NAME, self.text()).exec()
        };
        match env::current_exe().context("cannot tell where this program is") {
            Ok(program) => anyhow::Error::new(replaced(program)).context("cannot start again"),
            Err(error) => error,
        }
    }

    fn text(self) -> String {
        format!("{} {} {}", std::process::id(), self.hall, self.frames)
    }

    /// Only of this very process: a child of ours that is a server too is another one.
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let process: u32 = words.next()?.parse().ok()?;
        let (hall, frames) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        (process == std::process::id()).then_some(Self { hall, frames })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_finds_the_place_it_had_and_no_other() {
        let again =
            Again { hall: "127.0.0.1:5".parse().unwrap(), frames: "[::1]:6".parse().unwrap() };
        assert_eq!(Again::parse(&again.text()), Some(again));
        for other in ["", "1 127.0.0.1:5 127.0.0.1:6", "x", "1"] {
            assert_eq!(Again::parse(other), None, "{other}");
        }
    }
}
