//! Namespaces of the command's own, in which all that it sees is read-only but its folder.

use std::{fs, io, os::unix::ffi::OsStringExt as _, path::Path, path::PathBuf};

use nix::sched::{CloneFlags, unshare};
use rustix::{
    io::Errno,
    mount::{
        MountFlags, MountPropagationFlags, mount, mount_bind, mount_bind_recursive, mount_change,
        mount_remount,
    },
    process::{getgid, getuid},
};

use super::{Orders, Tried as _, Trouble, capabilities};

/// Users, mounts, network and the like are ours alone from here on; our children are alone, too.
pub fn leave_the_others() -> Result<(), Trouble> {
    let (user, group) = (getuid(), getgid());
    let namespaces = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC;
    unshare(namespaces).tried("cannot make namespaces")?;
    let (user, group) = (user.as_raw(), group.as_raw());
    fs::write("/proc/self/setgroups", "deny").tried("cannot give up groups")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1")).tried("cannot map the user")?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1")).tried("cannot map the group")?;
    capabilities::pass_on()
}

/// To be done by the first process of the new namespace: `/proc` shows those of whoever mounts it.
pub fn arrange(orders: &Orders) -> Result<(), Trouble> {
    let Orders { folder, temporary, hidden, .. } = orders;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).tried("cannot part from the mounts of others")?;
    for place in [folder, temporary] {
        mount_bind_recursive(place, place).tried("cannot mount the folder")?;
    }
    for path in Orders::hidden_inside(folder, hidden) {
        hide(path).tried("cannot hide what the folder holds")?;
    }
    let harmless = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", harmless, None).tried("cannot mount /proc")?;
    // Bounds root as well, who may otherwise start any number. Older systems have one for all.
    fs::write("/proc/sys/kernel/pid_max", orders.processes.max(FEWEST).to_string()).ok();
    for point in points().tried("cannot list the mounts")? {
        let ours = |place: &PathBuf| point.path.starts_with(place);
        let mut flags = point.flags;
        if !ours(folder) && !ours(temporary) {
            flags |= MountFlags::RDONLY;
        }
        forbid(&point.path, flags | MountFlags::NOSUID).tried("cannot make a mount read-only")?;
    }
    Ok(())
}

/// The system takes no lower bound than this.
const FEWEST: u64 = 301;

fn hide(path: &Path) -> io::Result<()> {
    let closed = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Ok(mount("tmpfs", path, "tmpfs", closed, c"size=4k")?),
        Ok(found) if found.is_file() => Ok(mount_bind("/dev/null", path)?),
        // A link is hidden where it leads, and what is not there needs no hiding.
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn forbid(path: &Path, flags: MountFlags) -> io::Result<()> {
    match mount_remount(path, MountFlags::BIND | flags, "") {
        // Under another mount, or behind a door that is closed to the command as well.
        Err(Errno::INVAL | Errno::NOENT | Errno::ACCESS | Errno::NOTDIR) => Ok(()),
        done => Ok(done?),
    }
}

struct Point {
    path: PathBuf,
    /// Those that it has, and that cannot be taken from it.
    flags: MountFlags,
}

fn points() -> io::Result<Vec<Point>> {
    let table = fs::read("/proc/self/mountinfo")?;
    let lines = table.split(|byte| *byte == b'\n');
    Ok(lines.filter_map(point).collect())
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw`
fn point(line: &[u8]) -> Option<Point> {
    let mut fields = line.split(|byte| *byte == b' ').skip(4);
    let path = PathBuf::from(std::ffi::OsString::from_vec(unescaped(fields.next()?)));
    let options = fields.next()?.split(|byte| *byte == b',');
    let flags = options.map(|option| match option {
        b"ro" => MountFlags::RDONLY,
        b"nosuid" => MountFlags::NOSUID,
        b"nodev" => MountFlags::NODEV,
        b"noexec" => MountFlags::NOEXEC,
        b"noatime" => MountFlags::NOATIME,
        b"nodiratime" => MountFlags::NODIRATIME,
        b"relatime" => MountFlags::RELATIME,
        b"nosymfollow" => MountFlags::NOSYMFOLLOW,
        _ => MountFlags::empty(),
    });
    Some(Point { path, flags: flags.collect() })
}

/// Spaces and the like are written as `\040`.
fn unescaped(path: &[u8]) -> Vec<u8> {
    let mut rest = path;
    let mut plain = Vec::with_capacity(path.len());
    while let Some((&first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| first == b'\\');
        let octal = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            plain.push(byte);
            rest = &after[3..];
        } else {
            plain.push(first);
            rest = after;
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_mount_table_is_read() {
        let line = br"36 35 98:0 / /a\040b\134c rw,nosuid,relatime master:1 - ext3 /dev/root rw";
        let Point { path, flags } = point(line).unwrap();
        assert_eq!(path, Path::new("/a b\\c"));
        assert_eq!(flags, MountFlags::NOSUID | MountFlags::RELATIME);
        assert!(point(b"").is_none());
        assert_eq!(unescaped(br"\04"), br"\04");
    }
}
