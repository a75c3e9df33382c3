//! What is written for agents to read: the person's own words, a folder's `AGENTS.md`, and skills.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use futures::{FutureExt as _, future::BoxFuture};
use kernel::ports::{Brief, Briefing, StoreError, Stored};

use crate::{folder::Folder, workshop::Workshop};

/// Of a longer text only the beginning is told.
const TEXT_BYTES: usize = 32 * 1024;
/// How many skills are mentioned.
const SKILLS: usize = 100;
/// Where a folder keeps skills of its own.
const FOLDER_SKILLS: &str = ".agents/skills";

/// Read anew for every turn, so that a change is heeded at once.
pub struct Notices {
    /// The person's own words, for all sessions.
    own: PathBuf,
    skills: PathBuf,
}

/// A skill as it is mentioned.
#[derive(Debug, PartialEq, Eq)]
struct Skill {
    name: String,
    description: String,
    text: String,
}

impl Notices {
    pub fn new(data_dir: &Path) -> Self {
        Self { own: data_dir.join("system.md"), skills: data_dir.join("skills") }
    }

    fn read(own: &Path, skills: &Path, cwd: &Path) -> Vec<Brief> {
        let brief = |title: &str, text: Option<String>| {
            let text = text.filter(|text| !text.trim().is_empty())?;
            Some(Brief { title: title.to_owned(), text })
        };
        let own = fs::read_to_string(own).ok().map(|text| shortened(&text));
        let folder = in_folder(skills, cwd, Path::new("AGENTS.md")).map(|text| shortened(&text));
        let skills = mention(&Self::skills(skills, cwd));
        let parts = [
            brief("From the person", own),
            brief("AGENTS.md of this folder", folder),
            brief("Skills", skills),
        ];
        parts.into_iter().flatten().collect()
    }

    /// Those of the house and those of the folder, which win where names are the same.
    fn skills(house: &Path, cwd: &Path) -> Vec<Skill> {
        let mut skills = Vec::new();
        for name in names(fs::read_dir(cwd.join(FOLDER_SKILLS))) {
            let file = Path::new(FOLDER_SKILLS).join(&name).join("SKILL.md");
            skills.extend(in_folder(house, cwd, &file).map(|text| Skill::parse(&name, text)));
        }
        for name in names(fs::read_dir(house)) {
            let text = fs::read_to_string(house.join(&name).join("SKILL.md"));
            skills.extend(text.ok().map(|text| Skill::parse(&name, text)));
        }
        // The first of a name stays: sorting keeps the order of equals.
        skills.sort_by(|one, other| one.name.cmp(&other.name));
        skills.dedup_by(|later, first| later.name == first.name);
        skills.truncate(SKILLS);
        skills
    }
}

impl Briefing for Notices {
    fn parts(&self, cwd: PathBuf) -> BoxFuture<'_, Vec<Brief>> {
        let (own, skills) = (self.own.clone(), self.skills.clone());
        let read = tokio::task::spawn_blocking(move || Self::read(&own, &skills, &cwd));
        // Reading does not break down; if it did, an agent could do without.
        async move { read.await.unwrap_or_default() }.boxed()
    }

    fn rewrite(&self, text: String) -> Stored<'_, ()> {
        let own = self.own.clone();
        let write = tokio::task::spawn_blocking(move || {
            let new = own.with_extension("new");
            fs::write(&new, text).and_then(|()| fs::rename(&new, &own))
        });
        async move {
            let written = write.await.unwrap_or_else(|error| Err(io::Error::other(error)));
            written.map_err(|error| StoreError::Unavailable(error.to_string()))
        }
        .boxed()
    }

    fn skills(&self, cwd: PathBuf) -> BoxFuture<'_, Vec<Brief>> {
        let house = self.skills.clone();
        let brief = |Skill { name, description, .. }| Brief { title: name, text: description };
        let find = tokio::task::spawn_blocking(move || {
            Self::skills(&house, &cwd).into_iter().map(brief).collect()
        });
        async move { find.await.unwrap_or_default() }.boxed()
    }

    fn skill(&self, cwd: PathBuf, name: String) -> BoxFuture<'_, Option<String>> {
        let house = self.skills.clone();
        let find = tokio::task::spawn_blocking(move || {
            Self::skills(&house, &cwd).into_iter().find(|skill| skill.name == name)
        });
        async move { find.await.ok()?.map(|skill| skill.text) }.boxed()
    }
}

