//! Windows as this API spells them, in both directions.

use kernel::windows::{
    self, DockEdge, Hands, Opening, Pane, Renderer, Stance, Variant, WindowChange,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{error::ApiError, extract};

#[derive(Serialize, ToSchema)]
pub struct Windows<'a> {
    windows: Vec<Shown<'a>>,
    /// The scoped id of the one at the front.
    focused: Option<String>,
}

impl<'a> Windows<'a> {
    pub fn of(windows: &'a windows::Windows) -> Self {
        let focused = windows.focused().map(|pane| pane.window.key());
        Self { windows: windows.list().into_iter().map(Shown::of).collect(), focused }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Window)]
pub struct Shown<'a> {
    #[schema(example = "note")]
    window_id: &'a str,
    #[schema(example = "monitor-0")]
    monitor_id: &'a str,
    title: &'a str,
    content: ShownContent<'a>,
    bounds: ShownBounds,
    /// `standard`, `widget` or `panel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<&'static str>,
    /// `top` or `bottom`.
    #[serde(skip_serializing_if = "Option::is_none")]
    dock_edge: Option<&'static str>,
    frameless: bool,
    /// `normal`, `minimized` or `maximized`.
    #[schema(value_type = String, example = "normal")]
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_id: Option<&'a str>,
    /// Rises whenever it shows something else.
    generation: u64,
    /// `person` if the person has taken it over.
    #[serde(skip_serializing_if = "Option::is_none")]
    hands: Option<&'static str>,
    /// Whether an agent has done something in it, in the turn that goes on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    driven: bool,
}

#[derive(Serialize, ToSchema)]
#[schema(as = WindowContent)]
struct ShownContent<'a> {
    /// `markdown`, `html`, `text`, `table`, `image` or `iframe`.
    #[schema(value_type = String, example = "markdown")]
    renderer: &'static str,
    #[schema(value_type = Object)]
    data: &'a Value,
}

#[derive(Serialize, ToSchema)]
#[schema(as = WindowBounds)]
struct ShownBounds {
    x: i32,
    y: i32,
    w: u32,
    h: u32,
}

