//! Long lists, a page at a time.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use rmcp::{ErrorData, model::PaginatedRequestParams};

/// How much of a list is told at once.
pub const PAGE: usize = 100;

/// What is said of a place in a list: everything after this key.
pub struct After(Option<String>);

impl After {
    pub fn read(params: Option<&PaginatedRequestParams>) -> Result<Self, ErrorData> {
        let Some(cursor) = params.and_then(|params| params.cursor.as_ref()) else {
            return Ok(Self(None));
        };
        let key = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok();
        match key.and_then(|key| String::from_utf8(key).ok()) {
            Some(key) => Ok(Self(Some(key))),
            None => Err(ErrorData::invalid_params("this cursor was not given out here", None)),
        }
    }

    /// Whether something with this key comes after it.
    pub fn covers(&self, key: &str) -> bool {
        self.0.as_deref().is_none_or(|after| key > after)
    }

    /// The next page of what is sorted by key, and where the one after that begins.
    pub fn page<T>(&self, sorted: Vec<(String, T)>) -> (Vec<T>, Option<String>) {
        let mut rest = sorted.into_iter().filter(|(key, _)| self.covers(key)).peekable();
        let (mut page, mut last) = (Vec::new(), None);
        while page.len() < PAGE
            && let Some((key, item)) = rest.next()
        {
            page.push(item);
            last = Some(key);
        }
        let more = rest.peek().is_some();
        (page, last.filter(|_| more).map(|key| BASE64_URL_SAFE_NO_PAD.encode(key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(cursor: Option<&str>) -> Result<After, ErrorData> {
        let params = PaginatedRequestParams::default().with_cursor(cursor.map(str::to_owned));
        After::read(Some(&params))
    }

    #[test]
    fn pages_follow_each_other_without_gap_or_repeat() {
        let list = || (0..250).map(|n| (format!("{n:03}"), n)).collect::<Vec<_>>();
        let (first, next) = at(None).unwrap().page(list());
        let (second, last) = at(next.as_deref()).unwrap().page(list());
        let (third, none) = at(last.as_deref()).unwrap().page(list());
        let sizes = [first.len(), second.len(), third.len()];
        assert_eq!((sizes, none), ([100, 100, 50], None));
        assert!(first.into_iter().chain(second).chain(third).eq(0..250));
    }

    #[test]
    fn a_cursor_outlives_the_thing_it_names() {
        let (_, next) = at(None).unwrap().page((0..150).map(|n| (format!("{n:03}"), n)).collect());
        let without = (0..150).filter(|n| *n != 99).map(|n| (format!("{n:03}"), n)).collect();
        assert_eq!(at(next.as_deref()).unwrap().page(without).0, (100..150).collect::<Vec<_>>());
    }

    #[test]
    fn a_strange_cursor_is_refused() {
        let refused = at(Some("?!")).err();
        let expected = ErrorData::invalid_params("this cursor was not given out here", None);
        assert_eq!(refused, Some(expected));
    }
}
