//! A client that remembers what it gave to a document: nothing is lost or done twice, however little is on record.

use serde_json::json;

use crate::support::{NOTHING, Scene};

/// Three commands that were carried out, and a new document that is given the first of them. It would
/// be sent before anything of that is safe; the log is so long by then.
fn begun() -> (Scene, usize) {
    let mut scene = Scene::docked();
    for n in 1..4 {
        scene.command("dock", "add", json!({ "n": n }));
        scene.done(1, &format!("req-{}", n + 1), json!(n));
    }
    let safe = scene.kept.len();
    scene.ready_after(1, "dock", "b", Some(0));
    assert_eq!(scene.introduce(1, "req-5"), [step(1, 1, "replay-dock-6-0")]);
    (scene, safe)
}

fn step(connection: u64, n: u64, name: &str) -> String {
    format!("to {connection}: dock command add {{\"n\":{n}}} [{name}]")
}

/// The document is there again, and was given so much; says which commands it is given now.
fn back(scene: &mut Scene, connection: u64, replayed: u64) -> Vec<u64> {
    scene.join(connection);
    let mut said = scene.ready_after(connection, "dock", "b", Some(replayed));
    let mut given = Vec::new();
    while let Some(line) = said.first() {
        let name = line.rsplit_once('[').unwrap().1.trim_end_matches(']').to_owned();
        if line.contains(" manifest ") {
            said = scene.introduce(connection, &name);
            continue;
        }
        let number = line.split_once("{\"n\":").unwrap().1.split_once('}').unwrap().0;
        given.push(number.parse().unwrap());
        said = scene.done(connection, &name, json!(null));
    }
    given
}

#[test]
fn a_step_that_never_came_is_given_again_and_one_that_came_is_not() {
    for (replayed, given) in [(0, [1, 2, 3].as_slice()), (1, &[2, 3])] {
        let (mut scene, _) = begun();
        scene.leave(1);
        assert_eq!(back(&mut scene, 2, replayed), given);
        let (mut scene, _) = begun();
        scene.restart();
        assert_eq!(back(&mut scene, 2, replayed), given, "after a restart");
    }
}

#[test]
fn what_was_not_safe_yet_is_known_from_the_document() {
    for (steps, given) in [(1, [2, 3].as_slice()), (2, &[3]), (3, &[])] {
        let (mut scene, safe) = begun();
        for name in ["replay-dock-6-0", "replay-dock-7-1"].iter().take(steps - 1) {
            scene.done(1, name, json!(null));
        }
        scene.lose(safe);
        assert_eq!(back(&mut scene, 2, steps as u64), given, "after {steps} steps");
        scene.restart();
        assert_eq!(back(&mut scene, 3, 3), Vec::<u64>::new());
    }
}

#[test]
fn a_step_without_an_answer_has_come_all_the_same() {
    let (mut scene, _) = begun();
    assert_eq!(scene.wait(5000), [step(1, 2, "replay-dock-7-1")]);
    scene.leave(1);
    assert_eq!(back(&mut scene, 2, 1), [2, 3]);
}

#[test]
fn how_far_a_document_was_brought_says_nothing_of_the_next() {
    let (mut scene, _) = begun();
    scene.done(1, "replay-dock-6-0", json!(null));
    assert_eq!(scene.ready_after(1, "dock", "c", Some(0)), ["to 1: dock manifest [req-8]"]);
    assert_eq!(scene.introduce(1, "req-8"), [step(1, 1, "replay-dock-9-0")]);
    assert_eq!(scene.done(1, "replay-dock-7-1", json!(null)), NOTHING, "of the one before");
}
