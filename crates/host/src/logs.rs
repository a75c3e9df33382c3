//! Where log lines go and how they look.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::{EnvFilter, fmt};

use crate::cli::LogFormat;

/// From now on what is logged goes to stderr, if `MEGARON_LOG` or `RUST_LOG` or else `usual` lets it.
pub fn begin(format: LogFormat, usual: &str) -> anyhow::Result<()> {
    let lines =
        fmt().with_env_filter(filter(usual)?).with_writer(io::stderr).log_internal_errors(false);
    let begun = match format {
        LogFormat::Text => lines.with_ansi(in_colour()).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    begun.map_err(anyhow::Error::from_boxed)
}

/// Whether stderr is a terminal whose owner does not mind colour.
pub fn in_colour() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stderr().is_terminal() && !set("NO_COLOR") && !dumb
}

/// Others tell of every message, which is for those who ask to hear it.
fn filter(usual: &str) -> anyhow::Result<EnvFilter> {
    for name in ["MEGARON_LOG", "RUST_LOG"] {
        let Ok(wanted) = std::env::var(name) else { continue };
        if !wanted.trim().is_empty() {
            return EnvFilter::try_new(&wanted)
                .map_err(|error| anyhow::anyhow!("{name} is not a log filter: {error}"));
        }
    }
    Ok(EnvFilter::new(format!("{usual},rmcp=error")))
}
