//! What a command may read and write, enforced by Landlock.

use std::{fs, io, path::Path, path::PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, LandlockStatus,
    RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError,
    RulesetStatus, Scope, make_bitflags, path_beneath_rules,
};
use rustix::stdio::stdout;

use super::{Lock, Orders, Tried as _, Trouble};

/// The newest that we know; older systems enforce what they can.
const NEWEST: ABI = ABI::V9;
/// Before this one files outside could be emptied. Where mounts are read-only they cannot.
const ALONE: ABI = ABI::V3;
/// From this one on no signal leaves.
const SIGNALS: ABI = ABI::V6;

/// Programs, libraries, and what they need to know of the machine.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix",
    "/gnu",
    "/snap",
    "/proc",
    "/sys",
    "/run/current-system",
    "/var/lib/dpkg",
    "/var/lib/alternatives",
];
const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
/// In `/etc`: kept from whoever may otherwise read there, such as root.
const SECRETS_OF_SYSTEM: &[&str] = &[
    "shadow",
    "shadow-",
    "gshadow",
    "gshadow-",
    "ssh",
    "sudoers",
    "sudoers.d",
    "sudoers.dist",
    "krb5.keytab",
    "wireguard",
    "openvpn",
    "ipsec.secrets",
    "ipsec.d",
    "letsencrypt",
    "NetworkManager",
    "kubernetes",
    "rancher",
    "docker",
    "security",
    "ppp",
    "wpa_supplicant",
    "ssl",
];
/// Toolchains, in the home of the person, and the settings of git.
const TOOLS_AT_HOME: &[&str] = &[
    ".cargo",
    ".rustup",
    ".npm",
    ".nvm",
    ".volta",
    ".fnm",
    ".bun",
    ".deno",
    ".pyenv",
    ".rbenv",
    ".asdf",
    ".sdkman",
    ".ghcup",
    ".opam",
    ".nix-profile",
    "go",
    ".local/bin",
    ".local/lib",
    ".local/share/mise",
    ".local/share/uv",
    ".local/share/pnpm",
    ".gitconfig",
    ".config/git",
];
/// In those: kept all the same.
const SECRETS_AT_HOME: &[&str] =
    &[".cargo/credentials", ".cargo/credentials.toml", ".config/git/credentials", ".npm/_logs"];

/// Restricts this process and all that it starts; says whether signals are contained as well.
pub fn restrict(orders: &Orders) -> Result<bool, Trouble> {
    let status = rule(orders).map_err(io::Error::other).tried("cannot set up Landlock")?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err(io::Error::other("it is not enabled on this system")).tried("no Landlock");
    }
    let LandlockStatus::Available { effective_abi, .. } = status.landlock else {
        return Err(io::Error::other("it is not there")).tried("no Landlock");
    };
    Ok(orders.lock == Lock::Namespaces || effective_abi >= SIGNALS)
}

fn rule(orders: &Orders) -> Result<RestrictionStatus, RulesetError> {
    let required = if orders.lock == Lock::Namespaces { ABI::V1 } else { ALONE };
    let read = AccessFs::from_read(NEWEST);
    let write = AccessFs::from_all(NEWEST) & !make_bitflags!(AccessFs::{MakeChar | MakeBlock});
    let device = make_bitflags!(AccessFs::{ReadFile | WriteFile | IoctlDev});
    let terminal = terminal().filter(|_| orders.tty);
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(required))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rules(path_beneath_rules(readable(orders), read))?
        .add_rules(path_beneath_rules(["/etc", "/dev"], BitFlags::from(AccessFs::ReadDir)))?
        .add_rules(path_beneath_rules(DEVICES, device))?
        .add_rules(path_beneath_rules(terminal, device))?
        .add_rules(path_beneath_rules([&orders.folder, &orders.temporary], write))?;
    rules.restrict_self()
}

fn readable(orders: &Orders) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    paths.extend(all_but(Path::new("/etc"), SECRETS_OF_SYSTEM));
    paths.extend(all_but(Path::new("/etc/ssl"), &["private"]));
    let Some(home) = &orders.home else { return paths };
    for tool in TOOLS_AT_HOME.iter().map(|tool| home.join(tool)) {
        let holds = |secret: &&&str| home.join(secret).parent() == Some(&tool);
        let secrets: Vec<&str> = SECRETS_AT_HOME.iter().filter(holds).copied().collect();
        if secrets.is_empty() {
            paths.push(tool);
        } else {
            let names: Vec<&str> = secrets
                .iter()
                .filter_map(|secret| Path::new(secret).file_name()?.to_str())
                .collect();
            paths.extend(all_but(&tool, &names));
        }
    }
    // A toolchain that is a link to something hidden does not open it.
    paths.retain(|path| {
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        !orders.hidden.iter().any(|hidden| real.starts_with(hidden) || hidden.starts_with(&real))
    });
    paths
}

fn all_but(folder: &Path, secrets: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let open = entries.filter(|it| !secrets.iter().any(|secret| it.file_name() == *secret));
    open.map(|entry| entry.path()).collect()
}

fn terminal() -> Option<PathBuf> {
    let name = rustix::termios::ttyname(stdout(), Vec::new()).ok()?;
    Some(PathBuf::from(name.into_string().ok()?))
}
