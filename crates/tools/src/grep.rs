//! Finds lines in files.

mod hits;

use std::{
    io,
    path::Path,
    sync::{Mutex, PoisonError, atomic::AtomicBool},
};

use cap_std::fs::File;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::{
    overrides::{Override, OverrideBuilder},
    types::{Types, TypesBuilder},
};
use kernel::toolbox::{Call, Risk};
use schemars::JsonSchema;
use serde::Deserialize;

use self::hits::{Hits, Kept, Show, Watched};
use crate::{
    folder::{Folder, Watch},
    search,
    typed::{Typed, shorten},
    walk::{Found, walk},
    workshop::Workshop,
};

const USUAL: usize = 200;
const MOST: usize = 2000;
const MOST_CONTEXT: usize = 20;
/// A line longer than this is not worth holding.
const HELD: usize = 64 * 1024 * 1024;
const REGEX_SIZE: usize = 10 * 1024 * 1024;

/// Finds lines in the text files of the session's folder that match a regular expression. Skips
/// binary files, what `.gitignore` and `.ignore` name, and what version control keeps for itself.
/// Does not follow links.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// A regular expression in the syntax of Rust, for one line.
    pattern: String,
    /// The directory or file to search, relative to the session's folder, or absolute inside it. The
    /// session's folder itself if absent.
    path: Option<String>,
    /// Only files named like this, such as `*.rs` or `src/**/*.{ts,js}`; with `!` in front, only
    /// others.
    glob: Option<String>,
    /// Only files of this type, such as `rust`, `py`, `js` or `md`.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Whether upper and lower case are the same. False if absent.
    ignore_case: Option<bool>,
    /// How many lines to show before and after each that matches; at most 20. None if absent.
    context: Option<usize>,
    /// Shows only the names of the files. False if absent.
    files_only: Option<bool>,
    /// Shows only how many lines match in each file. False if absent.
    count: Option<bool>,
    /// How many lines that match (or files) to show; at most 2000. 200 if absent.
    limit: Option<usize>,
}

pub struct Grep {
    pub workshop: Workshop,
}

impl Typed for Grep {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "grep";
    const RISK: Risk = Risk::Reads;
    const PARALLEL: bool = true;

    fn title(&self, input: &Input) -> String {
        let place = input.path.as_deref().filter(|path| !path.is_empty());
        let place = place.map(|path| format!(" in {}", shorten(path, 40)));
        format!("Searching for {}{}", shorten(&input.pattern, 40), place.unwrap_or_default())
    }

    async fn run(&self, input: Input, call: Call) -> Result<String, String> {
        let watch = Watch::default();
        let stop = watch.stop();
        self.workshop.within(call.cwd, move |folder| find(folder, &input, &stop)).await
    }
}

fn find(folder: &Folder, input: &Input, stop: &AtomicBool) -> Result<String, String> {
    let search = Search::new(input)?;
    let from = search::place(folder, input.path.as_deref())?;
    let given = input.path.as_deref().unwrap_or(".");
    let explain = |error: io::Error| folder.explain(given, &error);
    let kept = Mutex::new(Kept::new(search.show, search.most));
    let keep = |path: &Path, hits: Hits| {
        kept.lock().unwrap_or_else(PoisonError::into_inner).add(path.to_owned(), hits);
    };
    let is_file = from != Path::new("") && folder.dir.metadata(&from).map_err(explain)?.is_file();
    let unreadable = if is_file {
        let file = folder.open_file(&from).map_err(explain)?;
        if let Some(hits) = search.file(file, stop).map_err(explain)? {
            keep(&from, hits);
        }
        0
    } else {
        search::directory(folder, input.path.as_deref())?;
        let visit = |found: &Found| {
            if search.wants(found.path.strip_prefix(&from).unwrap_or(&found.path))
                && let Some(hits) = search.file(found.open()?, stop)?
            {
                keep(&found.path, hits);
            }
            Ok(())
        };
        walk(folder, &from, stop, &visit).map_err(explain)?
    };
    Ok(kept.into_inner().unwrap_or_else(PoisonError::into_inner).show(unreadable))
}

/// What is searched for, and how.
struct Search {
    matcher: RegexMatcher,
    builder: SearcherBuilder,
    names: Override,
    types: Types,
    show: Show,
    most: usize,
    /// Those not in use; each has a buffer that is worth keeping.
    idle: Mutex<Vec<(Searcher, RegexMatcher)>>,
}

impl Search {
    fn new(input: &Input) -> Result<Self, String> {
        let show = match (input.files_only == Some(true), input.count == Some(true)) {
            (true, true) => return Err("choose one of `files_only` and `count`".into()),
            (true, false) => Show::Files,
            (false, true) => Show::Counts,
            (false, false) => Show::Lines,
        };
        let context = input.context.unwrap_or_default().min(MOST_CONTEXT);
        let context = if show == Show::Lines { context } else { 0 };
        let mut builder = SearcherBuilder::new();
        builder
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(HELD))
            .line_number(show == Show::Lines)
            .before_context(context)
            .after_context(context);
        Ok(Self {
            matcher: matcher(input)?,
            builder,
            names: names(input.glob.as_deref())?,
            types: types(input.kind.as_deref())?,
            show,
            most: search::limit(input.limit, USUAL, MOST)?,
            idle: Mutex::default(),
        })
    }

    fn wants(&self, path: &Path) -> bool {
        !self.names.matched(path, false).is_ignore() && !self.types.matched(path, false).is_ignore()
    }

    /// What is in a file, if anything is and it is text.
    fn file(&self, file: File, stop: &AtomicBool) -> io::Result<Option<Hits>> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let (mut searcher, matcher) =
            taken.unwrap_or_else(|| (self.builder.build(), self.matcher.clone()));
        let mut hits = Hits::new(self.show, self.most);
        let reader = Watched { inner: file, stop };
        let searched = searcher.search_reader(&matcher, reader, &mut hits);
        idle().push((searcher, matcher));
        searched.map(|()| hits.any())
    }
}

fn matcher(input: &Input) -> Result<RegexMatcher, String> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .line_terminator(Some(b'\n'))
        .case_insensitive(input.ignore_case == Some(true))
        .size_limit(REGEX_SIZE)
        .dfa_size_limit(REGEX_SIZE);
    builder.build(&input.pattern).map_err(|error| format!("the pattern cannot be read: {error}"))
}

fn names(glob: Option<&str>) -> Result<Override, String> {
    let wrong = |error| format!("`glob` cannot be read: {error}");
    let mut builder = OverrideBuilder::new("");
    if let Some(glob) = glob.filter(|glob| !glob.is_empty()) {
        builder.add(glob).map_err(wrong)?;
    }
    builder.build().map_err(wrong)
}

fn types(kind: Option<&str>) -> Result<Types, String> {
    let Some(kind) = kind.filter(|kind| !kind.is_empty()) else { return Ok(Types::empty()) };
    let mut builder = TypesBuilder::new();
    builder.add_defaults().select(kind);
    builder.build().map_err(|_| {
        format!(
            "no type of file is named `{kind}`; use one such as `rust`, `py` or `md`, or `glob`"
        )
    })
}

#[cfg(test)]
mod tests;
