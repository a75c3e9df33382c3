//! One widget in one frame, alive for as long as that is.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use futures::future::BoxFuture;
use kernel::{
    toolbox::Caller,
    update::{Output, SessionId},
    widget::WidgetPage,
};
use serde_json::{Map, Value, json};
use tokio::task::AbortHandle;
use widgets::{Capabilities, DisplayMode, Handler, Setup};

use super::{Shown, context::House, site::WidgetSite};
use crate::{
    App,
    frames::tenant::{Offer, Speaker, Tenant},
    sandbox::site::Site,
};

/// As tall as a widget may be within a conversation.
const TALLEST: u32 = 800;

/// What the page says of itself when it asks for a widget.
pub type Around<'a> = BTreeMap<&'a str, &'a str>;

pub struct View {
    offer: Offer,
    site: Arc<dyn Site>,
    house: Arc<House>,
    handler: Arc<Handler>,
    /// Looks after what takes time; ends with the frame.
    attending: Mutex<Option<AbortHandle>>,
}

impl View {
    pub(super) fn new(
        app: &App,
        session: SessionId,
        shown: &Shown,
        page: WidgetPage,
        around: &Around<'_>,
    ) -> Self {
        let title = format!("{} ({})", shown.tool.name, shown.server);
        let (host, servers) = (app.host.clone(), app.servers.clone());
        let house = Arc::new(House::new(host, servers, session, shown.server.clone()));
        let setup = Setup {
            capabilities: Capabilities {
                server_tools: true,
                display_modes: Some(vec![DisplayMode::Inline]),
                sandbox: Some(json!({ "permissions": {}, "csp": granted(&page) })),
                ..Capabilities::default()
            },
            version: env!("CARGO_PKG_VERSION").to_owned(),
            surroundings: surroundings(app, shown, around),
            ..Setup::default()
        };
        let handler = Arc::new(Handler::new(house.clone(), setup));
        tell(&handler, shown);
        Self {
            offer: Offer {
                kind: super::KIND,
                id: shown.request.id.clone(),
                title: title.clone(),
                description: String::new(),
            },
            site: Arc::new(WidgetSite::new(&title, page)),
            house,
            handler,
            attending: Mutex::default(),
        }
    }

    fn attend(&self) {
        let mut attending = self.attending.lock().unwrap_or_else(PoisonError::into_inner);
        if attending.is_none() {
            let handler = self.handler.clone();
            *attending = Some(tokio::spawn(async move { handler.attend().await }).abort_handle());
        }
    }
}

/// What was asked for and what came of it, as it was recorded.
fn tell(handler: &Handler, shown: &Shown) {
    handler.give(shown.request.args.as_object().cloned().unwrap_or_default());
    let said = |text: &str| json!([{ "type": "text", "text": text }]);
    match &shown.output {
        Output::Done { text, data, .. } => {
            let mut result = data.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
            result.entry("content").or_insert_with(|| said(text));
            handler.finish(Value::Object(result));
        }
        Output::Failed { message } => {
            handler.finish(json!({ "content": said(message), "isError": true }));
        }
        Output::Interrupted => handler.cancel(Some("the turn ended first".to_owned())),
    }
}

/// What of its wishes a widget is granted, in the words of the specification.
fn granted(page: &WidgetPage) -> Value {
    let Some(domains) = &page.wants.domains else { return json!({}) };
    json!({
        "connectDomains": domains.connect,
        "resourceDomains": domains.resource,
        "frameDomains": domains.frame,
        "baseUriDomains": domains.base_uri,
    })
}

fn surroundings(app: &App, shown: &Shown, around: &Around<'_>) -> Map<String, Value> {
    let specs = app.host.ports.tools.specs(&Caller::Owner);
    let spec = specs.into_iter().find(|spec| spec.name == shown.request.name);
    let schema = spec.map_or_else(|| json!({ "type": "object" }), |spec| spec.schema);
    let tool = json!({
        "name": shown.tool.name,
        "description": shown.tool.description,
        "inputSchema": schema,
    });
    let mut told = Map::new();
    for name in ["theme", "locale", "timeZone"] {
        told.extend(around.get(name).map(|value| (name.to_owned(), Value::from(*value))));
    }
    told.insert("toolInfo".into(), json!({ "tool": tool }));
    told.insert("displayMode".into(), "inline".into());
    told.insert("availableDisplayModes".into(), json!(["inline"]));
    told.insert("containerDimensions".into(), json!({ "maxHeight": TALLEST }));
    told.insert("userAgent".into(), concat!("megaron/", env!("CARGO_PKG_VERSION")).into());
    told.insert("platform".into(), "web".into());
    told
}

impl Drop for View {
    fn drop(&mut self) {
        self.handler.close();
        let attending = self.attending.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(attending) = attending {
            attending.abort();
        }
    }
}

impl Tenant for View {
    fn offer(&self) -> &Offer {
        &self.offer
    }

    fn site(&self) -> Arc<dyn Site> {
        self.site.clone()
    }

    fn told(&self) -> Map<String, Value> {
        Map::from_iter([("widget".to_owned(), Value::Bool(true))])
    }

    fn shown<'a>(&'a self, frame: &'a Speaker) -> BoxFuture<'a, Result<(), String>> {
        self.house.speak_by(frame);
        self.attend();
        Box::pin(std::future::ready(Ok(())))
    }

    fn heard<'a>(
        &'a self,
        frame: &'a Speaker,
        message: Value,
    ) -> BoxFuture<'a, Result<(), String>> {
        let (handler, frame) = (self.handler.clone(), frame.clone());
        let mut answering = Box::pin(async move {
            if let Some(answer) = handler.handle(message).await {
                frame.tell(&answer);
            }
        });
        Box::pin(async move {
            // Begun here, so that messages are heeded in order; what takes time keeps nobody waiting.
            if futures::poll!(&mut answering).is_pending() {
                tokio::spawn(answering);
            }
            Ok(())
        })
    }
}
