//! Puts files in their places: each of them whole, and all of them or none.

use std::{
    ffi::OsStr,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use cap_std::fs::{Dir, Permissions};
use place::{Staged, name, stage};

use crate::{
    change::{Change, Old},
    folder::Folder,
};

/// Makes all the changes. When one fails, those before it are taken back.
pub fn all(folder: &Folder, changes: &[Change]) -> Result<(), String> {
    let mut work = Work::default();
    let done = work.prepare(folder, changes).and_then(|()| work.finish(changes));
    done.map_err(|(path, error)| {
        work.undo(folder, changes);
        folder.explain(&path.display().to_string(), &error)
    })
}

type Failed = (PathBuf, io::Error);

/// How far it has come.
#[derive(Default)]
struct Work {
    /// Directories that were not there before, in the order they were made.
    made: Vec<PathBuf>,
    steps: Vec<Step>,
}

/// What is to be done for one change, in the directories as they were found.
struct Step {
    put: Option<Staged>,
    take: Option<Taken>,
    was: Option<Permissions>,
}

/// A place that will be empty.
struct Taken {
    dir: Dir,
    done: bool,
}

impl Work {
    /// All that can fail for a reason of its own comes first; it changes nothing anybody sees.
    fn prepare(&mut self, folder: &Folder, changes: &[Change]) -> Result<(), Failed> {
        for change in changes {
            let path = change.to.as_ref().or(change.from.as_ref()).cloned().unwrap_or_default();
            let step = self.step(folder, change).map_err(|error| (path, error))?;
            self.steps.push(step);
        }
        Ok(())
    }

    fn step(&mut self, folder: &Folder, change: &Change) -> io::Result<Step> {
        let was = change.from.as_ref().map(|from| mode(folder, from)).transpose()?;
        let leaves = change.from.as_ref().filter(|from| change.to.as_ref() != Some(from));
        let take = leaves.map(|from| place::parent(&folder.dir, from)).transpose()?;
        let take = take.map(|(dir, _)| Taken { dir, done: false });
        let Some(to) = &change.to else { return Ok(Step { put: None, take, was }) };
        self.make_parent(folder, to)?;
        let (dir, name) = place::parent(&folder.dir, to)?;
        check(&dir, name, change.from.as_ref() != Some(to))?;
        let permissions = permissions(was.clone(), change.executable);
        let staged = stage(&dir, permissions, |file| file.write_all(change.new.as_bytes()))?;
        Ok(Step { put: Some(staged), take, was })
    }

    fn make_parent(&mut self, folder: &Folder, path: &Path) -> io::Result<()> {
        let ancestors = path.ancestors().skip(1).filter(|it| *it != Path::new(""));
        for dir in ancestors.collect::<Vec<_>>().into_iter().rev() {
            match folder.dir.create_dir(dir) {
                Ok(()) => self.made.push(dir.to_owned()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn finish(&mut self, changes: &[Change]) -> Result<(), Failed> {
        for (step, change) in self.steps.iter_mut().zip(changes) {
            if let (Some(staged), Some(to)) = (&mut step.put, &change.to) {
                name(to)
                    .and_then(|name| staged.settle(name))
                    .map_err(|error| (to.clone(), error))?;
            }
            if let (Some(taken), Some(from)) = (&mut step.take, &change.from) {
                let removed = name(from).and_then(|name| taken.dir.remove_file(name));
                removed.map_err(|error| (from.clone(), error))?;
                taken.done = true;
            }
        }
        Ok(())
    }

    /// What cannot be taken back stays; the first error is the one to tell.
    fn undo(&mut self, folder: &Folder, changes: &[Change]) {
        for (step, change) in self.steps.drain(..).zip(changes).rev() {
            step.undo(change).ok();
        }
        for dir in self.made.drain(..).rev() {
            folder.dir.remove_dir(dir).ok();
        }
    }
}

impl Step {
    fn undo(self, change: &Change) -> io::Result<()> {
        let put = self.put.as_ref().filter(|staged| staged.settled);
        let emptied = match (put, &change.to) {
            (Some(staged), Some(to)) if change.from.as_ref() != Some(to) => {
                staged.dir.remove_file(name(to)?)?;
                None
            }
            (replaced, _) => replaced.map(|staged| &staged.dir),
        };
        let taken = self.take.as_ref().filter(|taken| taken.done).map(|taken| &taken.dir);
        let (Some(from), Some(dir), Old::Text(old)) =
            (&change.from, emptied.or(taken), &change.old)
        else {
            return Ok(());
        };
        stage(dir, self.was, |file| file.write_all(old.as_bytes()))?.settle(name(from)?)
    }
}

/// Whether a file can go there: in the place of another, or where nothing is.
fn check(dir: &Dir, name: &OsStr, new: bool) -> io::Result<()> {
    match dir.symlink_metadata(name) {
        Ok(_) if new => Err(io::Error::other("it exists already")),
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => Err(io::Error::other("it is not a regular file")),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn mode(folder: &Folder, path: &Path) -> io::Result<Permissions> {
    Ok(folder.dir.metadata(path)?.permissions())
}

#[cfg(unix)]
fn permissions(was: Option<Permissions>, executable: Option<bool>) -> Option<Permissions> {
    use cap_std::fs::PermissionsExt as _;
    let Some(executable) = executable else { return was };
    let mode = was.map_or(0o644, |was| was.mode());
    // Whoever may read it may run it.
    let run = (mode & 0o444) >> 2;
    Some(Permissions::from_mode(if executable { mode | run } else { mode & !0o111 }))
}

#[cfg(not(unix))]
fn permissions(was: Option<Permissions>, _: Option<bool>) -> Option<Permissions> {
    was
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::folder::tests::house;

    #[test]
    fn when_the_last_change_fails_the_others_are_taken_back() {
        let house = house();
        for name in ["changed", "moved", "gone"] {
            fs::write(house.room().join(name), "old").unwrap();
        }
        let text = |text: &str| Old::Text(text.into());
        let moved = |from: &str, to: Option<&str>| Change {
            from: Some(from.into()),
            to: to.map(Into::into),
            old: text("old"),
            new: "old".into(),
            executable: None,
        };
        let changes = [
            Change::create("a/b/new".into(), "new".into()),
            Change::replace("changed".into(), text("old"), "new".into()),
            moved("moved", Some("a/there")),
            moved("gone", None),
        ];
        let mut work = Work::default();
        work.prepare(&house.folder, &changes).unwrap();
        // Somebody was faster.
        fs::remove_file(house.room().join("gone")).unwrap();
        let (path, error) = work.finish(&changes).unwrap_err();
        assert_eq!((path, error.kind()), ("gone".into(), io::ErrorKind::NotFound));
        assert!(house.room().join("a/there").exists(), "the others were made");
        work.undo(&house.folder, &changes);
        assert!(!house.room().join("a").exists());
        for name in ["changed", "moved"] {
            assert_eq!(fs::read_to_string(house.room().join(name)).unwrap(), "old", "{name}");
        }
        assert_eq!(fs::read_dir(house.room()).unwrap().count(), 2);
    }
}
