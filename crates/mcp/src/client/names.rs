//! What tools of servers are called here: by their own name where that is free, else with their server's.

use std::collections::{BTreeMap, BTreeSet};

/// As long as every provider of models takes.
const LONGEST: usize = 64;

/// For every server, in order of names, what each of its tools is called. The same tools always get
/// the same names, whoever came first.
pub fn assign<'a>(
    servers: impl IntoIterator<Item = (&'a str, Vec<&'a str>)>,
    is_ours: impl Fn(&str) -> bool,
) -> BTreeMap<&'a str, BTreeMap<&'a str, String>> {
    let servers: BTreeMap<&str, Vec<&str>> = servers.into_iter().collect();
    let mut taken = BTreeSet::new();
    let mut names = BTreeMap::new();
    for (server, mut tools) in servers {
        tools.sort_unstable();
        tools.dedup();
        let mut own = BTreeMap::new();
        for tool in tools {
            let plain = callable(tool);
            let free = |name: &str| !taken.contains(name) && !is_ours(name);
            let name = if free(&plain) {
                plain
            } else {
                let full = callable(&format!("{server}__{tool}"));
                let numbered = (2_u32..).map(|count| shorten(&format!("{full}_{count}")));
                let mut candidates = std::iter::once(full.clone()).chain(numbered);
                // There are more numbers than tools.
                let Some(name) = candidates.find(|name| free(name)) else { continue };
                name
            };
            taken.insert(name.clone());
            own.insert(tool, name);
        }
        names.insert(server, own);
    }
    names
}

/// The name with only such characters as providers of models take.
fn callable(name: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() || "_-".contains(it) { it } else { '_' };
    let plain: String = name.chars().map(plain).collect();
    if plain.is_empty() { "tool".into() } else { shorten(&plain) }
}

fn shorten(name: &str) -> String {
    if name.len() <= LONGEST {
        return name.to_owned();
    }
    // So that two long names with the same beginning stay apart.
    let mark = name
        .bytes()
        .fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{}_{mark:08x}", &name[..LONGEST - 9])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(servers: &[(&str, &[&str])], ours: &[&str]) -> Vec<String> {
        let servers = servers.iter().map(|(name, tools)| (*name, tools.to_vec()));
        let names = assign(servers, |name| ours.contains(&name));
        let all = names.iter().flat_map(|(server, tools)| {
            tools.iter().map(move |(tool, name)| format!("{server}/{tool}={name}"))
        });
        all.collect()
    }

    #[test]
    fn a_name_stays_where_it_is_free() {
        assert_eq!(named(&[("a", &["echo"])], &[]), ["a/echo=echo"]);
        assert_eq!(named(&[("a", &["echo"])], &["echo"]), ["a/echo=a__echo"]);
        let both = ["a/echo=echo", "b/echo=b__echo"];
        assert_eq!(named(&[("a", &["echo"]), ("b", &["echo"])], &[]), both);
        assert_eq!(named(&[("b", &["echo"]), ("a", &["echo"])], &[]), both);
        assert_eq!(
            named(&[("a", &["b__echo", "echo"]), ("b", &["echo"])], &[]),
            ["a/b__echo=b__echo", "a/echo=echo", "b/echo=b__echo_2"]
        );
    }

    #[test]
    fn a_name_is_one_that_every_model_can_say() {
        assert_eq!(named(&[("a", &["x.y/z ä"])], &[]), ["a/x.y/z ä=x_y_z__"]);
        assert_eq!(named(&[("a", &[""])], &[]), ["a/=tool"]);
        let (one, other) = ("n".repeat(70), "n".repeat(71));
        let names = named(&[("a", &[&one, &other])], &[]);
        let short: BTreeSet<&str> = names.iter().map(|it| it.rsplit_once('=').unwrap().1).collect();
        assert_eq!(short.len(), 2);
        assert!(short.iter().all(|name| name.len() == LONGEST));
    }
}
