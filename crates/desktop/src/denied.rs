//! Programs whose windows get no input.

use kernel::desktop::{Code, DesktopError};

/// Whether a program is listed, by its whole name or how it begins.
pub fn is_among(listed: &[String], class: &str) -> bool {
    let class = class.to_lowercase();
    listed.iter().map(|it| it.to_lowercase()).any(|it| match it.strip_suffix('*') {
        Some(beginning) => class.starts_with(beginning),
        None => class == it,
    })
}

pub fn refused(class: &str) -> DesktopError {
    DesktopError::new(Code::Denied, format!("windows of {class} get no input"))
}
