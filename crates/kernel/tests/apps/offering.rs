//! What apps can do is known to the house while somebody shows them, and when it has changed.

use std::sync::Arc;

use kernel::{
    apps::{Asked, Kind, Remark, Response, Touched},
    host::{Host, Settings},
    update::SessionId,
    windows::{By, Content, Named, Renderer, Wish},
};
use serde_json::json;
use testkit::World;

use crate::serving::{Tab, add, ask, docked};

const WINDOW: &str = "monitor-0/dock";

/// What can be done in a session, in short.
fn offered(host: &Host, session: SessionId) -> Vec<String> {
    let offers = host.apps.offers(session);
    let named = offers.iter().flat_map(|(window, abilities)| {
        let commands = abilities.commands.keys().map(move |name| format!("{window} {name}"));
        commands.chain(abilities.states.keys().map(move |key| format!("{window} = {key}")))
    });
    named.collect()
}

fn all() -> Vec<String> {
    let names = "add change erase inc minus ping plus redo set slow undo write";
    let names = names.split(' ').chain(["= cells", "= manifest"]);
    names.map(|name| format!("{WINDOW} {name}")).collect()
}

async fn house() -> (World, Arc<Host>, SessionId) {
    let world = World::new([]);
    let host = Host::start(world.ports(), Settings::default()).await.unwrap();
    let session = docked(&host).await;
    (world, host, session)
}

/// Returns once this is what can be done.
async fn until_offered(host: &Host, session: SessionId, expected: Vec<String>) {
    let mut editions = host.apps.editions();
    while offered(host, session) != expected {
        editions.changed().await.unwrap();
    }
}

#[tokio::test]
async fn what_an_app_can_do_comes_with_it_and_goes_with_whoever_shows_it() {
    let (world, host, session) = house().await;
    let mut tab = Tab::open(&world, &host, session);
    assert_eq!(offered(&host, session), [""; 0]);
    tab.load("a").await;
    until_offered(&host, session, all()).await;
    assert_eq!(host.apps.all_offers(), [(session, host.apps.offers(session))]);
    drop(tab);
    until_offered(&host, session, vec![]).await;
    let mut tab = Tab::open(&world, &host, session);
    tab.load("a").await;
    until_offered(&host, session, all()).await;
    let close = Wish::Close { window: Named::new("dock") };
    host.arrange(session, close, By::Agent).await.unwrap();
    until_offered(&host, session, vec![]).await;
    assert_eq!(host.apps.all_offers(), []);
}

#[tokio::test]
async fn what_an_app_could_do_goes_when_something_else_is_in_its_window() {
    let (world, host, session) = house().await;
    let mut tab = Tab::open(&world, &host, session);
    tab.load("a").await;
    until_offered(&host, session, all()).await;
    let content = Content { renderer: Renderer::Text, data: json!("no app") };
    let change = kernel::windows::WindowChange::Content { content };
    let wish = Wish::Change { window: Named::new("dock"), changes: vec![change] };
    host.arrange(session, wish, By::Agent).await.unwrap();
    until_offered(&host, session, vec![]).await;
}

#[tokio::test]
async fn the_same_app_by_another_tab_is_no_news() {
    let (world, host, session) = house().await;
    let mut first = Tab::open(&world, &host, session);
    first.load("a").await;
    until_offered(&host, session, all()).await;
    let mut second = Tab::open(&world, &host, session);
    second.seat.ready("dock".into(), None, Some("b".into()));
    let asked = second.asked().await;
    // Of this one it is not known yet.
    until_offered(&host, session, vec![]).await;
    second.answer(&asked, Response::of(Kind::Manifest, Some(crate::support::counter())));
    until_offered(&host, session, all()).await;
    let mut editions = host.apps.editions();
    editions.mark_unchanged();
    second.seat.ready("dock".into(), None, Some("b".into()));
    second.done(crate::support::counter()).await;
    // Its answer comes after all that was said before.
    let (told, _) = tokio::join!(ask(&host, session, add(1)), second.done(json!(1)));
    assert_eq!((told, editions.has_changed().unwrap()), (Ok("1".into()), false));
}

#[tokio::test]
async fn only_whoever_is_asked_can_say_that_an_app_has_changed() {
    let (world, host, session) = house().await;
    let mut touches = host.apps.touches();
    let touched = |keys: Option<&str>| Touched {
        session,
        window: WINDOW.into(),
        keys: keys.map(|key| vec![key.to_owned()]),
    };
    let mut stranger = Tab::open(&world, &host, session);
    stranger.load("a").await;
    assert_eq!(touches.recv().await, Ok(touched(None)), "it is there");
    let mut owner = Tab::open(&world, &host, session);
    owner.load("b").await;
    assert_eq!(touches.recv().await, Ok(touched(None)), "it is another");
    let changed = |keys: &[&str]| Remark::StateChanged {
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
        by_person: false,
    };
    stranger.seat.remarked("dock".into(), None, changed(&["cells"]));
    owner.seat.remarked("nowhere".into(), None, changed(&["cells"]));
    owner.seat.remarked("dock".into(), None, changed(&["toString"]));
    owner.seat.remarked("0/dock".into(), None, changed(&["cells", "cells", "no"]));
    assert_eq!(touches.recv().await, Ok(touched(Some("cells"))));
    let (told, asked) = tokio::join!(ask(&host, session, add(1)), owner.done(json!(1)));
    assert_eq!((told, asked.kind()), (Ok("1".into()), Kind::Command));
    assert_eq!(touches.recv().await, Ok(touched(None)), "a command may change anything");
    let cells = Asked::Query { state_key: "cells".into() };
    tokio::join!(ask(&host, session, cells), owner.done(json!(1))).0.unwrap();
    assert!(touches.is_empty(), "to look changes nothing");
    for (key, expected) in [("cells", true), ("other", false)] {
        assert_eq!(touched(Some("cells")).is_of(session, WINDOW, key), expected);
    }
}
