//! Leave for a part of a screen: what is done there, and what is refused beside it.

#![expect(clippy::unwrap_used, reason = "all of it is a test")]

mod path;
mod stage;

use std::time::Duration;

use futures::poll;
use kernel::{
    desktop::{
        Action, Arming, Button, Chords, Class, Code, DesktopError, DesktopFact, Direction,
        Modifier, Rect, Shot, Waiting,
    },
    update::{Fact, Seq},
};
use testkit::FakeDesktop;

use stage::{
    Home, ONLY, PART, Watched, batch, by, click, click_at, drag, pane, point, refused, text, to,
};

#[tokio::test(start_paused = true)]
async fn what_names_its_points_is_done_within_the_part_and_refused_beside_it() {
    let desktop = Watched::default();
    let home = Home::bound(desktop.clone()).await;
    let (button, direction) = (Button::Left, Direction::Up);
    let scroll = |at| Action::MouseScrollAt { at, direction, intensity: 1, modifiers: Vec::new() };
    let within = [
        to(100, 100),
        to(899, 699),
        click_at(500, 300, &[]),
        Action::MouseDown { button, at: Some(point(100, 699)) },
        Action::MouseUp { button, at: Some(point(899, 100)) },
        scroll(point(100, 100)),
        drag(&[(100, 100), (899, 699)]),
    ];
    for action in within {
        home.act(action.clone()).await.unwrap();
        assert_eq!(desktop.asked(), [action]);
    }
    let beside = [
        (to(5, 5), "(5, 5)"),
        (to(99, 100), "(99, 100)"),
        (to(900, 100), "(900, 100)"),
        (to(100, 700), "(100, 700)"),
        (click_at(u32::MAX, 300, &[]), "(4294967295, 300)"),
        (Action::MouseDown { button, at: Some(point(0, 0)) }, "(0, 0)"),
        (Action::MouseUp { button, at: Some(point(0, 0)) }, "(0, 0)"),
        (scroll(point(950, 100)), "(950, 100)"),
        (drag(&[(100, 100), (901, 100), (200, 200)]), "(901, 100)"),
    ];
    for (action, place) in beside {
        assert_eq!(home.act(action).await, Err(refused(&format!("{place} lies outside"))));
    }
    assert_eq!(desktop.asked(), []);
}

#[tokio::test(start_paused = true)]
async fn what_happens_where_the_pointer_is_asks_the_device_for_that_first() {
    let (button, direction) = (Button::Left, Direction::Up);
    let here = [
        click(),
        Action::MouseScroll { direction, intensity: 1 },
        Action::MouseDown { button, at: None },
        Action::MouseUp { button, at: None },
        Action::MouseClickAt { at: None, button, count: 2, modifiers: vec![] },
        by(0, 0),
    ];
    for action in here {
        let desktop = Watched::at(100, 699);
        let home = Home::bound(desktop.clone()).await;
        home.act(action.clone()).await.unwrap();
        assert_eq!(desktop.asked(), [Action::GetMousePosition, action.clone()]);
        *desktop.pointer.lock().unwrap() = Some((-1, 300));
        assert_eq!(home.act(action.clone()).await, Err(refused("(-1, 300) lies outside")));
        *desktop.pointer.lock().unwrap() = None;
        let untold = "this device does not tell where its pointer is (get_mouse_position is not \
                      supported by device studio)";
        assert_eq!(home.act(action).await, Err(refused(untold)));
        assert_eq!(desktop.asked(), [Action::GetMousePosition, Action::GetMousePosition]);
    }
    let home = Home::bound(Watched::at(100, 100)).await;
    home.act(by(799, 599)).await.unwrap();
    let beyond = refused("(100, 99) lies outside");
    assert_eq!(home.act(by(0, -1)).await, Err(beyond));
    let far = refused("(-2147483548, 100) lies outside");
    assert_eq!(home.act(by(i32::MIN, 0)).await, Err(far));
}

