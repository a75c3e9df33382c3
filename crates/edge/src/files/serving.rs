//! The bytes of a file: whole or in part, and never as a page of ours.

use std::{
    io::{self, Read as _, Seek as _, SeekFrom},
    ops::RangeInclusive,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderName, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use cap_std::fs::Metadata;
use httpdate::{fmt_http_date, parse_http_date};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Disk, LIMIT, Reach, Refused, RefusedBody, apart, is_nonsense, nonsense};
use crate::{App, error::ApiError, extract::Params};

#[derive(Deserialize, IntoParams)]
pub struct Which {
    /// Absolute, or relative to the workspace.
    #[serde(default)]
    path: String,
}

/// Read a file
///
/// At most 10 MB. Knows `Range`, `If-Range`, `If-None-Match` and `If-Modified-Since`.
#[utoipa::path(get, path = "/api/file", tag = "files", params(Which),
    responses((status = 200, content_type = "application/octet-stream", body = Vec<u8>),
        (status = 206, description = "The part that was asked for"),
        (status = 304, description = "It is what you have already"),
        (status = 400, body = RefusedBody), (status = 403, body = RefusedBody),
        (status = 404, body = RefusedBody), (status = 413, body = RefusedBody),
        (status = 416, body = RefusedBody)))]
pub async fn serve(
    State(app): State<Arc<App>>,
    reach: Reach,
    headers: HeaderMap,
    which: Result<Params<Which>, ApiError>,
) -> Result<Response, Refused> {
    let Params(Which { path }) = which?;
    if path.is_empty() {
        return Err(ApiError::bad_request("path parameter required").into());
    }
    apart(app, move |disk| answer(disk, reach, &path, &headers)).await
}

