//! Git without the programs that a folder, its settings or an option could make it start.

use std::{path::Path, process::Stdio};

use tokio::process::Command;

/// What it may be asked for. Anything else may be an alias, which can be any program, or hands work on
/// to others by design.
const KNOWN: &[&str] = &[
    "add",
    "annotate",
    "apply",
    "blame",
    "branch",
    "cat-file",
    "check-attr",
    "check-ignore",
    "checkout",
    "cherry",
    "cherry-pick",
    "clean",
    "commit",
    "config",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "fsck",
    "grep",
    "hash-object",
    "init",
    "log",
    "ls-files",
    "ls-tree",
    "merge",
    "merge-base",
    "mv",
    "name-rev",
    "notes",
    "range-diff",
    "reflog",
    "remote",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "stash",
    "status",
    "switch",
    "symbolic-ref",
    "tag",
    "version",
    "whatchanged",
    "worktree",
];

/// What may stand before that.
const BEFORE: &[&str] =
    &["--version", "-v", "--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"];

/// Options with which it would start other programs, or write and read beside the folder.
const REFUSED: &[&str] = &[
    "--config-env",
    "--exec-path",
    "--upload-pack",
    "--receive-pack",
    "--ext-diff",
    "--open-files-in-pager",
    "--textconv",
    "--exec",
    "--output",
    "--output-directory",
    "--no-index",
    "--template",
    "--filters",
];

/// Set for every call, above whatever the folder says.
const SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.sshCommand", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("protocol.allow", "never"),
    ("protocol.ext.allow", "never"),
    ("submodule.recurse", "false"),
];

/// Of those that look at files, so that nothing is run for what they find.
const LOOKING: &[(&str, &[&str])] = &[
    ("diff", &["--no-ext-diff", "--ignore-submodules=dirty"]),
    ("status", &["--ignore-submodules=dirty"]),
];

/// Whether it is asked for something of its own, in a way that starts no other program.
pub fn is_plain(args: &[String]) -> bool {
    let asked = args.iter().position(|arg| !arg.starts_with('-'));
    let (before, rest) = args.split_at(asked.unwrap_or(args.len()));
    let known = rest.first().is_none_or(|asked| KNOWN.contains(&asked.as_str()));
    let is_grep = rest.first().is_some_and(|asked| asked == "grep");
    let refused = |arg: &String| {
        arg.contains("ext::") || arg.starts_with("-O") && is_grep || abbreviates(arg)
    };
    known
        && before.iter().all(|arg| BEFORE.contains(&arg.as_str()))
        && !rest.iter().take_while(|arg| *arg != "--").any(refused)
        && !rest.iter().any(|arg| arg.starts_with("-O"))
}

/// Git takes any beginning of an option for the option.
fn abbreviates(arg: &str) -> bool {
    let name = arg.split('=').next().unwrap_or(arg);
    name.len() > 3 && REFUSED.iter().any(|refused| refused.starts_with(name))
}

/// What it is really called with.
pub fn arguments(args: &[String]) -> Vec<String> {
    let mut args = args.to_vec();
    let Some(asked) = args.iter().position(|arg| !arg.starts_with('-')) else { return args };
    let looking = LOOKING.iter().find(|(name, _)| *name == args[asked]);
    let more = looking.into_iter().flat_map(|(_, more)| *more).map(|it| (*it).to_owned());
    let rest = args.split_off(asked + 1);
    args.extend(more.chain(rest));
    args
}

/// The environment in which it runs nothing on the word of a folder that others may have filled.
pub async fn environment(program: &Path, cwd: &Path) -> Vec<(String, String)> {
    let mut settings: Vec<_> =
        SETTINGS.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let mut look = Command::new(program);
    look.args(["config", "--list", "--name-only", "--show-scope", "-z", "--includes"])
        .current_dir(cwd)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    // If it cannot tell, it cannot work there either.
    let listed = look.output().await.map(|it| it.stdout).unwrap_or_default();
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let mut words = listed.split('\0');
    while let (Some(scope), Some(name)) = (words.next(), words.next()) {
        // What the person set for all their folders is theirs.
        if matches!(scope, "local" | "worktree")
            && let Some(harmless) = harmless(name)
        {
            settings.push((name.to_owned(), harmless));
        }
    }
    let count = ("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string());
    let settings = settings.into_iter().enumerate().flat_map(|(index, (name, value))| {
        let key = (format!("GIT_CONFIG_KEY_{index}"), name);
        [key, (format!("GIT_CONFIG_VALUE_{index}"), value.to_owned())]
    });
    let fixed = [
        ("GIT_PAGER", "cat"),
        ("GIT_EDITOR", "false"),
        ("GIT_SEQUENCE_EDITOR", "false"),
        ("GIT_ASKPASS", "false"),
        ("GIT_SSH_COMMAND", "false"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_OPTIONAL_LOCKS", "0"),
    ];
    let fixed = fixed.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    fixed.chain([count]).chain(settings).collect()
}

/// In place of a setting that names a program, one that names none or does nothing.
fn harmless(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let (section, key) = (lower.split('.').next()?, lower.rsplit('.').next()?);
    match (section, key) {
        ("filter", "clean" | "smudge" | "process") => Some(""),
        ("diff", "textconv") | ("interactive", "difffilter") => Some("cat"),
        ("diff", "external" | "command")
        | ("trailer", "command" | "cmd")
        | ("core", "alternaterefscommand") => Some("true"),
        ("filter", "required") | ("merge", "driver") | ("gpg", "program" | "defaultkeycommand") => {
            Some("false")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_starts_no_other_program_is_plain() {
        for (line, expected) in [
            ("status --porcelain=v2", true),
            ("--no-pager log -c --oneline", true),
            ("diff --cached -C -- -Ofile", false),
            ("diff --cached -C -- file", true),
            ("switch -c topic", true),
            ("commit -m ext", true),
            ("--version", true),
            ("", true),
            ("-c alias.x=!id x", false),
            ("-c core.pager=id log", false),
            ("-calias.x=!id x", false),
            ("-C /etc status", false),
            ("--git-dir=/tmp/x status", false),
            ("--exec-path=/tmp status", false),
            ("--config-env=a=b status", false),
            ("-p log", false),
            ("x", false),
            ("clone ext::id", false),
            ("fetch --upload-pack=id", false),
            ("remote add x ext::id", false),
            ("diff --ext-diff", false),
            ("log --ext", false),
            ("log --textc", false),
            ("show --textconv", false),
            ("diff --output=/etc/x", false),
            ("diff --outp /etc/x", false),
            ("diff --no-index / /", false),
            ("grep -Oid x", false),
            ("grep --open-files-in-pager=id x", false),
            ("grep --open=id x", false),
            ("init --template=/x", false),
            ("difftool", false),
            ("submodule foreach id", false),
            ("bisect run id", false),
            ("rebase --exec id", false),
        ] {
            let args: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(is_plain(&args), expected, "git {line}");
        }
    }
}
