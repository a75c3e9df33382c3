//! Which programs a line of shell runs, where that can be told for sure.

/// What a grant can be about: each command of a plain line, or else the whole line, in a form that
/// no pattern for a plain command is like.
pub fn subjects(line: &str) -> Vec<String> {
    commands(line).unwrap_or_else(|| vec![format!("$ {line}")])
}

/// Words of the shell that make something else of what follows them.
const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "in", "select", "function", "time", "coproc",
];

/// The commands of a line made of plain words and quotes, joined by `&&`, `||`, `;` and `|`.
/// Whatever might mean more than it says makes the line not plain.
fn commands(line: &str) -> Option<Vec<String>> {
    let mut commands = vec![String::new()];
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let command = commands.last_mut()?;
        match c {
            ' ' | '\t' => {
                if !command.is_empty() && !command.ends_with(' ') {
                    command.push(' ');
                }
            }
            '\'' | '"' => {
                command.push(c);
                loop {
                    let inner = rest.next()?;
                    command.push(inner);
                    if inner == c {
                        break;
                    }
                    let special = c == '"' && matches!(inner, '$' | '`' | '\\' | '!');
                    if special || inner.is_control() {
                        return None;
                    }
                }
            }
            '&' => {
                rest.next_if_eq(&'&')?;
                commands.push(String::new());
            }
            '|' => {
                rest.next_if_eq(&'|');
                commands.push(String::new());
            }
            ';' => commands.push(String::new()),
            _ if is_plain(c) => command.push(c),
            _ => return None,
        }
    }
    let mut commands: Vec<String> = commands.iter().map(|it| it.trim_end().to_owned()).collect();
    // One `;` may end the line.
    if commands.len() > 1 && line.trim_end().ends_with(';') {
        commands.pop();
    }
    commands.iter().all(|command| names_a_program(command)).then_some(commands)
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c)
}

fn names_a_program(command: &str) -> bool {
    let name = command.split(' ').next().unwrap_or_default();
    !name.is_empty() && name.chars().all(|c| is_plain(c) && c != '=') && !RESERVED.contains(&name)
}

#[cfg(test)]
mod tests {
    use kernel::approvals::fits;
    use proptest::{prelude::*, sample::select};

    use super::*;

    #[test]
    fn a_plain_line_is_taken_apart() {
        for (line, expected) in [
            ("git status --short", &["git status --short"][..]),
            ("  git   status\t", &["git status"]),
            ("cargo build && cargo test", &["cargo build", "cargo test"]),
            ("a||b;c|d", &["a", "b", "c", "d"]),
            ("ls ;", &["ls"]),
            ("grep 'a && b  $(c)' x.txt", &["grep 'a && b  $(c)' x.txt"]),
            ("git commit -m \"it's; done | really\"", &["git commit -m \"it's; done | really\""]),
            ("./run --level=3 a@b:c,d+e%f", &["./run --level=3 a@b:c,d+e%f"]),
            ("git' 'x", &["$ git' 'x"]),
            ("grep ä x", &["$ grep ä x"]),
            ("grep 'ä' x", &["grep 'ä' x"]),
        ] {
            assert_eq!(subjects(line), expected, "{line}");
        }
    }

    #[test]
    fn whatever_might_mean_more_is_one_subject() {
        for line in [
            "",
            " ",
            ";",
            "ls;;",
            "ls; ; ls",
            "ls &&",
            "&& ls",
            "| ls",
            "ls |& cat",
            "ls &",
            "git status $(rm x)",
            "git `rm x`",
            "git \"$(rm x)\"",
            "git \"`rm x`\"",
            "git $x",
            "git > x",
            "git < x",
            "git >> x",
            "git 2>&1",
            "cat <<E",
            "diff <(a) b",
            "(git status)",
            "{ git; }",
            "$git",
            "${git}",
            "A=1 git",
            "PATH=x git",
            "g* status",
            "git ?",
            "git [a]",
            "git {a,b}",
            "ls ~",
            "git\nrm x",
            "git\rrm",
            "git \\\n rm",
            "gi\\t",
            "\"git\" status",
            "'rm' x",
            "! git",
            "if git",
            "time git",
            "then rm x",
            "git 'open",
            "git \"open",
            "git #x",
            "git \u{a0}rm",
            "git\0rm",
            "git 'a\nb'",
            "git \"a\nb\"",
            "[[ a ]]",
            "[ a ]",
            "git;if x",
            "git \"!x\"",
            "git ^a^b",
        ] {
            assert_eq!(subjects(line), [format!("$ {line}")], "{line:?}");
        }
    }

    #[test]
    fn no_pattern_for_a_program_is_like_a_line_that_is_not_plain() {
        for pattern in ["git", "git *", "git*", "*/git *", "ls -l *"] {
            assert!(!fits(pattern, "$ git status > x"), "{pattern}");
        }
    }

    proptest! {
        /// What passes for plain has no sign left outside quotes that a shell would act upon.
        #[test]
        fn nothing_special_is_left_outside_quotes(
            pieces in prop::collection::vec(select(vec![
                "git", "rm", " ", "'", "\"", "$", "`", "\\", "&", "|", ";", "&&", "||", "(", ")", "{",
                "}", "<", ">", "*", "?", "[", "]", "~", "#", "!", "=", "\n", "\t", "if", "-x", "ä",
            ]), 0..12)
        ) {
            let line = pieces.concat();
            let Some(commands) = commands(&line) else { return Ok(()) };
            for command in commands {
                let mut quote = None;
                for c in command.chars() {
                    match quote {
                        None if c == '\'' || c == '"' => quote = Some(c),
                        None => prop_assert!(is_plain(c) || c == ' ', "{line:?} {c:?}"),
                        Some(open) if open == c => quote = None,
                        Some('"') => prop_assert!(!"$`\\!\n".contains(c), "{line:?}"),
                        Some(_) => prop_assert!(c != '\n', "{line:?}"),
                    }
                }
                prop_assert_eq!(quote, None);
                prop_assert!(command.starts_with(|c: char| is_plain(c)));
            }
        }
    }
}
