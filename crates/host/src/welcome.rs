//! What this machine has to answer with, made ready to be chosen.

use crate::{
    config::{Config, provider::Provider},
    detect::{self, Found, Surroundings},
};

/// Of each vendor, models that need not be asked for. Nobody is spoken to before one is chosen.
const MODELS: &[(&str, &[&str])] = &[
    ("anthropic", &["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-4-5"]),
    ("openai", &["gpt-5.4", "gpt-5.4-mini", "gpt-5-mini"]),
    ("gemini", &["gemini-2.5-flash", "gemini-2.5-flash-lite"]),
];

/// One thing that was found, and how it can be used.
#[derive(Debug, PartialEq)]
pub struct Mind {
    pub what: String,
    pub payer: String,
    pub provider: Option<String>,
    pub models: Vec<String>,
    pub hint: String,
}

/// The configuration with what was found besides, as far as its models are known.
pub async fn furnished(config: Config) -> Config {
    let found = detect::look(Surroundings::real()).await;
    with(config, &found)
}

fn with(mut config: Config, found: &[Found]) -> Config {
    let new = detect::unused(found, &config);
    let ready = |(name, provider): (&str, &Provider)| {
        let known = MODELS.iter().find(|(vendor, _)| *vendor == name);
        let models = known.map(|(_, models)| models.iter().map(|it| (*it).to_owned()).collect());
        let is_here = provider.api_key_env.is_none();
        (is_here || models.is_some())
            .then(|| (name.to_owned(), Provider { models, ..provider.clone() }))
    };
    let new: Vec<(String, Provider)> = new.into_iter().filter_map(ready).collect();
    config.providers.extend(new);
    config
}

/// What is there now, in the words of a house that was furnished like this.
pub async fn look(config: &Config) -> Vec<Mind> {
    let found = detect::look(Surroundings::real()).await;
    found.into_iter().map(|found| mind(found, config)).collect()
}

fn mind(Found { what, payer, provider, models }: Found, config: &Config) -> Mind {
    let Some((name, wanted)) = provider else {
        let (payer, hint) = match payer.split_once("; to be called, it needs ") {
            Some((payer, needed)) => {
                (payer.to_owned(), format!("it needs {needed}, then a restart"))
            }
            None => (payer, "restart Megaron, and it can be chosen".to_owned()),
        };
        return Mind { what, payer, provider: None, models, hint };
    };
    let provider = detect::name_of(name, &wanted, config);
    let hint = match provider {
        Some(_) => "it does not say what models it has; `megaron doctor` tells more",
        None if wanted.api_key_env.is_none() => "restart Megaron, and it can be chosen",
        None => "`megaron models detect --write` adds it to config.toml; then restart Megaron",
    };
    Mind { what, payer, provider, models: Vec::new(), hint: hint.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around() -> Surroundings {
        let ports = detect::Ports { ollama: 1, lm_studio: 1, llama_cpp: 1 };
        let variables = ["OPENAI_API_KEY", "OPENROUTER_API_KEY"].map(str::to_owned).into();
        Surroundings { variables, path: Vec::new(), ports }
    }

    #[tokio::test]
    async fn what_was_found_can_be_chosen_and_what_cannot_says_why() {
        let found = detect::look(around()).await;
        let config = with(Config::default(), &found);
        let names: Vec<&String> = config.providers.keys().collect();
        assert_eq!(names, ["openai"], "nobody knows without asking what OpenRouter has");
        let minds: Vec<Mind> = found.iter().map(|it| mind(it.clone(), &config)).collect();
        let providers: Vec<Option<&str>> = minds.iter().map(|it| it.provider.as_deref()).collect();
        assert_eq!(providers, [Some("openai"), None]);
        assert!(minds[1].hint.starts_with("`megaron models detect --write`"), "{minds:?}");
        assert_eq!(with(config.clone(), &found).providers, config.providers, "once is enough");
    }

    #[test]
    fn an_agent_that_lacks_something_says_what() {
        let agent = |payer: &str| Found {
            what: "the agent `codex`".into(),
            payer: payer.into(),
            provider: None,
            models: Vec::new(),
        };
        let lacking =
            mind(agent("its own sign-in; to be called, it needs `x`"), &Config::default());
        assert_eq!(
            (&*lacking.payer, &*lacking.hint),
            ("its own sign-in", "it needs `x`, then a restart")
        );
    }
}
