//! What windows live through: changes, rest, restarts, full disks, and what is taken back.

use std::time::Duration;

use kernel::{
    apps::AppFact,
    feed::Heard,
    host::DeleteError,
    update::{Message, Update, WhenBusy},
    windows::{Bounds, Hands, MOST, Operation, Pane, Stance, Window},
};
use serde_json::json;
use testkit::model::text;

use crate::*;

fn note_window(by: By) -> Window {
    Window {
        id: "note".into(),
        monitor: "monitor-0".into(),
        title: "A note".into(),
        content: shows(Renderer::Text, "one"),
        bounds: Bounds { x: 40, y: 40, w: 640, h: 480 },
        variant: None,
        dock_edge: None,
        frameless: false,
        stance: Stance::Normal,
        app: None,
        by,
    }
}

#[tokio::test]
async fn all_that_becomes_of_a_window_is_on_record() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    let key = || "monitor-0/note".to_owned();
    let opened = host.arrange(id, open(note("note", "one")), By::Person).await.unwrap();
    let window = Arc::new(note_window(By::Person));
    let (hands, driven) = (Hands::Agent, false);
    assert_eq!(
        opened,
        Pane { window, generation: 2, since: Seq(2), raised: Seq(2), hands, driven }
    );
    let operation = Operation::Append { data: json!(" two") };
    let updated = WindowChange::Updated { operation };
    let (moved, resized) =
        (WindowChange::Moved { x: 1, y: 2 }, WindowChange::Resized { w: 3, h: 4 });
    let wish = change("note", [moved.clone(), resized.clone(), updated.clone()]);
    let changed = host.arrange(id, wish, By::Agent).await.unwrap();
    let window = Arc::new(Window {
        content: shows(Renderer::Text, "one two"),
        bounds: Bounds { x: 1, y: 2, w: 3, h: 4 },
        ..note_window(By::Person)
    });
    let last = Pane { window, generation: 5, since: Seq(2), raised: Seq(2), hands, driven: true };
    assert_eq!(changed, last);
    assert_eq!(host.windows(id).await.unwrap().list(), [&last]);
    let by = By::App { window: key() };
    assert_eq!(host.arrange(id, close("monitor-0/note"), by.clone()).await.unwrap(), last);
    assert!(host.windows(id).await.unwrap().is_empty());
    let told = |change| Fact::WindowChanged { window: key(), change, by: By::Agent };
    assert_eq!(
        window_facts(&world, id).await,
        [
            Fact::WindowOpened(Box::new(note_window(By::Person))),
            told(moved),
            told(resized),
            told(updated),
            Fact::WindowClosed { window: key(), by, left: None },
        ]
    );
}

#[tokio::test]
async fn nothing_is_recorded_where_nothing_changes() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    arrange(&host, id, open(note("a", "x"))).await.unwrap();
    let bounds = host.windows(id).await.unwrap().list()[0].window.bounds;
    let same = [
        WindowChange::Moved { x: bounds.x, y: bounds.y },
        WindowChange::Resized { w: bounds.w, h: bounds.h },
        WindowChange::Focused,
        WindowChange::Restored,
        WindowChange::Titled { title: "A note".into() },
    ];
    arrange(&host, id, change("a", same)).await.unwrap();
    arrange(&host, id, change("a", [])).await.unwrap();
    assert_eq!(window_facts(&world, id).await.len(), 1);
    arrange(&host, id, open(note("b", "x"))).await.unwrap();
    arrange(&host, id, change("a", [WindowChange::Focused])).await.unwrap();
    assert_eq!(window_facts(&world, id).await.len(), 3);
    let windows = host.windows(id).await.unwrap();
    assert_eq!(windows.focused().unwrap().window.id, "a");
    let stacked: Vec<_> = windows.stacked().iter().map(|it| it.window.id.clone()).collect();
    assert_eq!(stacked, ["b", "a"]);
}

