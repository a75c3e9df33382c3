//! Servers of models on the usual ports of this machine.

use std::{net::Ipv4Addr, time::Duration};

use futures::future;
use serde::Deserialize;

use super::{Found, Ports, local};
use crate::wire;

/// No list of models is longer.
const MOST_BYTES: usize = 1 << 20;

struct Server {
    name: &'static str,
    called: &'static str,
    port: u16,
    path: &'static str,
    models: fn(&[u8]) -> Option<Vec<String>>,
}

pub async fn look(ports: Ports, patience: Duration) -> Vec<Found> {
    let server = |name, called, port, path, models| Server { name, called, port, path, models };
    let servers = [
        server("ollama", "Ollama", ports.ollama, "/api/tags", tags),
        server("lmstudio", "LM Studio", ports.lm_studio, "/v1/models", list),
        server("llamacpp", "llama.cpp, or a server like it,", ports.llama_cpp, "/v1/models", list),
    ];
    // Without a proxy: this machine is nobody else's.
    let Ok(client) = wire::web().no_proxy().build() else { return Vec::new() };
    let found = servers.into_iter().map(|server| {
        let client = client.clone();
        async move {
            let asked = ask(&client, &server);
            let models = tokio::time::timeout(patience, asked).await.ok().flatten()?;
            Some(server.found(models))
        }
    });
    future::join_all(found).await.into_iter().flatten().collect()
}

async fn ask(client: &reqwest::Client, server: &Server) -> Option<Vec<String>> {
    let url = format!("http://{}:{}{}", Ipv4Addr::LOCALHOST, server.port, server.path);
    // Whatever is wrong with it, it is not what we are looking for.
    let mut answer = client.get(url).send().await.ok()?.error_for_status().ok()?;
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > MOST_BYTES {
            return None;
        }
    }
    (server.models)(&body)
}

impl Server {
    fn found(self, models: Vec<String>) -> Found {
        Found {
            what: format!("{} at {}:{}", self.called, Ipv4Addr::LOCALHOST, self.port),
            payer: "nobody: it runs on this machine".into(),
            provider: Some((self.name, local(self.port))),
            models,
        }
    }
}

/// As Ollama lists them.
fn tags(body: &[u8]) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Tags {
        models: Vec<Tag>,
    }
    #[derive(Deserialize)]
    struct Tag {
        name: String,
    }
    let Tags { models } = serde_json::from_slice(body).ok()?;
    Some(models.into_iter().map(|it| it.name).collect())
}

/// As everybody else does.
fn list(body: &[u8]) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct List {
        data: Vec<Model>,
    }
    #[derive(Deserialize)]
    struct Model {
        id: String,
    }
    let List { data } = serde_json::from_slice(body).ok()?;
    Some(data.into_iter().map(|it| it.id).collect())
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
        time::Instant,
    };

    use super::*;
    use crate::detect::{self, Surroundings};

    /// A server that answers every request like this, or takes it and says nothing.
    async fn serve(answer: Option<&'static str>) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let mut guests = Vec::new();
            while let Ok((mut guest, _)) = listener.accept().await {
                let mut request = [0; 1024];
                let heard = guest.read(&mut request).await.unwrap_or(0);
                if let Some(body) = answer.filter(|_| heard > 0) {
                    let length = body.len();
                    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
                    guest.write_all((head + body).as_bytes()).await.ok();
                }
                guests.push(guest);
            }
        });
        port
    }

    /// Nothing listens on this port, and nobody is given it.
    const CLOSED: u16 = 1;
    /// Only a fault waits for it.
    const LONG: Duration = Duration::from_secs(50);

    #[tokio::test]
    async fn servers_on_their_ports_are_found_with_their_models() {
        let ports = Ports {
            ollama: serve(Some(r#"{"models":[{"name":"llama3.2:3b"},{"name":"qwen3"}]}"#)).await,
            lm_studio: CLOSED,
            llama_cpp: serve(Some(r#"{"object":"list","data":[{"id":"smol.gguf"}]}"#)).await,
        };
        let found = look(ports, LONG).await;
        let server = |what: String, name, port, models: &[&str]| Found {
            what,
            payer: "nobody: it runs on this machine".into(),
            provider: Some((name, local(port))),
            models: models.iter().map(|&it| it.to_owned()).collect(),
        };
        let ollama = format!("Ollama at 127.0.0.1:{}", ports.ollama);
        let llama = format!("llama.cpp, or a server like it, at 127.0.0.1:{}", ports.llama_cpp);
        let expected = [
            server(ollama, "ollama", ports.ollama, &["llama3.2:3b", "qwen3"]),
            server(llama, "llamacpp", ports.llama_cpp, &["smol.gguf"]),
        ];
        assert_eq!(found, expected);
    }

    #[tokio::test]
    async fn another_server_on_such_a_port_is_not_taken_for_one_of_models() {
        for answer in ["<html>", "{}", r#"{"data":"x"}"#, r#"{"models":[]} x"#] {
            let port = serve(Some(answer)).await;
            let ports = Ports { ollama: port, lm_studio: port, llama_cpp: port };
            assert_eq!(look(ports, LONG).await, [], "{answer}");
        }
    }

    /// The clock stands still but for waits, so what it shows in the end is how long was waited.
    #[tokio::test(start_paused = true)]
    async fn silent_servers_are_not_waited_for_one_after_another() {
        let ports = Ports {
            ollama: serve(None).await,
            lm_studio: serve(None).await,
            llama_cpp: serve(None).await,
        };
        let variables = vec!["OPENAI_API_KEY".to_owned()];
        let begun = Instant::now();
        let found = detect::look(Surroundings { variables, path: Vec::new(), ports }).await;
        let waited = begun.elapsed();
        assert!(waited >= detect::PATIENCE, "they were not silent: {waited:?}");
        assert!(waited < Duration::from_millis(300), "{waited:?}");
        assert_eq!(found.len(), 1, "what answered is told all the same: {found:?}");
    }
}