impl Skill {
    /// A skill may begin with lines between `---` that say its name and what it is for.
    fn parse(folder: &str, text: String) -> Self {
        let head = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---"));
        let field = |name: &str| {
            let (head, _) = head?;
            let line = head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            Some(line.trim().trim_matches('"').to_owned()).filter(|value| !value.is_empty())
        };
        let name = field("name").unwrap_or_else(|| folder.to_owned());
        let description = field("description").unwrap_or_default();
        Self { name, description, text }
    }
}

fn mention(skills: &[Skill]) -> Option<String> {
    let line = |Skill { name, description, .. }: &Skill| format!("- {name}: {description}");
    let lines: Vec<String> = skills.iter().map(line).collect();
    let intro = "Before you do one of these, read how with `read_skill`:";
    (!lines.is_empty()).then(|| format!("{intro}\n{}", lines.join("\n")))
}

/// Names of what is in a directory, in order; none if there is no such directory.
fn names(entries: io::Result<fs::ReadDir>) -> Vec<String> {
    let entries = entries.into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// A file of the session's folder, and of nothing that its links lead to outside or in the house,
/// where `skills` lie.
fn in_folder(skills: &Path, cwd: &Path, path: &Path) -> Option<String> {
    let workshop = Workshop { applets: None, house: skills.parent().map(Path::to_owned) };
    let folder = Folder::open(cwd.to_owned(), &workshop).ok()?;
    io::read_to_string(folder.open_file(path).ok()?).ok()
}

fn shortened(text: &str) -> String {
    if text.len() <= TEXT_BYTES {
        return text.trim_end().to_owned();
    }
    format!("{}\n[cut]", &text[..text.floor_char_boundary(TEXT_BYTES)])
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn write(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[tokio::test]
    async fn agents_are_told_what_is_written_for_them() {
        let (data, cwd) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let notices = Notices::new(data.path());
        assert_eq!(notices.parts(cwd.path().into()).await, []);
        notices.rewrite("Answer in verse.\n".into()).await.unwrap();
        write(cwd.path(), "AGENTS.md", "Run the tests.");
        let head = "---\nname: bake\ndescription: \"Baking bread\"\n---\nKnead.";
        write(data.path(), "skills/baking/SKILL.md", head);
        write(data.path(), "skills/plain/SKILL.md", "No head.");
        write(cwd.path(), ".agents/skills/x/SKILL.md", "---\nname: bake\n---\nOur way.");
        let brief = |title: &str, text: &str| Brief { title: title.into(), text: text.into() };
        let skills = "Before you do one of these, read how with `read_skill`:\n- bake: \n- plain: ";
        let expected = [
            brief("From the person", "Answer in verse."),
            brief("AGENTS.md of this folder", "Run the tests."),
            brief("Skills", skills),
        ];
        assert_eq!(notices.parts(cwd.path().into()).await, expected);
        let listed = [brief("bake", ""), brief("plain", "")];
        assert_eq!(notices.skills(cwd.path().into()).await, listed);
        let skill = |name: &str| notices.skill(cwd.path().into(), name.into());
        let ours = "---\nname: bake\n---\nOur way.";
        assert_eq!(skill("bake").await.as_deref(), Some(ours), "the folder's own wins");
        assert_eq!(skill("../../etc").await, None);
    }

    #[test]
    fn a_link_out_of_the_folder_is_not_followed() {
        let (cwd, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        write(outside.path(), "secret", "hush");
        std::os::unix::fs::symlink(outside.path().join("secret"), cwd.path().join("AGENTS.md"))
            .unwrap();
        assert_eq!(in_folder(Path::new(""), cwd.path(), Path::new("AGENTS.md")), None);
    }

    #[test]
    fn a_long_text_is_cut_and_a_skill_names_itself() {
        assert_eq!(shortened(&"ä".repeat(TEXT_BYTES)).len(), TEXT_BYTES + 6);
        let text = "---\nname: bake\ndescription: \"Baking bread\"\n---\nKnead.".to_owned();
        let skill =
            Skill { name: "bake".into(), description: "Baking bread".into(), text: text.clone() };
        assert_eq!(Skill::parse("folder", text), skill);
    }
}
