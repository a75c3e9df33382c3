//! The gallery as the house uses it, over real folders.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use apps::{Folders, Problem};
use kernel::gallery::{Applet, Gallery as _};
use serde_json::{Value, json};
use tempfile::TempDir;

struct Home {
    temp: TempDir,
    folders: Arc<Folders>,
}

impl Home {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let folders = Folders::open(&[temp.path().join("caco")], temp.path().join("own"));
        Self { temp, folders }
    }

    fn put(&self, shelf: &str, slug: &str, meta: &Value) -> PathBuf {
        let folder = self.temp.path().join(shelf).join(slug);
        write(&folder, "content.html", &format!("<p>{slug} of {shelf}</p>"));
        write(&folder, "meta.json", &meta.to_string());
        folder
    }

    /// The list as it is once it is like this.
    async fn until(&self, like: impl Fn(&[Applet]) -> bool) -> Arc<Vec<Applet>> {
        loop {
            let list = self.folders.list().await;
            if like(&list) {
                return list;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

fn write(folder: &Path, name: &str, text: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(name), text).unwrap();
}

/// Those that do not come with the program.
fn own(list: &[Applet]) -> Vec<(&str, &str)> {
    let own = list.iter().filter(|applet| applet.folder.is_some());
    own.map(|applet| (applet.slug.as_str(), applet.name.as_str())).collect()
}

fn meta(name: &str, day: u8) -> Value {
    json!({ "name": name, "updatedAt": format!("2030-01-{day:02}T00:00:00.000Z") })
}

#[tokio::test]
async fn the_owners_applets_win_and_the_newest_come_first() {
    let home = Home::new();
    assert!(own(&home.folders.list().await).is_empty());
    home.put("caco", "both", &meta("theirs", 9));
    home.put("caco", "old", &meta("old", 1));
    home.put("own", "both", &meta("ours", 2));
    home.put("own", "new", &meta("new", 3));
    let expected = [("new", "new"), ("both", "ours"), ("old", "old")];
    let list = home.until(|list| own(list) == expected).await;
    let both = list.iter().find(|it| it.slug == "both").unwrap();
    assert_eq!(both.folder, Some(home.temp.path().join("own/both")));
    let parts = home.folders.load("both").await.unwrap().unwrap();
    assert_eq!((parts.applet, parts.html), (both.clone(), "<p>both of own</p>".to_owned()));
    assert_eq!((parts.script, parts.style), (None, None));
    let theirs = home.folders.load("old").await.unwrap().unwrap();
    assert_eq!(theirs.html, "<p>old of caco</p>");
}

#[tokio::test]
async fn what_is_no_applet_is_skipped_and_its_problem_named() {
    let home = Home::new();
    let root = home.temp.path().join("own");
    home.put("own", "good", &meta("good", 1));
    home.put("own", "_draft", &meta("draft", 1));
    home.put("own", ".hidden", &meta("hidden", 1));
    home.put("own", "Bad Name", &meta("bad", 1));
    home.put("own", "odd", &json!({ "name": "odd", "permissions": ["root"] }));
    write(&root.join("empty"), "content.html", "");
    write(&root.join("broken"), "meta.json", "{");
    write(&root.join("bare"), "meta.json", r#"{"name":"bare"}"#);
    let large = format!(r#"{{"name":"{}"}}"#, "x".repeat(70_000));
    write(&root.join("large"), "meta.json", &large);
    fs::write(root.join("README"), "not a folder").unwrap();
    home.until(|list| own(list).len() == 2).await;
    let problem = |slug: &str, what: &str| Problem { folder: root.join(slug), what: what.into() };
    let expected = [
        problem(
            "Bad Name",
            "its name is not a slug: small letters, digits and hyphens, at most 64",
        ),
        problem("bare", "content.html is missing"),
        problem("broken", "meta.json is not JSON: EOF while parsing an object at line 1 column 1"),
        problem("empty", "meta.json is missing"),
        problem("large", "meta.json cannot be read: it has more than 65536 bytes"),
        problem(
            "odd",
            "`root` is not a permission; there are apps:open, files:write, schedules:write, shell",
        ),
    ];
    assert_eq!(Folders::problems(&[home.temp.path().join("caco"), root.clone()]), expected);
    for slug in ["_draft", ".hidden", "Bad Name", "broken", "empty", "bare", "large", "nothing"] {
        assert_eq!(home.folders.load(slug).await, Ok(None), "{slug}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn no_link_leads_out() {
    use std::os::unix::fs::symlink;
    let home = Home::new();
    let (root, outside) = (home.temp.path().join("own"), home.temp.path().join("outside"));
    write(&outside, "meta.json", r#"{"name":"outside"}"#);
    write(&outside, "content.html", "secret");
    symlink(&outside, root.join("door")).unwrap();
    home.put("own", "window", &meta("window", 1));
    symlink(outside.join("content.html"), root.join("window/script.js")).unwrap();
    home.put("own", "good", &meta("good", 2));
    symlink("content.html", root.join("good/style.css")).unwrap();
    home.until(|list| own(list) == [("good", "good"), ("window", "window")]).await;
    assert_eq!(home.folders.load("door").await, Ok(None));
    let refused = home.folders.load("window").await.unwrap_err();
    assert!(refused.starts_with("script.js: "), "{refused}");
    let inside = home.folders.load("good").await.unwrap().unwrap();
    assert_eq!(inside.style.as_deref(), Some("<p>good of own</p>"), "within its folder it may");
    let corpus =
        ["..", ".", "", "../own/good", "good/../good", "good/", "/good", "good\0", "%2e%2e"];
    for slug in corpus.into_iter().chain(["..%2fgood", "good%00", "GOOD", "good.", "own\\good"]) {
        assert_eq!(home.folders.load(slug).await, Ok(None), "{slug:?}");
    }
    let pipe = root.join("pipe");
    write(&pipe, "meta.json", r#"{"name":"pipe"}"#);
    assert!(Command::new("mkfifo").arg(pipe.join("content.html")).status().unwrap().success());
    assert_eq!(home.folders.load("pipe").await, Ok(None), "and nothing waits for a pipe");
}

#[tokio::test]
async fn a_change_is_heard_of_by_the_name_of_its_applet() {
    let home = Home::new();
    let mut changes = home.folders.changes();
    let folder = home.put("own", "clock", &meta("clock", 1));
    assert_eq!(changes.recv().await.unwrap(), "clock");
    home.until(|list| own(list) == [("clock", "clock")]).await;
    write(&folder, "script.js", "tick()");
    assert_eq!(changes.recv().await.unwrap(), "clock");
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(changes.recv().await.unwrap(), "clock");
    home.until(|list| own(list).is_empty()).await;
    let theirs = home.put("caco", "late", &meta("late", 1));
    home.until(|list| own(list) == [("late", "late")]).await;
    write(&theirs, "meta.json", &meta("later", 1).to_string());
    home.until(|list| own(list) == [("late", "later")]).await;
}

#[tokio::test]
async fn what_changes_is_remembered() {
    let home = Home::new();
    let folder = home.put("own", "clock", &meta("clock", 1));
    let log = || {
        let root = home.temp.path().join("own");
        let mut git = Command::new("git");
        git.args(["log", "--format=%an", "--name-only"]).current_dir(root);
        String::from_utf8(git.output().unwrap().stdout).unwrap()
    };
    let first = "Megaron\n\nclock/content.html\nclock/meta.json\n";
    while log() != first {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    write(&folder, "script.js", "tick()");
    let second = format!("Megaron\n\nclock/script.js\n{first}");
    while !log().replace("\n\nMegaron", "\nMegaron").ends_with(&second) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
