//! The things that are looked at, one function each.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use kernel::desktop::{Code, DesktopError, Info};

use super::Finding;
use crate::{
    ask::client::{Client, Refused},
    config::Config,
    detect::{self, Found, Surroundings},
    place,
    wire::{self, Problem},
};

/// With less than this a long conversation with pictures may not fit.
const LITTLE_SPACE: u64 = 200 << 20;

pub async fn all(data_dir: &Path, workspace: &Path) -> Vec<Finding> {
    let mut findings = vec![directory(data_dir)];
    findings.extend(space(data_dir));
    findings.extend(key_file(data_dir));
    match Config::load(data_dir) {
        Ok(config) => {
            findings.push(configuration(data_dir));
            findings.push(model(data_dir, &config).await);
            findings.extend(providers(data_dir, config.clone()).await);
            findings.extend(around(&detect::look(Surroundings::real()).await, &config));
        }
        Err(error) => findings.push(Finding::wrong(
            format!("{error:#}"),
            "`megaron config --help` lists every key with an example",
        )),
    }
    let server = server(data_dir).await;
    if server.is_none() {
        findings.extend(database(data_dir));
    }
    findings.push(server.unwrap_or_else(|| {
        Finding::remark(
            "no server is running on this data directory",
            "`megaron serve` starts one; `megaron ask` does without",
        )
    }));
    findings.extend(applets(data_dir));
    findings.extend(apps(data_dir));
    findings.push(workplace(workspace));
    findings.push(desktop(wire::look_at_desktop().await));
    findings
}

fn desktop(found: Result<Info, DesktopError>) -> Finding {
    match found {
        Ok(info) => {
            let driven = format!("the desktop of this machine can be driven, by {}", info.backend);
            match info.caution() {
                None => Finding::good(driven),
                Some(caution) => Finding::remark(format!("{driven}: {caution}"), "docs/desktop.md"),
            }
        }
        Err(error) if error.code == Code::NoDisplay => {
            Finding::good(format!("no desktop of this machine can be driven: {error}"))
        }
        Err(error) => Finding::remark(
            format!("the desktop of this machine cannot be driven: {error}"),
            "`MEGARON_DESKTOP_BACKEND` chooses between `x11` and `wayland`",
        ),
    }
}

fn directory(dir: &Path) -> Finding {
    let shown = dir.display();
    match fs::metadata(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Finding::remark(
            format!("the data directory {shown} does not exist yet"),
            "`megaron serve` makes it",
        ),
        Err(error) => Finding::wrong(
            format!("the data directory {shown} cannot be looked at: {error}"),
            "name another with --data-dir, or mend its permissions",
        ),
        Ok(found) if !found.is_dir() => Finding::wrong(
            format!("the data directory {shown} is not a folder"),
            "name another with --data-dir",
        ),
        Ok(_) if !is_writable(dir) => Finding::wrong(
            format!("the data directory {shown} cannot be written"),
            format!("make it yours: sudo chown -R \"$USER\" '{shown}' && chmod u+rwx '{shown}'"),
        ),
        Ok(found) if found.permissions().mode() & 0o077 != 0 => Finding::remark(
            format!("the data directory {shown} is open to other users of this machine"),
            format!("chmod 700 '{shown}'"),
        ),
        Ok(_) => Finding::good(format!("the data directory {shown} can be written")),
    }
}

fn applets(data_dir: &Path) -> Vec<Finding> {
    let problems = wire::applet_problems(data_dir).into_iter();
    let finding = |(folder, what): (PathBuf, String)| {
        let found = format!("the applet in {}: {what}", folder.display());
        Finding::remark(found, "docs/applets.md tells how an applet looks")
    };
    problems.map(finding).collect()
}

fn apps(data_dir: &Path) -> Vec<Finding> {
    let problems = wire::app_problems(data_dir).into_iter();
    let finding = |(folder, what): (PathBuf, String)| {
        let found = format!("the app in {}: {what}", folder.display());
        Finding::remark(found, "docs/apps.md tells how an app looks")
    };
    problems.map(finding).collect()
}

fn space(dir: &Path) -> Option<Finding> {
    let volume = rustix::fs::statvfs(dir).ok()?;
    let free = volume.f_bavail.saturating_mul(volume.f_frsize);
    let found = format!("{} MB are free there", free >> 20);
    if free < LITTLE_SPACE {
        return Some(Finding::wrong(found, "make room: a full disk takes no more messages"));
    }
    Some(Finding::good(found))
}

