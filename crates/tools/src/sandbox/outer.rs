//! The first helper, still outside: leads a session of its own, waits for the command, and ends it when the server ends.

use std::{
    ffi::OsString,
    io,
    process::{Child, Command, ExitCode, Stdio},
};

use nix::sys::signal as nix;
#[cfg(target_os = "linux")]
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    process::{Pid, PidfdFlags, pidfd_open},
    stdio::stdin,
};
use rustix::{
    process::{Signal, ioctl_tiocsctty, kill_current_process_group, setsid},
    stdio::stdout,
};

use super::{Lock, Orders, Tried as _, Trouble, code};

/// `arguments` are ours: the orders, and the command.
pub fn run(orders: Orders, arguments: &[OsString]) -> Result<ExitCode, Trouble> {
    setsid().tried("cannot begin a session")?;
    if orders.tty {
        ioctl_tiocsctty(stdout()).tried("cannot take the terminal")?;
    }
    let (lock, tty) = (orders.lock, orders.tty);
    let mut command = command(orders, arguments)?;
    let mut child = command.spawn().tried("cannot start the command")?;
    if tty {
        ignore_the_terminal()?;
    }
    if !outlives_the_server(&child).tried("cannot watch the command")? {
        end(lock);
    }
    let status = child.wait().tried("cannot wait for the command")?;
    if lock == Lock::Landlock {
        descendants::end();
    }
    Ok(ExitCode::from(code(status)))
}

fn command(orders: Orders, arguments: &[OsString]) -> Result<Command, Trouble> {
    // The terminal can be read as well as written.
    let input = if orders.tty {
        Stdio::from(stdout().try_clone_to_owned().tried("cannot share the terminal")?)
    } else {
        Stdio::null()
    };
    let mut command = if orders.lock == Lock::Open {
        let (program, rest) = arguments[1..].split_first().ok_or_else(missing)?;
        let mut command = Command::new(program);
        command.args(rest);
        command
    } else {
        inside(orders, arguments)?
    };
    command.stdin(input);
    Ok(command)
}

fn missing() -> Trouble {
    Trouble::Usage("the command is missing".into())
}

/// The second helper, in whatever is to surround it.
#[cfg(target_os = "linux")]
fn inside(mut orders: Orders, arguments: &[OsString]) -> Result<Command, Trouble> {
    match orders.lock {
        Lock::Namespaces => super::mounts::leave_the_others()?,
        Lock::Landlock => descendants::adopt()?,
        Lock::Open => (),
    }
    orders.inner = true;
    let orders = serde_json::to_string(&orders).map_err(io::Error::from).tried("cannot go on")?;
    let before = std::env::args_os().len() - arguments.len();
    let mut command = Command::new("/proc/self/exe");
    command.args(std::env::args_os().take(before).skip(1)).arg(orders).args(&arguments[1..]);
    Ok(command)
}

#[cfg(not(target_os = "linux"))]
fn inside(_: Orders, _: &[OsString]) -> Result<Command, Trouble> {
    Err(Trouble::Unsupported)
}

/// What is typed is for the command alone. To be called when it has been started: it would ignore
/// the same.
pub fn ignore_the_terminal() -> Result<(), Trouble> {
    let typed = [nix::Signal::SIGINT, nix::Signal::SIGQUIT, nix::Signal::SIGTSTP];
    nix::SigSet::from_iter(typed).thread_block().tried("cannot block signals")
}

/// Whether the command ends before our standard input does: a pipe that nobody writes to, and that
/// ends with the server.
#[cfg(target_os = "linux")]
fn outlives_the_server(child: &Child) -> io::Result<bool> {
    // No thread could do this: there can be none in a process that has left its namespace.
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or(io::ErrorKind::NotFound)?;
    let ended = pidfd_open(pid, PidfdFlags::empty())?;
    let stdin = stdin();
    let mut both =
        [PollFd::new(&ended, PollFlags::IN), PollFd::new(&stdin, PollFlags::IN | PollFlags::HUP)];
    while let Err(error) = poll(&mut both, None) {
        if error != Errno::INTR {
            return Err(error.into());
        }
    }
    Ok(!both[0].revents().is_empty())
}

#[cfg(not(target_os = "linux"))]
fn outlives_the_server(_: &Child) -> io::Result<bool> {
    std::thread::spawn(|| {
        io::copy(&mut io::stdin(), &mut io::sink()).ok();
        end(Lock::Open);
    });
    Ok(true)
}

fn end(lock: Lock) {
    if lock == Lock::Landlock {
        descendants::end();
    }
    // There is nobody left who could be told of a failure.
    kill_current_process_group(Signal::KILL).ok();
}

/// What the command has left behind, where no namespace ends it: it falls to us, and we end it.
#[cfg(target_os = "linux")]
mod descendants {
    use std::fs;

    use rustix::process::{
        Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, wait,
    };

    use crate::sandbox::{Tried as _, Trouble};

    pub fn adopt() -> Result<(), Trouble> {
        set_child_subreaper(Some(getpid())).tried("cannot adopt what is left behind")
    }

    pub fn end() {
        loop {
            let children = children();
            if children.is_empty() {
                return;
            }
            for child in children {
                // Gone already is as good.
                kill_process(child, Signal::KILL).ok();
            }
            // Theirs are ours as soon as they are gone.
            if wait(WaitOptions::empty()).is_err() {
                return;
            }
        }
    }

    fn children() -> Vec<Pid> {
        let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let lists = threads.filter_map(|it| fs::read_to_string(it.path().join("children")).ok());
        let children = lists.flat_map(|list| {
            let numbers = list.split_whitespace().filter_map(|number| number.parse().ok());
            numbers.filter_map(Pid::from_raw).collect::<Vec<_>>()
        });
        children.collect()
    }
}

#[cfg(not(target_os = "linux"))]
mod descendants {
    pub fn end() {}
}
