//! Whatever tabs, apps and callers do, in any order, each command counts once.

mod world;

use std::collections::BTreeMap;

use kernel::apps::{Keep, protocol::Limits};
use proptest::{collection::vec, prelude::*};

use self::world::World;
use crate::support::rebuilt;

const PAGES: usize = 3;
/// This page does not say how far its document was brought.
const FORGETFUL: usize = 2;
const WINDOW: &str = "monitor-0/dock";
const COMMANDS: [&str; 3] = ["add", "set", "ping"];

#[derive(Clone, Debug)]
enum Act {
    /// A page connects, and says so if its document is there.
    Join(usize),
    /// Its document loads, for the first time or anew.
    Load(usize),
    /// Its document says once more that it is ready.
    Again(usize),
    /// Its connection breaks; the document lives on.
    Break(usize),
    /// It is closed.
    Close(usize),
    /// What was sent to it first arrives.
    Deliver(usize),
    /// Its document does the next thing that it was asked.
    Work(usize, Mood),
    /// What it said first arrives.
    Hear(usize),
    /// All that is to be recorded is safe.
    Save,
    Command(usize),
    Query,
    Wait(u64),
    /// As a power cut does it: what is not safe is lost.
    Restart,
    /// The person does something in its document.
    Touch(usize),
    /// The person changes something in it.
    Edit(usize),
    /// The person hands the window back.
    HandBack,
    /// An agent wants to change the window itself.
    Want,
    EndTurn,
}

#[derive(Clone, Copy, Debug)]
enum Mood {
    Good,
    /// It does not do what it is told.
    Bad,
    /// It does, and does not say so.
    Mute,
}

fn act() -> impl Strategy<Value = Act> {
    let page = || 0..PAGES;
    let mood = prop_oneof![6 => Just(Mood::Good), 1 => Just(Mood::Bad), 1 => Just(Mood::Mute)];
    prop_oneof![
        3 => page().prop_map(Act::Join),
        3 => page().prop_map(Act::Load),
        1 => page().prop_map(Act::Again),
        1 => page().prop_map(Act::Break),
        1 => page().prop_map(Act::Close),
        12 => page().prop_map(Act::Deliver),
        12 => (page(), mood).prop_map(|(page, mood)| Act::Work(page, mood)),
        12 => page().prop_map(Act::Hear),
        12 => Just(Act::Save),
        8 => (0..COMMANDS.len()).prop_map(Act::Command),
        2 => Just(Act::Query),
        2 => (0..7000_u64).prop_map(Act::Wait),
        1 => Just(Act::Restart),
        4 => page().prop_map(Act::Touch),
        1 => page().prop_map(Act::Edit),
        2 => Just(Act::HandBack),
        1 => Just(Act::Want),
        1 => Just(Act::EndTurn),
    ]
}

/// What an app that loads now is to be told, by the name of the command.
fn to_be_told(carried_out: &[(String, u64, Keep)]) -> BTreeMap<String, Vec<u64>> {
    let mut told: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (index, (command, id, keep)) in carried_out.iter().enumerate() {
        let later =
            |(other, _, keep): &(String, u64, Keep)| other == command && *keep == Keep::Last;
        let counts = match keep {
            Keep::Always => true,
            Keep::Last => !carried_out[index + 1..].iter().any(later),
            Keep::Never => false,
        };
        if counts {
            told.entry(command.clone()).or_default().push(*id);
        }
    }
    told
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_command_counts_once_and_each_request_has_one_outcome(
        acts in vec(act(), 1..120),
        cut in 0..16_usize,
    ) {
        let mut world = World::new();
        for act in &acts {
            world.act(act);
        }
        world.settle();
        // Nobody waits for a person for ever, even if nothing more is heard of them.
        world.wait(301_000);
        prop_assert!(!world.is_taken());
        world.settle();

        // Whoever is brought up to date when the server is cut off goes on where it was.
        world.join(1);
        world.load(1);
        for _ in 0..cut {
            for act in [Act::Deliver(1), Act::Work(1, Mood::Good), Act::Hear(1)] {
                world.act(&act);
            }
        }
        world.act(&Act::Restart);
        world.join(1);
        world.settle();
        let carried_out = world.carried_out();
        let expected = to_be_told(&carried_out);

        // What somebody was told has happened has happened, whatever came after it.
        let done: Vec<u64> = carried_out.iter().map(|(_, id, _)| *id).collect();
        for acknowledged in &world.acknowledged {
            prop_assert!(done.contains(acknowledged), "{} is lost", acknowledged);
        }

        // A document that loads now is told all that counts, in order, and nothing else.
        for page in 0..PAGES {
            world.join(page);
        }
        world.settle();
        world.load(0);
        world.settle();
        prop_assert_eq!(&world.pages[0].document.as_ref().unwrap().told, &expected);
        prop_assert_eq!(&world.carried_out(), &carried_out);

        // One that was there before has been told it too, as soon as it is asked again.
        world.announce(1);
        world.settle();
        if let Some(last) = &world.pages[1].document {
            for (command, ids) in &expected {
                let told = last.told.get(command);
                let lacks = ids.iter().find(|id| told.is_none_or(|told| !told.contains(id)));
                prop_assert_eq!(lacks, None, "of {}", command);
            }
        }

        world.wait(700_000);
        world.save();
        for (request, outcome) in world.outcomes() {
            let valid: [&[&str]; 4] =
                [&["answered"], &["failed"], &["timeout"], &["timeout", "late"]];
            prop_assert!(valid.contains(&outcome.as_slice()), "{}: {:?}", request, outcome);
        }
        prop_assert_eq!(&world.waiting, &Vec::new());
        prop_assert_eq!(world.machine.record(), &rebuilt(&world.recorded(), Limits::default()));
    }
}