impl<'a> Shown<'a> {
    pub fn of(Pane { window, generation, hands, driven, .. }: &'a Pane) -> Self {
        let windows::Bounds { x, y, w, h } = window.bounds;
        let content = &window.content;
        Self {
            window_id: &window.id,
            monitor_id: &window.monitor,
            title: &window.title,
            content: ShownContent { renderer: content.renderer.name(), data: &content.data },
            bounds: ShownBounds { x, y, w, h },
            variant: window.variant.map(|variant| match variant {
                Variant::Standard => "standard",
                Variant::Widget => "widget",
                Variant::Panel => "panel",
            }),
            dock_edge: window.dock_edge.map(|edge| match edge {
                DockEdge::Top => "top",
                DockEdge::Bottom => "bottom",
            }),
            frameless: window.frameless,
            state: window.stance.name(),
            app_id: window.app.as_deref(),
            generation: *generation,
            hands: (*hands == Hands::Person).then_some("person"),
            driven: *driven,
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewWindow {
    #[serde(alias = "sessionId")]
    session: String,
    /// One of our own when absent.
    #[serde(default, deserialize_with = "extract::text")]
    window_id: Option<String>,
    /// `monitor-0` when absent.
    #[serde(default, deserialize_with = "extract::text")]
    monitor_id: Option<String>,
    /// The id when absent.
    #[serde(default)]
    title: String,
    #[serde(default, deserialize_with = "extract::object")]
    #[schema(required, nullable = false)]
    content: Option<Content>,
    #[serde(default, deserialize_with = "extract::object")]
    bounds: Option<NewBounds>,
    variant: Option<NewVariant>,
    dock_edge: Option<NewEdge>,
    #[serde(default)]
    frameless: bool,
    #[serde(default)]
    minimized: bool,
    #[serde(default, deserialize_with = "extract::text")]
    app_id: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewWindowContent)]
struct Content {
    #[schema(example = "markdown")]
    renderer: String,
    #[schema(value_type = Object)]
    data: Value,
}

/// In pixels; fractions are rounded.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewWindowBounds)]
struct NewBounds {
    x: f64,
    y: f64,
    w: f64,
    h: f64,
}

#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = WindowVariant)]
enum NewVariant {
    Standard,
    Widget,
    Panel,
}

#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = WindowEdge)]
enum NewEdge {
    Top,
    Bottom,
}

impl NewWindow {
    /// The session, and the window that is to be.
    pub fn read(self, id: impl FnOnce() -> String) -> Result<(String, Opening), ApiError> {
        let Some(content) = self.content else {
            let message = "content is required; expected {\"renderer\": string, \"data\": …}";
            return Err(ApiError::bad_request(message));
        };
        let opening = Opening {
            id: self.window_id.unwrap_or_else(id),
            monitor: self.monitor_id,
            title: self.title,
            content: content.read()?,
            bounds: self.bounds.map(|NewBounds { x, y, w, h }| windows::Bounds {
                x: pixel(x),
                y: pixel(y),
                w: size(w),
                h: size(h),
            }),
            variant: self.variant.map(|variant| match variant {
                NewVariant::Standard => Variant::Standard,
                NewVariant::Widget => Variant::Widget,
                NewVariant::Panel => Variant::Panel,
            }),
            dock_edge: self.dock_edge.map(|edge| match edge {
                NewEdge::Top => DockEdge::Top,
                NewEdge::Bottom => DockEdge::Bottom,
            }),
            frameless: self.frameless,
            stance: if self.minimized { Stance::Minimised } else { Stance::Normal },
            app: self.app_id,
        };
        Ok((self.session, opening))
    }
}

impl Content {
    fn read(self) -> Result<windows::Content, ApiError> {
        let Self { renderer, data } = self;
        let Some(renderer) = Renderer::parse(&renderer) else {
            let names = Renderer::ALL.map(Renderer::name).join(", ");
            let message = format!("no renderer is called `{renderer}`; expected one of {names}");
            return Err(ApiError::bad_request(message));
        };
        Ok(windows::Content { renderer, data })
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = WindowChange)]
pub struct Change {
    #[serde(alias = "sessionId")]
    pub session: String,
    /// Where the caller is, for an id that several monitors have.
    #[serde(default, deserialize_with = "extract::text")]
    pub monitor_id: Option<String>,
    title: Option<String>,
    /// What it shows from now on.
    #[serde(default, deserialize_with = "extract::object")]
    content: Option<Content>,
    /// How what it shows is added to.
    #[serde(default, deserialize_with = "extract::object")]
    operation: Option<Operation>,
    /// Where it is, or what of that has changed.
    #[serde(default, deserialize_with = "extract::object")]
    bounds: Option<SomeBounds>,
    /// Brings it to the front.
    #[serde(default)]
    focus: bool,
    state: Option<NewState>,
}

#[derive(Deserialize, ToSchema)]
#[serde(tag = "op", rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = WindowOperation)]
enum Operation {
    Append {
        #[schema(value_type = Object)]
        data: Value,
    },
    Prepend {
        #[schema(value_type = Object)]
        data: Value,
    },
    Replace {
        #[schema(value_type = Object)]
        data: Value,
    },
    /// Before the character of this number, or the row of a table, counted from 0.
    InsertAt {
        position: u64,
        #[schema(value_type = Object)]
        data: Value,
    },
    Clear,
}

impl From<Operation> for windows::Operation {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Append { data } => Self::Append { data },
            Operation::Prepend { data } => Self::Prepend { data },
            Operation::Replace { data } => Self::Replace { data },
            Operation::InsertAt { position, data } => Self::InsertAt { position, data },
            Operation::Clear => Self::Clear,
        }
    }
}

#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = WindowBoundsChange)]
struct SomeBounds {
    x: Option<f64>,
    y: Option<f64>,
    w: Option<f64>,
    h: Option<f64>,
}

#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = WindowState)]
enum NewState {
    Normal,
    Minimized,
    Maximized,
}

impl Change {
    /// What is to be done with a window that is there now.
    pub fn read(self, there: windows::Bounds) -> Result<Vec<WindowChange>, ApiError> {
        let mut changes = Vec::new();
        changes.extend(self.title.map(|title| WindowChange::Titled { title }));
        if let Some(content) = self.content {
            changes.push(WindowChange::Content { content: content.read()? });
        }
        let updated = |it: Operation| WindowChange::Updated { operation: it.into() };
        changes.extend(self.operation.map(updated));
        if let Some(SomeBounds { x, y, w, h }) = self.bounds {
            let (x, y) = (x.map_or(there.x, pixel), y.map_or(there.y, pixel));
            let (w, h) = (w.map_or(there.w, size), h.map_or(there.h, size));
            changes.extend([WindowChange::Moved { x, y }, WindowChange::Resized { w, h }]);
        }
        changes.extend(self.state.map(|state| match state {
            NewState::Normal => WindowChange::Restored,
            NewState::Minimized => WindowChange::Minimised,
            NewState::Maximized => WindowChange::Maximised,
        }));
        changes.extend(self.focus.then_some(WindowChange::Focused));
        if changes.is_empty() {
            let what = "title, content, operation, bounds, focus or state";
            let message = format!("there is nothing to change; expected one of {what}");
            return Err(ApiError::bad_request(message));
        }
        Ok(changes)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "too far is too far, and refused as such")]
fn pixel(number: f64) -> i32 {
    number.round() as i32
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "too large or small is refused as such"
)]
fn size(number: f64) -> u32 {
    number.round() as u32
}