#[tokio::test]
async fn what_is_shown_anew_has_another_generation() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    let generation = async || host.windows(id).await.unwrap().list()[0].generation;
    arrange(&host, id, open(note("a", "x"))).await.unwrap();
    let mut last = generation().await;
    let same = shows(Renderer::Text, "x");
    let clear = WindowChange::Updated { operation: Operation::Clear };
    for wish in [
        change("a", [WindowChange::Content { content: same }]),
        change("a", [clear]),
        open(note("a", "x")),
    ] {
        arrange(&host, id, wish).await.unwrap();
        let next = generation().await;
        assert!(next > last);
        last = next;
    }
    let moved = [WindowChange::Moved { x: 0, y: 0 }, WindowChange::Minimised];
    arrange(&host, id, change("a", moved)).await.unwrap();
    assert_eq!(generation().await, last);
}

#[tokio::test]
async fn an_app_is_known_by_the_address_that_is_shown() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    let sheet = shows(Renderer::Iframe, "/api/apps/sheet/index.html");
    let app = async || host.windows(id).await.unwrap().list()[0].window.app.clone();
    arrange(&host, id, open(Opening::new("a", "Sheet", sheet.clone()))).await.unwrap();
    assert_eq!(app().await.as_deref(), Some("sheet"));
    let since = host.windows(id).await.unwrap().list()[0].since;
    arrange(&host, id, open(Opening::new("a", "Again", sheet))).await.unwrap();
    let again = host.windows(id).await.unwrap().list()[0].clone();
    assert_eq!(again.since, since, "what was done in the app still counts");
    let data = json!({ "url": "/api/apps/dock/index.html" });
    let replaced = WindowChange::Updated { operation: Operation::Replace { data } };
    arrange(&host, id, change("a", [replaced])).await.unwrap();
    assert_eq!(app().await.as_deref(), Some("dock"));
    let content = shows(Renderer::Iframe, "https://example.org/api/apps/dock/index.html");
    arrange(&host, id, change("a", [WindowChange::Content { content }])).await.unwrap();
    assert_eq!(app().await, None);
}

#[tokio::test(start_paused = true)]
async fn windows_are_let_go_with_their_session_and_read_again_on_demand() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    assert_eq!(host.apps.windows(id), None, "nobody has asked for them");
    arrange(&host, id, open(note("a", "x"))).await.unwrap();
    let before = host.windows(id).await.unwrap();
    assert_eq!(host.apps.windows(id).as_ref(), Some(&before));
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert!(!host.is_live(id));
    assert_eq!(host.apps.windows(id), None);
    assert_eq!(host.windows(id).await.unwrap(), before);
    let delete: Result<(), DeleteError> = host.delete(id).await;
    delete.unwrap();
    assert_eq!(host.apps.windows(id), None);
    host.windows(id).await.unwrap_err();
}

#[test]
fn windows_outlive_the_server() {
    let world = World::new([]);
    let (id, before) = world.until_crash(async |host| {
        let id = host.create("/".as_ref(), "test", "").await.unwrap();
        arrange(&host, id, open(note("gone", "x"))).await.unwrap();
        arrange(&host, id, open(note("a", "x"))).await.unwrap();
        arrange(&host, id, close("gone")).await.unwrap();
        arrange(&host, id, change("a", [WindowChange::Maximised])).await.unwrap();
        (id, host.windows(id).await.unwrap())
    });
    world.until_crash(async |host| {
        assert_eq!(host.apps.windows(id), None);
        assert_eq!(host.windows(id).await.unwrap(), before);
        arrange(&host, id, change("a", [WindowChange::Restored])).await.unwrap();
        let windows = host.windows(id).await.unwrap();
        assert_eq!(windows.list()[0].window.stance, Stance::Normal);
    });
}

#[tokio::test]
async fn a_window_that_could_be_lost_is_not_open() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    arrange(&host, id, open(note("a", "x"))).await.unwrap();
    let before = host.windows(id).await.unwrap();
    world.store.fail_appends(true);
    for wish in [open(note("b", "x")), change("a", [WindowChange::Minimised]), close("a")] {
        let refused = arrange(&host, id, wish).await.unwrap_err();
        assert!(refused.starts_with("the data directory cannot be used"), "{refused}");
    }
    assert_eq!(host.windows(id).await.unwrap(), before);
    world.store.fail_appends(false);
    arrange(&host, id, close("a")).await.unwrap();
    assert_eq!(window_facts(&world, id).await.len(), 2);
}

