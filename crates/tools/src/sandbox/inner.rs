//! The second helper, inside: gives up all that the command must not have, then runs it.

use std::{
    ffi::OsString,
    fs,
    os::unix::process::CommandExt as _,
    process::{Command, ExitCode},
};

use rustix::process::{
    Resource, Rlimit, Signal, WaitOptions, WaitStatus, getrlimit, set_parent_process_death_signal,
    setrlimit, wait,
};

use super::{
    FAILED, Lock, Orders, Tried as _, Trouble, capabilities, filter, loopback, mounts, outer, rules,
};

pub fn run(orders: &Orders, arguments: &[OsString]) -> Result<ExitCode, Trouble> {
    set_parent_process_death_signal(Some(Signal::KILL)).tried("cannot be bound to the server")?;
    if orders.lock == Lock::Namespaces {
        // Nothing else depends on it.
        loopback::wake().ok();
        mounts::arrange(orders)?;
    }
    capabilities::drop_all()?;
    limit(orders)?;
    let contained = rules::restrict(orders)?;
    filter::apply(orders.lock, contained)?;
    let (program, rest) =
        arguments.split_first().ok_or_else(|| Trouble::Usage("the command is missing".into()))?;
    let mut command = Command::new(program);
    command.args(rest).current_dir(&orders.folder);
    if orders.lock == Lock::Namespaces {
        return accompany(command, orders.tty);
    }
    Err(command.exec()).tried("cannot start the command")
}

/// A file that somebody left open in the server would be open in here.
pub fn close_what_was_left_open() {
    let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let numbers = open.filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok());
    for number in numbers.filter(|number| *number > 2).collect::<Vec<_>>() {
        // One of them was the list itself, which is closed by now.
        nix::unistd::close(number).ok();
    }
}

fn limit(orders: &Orders) -> Result<(), Trouble> {
    let at_most = |resource, bound: u64| {
        let Rlimit { maximum, .. } = getrlimit(resource);
        let bound = Some(maximum.map_or(bound, |maximum| maximum.min(bound)));
        setrlimit(resource, Rlimit { current: bound, maximum: bound })
    };
    // Without a namespace all that the person runs is counted as well.
    let processes = if orders.lock == Lock::Namespaces {
        orders.processes
    } else {
        orders.processes.saturating_add(LEEWAY)
    };
    at_most(Resource::Nproc, processes).tried("cannot limit the processes")?;
    at_most(Resource::Core, 0).tried("cannot limit core files")
}

const LEEWAY: u64 = 4096;

/// As the first process of a namespace we bury the dead, and everything ends with us.
fn accompany(mut command: Command, tty: bool) -> Result<ExitCode, Trouble> {
    let child = command.spawn().tried("cannot start the command")?;
    if tty {
        outer::ignore_the_terminal()?;
    }
    loop {
        let ended = wait(WaitOptions::empty()).tried("cannot wait for the command")?;
        if let Some((pid, status)) = ended
            && pid.as_raw_nonzero().get().cast_unsigned() == child.id()
        {
            return Ok(ExitCode::from(code(status)));
        }
    }
}

fn code(status: WaitStatus) -> u8 {
    let signalled = || status.terminating_signal().map(|signal| 128 + signal);
    status.exit_status().or_else(signalled).and_then(|it| u8::try_from(it).ok()).unwrap_or(FAILED)
}
