//! Apps and files that are opened in them, as a model and a page meet them.

use std::{
    collections::BTreeMap,
    fs,
    sync::{Arc, Mutex, OnceLock, Weak},
};

use futures::{
    FutureExt as _,
    future::{BoxFuture, ready},
};
use kernel::{
    apps::{AppFact, Asked, Attendance, Line, Response, Word},
    cabinet::{Association, Cabinet, Card, Encoding, InstallError, Parcel, RemoveError},
    feed::Heard,
    host::{Host, Settings},
    inbox::CallError,
    ports::Ports,
    toolbox::{Caller, ToolError},
    update::{Fact, Seq, SessionId},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::World;
use tokio::sync::broadcast;

use crate::add_applets;

struct Few(Arc<Vec<Card>>);

impl Cabinet for Few {
    fn list(&self) -> BoxFuture<'_, Arc<Vec<Card>>> {
        ready(self.0.clone()).boxed()
    }

    fn file<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Option<Vec<u8>>> {
        ready(None).boxed()
    }

    fn icon<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Option<(&'static str, Vec<u8>)>> {
        ready(None).boxed()
    }

    fn inspect(&self, _: Parcel) -> BoxFuture<'_, Result<Card, InstallError>> {
        ready(Err(InstallError::Disk(String::new()))).boxed()
    }

    fn install(&self, parcel: Parcel) -> BoxFuture<'_, Result<Card, InstallError>> {
        self.inspect(parcel)
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), RemoveError>> {
        ready(Err(RemoveError::Unknown(id.to_owned()))).boxed()
    }

    fn changes(&self) -> broadcast::Receiver<String> {
        broadcast::Sender::new(1).subscribe()
    }
}

/// A page whose apps know two commands, and remember what they were told.
#[derive(Default)]
struct Page {
    this: Weak<Page>,
    attendance: OnceLock<Attendance>,
    told: Mutex<Vec<(String, Value)>>,
}

impl Line for Page {
    fn tell(&self, Word::Request(request): Word) {
        let value = match &request.asked {
            Asked::Manifest => json!({
                "appId": "any", "name": "Any", "state": {},
                "commands": {
                    "openFile": { "description": "", "params": { "type": "object" } },
                    "openBook": {
                        "description": "",
                        "params": { "type": "object", "properties": { "encoding": {}, "data": {} } },
                    },
                },
            }),
            Asked::Command { command, params } => {
                let told = (command.clone(), params.clone().unwrap_or_default());
                self.told.lock().unwrap().push(told);
                json!({ "rows": 3 })
            }
            Asked::Query { .. } => Value::Null,
        };
        let kind = request.asked.kind();
        let page = self.this.upgrade().unwrap();
        // Not from within the call: it must not wait.
        tokio::spawn(async move {
            let attendance = page.attendance.get().unwrap();
            let response = Response::of(kind, Some(value));
            attendance.answered(request.request, Some(request.window), response);
        });
    }
}

struct Home {
    host: Arc<Host>,
    session: SessionId,
    folder: TempDir,
}

fn card(id: &str, name: &str, associations: &[(&str, &str, &str, Encoding)]) -> Card {
    let association =
        |(extension, command, param, encoding): &(&str, &str, &str, Encoding)| Association {
            extensions: vec![(*extension).to_owned()],
            command: (*command).to_owned(),
            param: (*param).to_owned(),
            encoding: *encoding,
        };
    Card {
        id: id.to_owned(),
        name: name.to_owned(),
        description: Some(format!("The {id}")),
        entry: "index.html".to_owned(),
        associations: associations.iter().map(association).collect(),
        ..Card::default()
    }
}

