//! A session that goes from one vendor to another and back, with tools, thoughts and a picture in
//! its past, and four vendors that are as strict as the real ones.

mod anthropic;
mod chat;
mod gemini;
mod responses;
mod vendor;

use std::{fs, sync::Arc};

use kernel::{
    feed::{Feed, Heard},
    host::{Host, Settings},
    ports::Ports,
    update::{Amendment, Attachment, Fact, Message, Outcome, Seq, SessionId, Update, WhenBusy},
};
use models::{Effort, Lineup};
use tempfile::TempDir;
use testkit::{TestTool, World};

use self::vendor::{ALL, PICTURE, Vendor};
use crate::server::soon;

/// A house with all four vendors.
struct House {
    host: Arc<Host>,
    vendors: [Arc<Vendor>; 4],
    folder: TempDir,
}

impl House {
    async fn open() -> Self {
        let mut vendors = Vec::new();
        for speech in ALL {
            vendors.push(Vendor::start(speech).await);
        }
        let vendors: [Arc<Vendor>; 4] = vendors.try_into().ok().unwrap();
        let settings = vendors.iter().map(|vendor| {
            let mut settings = vendor.settings();
            settings.reasoning_effort = Some(Effort::Medium);
            (vendor.speech.name.to_owned(), settings)
        });
        let env = |_: &str| Some(crate::KEY.to_owned());
        let lineup = Lineup::build("demo", settings.collect(), env).unwrap();
        let world = World::new([])
            .tool(&TestTool::echo().parallel(true))
            .tool(&TestTool::failing("no such guest").parallel(true));
        let ports = Ports { models: Arc::new(lineup), ..world.ports() };
        let host = Host::start(ports, Settings::default()).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("hall.png"), PICTURE).unwrap();
        Self { host, vendors, folder }
    }

    fn message(&self, text: &str, with_picture: bool) -> Message {
        let picture = || Attachment {
            path: self.folder.path().join("hall.png"),
            mime: "image/png".into(),
            name: "hall.png".into(),
        };
        let attachments = with_picture.then(picture).into_iter().collect();
        Message { attachments, ..Message::from_user(text) }
    }

    /// One turn at each of these vendors, in one session.
    async fn visit(&self, route: &[usize]) {
        let id = self.host.create("/".as_ref(), "demo", "").await.unwrap();
        let mut feed = self.host.feed(id, Some(Seq(0))).await.unwrap();
        for (turn, at) in route.iter().enumerate() {
            self.choose(id, &self.vendors[*at]).await;
            let message = self.message(&format!("question {turn}"), turn == 0);
            self.host.post(id, message, WhenBusy::Refuse).await.unwrap();
            let names: Vec<_> = route.iter().map(|at| self.vendors[*at].speech.name).collect();
            assert_eq!(ended(&mut feed).await, Outcome::Finished, "turn {turn} of {names:?}");
        }
    }

    async fn choose(&self, id: SessionId, vendor: &Vendor) {
        let model = Some(format!("{}/{}", vendor.speech.name, vendor.speech.model));
        self.host.amend(id, Amendment { model, ..Amendment::default() }).await.unwrap();
    }

    /// How often each was asked. Each turn is two questions: one is answered by calls.
    fn asked(&self) -> [usize; 4] {
        [0, 1, 2, 3].map(|at| self.vendors[at].given().len())
    }
}

async fn ended(feed: &mut Feed) -> Outcome {
    loop {
        let heard = soon(feed.next()).await.unwrap();
        let Heard::Live(told) = heard else { continue };
        for update in &told.updates {
            if let Update::Fact(entry) = update
                && let Fact::TurnEnded(outcome) = &entry.fact
            {
                return outcome.clone();
            }
        }
    }
}

#[tokio::test]
async fn a_session_goes_from_any_vendor_to_any_other_and_back() {
    for from in 0..ALL.len() {
        for to in (0..ALL.len()).filter(|to| *to != from) {
            let house = House::open().await;
            house.visit(&[from, to, from]).await;
            let mut expected = [0; 4];
            expected[from] = 4;
            expected[to] = 2;
            assert_eq!(house.asked(), expected);
        }
    }
}

#[tokio::test]
async fn a_session_visits_all_four_vendors_twice() {
    let house = House::open().await;
    house.visit(&[0, 1, 2, 3, 0, 1, 2, 3, 3]).await;
    assert_eq!(house.asked(), [4, 4, 4, 6]);
}

#[tokio::test]
async fn the_vendors_refuse_what_the_real_ones_refuse() {
    let house = House::open().await;
    house.visit(&[0, 1, 2, 3, 0, 1, 2, 3]).await;
    for vendor in &house.vendors {
        let (body, known) = vendor.last();
        assert_eq!((vendor.speech.check)(&body, &known), Ok(()));
        for (at, spoilt) in (vendor.speech.spoil)(&body).into_iter().enumerate() {
            assert_ne!(spoilt, body, "{} {at} is spoilt", vendor.speech.name);
            let verdict = (vendor.speech.check)(&spoilt, &known);
            assert!(verdict.is_err(), "{} takes spoilt request {at}", vendor.speech.name);
        }
    }
}
