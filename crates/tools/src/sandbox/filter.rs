//! System calls that a locked-in command is refused: those that lead around files, or to others.

use std::{collections::BTreeMap, io};

use rustix::process::getuid;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Width, SeccompCmpOp as Is, SeccompCondition,
    SeccompFilter, SeccompRule,
};

use super::{Lock, Tried as _, Trouble};

/// The numbers of x32, which is another way to call the same.
const X32: i64 = 0x4000_0000;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// `contained` says that signals cannot leave anyway.
pub fn apply(lock: Lock, contained: bool) -> Result<(), Trouble> {
    let rules =
        rules(lock, contained).map_err(io::Error::other).tried("cannot write the filter")?;
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let arch = std::env::consts::ARCH.try_into();
    let arch = arch.map_err(io::Error::other).tried("no filter for this processor")?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch);
    let filter: BpfProgram = filter
        .and_then(TryInto::try_into)
        .map_err(io::Error::other)
        .tried("cannot write the filter")?;
    seccompiler::apply_filter(&filter).map_err(io::Error::other).tried("cannot set the filter")
}

fn rules(lock: Lock, contained: bool) -> Result<Rules, seccompiler::BackendError> {
    let mut rules = Rules::new();
    for call in ALWAYS {
        rules.insert(*call, Vec::new());
    }
    if lock == Lock::Namespaces {
        // The network of the namespace leads nowhere. Sockets of files lead to other programs.
        let others = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]
            .map(|family| condition(0, Is::Ne, family.unsigned_abs().into()));
        let others = others.into_iter().collect::<Result<Vec<_>, _>>()?;
        rules.insert(libc::SYS_socket, vec![SeccompRule::new(others)?]);
    } else {
        for call in ALONE {
            rules.insert(*call, Vec::new());
        }
        rules.insert(libc::SYS_socket, Vec::new());
        for call in OF_OTHERS {
            rules.insert(*call, vec![SeccompRule::new(vec![condition(0, Is::Ne, 0)?])?]);
        }
        // Of this very process, or not at all.
        for (call, process) in [(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, 1)] {
            let of_many = SeccompRule::new(vec![condition(0, Is::Ne, process)?])?;
            let of_another = SeccompRule::new(vec![condition(1, Is::Ne, 0)?])?;
            rules.insert(call, vec![of_many, of_another]);
        }
        if getuid().is_root() {
            rules.extend(OPENED.iter().map(|call| (*call, Vec::new())));
        }
        // Without a path it is about a file that is open.
        let named = SeccompCondition::new(1, Width::Qword, Is::Ne, 0)?;
        rules.insert(libc::SYS_utimensat, vec![SeccompRule::new(vec![named])?]);
        if !contained {
            rules.extend(SIGNALS.iter().map(|call| (*call, Vec::new())));
        }
    }
    #[cfg(target_arch = "x86_64")]
    for (call, rule) in rules.clone() {
        rules.insert(call | X32, rule);
    }
    Ok(rules)
}

fn condition(
    argument: u8,
    is: Is,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, Width::Dword, is, value)
}

/// Around every other rule, into the kernel, or into what the person keeps in memory.
const ALWAYS: &[i64] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_open_by_handle_at,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_setns,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
];

/// What Landlock lets pass: changing a file's mode, owner or times by name, and shared memory.
const ALONE: &[i64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    SYS_SETXATTRAT,
    SYS_REMOVEXATTRAT,
    SYS_FILE_SETATTR,
    libc::SYS_shmget,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_pidfd_getfd,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
];

/// The same for a file that is open, if only for reading. Whoever owns the system must not: others
/// could change no more than toolchains of their own, and could hardly build anything without.
const OPENED: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchown,
    libc::SYS_fsetxattr,
    libc::SYS_fremovexattr,
    libc::SYS_utimensat,
];

/// Newer than the list of `libc`, and the same everywhere.
const SYS_SETXATTRAT: i64 = 463;
const SYS_REMOVEXATTRAT: i64 = 466;
const SYS_FILE_SETATTR: i64 = 469;

/// Which process they are about is their first argument.
const OF_OTHERS: &[i64] = &[
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];

const SIGNALS: &[i64] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
];
