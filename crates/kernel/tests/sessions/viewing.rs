//! Widgets on show: what each view may do, and what is kept of them.

use kernel::{
    host::Host,
    inbox::DecideError,
    leave::{Leave, Wish},
    question::{Decision, Scope},
    toolbox::{Caller, Deed, Risk},
    update::SessionId,
    views::{View, fact::WidgetFact, pages::Pages, states::States},
    widget::{Wants, WidgetPage},
};
use serde_json::json;
use testkit::{
    TestTool, World,
    model::{call, text},
};
use uuid::Uuid;

use crate::support::*;

fn view(server: &str, view: u128) -> Caller {
    Caller::Widget { server: server.into(), view: Some(Uuid::from_u128(view)) }
}

fn wish() -> Wish {
    let deed = Deed { risk: Risk::Reaches, ..Deed::reads() };
    Wish { name: "widget:link".into(), title: "A link".into(), deed }
}

async fn allow_for(host: &Host, id: SessionId, caller: Caller, scope: Scope) -> Leave {
    let yes = Decision::Allow { scope, pattern: None, lasts: None };
    let answer = async {
        let waiting = asked(host).await;
        host.decide(waiting.question.id, yes, "test").await.unwrap();
    };
    tokio::join!(host.leave(id, caller, wish()), answer).0.unwrap()
}

async fn asks(host: &Host, id: SessionId, caller: Caller) -> bool {
    tokio::select! {
        done = host.leave(id, caller, wish()) => {
            assert_eq!(done.unwrap(), Leave::Granted);
            false
        }
        waiting = asked(host) => {
            host.decide(waiting.question.id, deny(), "test").await.unwrap();
            true
        }
    }
}

#[tokio::test]
async fn leave_for_a_view_is_for_nobody_else_and_leave_for_more_is_for_every_view() {
    let (one, other) = (view("maps", 1), view("maps", 2));
    for (scope, for_other, elsewhere) in
        [(Scope::View, true, true), (Scope::Session, false, true), (Scope::Always, false, false)]
    {
        let world = World::new([]);
        let (host, id) = house(&world).await;
        let another = host.create("/".as_ref(), "test", "").await.unwrap();
        host.approvals.admit(Uuid::from_u128(1));
        assert_eq!(allow_for(&host, id, one.clone(), scope).await, Leave::Granted, "{scope:?}");
        assert!(!asks(&host, id, one.clone()).await, "{scope:?}: again");
        assert_eq!(asks(&host, id, other.clone()).await, for_other, "{scope:?}: another view");
        assert_eq!(asks(&host, another, one.clone()).await, elsewhere, "{scope:?}: elsewhere");
        for caller in [view("other", 1), Caller::Model, Caller::Client] {
            assert!(asks(&host, id, caller.clone()).await, "{scope:?}: {caller:?}");
        }
        host.approvals.dismiss(Uuid::from_u128(1));
        let ends = scope == Scope::View;
        assert_eq!(asks(&host, id, one.clone()).await, ends, "{scope:?}: the view is gone");
        let kept = usize::from(!ends);
        assert_eq!(host.approvals.all().len(), kept, "{scope:?}");
        drop(host);
        let (host, _) = house(&world).await;
        assert_eq!(host.approvals.all().len(), kept, "{scope:?}: after a restart");
    }
}

#[tokio::test]
async fn a_yes_for_a_view_that_is_gone_counts_once_and_leaves_nothing_behind() {
    let (host, id) = house(&World::new([])).await;
    let leave = allow_for(&host, id, view("maps", 1), Scope::View).await;
    assert_eq!((leave, host.approvals.all()), (Leave::Once, vec![]));
}

#[tokio::test]
async fn what_a_view_gave_up_on_is_asked_no_more_and_a_late_yes_does_nothing() {
    let (host, id) = house(&World::new([])).await;
    host.approvals.admit(Uuid::from_u128(1));
    let question = tokio::select! {
        _ = host.leave(id, view("maps", 1), wish()) => None,
        waiting = asked(&host) => Some(waiting.question.id),
    };
    until_none_waits(&host).await;
    let yes = Decision::Allow { scope: Scope::View, pattern: None, lasts: None };
    let late = host.decide(question.unwrap(), yes, "test").await;
    assert!(matches!(late, Err(DecideError::Settled)), "{late:?}");
    assert_eq!(host.approvals.all(), []);
}

async fn until_none_waits(host: &Host) {
    while !host.questions().await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
}

fn page(html: &str) -> WidgetPage {
    WidgetPage { uri: "ui://maps/a".into(), html: html.into(), wants: Wants::default() }
}

