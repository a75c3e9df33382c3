//! Tells how the person is pointed to an applet.

use kernel::{
    gallery::Applet,
    toolbox::{Call, Risk},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    agents::House,
    typed::{Typed, shorten},
};

/// Tells which applets there are, what each is for, and how to link to it so that the person can
/// open it with one click.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// One applet; all when absent.
    slug: Option<String>,
}

pub struct AppletUsage {
    pub house: House,
}

impl Typed for AppletUsage {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "caco_applet_usage";
    const RISK: Risk = Risk::Reads;
    const PARALLEL: bool = true;

    fn title(&self, input: &Input) -> String {
        match &input.slug {
            Some(slug) => format!("Looking up the applet {}", shorten(slug, 40)),
            None => "Looking up the applets".to_owned(),
        }
    }

    async fn run(&self, Input { slug }: Input, _: Call) -> Result<String, String> {
        let list = self.house.host()?.ports.gallery.list().await;
        if list.is_empty() {
            return Ok("There are no applets; caco_applet_howto tells how one is made.".into());
        }
        let Some(slug) = slug else {
            let told: Vec<String> = list.iter().map(described).collect();
            return Ok(format!(
                "Link to an applet like this, with the values in place of <…>, encoded as in any \
                 address:\n\n{}",
                told.join("\n\n")
            ));
        };
        let found = list.iter().find(|applet| applet.slug == slug);
        found.map(described).ok_or_else(|| {
            let slugs: Vec<&str> = list.iter().map(|applet| applet.slug.as_str()).collect();
            format!("Applet \"{slug}\" not found; there are {}", slugs.join(", "))
        })
    }
}

fn described(applet: &Applet) -> String {
    let mut lines = vec![format!("## {} ({})", applet.name, applet.slug)];
    lines.extend(applet.purpose.clone().or_else(|| applet.description.clone()));
    lines.push(format!("Link: {}", link(applet)));
    for (heading, required) in [("Required", true), ("Optional", false)] {
        let params = applet.params.iter().filter(|(_, it)| is_required(it) == required);
        lines.extend(params.map(|(name, it)| format!("{heading} parameter {name}: {}", about(it))));
    }
    let schema = &applet.state_schema;
    lines.extend(schema.get.as_ref().map(|it| format!("It tells (get_applet_state): {it}")));
    lines.extend(schema.set.as_ref().map(|it| format!("It hears (set_applet_state): {it}")));
    lines.join("\n")
}

fn link(applet: &Applet) -> String {
    let params = applet.params.keys().map(|name| format!("&{name}=<{name}>"));
    format!("[{}](/?applet={}{})", applet.name, applet.slug, params.collect::<String>())
}

fn is_required(param: &Value) -> bool {
    param.get("required").and_then(Value::as_bool).unwrap_or_default()
}

/// The text itself, or that of an object.
fn about(param: &Value) -> &str {
    param.as_str().or_else(|| param.get("description")?.as_str()).unwrap_or("no description")
}
