//! Writes a file, whole or not at all.

use std::io;

use kernel::toolbox::{Call, Deed, Reply, Risk};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    change::{Change, LARGEST, Old, carry_out, deed},
    folder::Folder,
    typed::{Typed, shorten},
    workshop::Workshop,
};

/// Writes a text file in the session's folder, in place of any that is there. Missing directories
/// are made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file, relative to the session's folder, or absolute inside it.
    path: String,
    /// All that the file shall contain.
    content: String,
}

pub struct WriteFile {
    pub workshop: Workshop,
}

impl Typed for WriteFile {
    type Input = Input;
    type Output = Reply;
    const NAME: &'static str = "write_file";
    const RISK: Risk = Risk::Edits;

    fn title(&self, input: &Input) -> String {
        format!("Writing {}", shorten(&input.path, 80))
    }

    async fn foresee(&self, input: Input, call: &Call) -> Result<Deed, String> {
        let root = self.workshop.root(&input.path, call);
        let deed = self
            .workshop
            .within(root.clone(), move |folder| Ok(deed(&[plan(folder, input)?])))
            .await?;
        Ok(self.workshop.judged(&root, deed))
    }

    async fn run(&self, input: Input, call: Call) -> Result<Reply, String> {
        let root = self.workshop.root(&input.path, &call);
        self.workshop.within(root, move |folder| write(folder, input)).await
    }
}

fn write(folder: &Folder, input: Input) -> Result<Reply, String> {
    let (path, size) = (input.path.clone(), input.content.len());
    let change = plan(folder, input)?;
    let done = if change.from.is_some() { "replaced" } else { "created" };
    let done = format!("{done} `{path}` ({size} bytes)");
    let new = change.from.is_none();
    let reply = carry_out(folder, &[change], &done)?;
    // Whoever wrote all of it need not read it again.
    Ok(if new { Reply { text: done, ..reply } } else { reply })
}

fn plan(folder: &Folder, Input { path, content }: Input) -> Result<Change, String> {
    let settled = folder.settle(&path)?;
    match folder.dir.metadata(&settled) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Change::create(settled, content));
        }
        Ok(found) if found.is_dir() => return Err(format!("`{path}` is a directory")),
        Ok(found) if !found.is_file() => return Err(format!("`{path}` is not a regular file")),
        Err(error) => return Err(folder.explain(&path, &error)),
        Ok(_) => {}
    }
    let old = match folder.read_text(&settled, LARGEST) {
        Ok(text) => Old::Text(text),
        Err(error) => Old::Opaque(error.to_string()),
    };
    Ok(Change::replace(settled, old, content))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::folder::tests::{House, house};

    fn put(house: &House, path: &str, content: &str) -> Result<String, String> {
        let input = Input { path: path.into(), content: content.into() };
        write(&house.folder, input).map(|reply| reply.text)
    }

    fn read(house: &House, path: &str) -> String {
        fs::read_to_string(house.room().join(path)).unwrap()
    }

    /// What is in the folder, by name.
    fn names(house: &House) -> Vec<String> {
        let entries = fs::read_dir(house.room()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_created_and_then_replaced() {
        const REPLACED: &str = "replaced `a` (2 bytes)\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-one\n\
             \\ No newline at end of file\n+é\n\\ No newline at end of file";
        let house = house();
        assert_eq!(put(&house, "a", "one").as_deref(), Ok("created `a` (3 bytes)"));
        assert_eq!(put(&house, "a", "é").as_deref(), Ok(REPLACED));
        assert_eq!(read(&house, "a"), "é");
        let absolute = house.room().join("x/y/grüße 👋").display().to_string();
        assert_eq!(put(&house, &absolute, ""), Ok(format!("created `{absolute}` (0 bytes)")));
        assert_eq!(read(&house, "x/y/grüße 👋"), "");
        assert_eq!(names(&house), ["a", "x"]);
        let longest = "n".repeat(255);
        assert_eq!(put(&house, &longest, ""), Ok(format!("created `{longest}` (0 bytes)")));
    }

    #[test]
    fn nothing_outside_the_folder_can_be_written() {
        let house = house();
        for way in house.ways_out() {
            assert_eq!(put(&house, &way, "x"), Err(house.outside(&way)), "{way}");
            let new = format!("{way}/new");
            assert!(put(&house, &new, "x").is_err(), "{new}");
        }
        assert_eq!(fs::read_to_string(house.next().join("secret")).unwrap(), "secret");
        assert_eq!(fs::read_dir(house.next()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_a_file_is_explained() {
        let house = house();
        fs::create_dir(house.room().join("dir")).unwrap();
        put(&house, "a", "").unwrap();
        for (path, message) in [
            ("", "the path is empty"),
            ("a\0", "a path cannot contain a NUL character"),
            (".", "`.` does not name a file"),
            ("dir/..", "`dir/..` does not name a file"),
            ("dir", "`dir` is a directory"),
            ("new/", "`new/` names a directory; name a file in it"),
            ("a/b", "`a/b` is not, or is not in, a directory"),
        ] {
            assert_eq!(put(&house, path, "x"), Err(message.to_owned()));
        }
        assert_eq!(names(&house), ["a", "dir"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_a_script_stays_executable() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let house = house();
        put(&house, "script", "old").unwrap();
        let script = house.room().join("script");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o750)).unwrap();
        symlink("script", house.room().join("link")).unwrap();
        let replaced = put(&house, "link", "new").unwrap();
        assert!(
            replaced.starts_with("replaced `link` (3 bytes)\ndiff --git a/script b/script\n"),
            "{replaced}"
        );
        assert_eq!(read(&house, "script"), "new");
        assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o750);
        assert!(house.room().join("link").is_symlink());
        symlink("gone", house.room().join("dangling")).unwrap();
        let nowhere = "`dangling` is a link to something that does not exist";
        assert_eq!(put(&house, "dangling", ""), Err(nowhere.into()));
    }
}
