//! Somebody who answers what the house asks, and signs in where it must be done, a few times.

use std::{sync::Arc, time::Duration};

use kernel::{
    host::Host,
    question::{About, Decision},
    servers::{Servers as _, Standing},
};
use mcp::client::House;
use url::Url;

use crate::errands::fill;

pub const CALLBACK: &str = "http://127.0.0.1:1/back";
/// Whoever is sent to sign in again and again gives up.
const PATIENCE: usize = 3;

pub struct Person {
    host: Arc<Host>,
    house: Arc<House>,
    browser: reqwest::Client,
}

impl Person {
    pub fn new(host: Arc<Host>, house: Arc<House>) -> Self {
        let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        Self { host, house, browser: browser.build().unwrap() }
    }

    /// Does whatever is asked, until that is too much.
    pub async fn attend(&self) -> String {
        let mut visited = Vec::new();
        loop {
            for url in self.answer().await.into_iter().chain(self.sign_in()) {
                if visited.contains(&url) {
                    continue;
                }
                if visited.len() == PATIENCE {
                    return "a sign-in was asked for once too often".into();
                }
                visited.push(url.clone());
                if let Err(refused) = self.visit(&url).await {
                    return refused;
                }
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Answers open questions; the addresses that some of them want visited.
    async fn answer(&self) -> Vec<String> {
        let mut urls = Vec::new();
        for waiting in self.host.questions().await.unwrap() {
            let id = waiting.question.id;
            match waiting.question.about {
                About::Visit { url, .. } => urls.push(url),
                About::Form { schema, .. } => {
                    let values = Decision::Answer(fill(&schema));
                    // It may have been taken back meanwhile.
                    self.host.decide(id, values, "the person").await.ok();
                }
                other => eprintln!("nobody answers {other:?}"),
            }
        }
        urls
    }

    fn sign_in(&self) -> Option<String> {
        self.house.list().into_iter().find_map(|server| match server.standing {
            Standing::NeedsSignIn { url } => Some(url),
            _ => None,
        })
    }

    async fn visit(&self, url: &str) -> Result<(), String> {
        let answer = self.browser.get(url).send().await.map_err(|error| error.to_string())?;
        let back = answer.headers().get("location").and_then(|place| place.to_str().ok());
        let back = back.ok_or_else(|| format!("{url} leads nowhere: {}", answer.status()))?;
        let back = Url::parse(back).map_err(|error| error.to_string())?;
        let query = back.query().unwrap_or_default().to_owned();
        self.house.signed_in(query).await.map(drop).map_err(|error| error.to_string())
    }
}
