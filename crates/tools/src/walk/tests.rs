//! Ways on which a walk could get lost.

use std::{fs, sync::Mutex};

use super::*;
use crate::folder::tests::{House, house};

fn paths(house: &House) -> (Vec<String>, u64) {
    let found = Mutex::new(Vec::new());
    let visit = |it: &Found| {
        found.lock().unwrap().push(it.path.display().to_string());
        Ok(())
    };
    let unreadable = walk(&house.folder, Path::new(""), &AtomicBool::new(false), &visit).unwrap();
    let mut found = found.into_inner().unwrap();
    found.sort();
    (found, unreadable)
}

#[test]
fn every_file_is_shown_once() {
    let house = house();
    let mut names = Vec::new();
    for dir in 0..20 {
        for file in 0..dir * 5 {
            let name = format!("{dir:02}/x/{file:02}");
            fs::create_dir_all(house.room().join(format!("{dir:02}/x"))).unwrap();
            fs::write(house.room().join(&name), "").unwrap();
            names.push(name);
        }
    }
    assert_eq!(paths(&house), (names, 0));
}

#[test]
fn there_is_an_end_to_how_deep_it_goes() {
    let house = house();
    let deep = |depth: usize| (0..depth).map(|_| "d/").collect::<String>();
    fs::create_dir_all(house.room().join(deep(DEEPEST + 1))).unwrap();
    for depth in [DEEPEST, DEEPEST + 1] {
        fs::write(house.room().join(deep(depth) + "file"), "").unwrap();
    }
    assert_eq!(paths(&house), (vec![deep(DEEPEST) + "file"], 1));
}

#[cfg(unix)]
#[test]
fn rules_that_would_hold_it_up_are_no_rules() {
    use rustix::fs::{CWD, Mode, mkfifoat};
    let house = house();
    for dir in ["pipe", "device", "out", "folder"] {
        fs::create_dir(house.room().join(dir)).unwrap();
        fs::write(house.room().join(dir).join("file"), "").unwrap();
    }
    fs::write(house.next().join("all"), "*\n").unwrap();
    mkfifoat(CWD, house.room().join("pipe/.gitignore"), Mode::RUSR).unwrap();
    std::os::unix::fs::symlink("/dev/zero", house.room().join("device/.ignore")).unwrap();
    std::os::unix::fs::symlink("../../next/all", house.room().join("out/.gitignore")).unwrap();
    fs::create_dir(house.room().join("folder/.gitignore")).unwrap();
    let files = ["device/file", "folder/file", "out/file", "pipe/file"].map(str::to_owned);
    assert_eq!(paths(&house), (files.to_vec(), 0));
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_and_pipes_not_opened() {
    use std::os::unix::fs::symlink;
    let house = house();
    fs::create_dir(house.room().join("dir")).unwrap();
    fs::write(house.room().join("dir/file"), "").unwrap();
    for (to, name) in
        [("dir", "inside"), ("../next", "outside"), (".", "dir/round"), ("dir/file", "link")]
    {
        symlink(to, house.room().join(name)).unwrap();
    }
    rustix::fs::mkfifoat(rustix::fs::CWD, house.room().join("pipe"), rustix::fs::Mode::RUSR)
        .unwrap();
    assert_eq!(paths(&house), (vec!["dir/file".to_owned()], 0));
}

#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_read_is_counted() {
    use std::os::unix::fs::PermissionsExt as _;
    let house = house();
    let shut = house.room().join("shut");
    fs::create_dir(&shut).unwrap();
    fs::write(house.room().join("open"), "").unwrap();
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o000)).unwrap();
    // Whoever may do everything can read it all the same.
    let readable = fs::read_dir(&shut).is_ok();
    let walked = paths(&house);
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(walked, (vec!["open".to_owned()], u64::from(!readable)));
}