impl Home {
    async fn new() -> Self {
        let cards = vec![
            card(
                "sheet",
                "B sheet",
                &[
                    (".csv", "openFile", "content", Encoding::Text),
                    (".xlsx", "openBook", "data", Encoding::Base64),
                    (".gz", "openFile", "content", Encoding::Base64),
                ],
            ),
            card(
                "table",
                "A table",
                &[
                    (".csv", "openFile", "text", Encoding::Text),
                    (".tar.gz", "openFile", "archive", Encoding::Base64),
                    (".odd", "missing", "content", Encoding::Text),
                ],
            ),
            Card { hidden: true, ..card("secret", "Secret", &[]) },
        ];
        let ports = Ports { cabinet: Arc::new(Few(Arc::new(cards))), ..World::new([]).ports() };
        let host = Host::start(ports, Settings::default()).await.unwrap();
        add_applets(&host, crate::Workshop::default());
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in [
            ("a.csv", &b"1,2"[..]),
            ("B.CSV", b"3"),
            ("book.xlsx", b"\xff\x00"),
            ("x.tar.gz", b"tar"),
            ("bad.csv", b"\xff"),
            ("x.odd", b""),
            ("x.xyz", b""),
        ] {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        let session = host.create(folder.path(), "test", "").await.unwrap();
        Self { host, session, folder }
    }

    async fn call(&self, name: &str, args: Value) -> Result<String, String> {
        match self.host.call(self.session, Caller::Client, name, args).await {
            Ok(reply) => Ok(reply.text),
            Err(CallError::Tool(ToolError::Failed(message))) => Err(message),
            Err(error) => panic!("{error}"),
        }
    }

    /// A page that shows every window as soon as it is opened.
    fn page(&self) -> Arc<Page> {
        let page = Arc::new_cyclic(|this| Page { this: this.clone(), ..Page::default() });
        let attendance = self.host.attend(self.session, page.clone()).unwrap();
        page.attendance.set(attendance).unwrap();
        let (host, session, shown) = (self.host.clone(), self.session, page.clone());
        tokio::spawn(async move {
            let mut feed = host.feed(session, Some(Seq(0))).await.unwrap();
            while let Some(heard) = feed.next().await {
                for window in opened(&heard) {
                    let instance = Some(format!("of {window}"));
                    shown.attendance.get().unwrap().ready(window, None, instance);
                }
            }
        });
        page
    }

    async fn open(&self, args: Value) -> Result<String, String> {
        self.call("file_open", args).await
    }
}

fn opened(heard: &Heard) -> Vec<String> {
    let window = |fact: &Fact| match fact {
        Fact::WindowOpened(window) => Some(window.key()),
        _ => None,
    };
    match heard {
        Heard::Past(entry) => window(&entry.fact).into_iter().collect(),
        Heard::Live(told) => told.facts().filter_map(|entry| window(&entry.fact)).collect(),
        Heard::Now { .. } => Vec::new(),
    }
}

fn said(app: &str) -> String {
    format!(
        "It is open in the app \"{app}\", in the window \"monitor-0/{app}\". The app said: {{\n  \"rows\": 3\n}}"
    )
}

#[tokio::test]
async fn an_app_is_opened_once_and_then_brought_to_the_front() {
    let home = Home::new().await;
    let listed = home.call("app_open", json!({})).await.unwrap();
    assert_eq!(
        listed,
        "sheet: B sheet (The sheet); opens .csv, .xlsx, .gz\n\
         table: A table (The table); opens .csv, .tar.gz, .odd"
    );
    let open = async |args: Value| home.call("app_open", args).await;
    let is_open = |app: &str, window: &str| {
        Ok(format!("The app \"{app}\" is open in the window \"{window}\"."))
    };
    assert_eq!(open(json!({ "appId": "sheet" })).await, is_open("sheet", "sheet"));
    assert_eq!(open(json!({ "appId": "sheet" })).await, is_open("sheet", "sheet"));
    let second = json!({ "appId": "sheet", "windowId": "second" });
    assert_eq!(open(second.clone()).await, is_open("sheet", "second"));
    assert_eq!(open(second).await, is_open("sheet", "second"));
    let taken = json!({ "windowId": "table", "title": "T", "renderer": "text", "content": "x" });
    home.call("window_create", taken).await.unwrap();
    assert_eq!(open(json!({ "appId": "table" })).await, is_open("table", "table-2"));
    let none = open(json!({ "appId": "none" })).await;
    assert_eq!(none, Err("No app is called \"none\".".into()));
    let windows = home.host.windows(home.session).await.unwrap();
    let shown: BTreeMap<_, _> = windows
        .list()
        .iter()
        .map(|it| (it.window.id.clone(), it.window.content.data.clone()))
        .collect();
    let sheet = json!("/api/apps/sheet/index.html");
    assert_eq!(
        shown,
        BTreeMap::from([
            ("second".into(), sheet.clone()),
            ("sheet".into(), sheet),
            ("table".into(), json!("x")),
            ("table-2".into(), json!("/api/apps/table/index.html")),
        ])
    );
}

#[tokio::test]
async fn a_file_is_handed_to_the_app_that_opens_such_files() {
    let home = Home::new().await;
    let page = home.page();
    assert_eq!(home.open(json!({ "path": "a.csv" })).await, Ok(said("table")), "the first by name");
    home.host.prefer_app("a.csv", "sheet").await.unwrap();
    assert_eq!(home.open(json!({ "path": "B.CSV" })).await, Ok(said("sheet")), "the preferred one");
    assert_eq!(home.open(json!({ "path": "a.csv", "appId": "table" })).await, Ok(said("table")));
    assert_eq!(home.open(json!({ "path": "x.tar.gz" })).await, Ok(said("table")), "the longest");
    assert_eq!(home.open(json!({ "path": "book.xlsx" })).await, Ok(said("sheet")));
    let told = page.told.lock().unwrap().clone();
    let file = |params: Value| ("openFile".to_owned(), params);
    assert_eq!(
        told,
        [
            file(json!({ "text": "1,2" })),
            file(json!({ "content": "3" })),
            file(json!({ "text": "1,2" })),
            file(json!({ "archive": "dGFy" })),
            ("openBook".to_owned(), json!({ "data": "/wA=", "encoding": "base64" })),
        ]
    );
    let log = home.host.ports.log.read(home.session, Seq(0), 1000).await.unwrap();
    let files: Vec<String> = log
        .iter()
        .filter_map(|entry| match &entry.fact {
            Fact::App(fact) => match &**fact {
                AppFact::File { window, path } => Some(format!("{path} in {window}")),
                _ => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(files.len(), 5);
    assert_eq!(files[0], "a.csv in monitor-0/table");
}

#[tokio::test]
async fn what_cannot_be_opened_is_explained() {
    let home = Home::new().await;
    let nobody = "No client is connected to this session, so no page can load the app.";
    let alone = home.open(json!({ "path": "a.csv" })).await.unwrap_err();
    assert!(alone.ends_with(nobody), "{alone}");
    let page = home.page();
    for (args, why) in [
        (json!({ "path": "x.xyz" }), "No app is associated with \".xyz\" files."),
        (json!({ "path": "a.csv", "appId": "none" }), "No app is called \"none\"."),
        (
            json!({ "path": "x.odd" }),
            "App \"table\" opens \".odd\" with \"missing\", but does not register that command.",
        ),
        (
            json!({ "path": "bad.csv" }),
            "\"bad.csv\" is not text; the association does not declare encoding \"base64\".",
        ),
    ] {
        assert_eq!(home.open(args.clone()).await, Err(why.to_owned()), "{args}");
    }
    for path in ["../a.csv", "/etc/passwd", "none.csv"] {
        assert!(home.open(json!({ "path": path })).await.is_err(), "{path}");
    }
    assert_eq!(page.told.lock().unwrap().len(), 0);
    drop(home.folder);
}