fn key_file(dir: &Path) -> Option<Finding> {
    let path = dir.join("key");
    if !dir.is_dir() {
        return None;
    }
    let fixed = format!("chmod 600 '{}'", path.display());
    Some(match fs::metadata(&path) {
        Ok(found) if found.permissions().mode() & 0o077 != 0 => {
            Finding::wrong("the key file can be read by other users of this machine", fixed)
        }
        Ok(found) if found.len() == 0 => {
            Finding::remark("the key was revoked", "`megaron key new` makes another")
        }
        Ok(_) => Finding::good("there is a key, for its owner alone"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Finding::remark("there is no key", "`megaron key new` makes one")
        }
        Err(error) => Finding::wrong(format!("the key file cannot be read: {error}"), fixed),
    })
}

fn configuration(dir: &Path) -> Finding {
    let path = dir.join("config.toml");
    if path.exists() {
        Finding::good(format!("{} is valid", path.display()))
    } else {
        Finding::good("there is no config.toml, so the defaults hold")
    }
}

async fn model(data_dir: &Path, config: &Config) -> Finding {
    let id = &config.default_model;
    let agents = wire::guests(data_dir, config).await;
    match wire::models(data_dir, config).and(agents) {
        Ok(_) if id == "demo" => Finding::remark(
            "the default model is `demo`, which only shows how things work",
            "`megaron models detect` finds others, `megaron models default ID` chooses one",
        ),
        Ok(_) => Finding::good(format!("the default model is `{id}`")),
        Err(error) => Finding::wrong(
            format!("the models cannot be used: {error:#}"),
            "correct config.toml, or choose another default: `megaron models default demo`",
        ),
    }
}

/// Whether the providers can be used, as far as can be told without asking for an answer.
async fn providers(data_dir: &Path, config: Config) -> Vec<Finding> {
    let chosen = config.default_model.clone();
    // What is wrong with the configuration as a whole has been said.
    let Ok(models) = wire::models(data_dir, &config.defaulting_to_demo()) else {
        return Vec::new();
    };
    models.learn().await;
    let problems = models.problems();
    let problem = |name: &str| problems.iter().find(|it| it.provider == name);
    let finding = |(name, from): (String, String)| match problem(&name) {
        None => Finding::good(format!("the provider `{name}` can be used; its key: {from}")),
        Some(Problem { what, fix, .. }) => {
            let found = format!("the provider `{name}` {what}");
            let is_chosen = chosen.split_once('/').is_some_and(|(provider, _)| provider == name);
            if is_chosen { Finding::wrong(found, fix) } else { Finding::remark(found, fix) }
        }
    };
    models.keys().into_iter().map(finding).collect()
}

/// What the machine has, and whether it is used.
fn around(found: &[Found], config: &Config) -> Vec<Finding> {
    let new = detect::unused(found, config);
    let finding = |it: &Found| {
        let words = format!("there is {}, paid by {}", it.what, it.payer);
        let name = it.provider.as_ref().map(|(name, _)| *name);
        if new.iter().any(|(other, _)| Some(*other) == name) {
            return Finding::remark(
                words,
                "`megaron models detect --write` adds it to config.toml",
            );
        }
        Finding::good(words)
    };
    found.iter().map(finding).collect()
}

/// Whether what is stored can be read, where there is anything and nobody else is at it.
fn database(dir: &Path) -> Option<Finding> {
    if !wire::has_database(dir) {
        return None;
    }
    Some(match wire::check_database(dir) {
        Ok(()) => Finding::good("the database can be opened"),
        Err(error) => Finding::wrong(
            format!("the database cannot be opened: {error:#}"),
            "use the version of megaron that wrote it, or another --data-dir",
        ),
    })
}

/// `None` if there is none.
async fn server(data_dir: &Path) -> Option<Finding> {
    let note = place::find(data_dir)?;
    let (url, pid) = (note.url.clone(), note.pid);
    let key = fs::read_to_string(data_dir.join("key")).ok();
    let key = key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
    let home: Option<PathBuf> = None;
    let client = match Client::new(note.url, key, home) {
        Ok(client) => client,
        Err(error) => return Some(Finding::wrong(format!("{error:#}"), "report this")),
    };
    if !client.is_answered().await {
        return Some(Finding::wrong(
            format!("the server at {url} (process {pid}) does not answer"),
            format!("look at its log; if it hangs, stop it: kill {pid}"),
        ));
    }
    Some(match client.is_let_in().await {
        Ok(()) => Finding::good(format!("the server at {url} runs and takes the key")),
        Err(error) if error.is::<Refused>() => Finding::wrong(
            format!("the server at {url} refuses: {error:#}"),
            "`megaron key new` makes a key that it takes",
        ),
        Err(error) => Finding::wrong(
            format!("the server at {url} does not behave: {error:#}"),
            format!("look at its log, or start it again: kill {pid} && megaron serve"),
        ),
    })
}

