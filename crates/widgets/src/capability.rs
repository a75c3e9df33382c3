//! What this host lets a view do, told in the words of either dialect.

use serde_json::{Map, Value, json};

use crate::dialect::Dialect;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisplayMode {
    Inline,
    Fullscreen,
    Pip,
}

impl DisplayMode {
    pub const ALL: [Self; 3] = [Self::Inline, Self::Fullscreen, Self::Pip];

    pub fn name(self) -> &'static str {
        match self {
            Self::Inline => "inline",
            Self::Fullscreen => "fullscreen",
            Self::Pip => "pip",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// What is offered; whatever is not named here is refused.
#[expect(clippy::struct_excessive_bools, reason = "each holds or not, whatever the others do")]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Capabilities {
    pub server_tools: bool,
    pub server_resources: bool,
    pub open_link: bool,
    pub download: bool,
    pub model_context: bool,
    /// Pictures in it reach the model.
    pub context_images: bool,
    pub message: bool,
    pub widget_tools: bool,
    pub logging: bool,
    pub sampling: bool,
    /// All, where nothing is said.
    pub display_modes: Option<Vec<DisplayMode>>,
    /// What the sandbox was granted, in the words of the specification.
    pub sandbox: Option<Value>,
}

impl Capabilities {
    /// Views of the seed understand their own keys and may look for the others; the published
    /// schema is closed, so that official views get theirs alone.
    pub fn to_value(&self, dialect: Dialect) -> Value {
        let mut told = self.official();
        if dialect == Dialect::Seed {
            told.extend(self.seed());
        }
        Value::Object(told)
    }

    fn seed(&self) -> Map<String, Value> {
        let flags = [
            ("serverToolProxy", self.server_tools),
            ("openLink", self.open_link),
            ("modelContextUpdate", self.model_context),
            ("widgetTools", self.widget_tools),
            ("logging", self.logging),
        ];
        let flags = flags.into_iter().filter(|(_, on)| *on);
        let mut told: Map<String, Value> =
            flags.map(|(name, _)| (name.to_owned(), Value::Bool(true))).collect();
        if let Some(modes) = &self.display_modes {
            told.insert("displayModes".into(), names(modes));
        }
        told
    }

    fn official(&self) -> Map<String, Value> {
        let spoken = json!({ "text": {}, "image": {} });
        let mut remembered = json!({ "text": {}, "structuredContent": {} });
        if self.context_images {
            remembered["image"] = json!({});
        }
        let changing = json!({ "listChanged": true });
        let offered = [
            ("openLinks", self.open_link, json!({})),
            ("downloadFile", self.download, json!({})),
            ("serverTools", self.server_tools, changing),
            ("serverResources", self.server_resources, json!({})),
            ("logging", self.logging, json!({})),
            ("updateModelContext", self.model_context, remembered),
            ("message", self.message, spoken),
            ("sampling", self.sampling, json!({})),
        ];
        let offered = offered.into_iter().filter(|(_, on, _)| *on);
        let mut told: Map<String, Value> =
            offered.map(|(name, _, value)| (name.to_owned(), value)).collect();
        told.extend(self.sandbox.clone().map(|sandbox| ("sandbox".to_owned(), sandbox)));
        told
    }

    pub fn shows(&self, mode: DisplayMode) -> bool {
        self.display_modes.as_ref().is_none_or(|modes| modes.contains(&mode))
    }
}

pub fn names(modes: &[DisplayMode]) -> Value {
    modes.iter().map(|mode| mode.name()).collect()
}