fn answer(disk: &Disk, reach: Reach, path: &str, asked: &HeaderMap) -> Result<Response, ApiError> {
    let roots = if reach == Reach::Everything { &disk.everything } else { &disk.shared };
    let found = disk.find(roots, path).map_err(|error| explain(&error))?;
    let outside = || ApiError::forbidden("Access denied: path not in allowed directories");
    let found = found.ok_or_else(outside)?;
    let (mut file, about) = found.file().map_err(|error| explain(&error))?;
    if about.len() > LIMIT as u64 {
        return Err(ApiError::too_large("File too large (max 10MB)"));
    }
    let version = Version::of(&about);
    let headers = [
        (header::CONTENT_TYPE, kind(Path::new(path)).to_owned()),
        (header::ETAG, version.tag.clone()),
        (header::LAST_MODIFIED, fmt_http_date(version.changed)),
        (header::ACCEPT_RANGES, "bytes".to_owned()),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    if version.is_known(asked) {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let range = text(asked, header::RANGE).filter(|_| version.is_meant(asked));
    let range = range.map_or(Asked::Whole, |it| part(it, about.len()));
    let part = match range {
        Asked::Whole => None,
        Asked::Part(part) => Some(part),
        Asked::Nothing => {
            let whole = [(header::CONTENT_RANGE, format!("bytes */{}", about.len()))];
            let error = ApiError::range_not_satisfiable(about.len());
            return Ok((whole, Refused(error)).into_response());
        }
    };
    let Some(part) = part else {
        let bytes = read(&mut file, 0, about.len()).map_err(|error| explain(&error))?;
        return Ok((headers, Body::from(bytes)).into_response());
    };
    let (first, last) = (*part.start(), *part.end());
    let bytes = read(&mut file, first, last - first + 1).map_err(|error| explain(&error))?;
    let range = [(header::CONTENT_RANGE, format!("bytes {first}-{last}/{}", about.len()))];
    Ok((StatusCode::PARTIAL_CONTENT, headers, range, Body::from(bytes)).into_response())
}

/// Another one as soon as a file was written to.
pub fn tag(about: &Metadata) -> String {
    Version::of(about).tag
}

/// Which state of a file it is, as caches tell them apart.
struct Version {
    tag: String,
    /// In whole seconds, as a header can say it.
    changed: SystemTime,
}

impl Version {
    fn of(about: &Metadata) -> Self {
        let changed = about.modified().map_or(UNIX_EPOCH, cap_std::time::SystemTime::into_std);
        let since = changed.duration_since(UNIX_EPOCH).unwrap_or_default();
        let tag = format!("\"{:x}-{:x}\"", about.len(), since.as_nanos());
        Self { tag, changed: UNIX_EPOCH + Duration::from_secs(since.as_secs()) }
    }

    /// Whether the caller has it already.
    fn is_known(&self, asked: &HeaderMap) -> bool {
        if let Some(tags) = text(asked, header::IF_NONE_MATCH) {
            return names(tags, &self.tag);
        }
        let since = text(asked, header::IF_MODIFIED_SINCE).and_then(|it| parse_http_date(it).ok());
        since.is_some_and(|since| self.changed <= since)
    }

    /// Whether a range of it is wanted, and not of an earlier state.
    fn is_meant(&self, asked: &HeaderMap) -> bool {
        let Some(meant) = text(asked, header::IF_RANGE) else { return true };
        meant == self.tag || parse_http_date(meant).is_ok_and(|it| it == self.changed)
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

fn read(file: &mut cap_std::fs::File, from: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub fn explain(error: &io::Error) -> ApiError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            ApiError::not_found("File not found")
        }
        io::ErrorKind::IsADirectory => ApiError::bad_request("Cannot serve directory"),
        _ if is_nonsense(error) => nonsense(),
        io::ErrorKind::PermissionDenied => {
            ApiError::forbidden(format!("Cannot read file: {error}"))
        }
        _ => ApiError::bad_request(format!("Cannot read file: {error}")),
    }
}

/// Whether a list of tags has this one; weakness does not matter for what is the same to the byte.
pub fn names(list: &str, tag: &str) -> bool {
    list.split(',').map(|it| it.trim().trim_start_matches("W/")).any(|it| it == tag || it == "*")
}

#[derive(Debug, PartialEq)]
enum Asked {
    Whole,
    Part(RangeInclusive<u64>),
    Nothing,
}

/// The one range that is asked for. Whatever is not understood, or asks for several, gets everything.
fn part(range: &str, length: u64) -> Asked {
    let Some((first, last)) = range.strip_prefix("bytes=").and_then(|it| it.trim().split_once('-'))
    else {
        return Asked::Whole;
    };
    let end = length.saturating_sub(1);
    let part = match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last => first..=last.min(end),
        (Ok(first), Err(_)) if last.is_empty() => first..=end,
        (Err(_), Ok(0)) if first.is_empty() => return Asked::Nothing,
        (Err(_), Ok(tail)) if first.is_empty() => length.saturating_sub(tail)..=end,
        _ => return Asked::Whole,
    };
    if length == 0 || *part.start() > end { Asked::Nothing } else { Asked::Part(part) }
}

fn kind(path: &Path) -> &'static str {
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "ico" => "image/x-icon",
        "txt" => "text/plain; charset=utf-8",
        "md" => "text/markdown; charset=utf-8",
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "ts" => "text/typescript; charset=utf-8",
        "json" => "application/json; charset=utf-8",
        "xml" => "application/xml",
        "pdf" => "application/pdf",
        "py" => "text/x-python; charset=utf-8",
        "rb" => "text/x-ruby; charset=utf-8",
        "go" => "text/x-go; charset=utf-8",
        "rs" => "text/x-rust; charset=utf-8",
        "java" => "text/x-java; charset=utf-8",
        "c" | "h" => "text/x-c; charset=utf-8",
        "cpp" => "text/x-c++; charset=utf-8",
        "sh" => "text/x-shellscript; charset=utf-8",
        "yaml" | "yml" => "text/yaml; charset=utf-8",
        "toml" => "text/toml; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_a_part_of_the_file_or_nothing() {
        for (range, length, expected) in [
            ("bytes=0-4", 10, Asked::Part(0..=4)),
            ("bytes=5-", 10, Asked::Part(5..=9)),
            ("bytes=-3", 10, Asked::Part(7..=9)),
            ("bytes=-30", 10, Asked::Part(0..=9)),
            ("bytes=8-100", 10, Asked::Part(8..=9)),
            ("bytes=10-", 10, Asked::Nothing),
            ("bytes=-0", 10, Asked::Nothing),
            ("bytes=0-", 0, Asked::Nothing),
            ("bytes=5-4", 10, Asked::Whole),
            ("bytes=0-1,3-4", 10, Asked::Whole),
            ("lines=0-1", 10, Asked::Whole),
            ("bytes=", 10, Asked::Whole),
            ("bytes=-", 10, Asked::Whole),
        ] {
            assert_eq!(part(range, length), expected, "{range} of {length}");
        }
    }
}