async fn keep(host: &Host, session: SessionId, html: &str) -> String {
    let pages = Pages::new(host.ports.catalog.clone());
    pages.keep((session, "c1"), "maps", &page(html)).await.unwrap().digest
}

async fn kept(host: &Host, digests: &[&String]) -> Vec<bool> {
    let pages = Pages::new(host.ports.catalog.clone());
    let mut kept = Vec::new();
    for digest in digests {
        kept.push(pages.get(digest).await.unwrap().is_some());
    }
    kept
}

#[tokio::test]
async fn a_page_is_kept_until_the_last_session_that_showed_it_is_deleted() {
    let world = World::new([]);
    let (host, one) = house(&world).await;
    let other = host.create("/".as_ref(), "test", "").await.unwrap();
    let own = keep(&host, one, "own").await;
    let shared = keep(&host, one, "shared").await;
    assert_eq!(keep(&host, other, "shared").await, shared);
    drop(host);
    let (host, _) = house(&world).await;
    host.recover().await;
    assert_eq!(kept(&host, &[&own, &shared]).await, [true, true]);
    host.delete(one).await.unwrap();
    assert_eq!(kept(&host, &[&own, &shared]).await, [false, true]);
    host.delete(other).await.unwrap();
    assert_eq!(kept(&host, &[&own, &shared]).await, [false, false]);
}

#[tokio::test]
async fn what_a_deletion_that_was_cut_off_left_behind_goes_with_the_next_start() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    let gone = SessionId(Uuid::from_u128(9));
    let lost = keep(&host, gone, "lost").await;
    let shared = keep(&host, gone, "shared").await;
    keep(&host, id, "shared").await;
    drop(host);
    let (host, _) = house(&world).await;
    host.recover().await;
    assert_eq!(kept(&host, &[&lost, &shared]).await, [false, true]);
}

#[tokio::test]
async fn what_a_view_keeps_for_itself_is_there_until_its_session_is_deleted() {
    let world = World::new([]);
    let (host, id) = house(&world).await;
    let gone = SessionId(Uuid::from_u128(9));
    let states = States::new(host.ports.catalog.clone());
    for n in [1, 2] {
        states.keep(id, "a/b", &json!({ "n": n })).await.unwrap();
    }
    states.keep(id, "other", &json!({})).await.unwrap();
    states.keep(gone, "a/b", &json!({ "n": 3 })).await.unwrap();
    drop(host);
    let (host, _) = house(&world).await;
    host.recover().await;
    assert_eq!(states.get(id, "a/b").await.unwrap(), Some(json!({ "n": 2 })));
    assert_eq!(states.get(gone, "a/b").await.unwrap(), None);
    host.delete(id).await.unwrap();
    assert_eq!(states.get(id, "a/b").await.unwrap(), None);
    assert_eq!(states.get(id, "other").await.unwrap(), None);
}

#[tokio::test]
async fn views_are_told_by_their_calls_newest_first_whichever_of_them_did_something_last() {
    let asks = |ids: &[&str]| ids.iter().map(|id| call(id, "look", json!({}))).collect();
    let scripts = [asks(&["c1"]), asks(&["c2", "c3", "plain"]), vec![text("done")]];
    let (host, id) = house(&World::new(scripts).tool(&TestTool::echo().named("look"))).await;
    let mut heard = feed(&host, id).await;
    say(&host, id, "look around").await;
    until_turn_ends(&mut heard).await;
    let logged = |call: &str| WidgetFact::Logged {
        call: call.into(),
        level: "info".into(),
        text: format!("seen by {call}"),
    };
    for call in ["c3", "c2", "c1", "c2", "never asked for"] {
        host.note_widgets(id, vec![logged(call)]).await.unwrap();
    }
    let log = host.ports.log.as_ref();
    let told = async |most| {
        let views = View::newest(log, id, most).await.unwrap();
        views.into_iter().map(|view| (view.request.id, view.lines.len())).collect::<Vec<_>>()
    };
    let all = [("c3", 1), ("c2", 2), ("c1", 1)].map(|(id, lines)| (id.to_owned(), lines));
    for most in [0, 1, 2, 3, 9] {
        assert_eq!(told(most).await, all[..most.min(3)], "{most}");
    }
    for view in View::newest(log, id, 9).await.unwrap() {
        let found = View::find(log, id, &view.request.id).await.unwrap();
        assert_eq!(found, Some(view));
    }
    let plain = View::find(log, id, "plain").await.unwrap().unwrap();
    assert_eq!((plain.shown, plain.lines, plain.output.is_some()), (None, vec![], true));
    assert_eq!(View::find(log, id, "never asked for").await.unwrap(), None);
}
