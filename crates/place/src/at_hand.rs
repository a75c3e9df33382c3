//! Small files that lie in memory anyway: read at once, where nobody may wait.

use std::path::Path;

/// What is longer is copied elsewhere than where everybody else is kept waiting by it.
#[cfg(target_os = "linux")]
const SMALL: usize = 64 << 10;

/// The whole of a regular file of one name, by a path without links; nothing if any of that is not
/// so, or if the disk would have to be asked.
#[cfg(target_os = "linux")]
pub fn read(path: &Path) -> Option<Vec<u8>> {
    use std::io::IoSliceMut;

    use rustix::{
        fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2},
        io::{ReadWriteFlags, preadv2},
    };
    use std::os::fd::AsRawFd as _;

    let resolve = ResolveFlags::CACHED | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // Opening a device may already do something, so it is looked at first.
    let found = openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve).ok()?;
    let about = fstat(&found).ok()?;
    let size = usize::try_from(about.st_size).ok()?;
    let is_file = FileType::from_raw_mode(about.st_mode) == FileType::RegularFile;
    if !is_file || about.st_nlink != 1 || size == 0 || size > SMALL {
        return None;
    }
    let same = format!("/proc/self/fd/{}", found.as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(CWD, same, flags, Mode::empty()).ok()?;
    // One byte more, to see that it has not grown.
    let mut bytes = vec![0; size + 1];
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let read = preadv2(&file, &mut parts, 0, ReadWriteFlags::NOWAIT).ok()?;
    bytes.truncate(read);
    (read == size).then_some(bytes)
}

#[cfg(not(target_os = "linux"))]
pub fn read(_: &Path) -> Option<Vec<u8>> {
    None
}