#[tokio::test(start_paused = true)]
async fn keys_go_to_a_window_that_lies_within_the_part_and_to_no_other() {
    let keys = || Chords::parse("tab").unwrap();
    let typed = [
        text(),
        Action::KeyCombo { keys: keys(), repeat: 1 },
        Action::HoldKey { keys: keys(), duration: 1.0 },
        Action::KeyDown { key: keys() },
    ];
    let other = pane(1, (100, 100, 50, 50), false);
    let cases = [
        (vec![other.clone(), pane(2, (-500, -500, 601, 601), true)], Ok(())),
        (vec![pane(2, (899, 699, 10, 10), true)], Ok(())),
        (
            vec![other.clone(), pane(2, (-500, -500, 600, 601), true)],
            Err("the window in focus lies outside"),
        ),
        (vec![pane(2, (900, 699, 10, 10), true)], Err("the window in focus lies outside")),
        (vec![pane(2, (0, 0, 0, 0), true)], Err("this device does not tell where its windows are")),
        (vec![other], Err("no window is in focus")),
        (vec![], Err("no window is in focus")),
    ];
    for (windows, expected) in cases {
        let desktop = Watched::with(windows);
        let home = Home::bound(desktop.clone()).await;
        for action in &typed {
            let done = home.act(action.clone()).await.map(drop);
            assert_eq!(done, expected.map_err(refused));
            let sent = expected.is_ok().then(|| action.clone());
            let asked: Vec<_> = [Action::WindowList].into_iter().chain(sent).collect();
            assert_eq!(desktop.asked(), asked);
        }
    }
    let home = Home::bound(Watched::default()).await;
    let untold = "this device does not tell where its windows are (window_list is not supported \
                  by device studio)";
    assert_eq!(home.act(text()).await, Err(refused(untold)));
}

