//! Who may know whom: fails when a room names what it must not.

#![expect(clippy::unwrap_used, clippy::panic, reason = "all of it is a test")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use toml::Table;

/// What only some rooms may name, in any table of a manifest and in any source.
const WIRES: &[(&str, &[&str])] = &[
    ("axum", &["edge"]),
    ("utoipa-axum", &["edge"]),
    ("tower-http", &["edge"]),
    ("rusqlite", &["store"]),
    ("sqlx", &[]),
    ("rmcp", &["mcp"]),
    ("agent-client-protocol", &["agents"]),
    ("clap", &["host"]),
    ("anyhow", &["host"]),
    ("x11rb", &["desktop"]),
    ("wayland-client", &["desktop"]),
    ("enigo", &["desktop"]),
    ("xcap", &["desktop"]),
];

/// What the kernel must do without, besides.
const NOT_IN_KERNEL: &[&str] = &["hyper", "reqwest", "tokio-tungstenite", "tower", "cap-std"];

/// Rooms, and who may lean on them. Tests may lean on more, except those of the kernel.
const ROOMS: &[(&str, &[&str])] = &[
    ("edge", &["host"]),
    ("store", &["host"]),
    ("models", &["host"]),
    ("tools", &["host"]),
    ("place", &["tools", "edge", "apps"]),
    ("mcp", &["host"]),
    ("agents", &["host"]),
    ("apps", &["host"]),
    ("widgets", &["edge", "mcp", "host"]),
    ("phone", &["host"]),
    ("remote", &["host", "edge", "tools"]),
    ("desktop", &["host"]),
    ("host", &[]),
    ("testkit", &[]),
];

/// The rooms that `host` joins, the one file where it does, and the folder of its parts.
const JOINED: &[&str] =
    &["edge", "store", "models", "tools", "mcp", "agents", "apps", "desktop", "remote"];
const JOINT: &str = "src/wire.rs";
const JOINT_PARTS: &str = "src/wire/";
/// This file, which has to name what it forbids.
const ITSELF: &str = "tests/rooms.rs";

struct Room {
    name: String,
    manifest: Table,
    /// By path within the crate.
    sources: BTreeMap<String, String>,
}

#[test]
fn no_room_names_what_it_must_not() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let workspace: Table = read(&root.join("Cargo.toml")).parse().unwrap();
    let mut rooms = Vec::new();
    for folder in fs::read_dir(root.join("crates")).unwrap() {
        let folder = folder.unwrap().path();
        let manifest = read(&folder.join("Cargo.toml")).parse().unwrap();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let mut sources = BTreeMap::new();
        gather(&folder, &folder, &mut sources);
        if name == "host" {
            sources.remove(ITSELF);
        }
        rooms.push(Room { name, manifest, sources });
    }
    assert!(rooms.iter().any(|room| room.name == "kernel"));
    let faults: Vec<String> = rooms.iter().flat_map(|room| faults(&workspace, room)).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

fn faults(workspace: &Table, room: &Room) -> Vec<String> {
    let mut faults = Vec::new();
    let name = room.name.as_str();
    let mut fault = |what: String| faults.push(format!("{name}: {what}"));
    for (table, packages) in dependencies(workspace, &room.manifest) {
        let for_tests = table.ends_with("dev-dependencies");
        for package in packages {
            if !may_name(name, &package) || !may_lean_on(name, &package, for_tests) {
                fault(format!("{package} in [{table}]"));
            }
        }
    }
    let wires = WIRES.iter().map(|(wire, _)| *wire).chain(NOT_IN_KERNEL.iter().copied());
    for wire in wires.filter(|wire| !may_name(name, wire)) {
        for path in naming(&room.sources, wire) {
            fault(format!("{wire} in {path}"));
        }
    }
    if name == "host" {
        for joined in JOINED {
            for path in naming(&room.sources, joined).filter(|path| !is_joint(path)) {
                fault(format!("{joined} in {path}, outside {JOINT}"));
            }
        }
    }
    faults
}

fn is_joint(path: &str) -> bool {
    path == JOINT || path.starts_with(JOINT_PARTS)
}

fn may_name(room: &str, package: &str) -> bool {
    let banned_here = room == "kernel" && NOT_IN_KERNEL.contains(&package);
    let alone = WIRES.iter().find(|(wire, _)| *wire == package);
    !banned_here && alone.is_none_or(|(_, rooms)| rooms.contains(&room))
}

fn may_lean_on(room: &str, package: &str, for_tests: bool) -> bool {
    let Some(other) = package.strip_prefix("megaron-") else { return true };
    let Some((_, friends)) = ROOMS.iter().find(|(name, _)| *name == other) else { return true };
    let in_tests = for_tests && other != "host" && (room != "kernel" || other == "testkit");
    friends.contains(&room) || in_tests
}

/// Every table of dependencies, with the real names of the packages in it.
fn dependencies(workspace: &Table, manifest: &Table) -> Vec<(String, Vec<String>)> {
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let targets = manifest.get("target").and_then(|targets| targets.as_table());
    let targets = targets.into_iter().flatten();
    let targets = targets.filter_map(|(target, table)| Some((target.clone(), table.as_table()?)));
    let mut found = Vec::new();
    for (place, table) in std::iter::once((String::new(), manifest)).chain(targets) {
        for kind in kinds {
            let Some(listed) = table.get(kind).and_then(|table| table.as_table()) else { continue };
            let names = listed.iter().map(|(key, value)| {
                let renamed = value.get("package").and_then(|package| package.as_str());
                renamed.map_or_else(|| shared_name(workspace, key), ToOwned::to_owned)
            });
            found.push((format!("{place} {kind}").trim().to_owned(), names.collect()));
        }
    }
    found
}

