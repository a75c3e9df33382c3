//! The script that widgets are lent to speak with their host: `window.FrontMcpBridge`.

use serde_json::{Value, json};

const SCRIPT: &str = include_str!("bridge.js");
const ADAPTERS: [&str; 3] = ["ext-apps", "openai", "generic"];

/// What a bridge is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bridge {
    adapters: Vec<String>,
    trusted: Vec<String>,
}

impl Default for Bridge {
    fn default() -> Self {
        Self { adapters: ADAPTERS.map(str::to_owned).to_vec(), trusted: Vec::new() }
    }
}

impl Bridge {
    /// The first of these ways to a host is taken that can be. Whom it trusts it knows by origin;
    /// without any, by the first word of whoever frames it.
    pub fn new(adapters: Vec<String>, trusted: Vec<String>) -> Result<Self, String> {
        if let Some(odd) = adapters.iter().find(|it| !ADAPTERS.contains(&it.as_str())) {
            let names = ADAPTERS.join(", ");
            return Err(format!("no adapter is called `{odd}`; there are: {names}"));
        }
        if let Some(odd) = trusted.iter().find(|origin| !is_origin(origin)) {
            return Err(format!("`{odd}` is no origin, such as https://claude.ai"));
        }
        let adapters = if adapters.is_empty() { Self::default().adapters } else { adapters };
        Ok(Self { adapters, trusted })
    }

    /// All of it, to stand in a file of its own or in a document.
    pub fn script(&self) -> String {
        let options = json!({ "adapters": self.adapters, "trustedOrigins": self.trusted });
        SCRIPT.replacen("__OPTIONS__", &inert(&options), 1)
    }
}

/// JSON that cannot end the script it stands in.
fn inert(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

fn is_origin(text: &str) -> bool {
    url::Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https") && url.origin().ascii_serialization() == text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn a_bridge_is_made_for_known_hosts_and_says_what_is_wrong_with_others() {
        let made = Bridge::new(texts(&["generic"]), texts(&["https://claude.ai"])).unwrap();
        let options = r#"{"adapters":["generic"],"trustedOrigins":["https://claude.ai"]}"#;
        assert!(made.script().contains(&format!("var options = {options};")));
        assert!(!made.script().contains("__OPTIONS__"));
        assert_eq!(Bridge::new(vec![], vec![]), Ok(Bridge::default()));
        let odd = "no adapter is called `x`; there are: ext-apps, openai, generic";
        assert_eq!(Bridge::new(texts(&["x"]), vec![]), Err(odd.into()));
        for odd in ["https://claude.ai/", "claude.ai", "*", "null", "javascript:alert(1)", ""] {
            let wrong = format!("`{odd}` is no origin, such as https://claude.ai");
            assert_eq!(Bridge::new(vec![], texts(&[odd])), Err(wrong));
        }
    }
}
