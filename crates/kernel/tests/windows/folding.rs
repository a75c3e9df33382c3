//! Whatever is wished, in any order: what is read from the log is what is in memory.

use kernel::{
    host::{Host, Settings},
    windows::{By, Named, Opening, Operation, Renderer, WindowChange, Windows, Wish},
};
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};
use testkit::World;

use crate::*;

#[derive(Clone, Debug)]
enum Act {
    Wish(Wish),
    /// The disk is full, or no longer.
    DiskFull(bool),
    /// Something that has nothing to do with windows.
    Observe,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        12 => wish().prop_map(Act::Wish),
        1 => prop::bool::weighted(0.3).prop_map(Act::DiskFull),
        1 => Just(Act::Observe),
    ]
}

fn wish() -> impl Strategy<Value = Wish> {
    prop_oneof![
        4 => opening().prop_map(open),
        6 => (named(), vec(one_change(), 0..3))
            .prop_map(|(window, changes)| Wish::Change { window, changes }),
        2 => named().prop_map(|window| Wish::Close { window }),
    ]
}

fn named() -> impl Strategy<Value = Named> {
    let name = prop_oneof![
        Just("a"),
        Just("b"),
        Just("ä c"),
        Just("monitor-1/a"),
        Just("0/a"),
        Just("monitor-9/a"),
        Just("gone"),
        Just(""),
    ];
    let monitor = prop::option::of(prop_oneof![Just("monitor-1"), Just("0")]);
    (name, monitor).prop_map(|(name, monitor)| Named {
        name: name.to_owned(),
        monitor: monitor.map(str::to_owned),
    })
}

fn opening() -> impl Strategy<Value = Opening> {
    let id = prop_oneof![Just("a"), Just("b"), Just("ä c"), Just("a/b"), Just("")];
    let monitor = prop::option::of(prop_oneof![Just("monitor-1"), Just("1"), Just("elsewhere")]);
    (id, monitor, content()).prop_map(|(id, monitor, content)| Opening {
        monitor: monitor.map(str::to_owned),
        ..Opening::new(id, "A title", content)
    })
}

fn content() -> impl Strategy<Value = kernel::windows::Content> {
    let renderer = (0..Renderer::ALL.len()).prop_map(|index| Renderer::ALL[index]);
    (renderer, data()).prop_map(|(renderer, data)| shows(renderer, data))
}

fn data() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => ".{0,8}".prop_map(Value::from),
        2 => Just(json!({ "headers": ["a", "b"], "rows": [["1", 2]] })),
        2 => Just(json!([["x", "y"], ["z", null]])),
        2 => prop_oneof![Just("/api/apps/sheet/index.html"), Just("/api/apps/dock/x.html")]
            .prop_map(Value::from),
        1 => Just(json!({ "url": "https://example.org", "sandbox": "allow-same-origin" })),
        1 => Just(json!(null)),
    ]
}

fn one_change() -> impl Strategy<Value = WindowChange> {
    let operation = prop_oneof![
        data().prop_map(|data| Operation::Append { data }),
        data().prop_map(|data| Operation::Prepend { data }),
        data().prop_map(|data| Operation::Replace { data }),
        (0..9_u64, data()).prop_map(|(position, data)| Operation::InsertAt { position, data }),
        Just(Operation::Clear),
    ];
    prop_oneof![
        (-9..9_i32, -9..9_i32).prop_map(|(x, y)| WindowChange::Moved { x, y }),
        (0..9_u32, 0..9_u32).prop_map(|(w, h)| WindowChange::Resized { w, h }),
        Just(WindowChange::Focused),
        "[a-z]{0,3}".prop_map(|title| WindowChange::Titled { title }),
        content().prop_map(|content| WindowChange::Content { content }),
        operation.prop_map(|operation| WindowChange::Updated { operation }),
        Just(WindowChange::Minimised),
        Just(WindowChange::Maximised),
        Just(WindowChange::Restored),
    ]
}

/// The windows as they were in memory when everything ended at once.
fn play(world: &World, acts: Vec<Act>) -> (SessionId, Windows) {
    world.until_crash(async |host| {
        let id = host.create("/".as_ref(), "test", "").await.unwrap();
        for act in acts {
            match act {
                Act::Wish(wish) => {
                    let before = host.windows(id).await.unwrap();
                    let done = host.arrange(id, wish, By::Person).await;
                    if done.is_err() {
                        assert_eq!(host.windows(id).await.unwrap(), before, "{done:?}");
                    }
                }
                Act::DiskFull(full) => world.store.fail_appends(full),
                Act::Observe => drop(host.observe(id).await),
            }
            let live = host.windows(id).await.unwrap();
            assert_eq!(*live, read_again(world, &host, id).await);
        }
        (id, host.windows(id).await.unwrap().as_ref().clone())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_read_from_the_log_is_what_was_in_memory(acts in vec(act(), 0..40)) {
        let world = World::new([]);
        let (id, before) = play(&world, acts);
        let after = world.until_crash(async |host| host.windows(id).await.unwrap());
        prop_assert_eq!(&before, after.as_ref());
        for pane in before.list() {
            prop_assert!(!pane.window.id.contains('/'));
            let checked = pane.window.content.clone().checked();
            prop_assert_eq!(checked.as_ref(), Ok(&pane.window.content));
        }
    }
}

#[tokio::test]
async fn a_log_that_speaks_of_no_such_window_changes_nothing() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    arrange(&host, id, open(note("a", "x"))).await.unwrap();
    arrange(&host, id, open(note("b", "x"))).await.unwrap();
    arrange(&host, id, change("a", [WindowChange::Minimised])).await.unwrap();
    arrange(&host, id, close("a")).await.unwrap();
    let later = Host::start(world.ports(), Settings::default()).await.unwrap();
    assert_eq!(later.windows(id).await.unwrap(), host.windows(id).await.unwrap());
    assert_eq!(later.roster.get(id).unwrap().windows_from, Some(Seq(3)));
}