/// What a dependency is really called, should the workspace have renamed it.
fn shared_name(workspace: &Table, key: &str) -> String {
    let shared = workspace.get("workspace").and_then(|table| table.get("dependencies"));
    let package = shared.and_then(|table| table.get(key)).and_then(|value| value.get("package"));
    package.and_then(|package| package.as_str()).unwrap_or(key).to_owned()
}

/// The files in which a line of code names this crate.
fn naming(sources: &BTreeMap<String, String>, package: &str) -> impl Iterator<Item = String> {
    let name = package.replace('-', "_");
    let names = |text: &&String| text.lines().any(|line| line_names(line, &name));
    let found = sources.iter().filter(|(_, text)| names(text)).map(|(path, _)| path.clone());
    found.collect::<Vec<_>>().into_iter()
}

fn line_names(line: &str, name: &str) -> bool {
    let line = line.trim_start();
    if line.starts_with("//") {
        return false;
    }
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        let begins = !before.ends_with(|c: char| c.is_alphanumeric() || "_:\"`-/.".contains(c));
        let used = before.trim_start_matches("pub ").trim_end() == "use" && after.starts_with(';');
        begins && (after.starts_with("::") || used)
    })
}

fn gather(root: &Path, folder: &Path, sources: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        if path.is_dir() {
            gather(root, &path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            sources.insert(name, read(&path));
        }
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn check(name: &str, manifest: &str, source: (&str, &str)) -> Vec<String> {
    let workspace = "[workspace.dependencies]\n\
        web = { package = \"axum\", version = \"0\" }\n\
        edge = { package = \"megaron-edge\", path = \"x\" }\n\
        store = { package = \"megaron-store\", path = \"x\" }\n\
        testkit = { package = \"megaron-testkit\", path = \"x\" }";
    let sources = BTreeMap::from([(source.0.to_owned(), source.1.to_owned())]);
    let room = Room { name: name.into(), manifest: manifest.parse().unwrap(), sources };
    faults(&workspace.parse().unwrap(), &room)
}

#[test]
fn a_forbidden_dependency_is_found_under_any_name_and_in_any_table() {
    let none = ("src/lib.rs", "");
    for (room, manifest, fault) in [
        ("kernel", "[dependencies]\naxum = \"0.8\"", "kernel: axum in [dependencies]"),
        ("kernel", "[dependencies]\nweb.workspace = true", "kernel: axum in [dependencies]"),
        ("kernel", "[dependencies]\nx = { package = \"sqlx\" }", "kernel: sqlx in [dependencies]"),
        ("kernel", "[dev-dependencies]\nhyper = \"1\"", "kernel: hyper in [dev-dependencies]"),
        (
            "kernel",
            "[dev-dependencies]\nstore.workspace = true",
            "kernel: megaron-store in [dev-dependencies]",
        ),
        ("store", "[dependencies]\nedge.workspace = true", "store: megaron-edge in [dependencies]"),
        (
            "edge",
            "[target.'cfg(unix)'.dependencies]\nrusqlite = \"1\"",
            "edge: rusqlite in [cfg(unix) dependencies]",
        ),
        (
            "host",
            "[dependencies]\ntestkit.workspace = true",
            "host: megaron-testkit in [dependencies]",
        ),
        ("host", "[dev-dependencies]\naxum = \"0.8\"", "host: axum in [dev-dependencies]"),
    ] {
        assert_eq!(check(room, manifest, none), [fault], "{manifest}");
    }
}

#[test]
fn a_forbidden_name_in_a_source_is_found() {
    for (room, path, line, fault) in [
        ("kernel", "src/a.rs", "use axum::Router;", "kernel: axum in src/a.rs"),
        ("kernel", "src/a.rs", "  pub use rmcp;", "kernel: rmcp in src/a.rs"),
        ("models", "src/a.rs", "let x = rusqlite::open();", "models: rusqlite in src/a.rs"),
        (
            "host",
            "src/serve.rs",
            "edge::serve()",
            "host: edge in src/serve.rs, outside src/wire.rs",
        ),
        ("host", "src/wired.rs", "use edge;", "host: edge in src/wired.rs, outside src/wire.rs"),
    ] {
        assert_eq!(check(room, "", (path, line)), [fault], "{line}");
    }
}

#[test]
fn what_is_allowed_is_not_complained_of() {
    for (room, manifest, path, line) in [
        ("edge", "[dependencies]\nweb.workspace = true", "src/a.rs", "use axum::Router;"),
        ("edge", "[dev-dependencies]\ntestkit.workspace = true", "src/a.rs", "// axum::"),
        ("kernel", "[dependencies]\ntokio = \"1\"", "src/a.rs", "crate::host::open(\"axum::x\")"),
        ("host", "[dependencies]\nedge.workspace = true", "src/wire.rs", "use edge::Edge;"),
        ("host", "", "src/wire/minds.rs", "models::choose_tls();"),
        ("host", "", "src/x.rs", "self.tools::<u8>(); my_store::x(); crate::models::y()"),
    ] {
        assert_eq!(check(room, manifest, (path, line)), [""; 0], "{line}");
    }
}
