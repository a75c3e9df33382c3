//! A model at a provider.

use std::{collections::VecDeque, sync::Arc};

use futures::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use kernel::{
    ports::{Known, Model, ModelError, Piece},
    prompt::Prompt,
    update::{Failure, Usage},
};
use reqwest::{
    Method, Response,
    header::{ACCEPT, CONTENT_TYPE},
};

use crate::{
    config::Kind,
    http,
    pictures::{self, Pictures},
    price::{self, Price},
    provider::Provider,
    reader::Reader,
    wire::{self, Ask},
};

#[derive(Clone, Debug)]
pub struct Remote {
    pub provider: Arc<Provider>,
    /// The provider's own name for it.
    pub model: String,
    /// What the provider said it can be shown.
    pub listed_window: Option<u64>,
}

impl Model for Remote {
    fn window(&self) -> u64 {
        let known = self.provider.window.or(self.listed_window);
        known.unwrap_or_else(|| price::window(&self.model))
    }

    fn sees(&self) -> Option<bool> {
        price::vision(&self.model)
    }

    fn is_free(&self) -> bool {
        match self.price() {
            Some(price) => price.is_nothing(),
            None => self.provider.is_here(),
        }
    }

    fn stream(&self, prompt: &Prompt) -> BoxStream<'static, Result<Piece, ModelError>> {
        let asking = State::Asking(Box::new((self.clone(), prompt.clone())));
        stream::unfold(asking, State::next).boxed()
    }
}

/// How far an answer has come. Dropping it closes the connection.
enum State {
    Asking(Box<(Remote, Prompt)>),
    Listening(Box<Listening>),
    Over,
}

struct Listening {
    remote: Remote,
    /// None once everything has been heard.
    response: Option<Response>,
    reader: Reader,
    waiting: VecDeque<Piece>,
    failure: Option<ModelError>,
}

impl State {
    async fn next(self) -> Option<(Result<Piece, ModelError>, Self)> {
        let mut listening = match self {
            Self::Over => return None,
            Self::Listening(listening) => listening,
            Self::Asking(asking) => {
                let (remote, prompt) = *asking;
                match remote.ask(prompt).await {
                    Ok(response) => Box::new(Listening {
                        reader: Reader::new(remote.provider.kind),
                        remote,
                        response: Some(response),
                        waiting: VecDeque::new(),
                        failure: None,
                    }),
                    Err(error) => return Some((Err(remote.tell(error)), Self::Over)),
                }
            }
        };
        match listening.next().await? {
            Ok(piece) => Some((Ok(piece), Self::Listening(listening))),
            Err(error) => Some((Err(listening.remote.tell(error)), Self::Over)),
        }
    }
}

impl Listening {
    async fn next(&mut self) -> Option<Result<Piece, ModelError>> {
        loop {
            if let Some(piece) = self.waiting.pop_front() {
                return Some(Ok(self.remote.priced(piece)));
            }
            if let Some(error) = self.failure.take() {
                return Some(Err(error));
            }
            let mut response = self.response.take()?;
            let heard = match http::portion(&mut response, self.remote.provider.silence).await {
                Ok(Some(bytes)) => {
                    let heard = self.reader.push(&bytes);
                    if heard.1.is_none() && !self.reader.is_done() {
                        self.response = Some(response);
                    } else if heard.1.is_none() {
                        http::drain(response);
                    }
                    heard
                }
                Ok(None) => (Vec::new(), None),
                Err(error) => (Vec::new(), Some(error)),
            };
            self.waiting.extend(heard.0);
            self.failure = heard.1;
            if self.response.is_none() && self.failure.is_none() {
                let (rest, failure) = self.reader.finish();
                self.waiting.extend(rest);
                self.failure = failure;
            }
        }
    }
}

impl Remote {
    async fn ask(&self, prompt: Prompt) -> Result<Response, ModelError> {
        let (remote, paths) = (self.clone(), pictures::paths(&prompt));
        // Reading pictures and setting up connections would hold up everybody else.
        let prepared = tokio::task::spawn_blocking(move || {
            let mut request = remote.request()?;
            let (body, beta) = remote.body(&prompt, &Pictures::read(paths));
            if let Some(beta) = beta {
                request = remote.provider.with_beta(request, beta);
            }
            Ok(request.header(CONTENT_TYPE, "application/json").body(body))
        });
        let broke = |_| ModelError::new(Failure::Internal, "the request could not be prepared");
        let request = prepared.await.map_err(broke)??;
        http::send(request.header(ACCEPT, "text/event-stream"), self.provider.silence).await
    }

    fn request(&self) -> Result<reqwest::RequestBuilder, ModelError> {
        let post = |path: &[&str], query| self.provider.request(Method::POST, path, query);
        match self.provider.kind {
            Kind::Anthropic => post(&["messages"], None),
            Kind::OpenaiResponses => post(&["responses"], None),
            Kind::OpenaiChat => post(&["chat", "completions"], None),
            Kind::Gemini => {
                let action = format!("{}:streamGenerateContent", self.model);
                post(&["models", &action], Some("alt=sse"))
            }
        }
    }

    /// With what must be said on the envelope for it.
    fn body(&self, prompt: &Prompt, pictures: &Pictures) -> (String, Option<&'static str>) {
        let id = format!("{}/{}", self.provider.name, self.model);
        let ask = Ask {
            prompt,
            pictures,
            model: &self.model,
            known_as: [&id, &self.model],
            max_tokens: self.provider.max_tokens,
            effort: self.provider.effort,
            at_openai: self.provider.is_at("api.openai.com"),
            computer: self.provider.computer_use,
        };
        (wire::request(self.provider.kind, ask).to_string(), wire::beta(self.provider.kind, &ask))
    }

    pub fn price(&self) -> Option<Price> {
        self.provider
            .price
            .or_else(|| if self.provider.is_here() { None } else { price::price(&self.model) })
    }

    /// What can be told of it without asking it anything.
    pub fn known(&self) -> Known {
        let window = self.provider.window.or(self.listed_window);
        Known {
            window: window.or_else(|| price::known_window(&self.model)),
            vision: price::vision(&self.model),
            price: self.price().map(|price| kernel::ports::Price {
                input: price.input,
                output: price.output,
                cache_read: price.cache_read,
                cache_write: price.cache_write,
            }),
        }
    }

    /// What the provider says it costs counts; else what the table says.
    fn priced(&self, piece: Piece) -> Piece {
        let Piece::Usage(usage) = piece else { return piece };
        let cost = usage.cost.or_else(|| self.price().map(|price| price.of(&usage)));
        Piece::Usage(Usage { cost, ..usage })
    }

    fn tell(&self, error: ModelError) -> ModelError {
        self.provider.tell(&self.model, error)
    }
}