#[tokio::test(start_paused = true)]
async fn a_window_is_touched_if_some_of_it_lies_within_the_part() {
    let windows = vec![pane(1, (0, 0, 101, 101), false), pane(2, (0, 0, 100, 101), true)];
    let desktop = Watched::with(windows);
    let home = Home::bound(desktop.clone()).await;
    let all = |id| {
        let moved = Action::WindowMove { id, x: Some(0), y: None, w: None, h: None };
        [Action::WindowFocus { id }, moved, Action::WindowClose { id }]
    };
    for action in all(1) {
        home.act(action.clone()).await.unwrap();
        assert_eq!(desktop.asked(), [Action::WindowList, action]);
    }
    for (id, why) in [(2, "window 2 lies outside"), (3, "there is no window 3")] {
        for action in all(id) {
            assert_eq!(home.act(action).await, Err(refused(why)));
            assert_eq!(desktop.asked(), [Action::WindowList]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_followed_by_its_pointer_and_holds_nothing_that_moves_the_focus() {
    let desktop = Watched::at(5, 5);
    let home = Home::bound(desktop.clone()).await;
    let wait = || Action::Wait(Waiting::For(0.0));
    let look = || Action::Screenshot(Shot::default());
    let release = Action::KeyUp { key: Chords::parse("shift").unwrap() };
    // Where the pointer was does not matter once it has gone elsewhere.
    let fine =
        batch(vec![wait(), to(200, 200), click(), look(), by(10, 10), click(), release], true);
    home.act(fine.clone()).await.unwrap();
    assert_eq!(desktop.asked(), [fine]);
    let outside = |place: &str| refused(&format!("{place} lies outside"));
    for (steps, error) in [
        (vec![wait(), click(), to(200, 200)], outside("(5, 5)")),
        (vec![to(200, 200), click(), by(-101, 0), to(300, 300)], outside("(99, 200)")),
        (vec![drag(&[(200, 200), (899, 300)]), by(1, 0)], outside("(900, 300)")),
    ] {
        assert_eq!(home.act(batch(steps, true)).await, Err(error));
    }
    let one_by_one = refused("send keys and what is done to windows one by one");
    for step in [text(), Action::WindowFocus { id: 1 }] {
        let mixed = batch(vec![to(200, 200), step], true);
        assert_eq!(home.act(mixed).await, Err(one_by_one.clone()));
    }
    // Had the first step failed, the click would be where nobody knows.
    let unknown = refused("name the point, for where the pointer is by then cannot be told");
    let on = batch(vec![to(200, 200), click()], false);
    assert_eq!(home.act(on).await, Err(unknown));
    let asked = desktop.asked();
    assert!(asked.iter().all(|asked| *asked == Action::GetMousePosition), "{asked:?}");
    let named = batch(vec![to(200, 200), click_at(300, 300, &[])], false);
    home.act(named.clone()).await.unwrap();
    assert_eq!(desktop.asked(), [named]);
}

#[tokio::test(start_paused = true)]
async fn letting_go_the_clipboard_and_looking_are_bound_to_no_place() {
    let desktop = Watched::default();
    let home = Home::bound(desktop.clone()).await;
    for action in [
        Action::ReleaseAll,
        Action::KeyUp { key: Chords::parse("shift").unwrap() },
        Action::ClipboardGet,
        Action::ClipboardSet { text: "a".into() },
        Action::Screenshot(Shot::default()),
        Action::ScreenInfo,
    ] {
        home.act(action.clone()).await.unwrap();
        assert_eq!(desktop.asked(), [action]);
    }
    // Nor are the person's own hands.
    home.host.take_over("studio").await.unwrap();
    desktop.asked();
    home.host.touch("studio", to(5, 5).into()).await.1.unwrap();
    home.host.touch("studio", click().into()).await.1.unwrap();
    assert_eq!(desktop.asked(), [to(5, 5), click()]);
}

#[tokio::test(start_paused = true)]
async fn what_is_lent_adds_up_class_by_class() {
    let desktop = Watched::at(5, 5);
    let home = Home::bound(desktop.clone()).await;
    let other = Rect { x: 0, y: 0, w: 10, h: 10 };
    home.lend(None, &[Class::Point], Some(other));
    home.act(to(5, 5)).await.unwrap();
    home.act(batch(vec![to(5, 5), to(200, 200)], true)).await.unwrap();
    let between = DesktopError::new(Code::Denied, format!("{ONLY}: (50, 50) lies outside"));
    let between = between.expecting(["100, 100, 800 × 600", "0, 0, 10 × 10"]);
    assert_eq!(home.act(to(50, 50)).await, Err(between));
    // What acts is lent for the one part alone.
    let outside = refused("(5, 5) lies outside");
    assert_eq!(home.act(click_at(5, 5, &[Modifier::Control])).await, Err(outside));
    assert_eq!(home.host.devices.parts("studio", Some(home.session)), [PART, other]);
    // The session that is named by nobody has what everybody has.
    let stranger = home.host.create("/".as_ref(), "other", "").await.unwrap();
    assert!(home.act_for(stranger, to(200, 200)).await.is_err());
    home.lend(None, &Class::ALL, None);
    assert_eq!(home.host.devices.parts("studio", Some(home.session)), []);
    desktop.asked();
    for action in [click(), text(), batch(vec![to(5, 5), text()], false)] {
        home.act(action.clone()).await.unwrap();
        // Where everything is lent, nothing is asked.
        assert_eq!(desktop.asked(), [action]);
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_moves_the_pointer_between_the_look_and_the_deed() {
    let desktop = FakeDesktop::default();
    let home = Home::bound(desktop.clone()).await;
    home.act(to(200, 200)).await.unwrap();
    let free = home.host.create("/".as_ref(), "free", "").await.unwrap();
    home.lend(Some(free), &Class::ALL, None);
    desktop.hold(true);
    let mut moving = home.act_for(free, to(5, 5));
    assert!(poll!(&mut moving).is_pending());
    let mut clicking = home.act(click());
    assert!(poll!(&mut clicking).is_pending());
    desktop.hold(false);
    let (moved, clicked) = tokio::join!(moving, clicking);
    moved.unwrap();
    assert_eq!(clicked, Err(refused("(5, 5) lies outside")));
    assert_eq!(desktop.done(), [to(200, 200), to(5, 5)]);
}

#[tokio::test(start_paused = true)]
async fn what_is_lent_anew_holds_for_what_waits_and_for_what_is_under_way() {
    let desktop = FakeDesktop::default();
    let home = Home::new(desktop.clone()).await;
    home.lend(Some(home.session), &Class::ALL, None);
    desktop.hold(true);
    let mut moving = home.act(to(5, 5));
    assert!(poll!(&mut moving).is_pending());
    home.lend(Some(home.session), &Class::ALL, Some(PART));
    assert_eq!(moving.await, Err(refused("another part is lent by now")));
    // More is no reason to end what is done by less.
    let mut moving = home.act(to(200, 200));
    assert!(poll!(&mut moving).is_pending());
    let mut waiting = home.act(to(300, 300));
    assert!(poll!(&mut waiting).is_pending());
    home.lend(None, &Class::ALL, Some(Rect { x: 0, y: 0, w: 10, h: 10 }));
    assert!(poll!(&mut moving).is_pending());
    desktop.hold(false);
    moving.await.unwrap();
    home.lend(Some(home.session), &Class::ALL, Some(Rect { x: 0, y: 0, w: 1, h: 1 }));
    assert!(waiting.await.is_err());
    assert_eq!(desktop.done(), [to(200, 200)]);
}

#[tokio::test]
async fn the_part_is_on_record_in_the_session() {
    let home = Home::new(Watched::default()).await;
    let until = home.host.ports.clock.now() + Duration::from_mins(15);
    let (device, classes, area) = ("studio".to_owned(), vec![Class::Look], Some(PART));
    let (session, armed) = (Some(home.session), device.clone());
    let arming = Arming { device: armed, session, classes: classes.clone(), until, area };
    home.host.arm(arming).await.unwrap();
    let log = home.host.ports.log.read(home.session, Seq(0), 100).await.unwrap();
    let fact = log.into_iter().find_map(|entry| match entry.fact {
        Fact::Desktop(fact) => Some(*fact),
        _ => None,
    });
    assert_eq!(fact, Some(DesktopFact::Armed { device, classes, until, area }));
}
