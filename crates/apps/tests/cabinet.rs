//! The cabinet as the house uses it, over a real folder.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    fs,
    io::{Cursor, Write as _},
    os::unix::fs::symlink,
    path::Path,
    sync::Arc,
    time::Duration,
};

use apps::{Bundle, Drawers, Problem};
use kernel::cabinet::{Cabinet as _, Card, InstallError, Parcel, RemoveError};
use serde_json::{Value, json};
use tempfile::TempDir;
use zip::{ZipWriter, write::SimpleFileOptions};

struct Home {
    temp: TempDir,
    drawers: Arc<Drawers>,
}

impl Home {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let drawers = Drawers::open(temp.path().join("apps"));
        Self { temp, drawers }
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.temp.path().join("apps").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn app(&self, id: &str, fields: &Value) {
        self.put(&format!("{id}/index.html"), &format!("<p>{id}"));
        self.put(&format!("{id}/app.json"), &fields.to_string());
    }

    /// The owner's apps once they are like this.
    async fn until(&self, like: impl Fn(&[Card]) -> bool) -> Vec<Card> {
        loop {
            let list = self.drawers.list().await;
            let own: Vec<Card> = list.iter().filter(|it| it.folder.is_some()).cloned().collect();
            if like(&own) {
                return own;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn text(&self, id: &str, path: &str) -> Option<String> {
        Some(String::from_utf8(self.drawers.file(id, path).await?).unwrap())
    }
}

fn packed(files: &[(&str, &str)]) -> Parcel {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, text) in files {
        writer.start_file(*path, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    Parcel { bytes: writer.finish().unwrap().into_inner(), ..Parcel::default() }
}

fn names(cards: &[Card]) -> Vec<(&str, &str)> {
    cards.iter().map(|card| (card.id.as_str(), card.name.as_str())).collect()
}

#[tokio::test]
async fn the_owners_app_wins_over_the_one_that_came_along() {
    let home = Home::new();
    assert_eq!(home.until(<[Card]>::is_empty).await, []);
    let bundled = home.drawers.list().await;
    let bundled = bundled.iter().find(|card| card.id == "scratchpad").unwrap();
    assert_eq!((bundled.folder.as_deref(), bundled.name.as_str()), (None, "Scratchpad"));
    assert!(home.text("scratchpad", "scratchpad.js").await.unwrap().contains("yaar.app.register"));
    home.app("scratchpad", &json!({ "name": "Mine" }));
    home.app("zebra", &json!({ "name": "A zebra" }));
    let own = home.until(|own| own.len() == 2).await;
    assert_eq!(names(&own), [("zebra", "A zebra"), ("scratchpad", "Mine")]);
    assert_eq!(home.text("scratchpad", "index.html").await.as_deref(), Some("<p>scratchpad"));
    assert_eq!(home.text("scratchpad", "scratchpad.js").await, None, "nothing is mixed");
    let all = home.drawers.list().await;
    assert_eq!(all.iter().filter(|card| card.id == "scratchpad").count(), 1);
    home.drawers.remove("scratchpad").await.unwrap();
    let all = home.drawers.list().await;
    assert!(all.iter().any(|card| card == bundled), "and the other is there again");
}

#[tokio::test]
async fn only_built_files_of_an_app_are_shown() {
    let home = Home::new();
    home.app("app", &json!({}));
    for path in ["app/src/main.ts", "app/.env", "app/.git/config", "app/lib/a.js", "app/dist/b.js"]
    {
        home.put(path, path);
    }
    home.put("other/secret.txt", "secret");
    fs::write(home.temp.path().join("key"), "secret").unwrap();
    let apps = home.temp.path().join("apps");
    symlink("../../key", apps.join("app/key.txt")).unwrap();
    symlink("../other/secret.txt", apps.join("app/secret.txt")).unwrap();
    symlink("lib/a.js", apps.join("app/alias.js")).unwrap();
    symlink("..", apps.join("app/up")).unwrap();
    for (path, expected) in [
        ("index.html", Some("<p>app")),
        ("static/index.html", Some("<p>app")),
        ("dist/index.html", Some("<p>app")),
        ("dist/b.js", Some("app/dist/b.js")),
        ("static/lib/a.js", Some("app/lib/a.js")),
        ("alias.js", Some("app/lib/a.js")),
        ("lib", None),
        ("", None),
        (".", None),
        ("..", None),
        ("../other/secret.txt", None),
        ("lib/../../other/secret.txt", None),
        ("%2e%2e/other/secret.txt", None),
        ("key.txt", None),
        ("secret.txt", None),
        ("up/other/secret.txt", None),
        ("src/main.ts", None),
        ("static/../src/main.ts", None),
        ("dist/src/main.ts", None),
        (".env", None),
        (".git/config", None),
        ("/etc/passwd", None),
        ("index.html\0", None),
    ] {
        assert_eq!(home.text("app", path).await.as_deref(), expected, "{path:?}");
    }
    for id in ["", ".", "..", "../apps/app", "app/", "APP", "none", "app\0"] {
        assert_eq!(home.text(id, "index.html").await, None, "{id:?}");
        assert_eq!(home.drawers.icon(id).await, None, "{id:?}");
    }
}

#[tokio::test]
async fn a_change_is_heard_of_and_shows_at_once() {
    let home = Home::new();
    let mut changes = home.drawers.changes();
    home.app("app", &json!({ "name": "One" }));
    assert_eq!(changes.recv().await.unwrap(), "app");
    assert_eq!(names(&home.until(|own| own.len() == 1).await), [("app", "One")]);
    home.put("app/app.json", r#"{"name":"Two"}"#);
    // On a busy machine more than one may be heard of the app's beginning.
    let named = async || {
        let all = home.drawers.list().await;
        all.iter().find(|card| card.id == "app").map(|card| card.name.clone())
    };
    while named().await.as_deref() != Some("Two") {
        assert_eq!(changes.recv().await.unwrap(), "app");
    }
    home.put("app/icon.svg", "<svg/>");
    assert_eq!(changes.recv().await.unwrap(), "app");
    assert_eq!(home.drawers.icon("app").await, Some(("svg", b"<svg/>".to_vec())));
    home.drawers.remove("app").await.unwrap();
    assert_eq!(changes.recv().await.unwrap(), "app");
    assert_eq!(home.text("app", "index.html").await, None);
}

#[tokio::test]
async fn what_is_no_app_and_what_is_wrong_with_one_is_told() {
    let home = Home::new();
    home.put("empty/index.html", "");
    home.put("Bad/app.json", "{}");
    home.app("broken", &json!({}));
    home.put("broken/app.json", "{");
    home.app("odd", &json!({ "hidden": 1 }));
    symlink("/etc", home.temp.path().join("apps/away")).unwrap();
    let root = home.temp.path().join("apps");
    let problem =
        |name: &str, what: &str| Problem { folder: root.join(name), what: what.to_owned() };
    let form =
        "its name is not an id: a small letter, then small letters, digits and hyphens, at most 64";
    assert_eq!(
        Drawers::problems(&root),
        [
            problem("Bad", form),
            problem("away", "the folder is a link that leads out of the folder of apps"),
            problem("empty", "app.json is missing"),
            problem(
                "broken",
                "app.json: expected JSON: EOF while parsing an object at line 1 column 1"
            ),
            problem("odd", "app.json at /hidden: expected true or false, got a number"),
        ]
    );
    assert_eq!(
        names(&home.until(|own| own.len() == 2).await),
        [("broken", "Broken"), ("odd", "Odd")]
    );
    assert_eq!(Drawers::problems(&root.join("none")), []);
}

#[tokio::test]
async fn an_app_is_put_in_whole_or_not_at_all() {
    let home = Home::new();
    let root = home.temp.path().join("apps");
    let parcel = packed(&[("sheet/app.json", r#"{"name":"Sheet"}"#), ("sheet/index.html", "one")]);
    let seen = home.drawers.inspect(parcel.clone()).await.unwrap();
    assert_eq!((seen.id.as_str(), seen.folder), ("sheet", None));
    assert!(!root.join("sheet").exists(), "looking puts nothing in");
    let card = home.drawers.install(parcel.clone()).await.unwrap();
    assert_eq!(card.folder, Some(root.join("sheet")));
    assert_eq!(home.text("sheet", "index.html").await.as_deref(), Some("one"));
    home.put("sheet/old.js", "old");
    let newer = packed(&[("app.json", r#"{"id":"sheet"}"#), ("index.html", "two")]);
    home.drawers.install(newer).await.unwrap();
    assert_eq!(home.text("sheet", "index.html").await.as_deref(), Some("two"));
    assert_eq!(home.text("sheet", "old.js").await, None, "nothing is left of the old one");
    let named = Parcel { id: Some("other".into()), ..parcel.clone() };
    assert_eq!(home.drawers.install(named).await.unwrap().id, "other");
    let by_name = packed(&[("app.json", "{}"), ("index.html", "")]);
    let by_name = Parcel { name: Some("My-Notes.ZIP".into()), ..by_name };
    assert_eq!(home.drawers.install(by_name).await.unwrap().id, "my-notes");
    assert_eq!(left(&root), ["my-notes", "other", "sheet"], "and nothing hidden");
}

#[tokio::test]
async fn what_is_no_app_is_not_put_in() {
    let home = Home::new();
    let root = home.temp.path().join("apps");
    let page = ("index.html", "");
    let form = "an id is a small letter, then small letters, digits and hyphens, at most 64";
    let named = |parcel: Parcel| Parcel { id: Some("x".into()), ..parcel };
    let refused = [
        (
            packed(&[page]),
            "there is no app.json in it, neither at its top nor in the one folder there".into(),
        ),
        (
            packed(&[("x/app.json", "{}")]),
            "app.json at /entry: expected a document: there is no index.html".into(),
        ),
        (
            named(packed(&[("app.json", "{"), page])),
            "app.json: expected JSON: EOF while parsing an object at line 1 column 1".into(),
        ),
        (
            packed(&[("app.json", "{}"), page]),
            format!("nothing in it gives the app an id: {form}; name one"),
        ),
        (
            named(packed(&[("app.json", "{}"), page, ("a", ""), ("a/b", "")])),
            "`a` is both a file and a folder".into(),
        ),
        (
            packed(&[("app.json", "{}"), page, ("../x", "")]),
            "the path `../x` leads out of the app".into(),
        ),
        (
            Parcel { id: Some("../x".into()), ..packed(&[("app.json", "{}"), page]) },
            format!("`../x` cannot be the id of an app: {form}"),
        ),
        (Parcel::default(), "expected a .zip or a .tar.gz archive".into()),
    ];
    for (parcel, why) in refused {
        let error = home.drawers.install(parcel).await.unwrap_err();
        assert_eq!(error, InstallError::Refused(why));
    }
    assert_eq!(left(&root), [""; 0]);
    assert_eq!(home.drawers.remove("none").await, Err(RemoveError::Unknown("none".into())));
    assert_eq!(home.drawers.remove("../apps").await, Err(RemoveError::Unknown("../apps".into())));
    let bundled = home.drawers.remove("scratchpad").await;
    assert_eq!(bundled, Err(RemoveError::Bundled("scratchpad".into())));
}

#[test]
fn a_folder_is_put_in_as_its_archive_would_be() {
    let temp = tempfile::tempdir().unwrap();
    let (source, root) = (temp.path().join("sheet"), temp.path().join("apps"));
    for (path, text) in
        [("app.json", "{}"), ("index.html", "hi"), ("src/main.ts", "x"), (".env", "x")]
    {
        fs::create_dir_all(source.join(path).parent().unwrap()).unwrap();
        fs::write(source.join(path), text).unwrap();
    }
    let bundle = Bundle::read(&source, None).unwrap();
    assert_eq!(bundle.card().id, "sheet");
    bundle.install(&root).unwrap();
    assert_eq!(left(&root.join("sheet")), ["app.json", "index.html", "src"]);
    let missing = Bundle::read(&temp.path().join("none"), None).unwrap_err().to_string();
    assert!(missing.starts_with("it cannot be read: "), "{missing}");
    // One that is only linked to is let go of, and left alone.
    symlink(&source, root.join("linked")).unwrap();
    Drawers::take_out(&root, "linked").unwrap();
    assert_eq!((left(&root), left(&source).len()), (vec!["sheet".to_owned()], 4));
}

fn left(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}