#[tokio::test]
async fn what_is_taken_back_leaves_the_windows_as_they_are() {
    let world = World::new([vec![text("ok")], vec![text("instead")]]);
    let (host, id) = house(&world).await;
    let mut feed = host.feed(id, Some(Seq(0))).await.unwrap();
    let said = host.post(id, Message::from_user("hi"), WhenBusy::Refuse).await.unwrap();
    until_ended(&mut feed).await;
    arrange(&host, id, open(note("a", "x"))).await.unwrap();
    let before = host.windows(id).await.unwrap();
    let instead = Message { replaces: Some(said.seq), ..Message::from_user("no") };
    host.post(id, instead, WhenBusy::Refuse).await.unwrap();
    until_ended(&mut feed).await;
    let facts = log(&world, id).await;
    assert!(facts.iter().any(|entry| matches!(entry.fact, Fact::Rewound { .. })));
    assert_eq!(host.windows(id).await.unwrap(), before);
    assert_eq!(read_again(&world, &host, id).await, *before);
}

async fn until_ended(feed: &mut kernel::feed::Feed) {
    let ends = |update: &Update| matches!(update, Update::Fact(it) if matches!(it.fact, Fact::TurnEnded(_)));
    loop {
        if let Heard::Live(told) = feed.next().await.unwrap()
            && told.updates.iter().any(ends)
        {
            return;
        }
    }
}

#[tokio::test]
async fn a_large_window_makes_no_later_batch_larger() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    let size =
        |host: &Host| serde_json::to_string(host.roster.get(id).unwrap().as_ref()).unwrap().len();
    let before = size(&host);
    arrange(&host, id, open(note("large", &"x".repeat(1 << 20)))).await.unwrap();
    arrange(&host, id, change("large", [WindowChange::Moved { x: 0, y: 0 }])).await.unwrap();
    let grown = size(&host) - before;
    assert!(grown <= r#","windows_from":2"#.len(), "{grown} bytes");
    let moved = log(&world, id).await.pop().unwrap();
    assert!(serde_json::to_string(&moved).unwrap().len() < 200);
}

#[tokio::test]
async fn a_thousand_windows_are_open_and_not_one_more() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    for number in 0..MOST {
        arrange(&host, id, open(note(&format!("window {number}"), "x"))).await.unwrap();
    }
    let one_more = arrange(&host, id, open(note("one more", "x"))).await;
    assert_eq!(one_more, Err("1000 windows are open already; close one first".to_owned()));
    arrange(&host, id, open(note("window 7", "in its place"))).await.unwrap();
    arrange(&host, id, change("window 999", [WindowChange::Focused])).await.unwrap();
    assert_eq!(host.windows(id).await.unwrap().len(), MOST);
    let later = Host::start(world.ports(), Settings::default()).await.unwrap();
    assert_eq!(later.windows(id).await.unwrap(), host.windows(id).await.unwrap());
    let state = serde_json::to_string(host.roster.get(id).unwrap().as_ref()).unwrap();
    assert!(state.len() < 400, "{state}");
}

#[tokio::test]
async fn what_happens_with_an_app_is_on_record_beside_its_window() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    arrange(&host, id, open(note("a", "x"))).await.unwrap();
    let before = host.windows(id).await.unwrap();
    let lost = AppFact::Lost { window: "monitor-0/a".into(), reason: "the page was closed".into() };
    let session = host.open(id).await.unwrap();
    let noted = session.note_apps(vec![lost.clone()]).await.unwrap().unwrap();
    let last = log(&world, id).await.pop().unwrap();
    assert_eq!((last.seq, last.fact), (noted, Fact::App(Box::new(lost))));
    assert_eq!(host.windows(id).await.unwrap(), before);
}
