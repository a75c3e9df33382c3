//! What a view tells without wanting an answer, and asking it for its tools.

use serde_json::{Map, Value};

use crate::{
    bounds,
    capability::DisplayMode,
    context::{LogEntry, LogLevel, Record, Size},
    dialect::Told,
    handler::Handler,
    state::State,
    tools::WidgetTool,
};

/// So many pages of tools are read.
const PAGES: usize = 16;

impl Handler {
    pub(crate) async fn heed(&self, told: Told, params: Map<String, Value>) {
        match told {
            Told::Ready => {
                let first = {
                    let state = self.state();
                    state.greeted || !state.life.is_ready()
                };
                if first {
                    self.begin();
                }
            }
            Told::Sized => self.resize(Size::read(&params)),
            Told::WantsTeardown => {
                if self.context.ports().close {
                    // It was a wish; nobody waits to hear what became of it.
                    self.context.close(None).await.ok();
                }
            }
            Told::Logged => self.note(&params),
            Told::ToolsChanged => {
                let mut state = self.state();
                state.pull = state.offers_tools && state.answers() && state.life.is_ready();
                drop(state);
                self.wake();
            }
            Told::Cancelled => {
                if let Some(id) = params.get("requestId") {
                    self.take_back(id);
                }
            }
            Told::Kept => self.keep_for(params),
            // Nothing we ask of views is told by halves.
            Told::Progressed => (),
        }
    }

    /// What a view wants to find again when it is shown anew: an object, no larger than what it tells
    /// the model.
    fn keep_for(&self, mut params: Map<String, Value>) {
        let most = self.setup.limits.context_bytes;
        let kept = params.remove("state").filter(Value::is_object);
        let Some(kept) = kept.filter(|kept| bounds::bytes(kept) <= most) else {
            let why = format!("widget-state: state: expected an object of at most {most} bytes");
            self.state().dropped += 1;
            return self.context.record(Record::Dropped { why });
        };
        {
            let mut state = self.state();
            if state.kept.as_ref() == Some(&kept) {
                return;
            }
            state.kept = Some(kept.clone());
        }
        self.context.keep(kept);
    }

    /// A size that is not a new one changes nothing, or two who measure each other would never end.
    pub(super) fn resize(&self, size: Size) {
        let size = {
            let mut state = self.state();
            let size = size.within(&state.surroundings);
            if size == state.size || size == Size::default() {
                return;
            }
            state.size = size;
            size
        };
        self.context.resize(size);
    }

    fn note(&self, params: &Map<String, Value>) {
        let level = params.get("level").and_then(Value::as_str).and_then(LogLevel::parse);
        let Some(level) = level.filter(|_| self.setup.capabilities.logging) else {
            let why = "notifications/message: level: expected one of the eight of syslog";
            self.context.record(Record::Dropped { why: why.into() });
            return;
        };
        let logger = params.get("logger").and_then(Value::as_str).map(str::to_owned);
        let data = params.get("data").cloned();
        self.context.log(LogEntry { level, logger, message: None, data });
    }

    /// Asks for all its tools.
    pub(crate) async fn pull(&self) {
        let mut tools: Vec<WidgetTool> = Vec::new();
        let mut params = Map::new();
        for _ in 0..PAGES {
            let page = match self.list(params.clone()).await {
                Ok(page) => page,
                Err(error) => {
                    let why = format!("its tools cannot be listed: {error}");
                    return self.context.record(Record::Dropped { why });
                }
            };
            for listed in page.get("tools").and_then(Value::as_array).into_iter().flatten() {
                self.add(&mut tools, listed);
            }
            let Some(cursor) = page.get("nextCursor").filter(|it| it.is_string()) else { break };
            params.insert("cursor".into(), cursor.clone());
        }
        let all = {
            let mut state = self.state();
            state.tools = tools;
            state.tools.clone()
        };
        self.context.tools_changed(all);
    }

    fn add(&self, tools: &mut Vec<WidgetTool>, listed: &Value) {
        let most = self.setup.limits.tools;
        match WidgetTool::read(listed) {
            Ok(tool) if tools.len() < most => {
                tools.retain(|known| known.name != tool.name);
                tools.push(tool);
            }
            Ok(_) => {
                let why = format!("a view may have {most} tools at most");
                self.context.record(Record::Dropped { why });
            }
            Err(why) => self.context.record(Record::Dropped { why }),
        }
    }
}

impl Size {
    /// What is no length is left out.
    pub(super) fn read(params: &Map<String, Value>) -> Self {
        let side = |name: &str| {
            let side = params.get(name).and_then(Value::as_f64);
            side.filter(|side| side.is_finite() && *side >= 0.0)
        };
        let (width, height) = (side("width"), side("height"));
        Self { width, height, aspect: side("aspectRatio").filter(|ratio| *ratio > 0.0) }
    }

    /// No larger than there is room.
    fn within(mut self, surroundings: &Map<String, Value>) -> Self {
        let room = surroundings.get("containerDimensions");
        let most = |name: &str| room.and_then(|room| room.get(name)).and_then(Value::as_f64);
        let least = |side: f64, most: Option<f64>| most.map_or(side, |most| side.min(most));
        self.height = self.height.map(|height| least(height, most("maxHeight")));
        self.width = self.width.map(|width| least(width, most("maxWidth")));
        self
    }
}

impl State {
    /// How the view is shown.
    pub(super) fn shown(&self) -> DisplayMode {
        let name = self.surroundings.get("displayMode").and_then(Value::as_str);
        name.and_then(DisplayMode::parse).unwrap_or(DisplayMode::Inline)
    }
}