fn workplace(dir: &Path) -> Finding {
    let shown = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let shown = shown.display();
    if !dir.is_dir() {
        return Finding::wrong(
            format!("the workspace {shown} is not a folder"),
            "name another with --workspace",
        );
    }
    if !is_writable(dir) {
        return Finding::remark(
            format!("the workspace {shown} cannot be written"),
            "agents can only read there; name another with --workspace",
        );
    }
    Finding::good(format!("the workspace is {shown}"))
}

fn is_writable(dir: &Path) -> bool {
    rustix::fs::access(dir, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    fn levels(findings: &[Finding]) -> String {
        findings.iter().map(|finding| finding.to_string().chars().next().unwrap()).collect()
    }

    async fn visit(data_dir: &Path) -> Vec<Finding> {
        all(data_dir, data_dir).await
    }

    #[tokio::test]
    async fn what_is_not_there_yet_is_no_fault() {
        let dir = tempfile::tempdir().unwrap();
        let findings = all(&dir.path().join("none"), dir.path()).await;
        assert!(findings.iter().all(|finding| finding.level != Level::Wrong), "{findings:?}");
        assert!(!dir.path().join("none").exists(), "a doctor changes nothing");
    }

    #[tokio::test]
    async fn a_readable_key_and_a_broken_configuration_are_wrong() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("key"), "mgr_x\n").unwrap();
        fs::set_permissions(dir.path().join("key"), fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(dir.path().join("config.toml"), "modle = 1").unwrap();
        let findings = visit(dir.path()).await;
        let wrong: Vec<_> = findings.iter().filter(|found| found.level == Level::Wrong).collect();
        assert_eq!(wrong.len(), 2, "{findings:?}");
        assert!(wrong[0].to_string().contains("→ chmod 600"), "{}", wrong[0]);
        assert!(wrong[1].to_string().contains("line 1: there is no key `modle`"), "{}", wrong[1]);
    }

    #[tokio::test]
    async fn a_server_that_does_not_answer_is_wrong() {
        let dir = tempfile::tempdir().unwrap();
        // Nothing listens on this port, and nobody is given it.
        let _note = place::post(dir.path(), "127.0.0.1:1".parse().unwrap()).unwrap();
        let findings = visit(dir.path()).await;
        assert!(levels(&findings).contains('✗'), "{findings:?}");
        let found = findings.iter().any(|finding| finding.found.contains("does not answer"));
        assert!(found, "{findings:?}");
    }

    #[test]
    fn what_drives_the_desktop_is_told_and_what_does_not_stop_agents_there() {
        let info = |backend: &str, hears| Info {
            platform: "linux".into(),
            backend: backend.into(),
            screen: Some((640, 480)),
            commands: vec![],
            hears,
        };
        let none = DesktopError::new(Code::NoDisplay, "no display (DISPLAY is not set)");
        let lacking = DesktopError::new(Code::Unsupported, "this compositor offers nothing");
        let driven = [info("x11", true), info("wayland", false), info("x11", false)].map(Ok);
        let findings: Vec<_> =
            driven.into_iter().chain([Err(none), Err(lacking)]).map(desktop).collect();
        assert_eq!(levels(&findings), "✓!!✓!");
        for (finding, expected) in [
            (&findings[1], "wayland: what you do at that machine does not stop agents"),
            (&findings[2], "x11: the X server of that machine lacks XInput"),
        ] {
            let expected = format!("the desktop of this machine can be driven, by {expected}");
            assert!(finding.found.starts_with(&expected), "{finding}");
        }
    }

    #[test]
    fn a_good_place_is_called_good() {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(directory(dir.path()).level, Level::Good);
        assert_eq!(workplace(dir.path()).level, Level::Good);
        assert_eq!(workplace(&dir.path().join("x")).level, Level::Wrong);
    }
}
