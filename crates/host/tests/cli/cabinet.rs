//! Apps, put in, listed and taken out from a terminal.

use std::fs;

use crate::home::Home;

fn app(home: &Home, folder: &str, description: &str) -> String {
    let folder = home.path(folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("app.json"), description).unwrap();
    fs::write(folder.join("index.html"), "<p>hi").unwrap();
    folder.to_str().unwrap().to_owned()
}

#[test]
fn an_app_is_put_in_after_a_yes_and_taken_out() {
    let home = Home::new();
    let listed = home.run(&["app"]);
    assert!(listed.out.contains("scratchpad  Scratchpad, came with the program\n"), "{listed:?}");
    let path =
        app(&home, "clock", r#"{"name":"A clock","domains":["time.example.com"],"hidden":3}"#);
    let asked = home.run(&["app", "install", &path]);
    assert_eq!(asked.code, Some(1), "{asked:?}");
    assert_eq!(
        asked.err,
        "A clock (clock)\n  wants to speak to https://time.example.com\n  \
         ! app.json at /hidden: expected true or false, got a number\n\
         megaron: nobody is there to say yes; with --yes it is put in unasked\n"
    );
    assert!(!home.path("home/apps/clock").exists());
    let put = home.run(&["app", "install", &path, "--yes", "--id", "my-clock"]);
    assert_eq!((put.code, &*put.out), (Some(0), "my-clock\n"), "{put:?}");
    let listed = home.run(&["app", "list"]).out;
    let line = "my-clock  A clock\n  may speak to https://time.example.com\n";
    assert!(listed.contains(line), "{listed}");
    let doctor = home.run(&["doctor"]).out;
    let found = "my-clock: app.json at /hidden: expected true or false, got a number";
    assert!(doctor.contains(found), "{doctor}");
    assert_eq!(home.run(&["app", "remove", "my-clock"]).err, "removed\n");
    assert!(!home.path("home/apps/my-clock").exists());
    for (id, why) in [
        ("my-clock", "no app is called `my-clock`"),
        ("../apps", "no app is called `../apps`"),
        ("scratchpad", "`scratchpad` came with the program and cannot be removed"),
    ] {
        assert_eq!(home.run(&["app", "remove", id]).err, format!("megaron: {why}\n"));
    }
    let none = home.run(&["app", "install", "nowhere", "--yes"]);
    assert!(none.err.starts_with("megaron: nowhere: it cannot be read: "), "{none:?}");
}
