//! A folder that becomes a way out, and a folder again, while the tools are at work.

#![cfg(unix)]

use std::{fs, io, os::unix::fs::symlink, path::Path, thread};

use kernel::approvals::Mode;
use serde_json::json;

use crate::home::{Home, OUTSIDER, SECRET};

const FLIPS: usize = 20_000;

/// Puts the folder and the link in the same place by turns.
fn flip(room: &Path) {
    let [real, link, place] = ["real", "link", "place"].map(|name| room.join(name));
    for _ in 0..FLIPS {
        for spare in [&real, &link] {
            // A tool may have made a folder there while there was none.
            while fs::rename(spare, &place).is_err() {
                fs::remove_dir_all(&place).ok();
            }
            // Or one under the name that it had found the folder under.
            while let Err(error) = fs::rename(&place, spare) {
                assert_eq!(error.kind(), io::ErrorKind::DirectoryNotEmpty);
                fs::remove_dir_all(spare).ok();
            }
        }
    }
}

#[tokio::test]
async fn a_link_in_the_place_of_a_folder_leads_nowhere() {
    let home = Home::new(Mode::Full).await;
    let outside = home.outside();
    home.put("real/secret", "mine");
    home.put("mine", "mine");
    symlink("../next", home.room().join("link")).unwrap();
    let room = home.room();
    let flipping = thread::spawn(move || flip(&room));
    let patch = |text: &str| ("apply_patch", json!({ "patch": text }));
    let calls = [
        ("read_file", json!({ "path": "place/secret" })),
        ("list_directory", json!({ "path": "place" })),
        ("write_file", json!({ "path": "place/secret", "content": "mine" })),
        ("write_file", json!({ "path": "place/new", "content": "mine" })),
        ("edit_file", json!({ "path": "place/secret", "old": "mine", "new": "mine mine" })),
        ("edit_file", json!({ "path": "place/secret", "old": SECRET, "new": "" })),
        ("glob", json!({ "pattern": "**/*" })),
        ("glob", json!({ "pattern": "*", "path": "place" })),
        ("grep", json!({ "pattern": "." })),
        ("grep", json!({ "pattern": ".", "path": "place" })),
        patch("--- /dev/null\n+++ b/place/added\n@@\n+mine\n"),
        patch("--- a/place/added\n+++ /dev/null\n@@\n-mine\n"),
        patch("diff --git a/mine b/place/mine\nrename from mine\nrename to place/mine\n"),
        patch("diff --git a/place/mine b/mine\nrename from place/mine\nrename to mine\n"),
    ];
    loop {
        let last = flipping.is_finished();
        for (tool, args) in &calls {
            let text = match home.call(tool, args.clone()).await {
                Ok(reply) => reply.text,
                Err(error) => error.to_string(),
            };
            assert!(!text.contains(SECRET) && !text.contains(OUTSIDER), "{tool} {args}: {text}");
        }
        if last {
            break;
        }
    }
    flipping.join().unwrap();
    assert_eq!(home.outside(), outside);
}
