//! What one view wants the model to know: one slot, replaced or added to.

use serde_json::{Map, Value};

use crate::bounds;

/// Kinds of pictures that models see.
pub const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// What the next turn is told. Each change has another version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelContext {
    pub version: u64,
    pub content: Option<Vec<Value>>,
    pub structured: Option<Value>,
}

impl ModelContext {
    pub fn is_empty(&self) -> bool {
        self.content.is_none() && self.structured.is_none()
    }

    /// The official way: whatever was there goes. `None` if that changes nothing.
    pub fn replaced(&self, content: Option<Vec<Value>>, structured: Option<Value>) -> Option<Self> {
        let content = content.filter(|content| !content.is_empty());
        let same = self.content == content && self.structured == structured;
        (!same).then(|| Self { version: self.version + 1, content, structured })
    }

    /// The seed's way: two objects are laid over each other, anything else takes the place.
    pub fn merged(&self, context: Value, merge: bool) -> Option<Self> {
        let merged = match (&self.structured, context) {
            (Some(Value::Object(old)), Value::Object(new)) if merge => {
                let mut both: Map<String, Value> = old.clone();
                both.extend(new);
                Value::Object(both)
            }
            (_, new) => new,
        };
        self.replaced(None, Some(merged))
    }

    /// How many bytes it takes, pictures apart.
    pub(crate) fn bytes(&self) -> usize {
        let mut rest = self.clone();
        for block in rest.content.iter_mut().flatten().filter(|block| is_picture(block)) {
            if let Some(data) = block.get_mut("data") {
                *data = Value::Null;
            }
        }
        bounds::bytes(&rest.to_value())
    }

    /// In the words of the protocol.
    pub fn to_value(&self) -> Value {
        let mut value = Map::new();
        value.extend(self.content.clone().map(|it| ("content".to_owned(), Value::Array(it))));
        value.extend(self.structured.clone().map(|it| ("structuredContent".to_owned(), it)));
        Value::Object(value)
    }
}

pub(crate) fn is_picture(block: &Value) -> bool {
    block.get("type").is_some_and(|kind| kind == "image")
}
