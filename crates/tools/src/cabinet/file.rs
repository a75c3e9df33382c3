//! Opens a file in the app for such files.

use std::io::{self, Read as _};

use kernel::{
    cabinet::{launch::Handed, opening::LARGEST},
    toolbox::{Call, Reply, Risk},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    agents::House,
    folder::Folder,
    typed::{Typed, shorten},
    windows::by,
    workshop::Workshop,
};

/// Opens a file of the session's folder in the app that opens such files, in a window that the person
/// sees. `app_open` tells which apps there are and what they open.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// The file, relative to the session's folder, or absolute inside it.
    path: String,
    /// The app that shall open it; the preferred one when absent.
    app_id: Option<String>,
}

pub struct FileOpen {
    pub house: House,
    pub workshop: Workshop,
}

impl Typed for FileOpen {
    type Input = Input;
    type Output = Reply;
    const NAME: &'static str = "file_open";
    // The file is only read, and what opens it is a window of the person's.
    const RISK: Risk = Risk::Reads;

    fn title(&self, input: &Input) -> String {
        format!("Opening {}", shorten(&input.path, 80))
    }

    async fn run(&self, Input { path, app_id }: Input, call: Call) -> Result<Reply, String> {
        let host = self.house.host()?;
        let named = path.clone();
        let bytes =
            self.workshop.within(call.cwd.clone(), move |folder| read(folder, &named)).await?;
        let file = Handed { path, bytes, app: app_id, tool_call: call.id.clone() };
        let opened = host.open_file(call.session.id(), file, by(&call.caller)).await;
        let taken = opened.map_err(|error| error.to_string())?;
        let text = format!(
            "It is open in the app \"{}\", in the window \"{}\". The app said: {}",
            taken.app, taken.window, taken.said
        );
        let data = Some(json!({ "appId": taken.app, "windowId": taken.window }));
        Ok(Reply { text, data, ..Reply::default() })
    }
}

fn read(folder: &Folder, path: &str) -> Result<Vec<u8>, String> {
    let explain = |error: io::Error| folder.explain(path, &error);
    let file = folder.open_file(&folder.relative(path)?).map_err(explain)?;
    let mut bytes = Vec::new();
    // One more than may be, so that it is known to be too large.
    file.take(LARGEST as u64 + 1).read_to_end(&mut bytes).map_err(explain)?;
    Ok(bytes)
}
