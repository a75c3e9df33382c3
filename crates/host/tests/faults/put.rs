//! The server is killed while it writes files.

use std::fs;

use crate::{chance::Chance, client::Client, server::Home, until};

const SIZE: usize = 4 << 20;
const ROUNDS: usize = 5;

/// What a whole file of this round holds.
fn content(sign: u8) -> Vec<u8> {
    vec![sign; SIZE]
}

#[tokio::test]
async fn a_file_that_was_being_written_is_the_old_one_or_the_new_one() {
    let mut chance = Chance::new();
    let home = Home::new();
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().to_str().unwrap().to_owned();
    let file = folder.path().join("file");
    fs::write(&file, content(b'a')).unwrap();
    for _ in 0..ROUNDS {
        let server = home.serve(&["--workspace", &workspace]).await;
        let client = Client::of(&home);
        let writing = tokio::spawn(async move {
            for sign in (b'a'..=b'z').cycle() {
                if client.put("/api/files/file", content(sign)).await != Some(200) {
                    break;
                }
            }
        });
        // One after the other is written, so that one surely is when it is killed.
        let before = fs::metadata(&file).unwrap().modified().unwrap();
        until("writing to begin", async || {
            (fs::metadata(&file).unwrap().modified().unwrap() != before).then_some(())
        })
        .await;
        for _ in 0..chance.of(0..2000) {
            tokio::task::yield_now().await;
        }
        server.kill().await;
        writing.await.unwrap();
        let found = fs::read(&file).unwrap();
        assert_eq!(found.len(), SIZE);
        assert!(found.iter().all(|byte| *byte == found[0]), "it is of one piece");
    }
}
