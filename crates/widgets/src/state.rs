//! All that is known of one view.

use std::collections::HashMap;

use serde_json::{Map, Value};
use tokio::sync::oneshot;

use crate::{
    bounds::Pace, context::Size, dialect::Dialect, handler::Setup, life::Life,
    memory::ModelContext, peer::Peer, tools::WidgetTool,
};

#[expect(clippy::struct_excessive_bools, reason = "each holds or not, whatever the others do")]
pub(crate) struct State {
    pub dialect: Option<Dialect>,
    /// Answers what it is asked, although it speaks the seed.
    pub bridge: bool,
    /// Wants arguments as they come, which the seed asks for.
    pub streams: bool,
    pub offers_tools: bool,
    pub modes: Option<Vec<Value>>,
    /// Greeted, and not heard to be ready since.
    pub greeted: bool,
    pub pull: bool,
    pub life: Life,
    pub surroundings: Map<String, Value>,
    pub memory: ModelContext,
    pub kept: Option<Value>,
    pub tools: Vec<WidgetTool>,
    pub size: Size,
    pub peer: Peer,
    pub pace: Pace,
    /// Each with the way to take it back, until that is gone.
    pub flight: HashMap<String, Option<oneshot::Sender<()>>>,
    pub dropped: u64,
    /// The number of the newest thing that others may notice.
    pub announced: u64,
    pub closed: bool,
}

impl State {
    pub fn new(setup: &Setup) -> Self {
        Self {
            dialect: None,
            bridge: false,
            streams: false,
            offers_tools: false,
            modes: None,
            greeted: false,
            pull: false,
            life: Life::default(),
            surroundings: setup.surroundings.clone(),
            memory: setup.memory.clone(),
            kept: setup.kept.clone(),
            tools: Vec::new(),
            size: Size::default(),
            peer: Peer::default(),
            pace: Pace::default(),
            flight: HashMap::new(),
            dropped: 0,
            announced: 0,
            closed: false,
        }
    }

    /// Undecided counts as official.
    pub fn speaks(&self) -> Dialect {
        self.dialect.unwrap_or(Dialect::Official)
    }

    /// Whether it answers what it is asked.
    pub fn answers(&self) -> bool {
        self.speaks() == Dialect::Official || self.bridge
    }
}
