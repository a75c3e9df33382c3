//! A link that comes and goes while files are read and written.
#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use place::Roots;

#[test]
fn nothing_outside_is_ever_read_or_written() {
    let temp = tempfile::tempdir().unwrap();
    let house = temp.path().canonicalize().unwrap();
    for (dir, text) in [("room/own", "ours"), ("next", "theirs")] {
        fs::create_dir_all(house.join(dir)).unwrap();
        fs::write(house.join(dir).join("file"), text).unwrap();
    }
    symlink("own", house.join("room/door")).unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let flipping = std::thread::spawn({
        let (over, door) = (over.clone(), house.join("room/door"));
        move || {
            let mut flips = 0_u32;
            while !over.load(Ordering::Relaxed) {
                let away = if flips.is_multiple_of(2) { "../next" } else { "own" };
                symlink(away, door.with_extension("new")).unwrap();
                fs::rename(door.with_extension("new"), &door).unwrap();
                flips += 1;
            }
            flips
        }
    });
    let roots = Roots::new(vec![house.join("room")], vec![]);
    let file = house.join("room/door/file");
    for round in 0..10_000 {
        let Ok(Some(found)) = roots.find(&file) else { continue };
        if let Ok((file, _)) = found.file() {
            assert_ne!(std::io::read_to_string(file).unwrap(), "theirs");
        }
        found.write(format!("round {round}").as_bytes(), true).ok();
    }
    over.store(true, Ordering::Relaxed);
    assert!(flipping.join().unwrap() > 1);
    assert_eq!(fs::read_to_string(house.join("next/file")).unwrap(), "theirs");
    assert_eq!(fs::read_dir(house.join("next")).unwrap().count(), 1);
    assert_ne!(fs::read_to_string(Path::new(&house).join("room/own/file")).unwrap(), "ours");
}
