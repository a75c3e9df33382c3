//! What an applet may ask of us, route by route. What is not here, it may not.

use axum::http::Method;
use kernel::gallery::Permission;

/// What a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing beyond the ticket.
    Nothing,
    /// To speak of the applet's own session.
    OwnSession,
    /// A yes of the person, who is asked once.
    Leave(Permission),
}

/// How a request is answered once it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As it is.
    Plain,
    /// For the applet's own state, whatever else was named.
    OwnState,
    /// In the applet's own name, whatever else was said.
    OwnMessage,
    /// In the applet's own session, whatever else was named.
    OwnSession,
    /// The parts of an applet, without opening it.
    Parts,
}

const FILES: Need = Need::Leave(Permission::FilesWrite);
const OPENS: Need = Need::Leave(Permission::AppsOpen);
const SCHEDULES: Need = Need::Leave(Permission::SchedulesWrite);

/// In a path `*` is one part, whatever it is, `**` one or more, and `@` the applet's own session.
const TABLE: &[(Method, &str, Need, Way)] = &[
    (Method::GET, "/api/applets", Need::Nothing, Way::Plain),
    (Method::POST, "/api/applets/*/load", Need::Nothing, Way::Parts),
    (Method::GET, "/api/applet/state", Need::Nothing, Way::OwnState),
    (Method::POST, "/api/applet/state", Need::Nothing, Way::OwnState),
    (Method::POST, "/api/sessions/@/messages", Need::OwnSession, Way::OwnMessage),
    (Method::POST, "/api/tmpfile", Need::Nothing, Way::Plain),
    (Method::GET, "/api/files", Need::Nothing, Way::Plain),
    (Method::GET, "/api/file", Need::Nothing, Way::Plain),
    (Method::GET, "/api/outputs/*", Need::Nothing, Way::Plain),
    (Method::GET, "/api/apps/openers", Need::Nothing, Way::Plain),
    (Method::POST, "/api/apps/open", OPENS, Way::OwnSession),
    (Method::GET, "/api/mcp/tools", Need::Nothing, Way::Plain),
    (Method::POST, "/api/mcp/read_file", Need::Nothing, Way::Plain),
    (Method::POST, "/api/mcp/list_directory", Need::Nothing, Way::Plain),
    (Method::GET, "/api/models", Need::Nothing, Way::Plain),
    (Method::GET, "/api/schedule", Need::Nothing, Way::Plain),
    (Method::GET, "/api/schedule/*", Need::Nothing, Way::Plain),
    (Method::GET, "/api/schedule/*/runs", Need::Nothing, Way::Plain),
    (Method::PUT, "/api/files/**", FILES, Way::Plain),
    (Method::POST, "/api/mcp/write_file", FILES, Way::Plain),
    (Method::PUT, "/api/schedule/*", SCHEDULES, Way::Plain),
    (Method::PATCH, "/api/schedule/*", SCHEDULES, Way::Plain),
    (Method::DELETE, "/api/schedule/*", SCHEDULES, Way::Plain),
    (Method::POST, "/api/schedule/*/run", SCHEDULES, Way::Plain),
    (Method::POST, "/api/shell", Need::Leave(Permission::Shell), Way::Plain),
];

/// What this request needs; `None` if no applet may make it. Paths are compared as they are written,
/// so that no other spelling gets in.
pub fn find(method: &Method, path: &str, session: Option<&str>) -> Option<(Need, Way)> {
    let method = if *method == Method::HEAD { &Method::GET } else { method };
    let row = TABLE.iter().find(|(of, like, ..)| of == method && fits(like, path, session))?;
    Some((row.2, row.3))
}

fn fits(pattern: &str, path: &str, session: Option<&str>) -> bool {
    let (mut parts, mut names) = (pattern.split('/').skip(1), path.split('/').skip(1));
    loop {
        match (parts.next(), names.next()) {
            (None, None) => return true,
            (Some("**"), Some(name)) => {
                return std::iter::once(name).chain(names).all(|it| !it.is_empty());
            }
            (Some("*"), Some(name)) if !name.is_empty() => (),
            (Some("@"), Some(name)) if Some(name) == session => (),
            (Some(part), Some(name)) if part == name && part != "@" => (),
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_listed_may_be_asked_for() {
        let own = "0190f5fe-7c00-7a00-8000-000000000001";
        let found = |method: Method, path: &str| find(&method, path, Some(own));
        let plain = |need: Need| Some((need, Way::Plain));
        assert_eq!(found(Method::GET, "/api/applets"), plain(Need::Nothing));
        assert_eq!(found(Method::HEAD, "/api/file"), plain(Need::Nothing));
        assert_eq!(found(Method::PUT, "/api/files/a/b.txt"), plain(FILES));
        assert_eq!(found(Method::DELETE, "/api/schedule/daily"), plain(SCHEDULES));
        let message = format!("/api/sessions/{own}/messages");
        assert_eq!(found(Method::POST, &message), Some((Need::OwnSession, Way::OwnMessage)));
        assert_eq!(find(&Method::POST, &message, None), None);
        for (method, path) in [
            (Method::GET, "/api/preferences"),
            (Method::POST, "/api/preferences"),
            (Method::GET, "/api/sessions"),
            (Method::GET, "/api/session"),
            (Method::POST, "/api/sessions"),
            (Method::POST, "/api/sessions/other/messages"),
            (Method::POST, "/api/sessions/@/messages"),
            (Method::POST, "/api/sessions//messages"),
            (Method::DELETE, "/api/sessions/other"),
            (Method::GET, "/api/approvals"),
            (Method::POST, "/api/approvals/x"),
            (Method::GET, "/api/grants"),
            (Method::GET, "/api/keys"),
            (Method::POST, "/api/socket-token"),
            (Method::POST, "/api/frames"),
            (Method::GET, "/api/log"),
            (Method::GET, "/api/apps"),
            (Method::POST, "/api/apps"),
            (Method::GET, "/api/windows"),
            (Method::POST, "/api/windows/note/ask"),
            (Method::POST, "/api/windows"),
            (Method::DELETE, "/api/windows/note"),
            (Method::GET, "/api/mcp/servers"),
            (Method::POST, "/api/mcp/servers"),
            (Method::PUT, "/api/files/"),
            (Method::PUT, "/api/files//etc"),
            (Method::DELETE, "/api/applets"),
            (Method::POST, "/api/applets//load"),
            (Method::GET, "/api/%61pplets"),
            (Method::GET, "/api/applets/"),
            (Method::GET, "/api//applets"),
            (Method::GET, "/API/applets"),
            (Method::GET, "/api/applets/../preferences"),
            (Method::GET, "/ws"),
            (Method::GET, "/v1/models"),
            (Method::POST, "/mcp"),
        ] {
            assert_eq!(found(method.clone(), path), None, "{method} {path}");
        }
    }
}
