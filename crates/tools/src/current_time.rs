//! Tells the time.

use std::sync::Arc;

use jiff::{Timestamp, tz::TimeZone};
use kernel::{
    ports::Clock,
    toolbox::{Call, Risk},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::typed::Typed;

/// Tells the current date, time and day of the week.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// An IANA time zone such as `Europe/Berlin`. UTC if absent.
    timezone: Option<String>,
}

pub struct CurrentTime {
    pub clock: Arc<dyn Clock>,
}

impl Typed for CurrentTime {
    type Input = Input;
    type Output = String;
    const NAME: &'static str = "current_time";
    const RISK: Risk = Risk::Reads;
    const PARALLEL: bool = true;

    fn title(&self, _: &Input) -> String {
        "Looking at the clock".into()
    }

    async fn run(&self, input: Input, _: Call) -> Result<String, String> {
        tell(self.clock.now(), input.timezone.as_deref())
    }
}

fn tell(now: Timestamp, zone: Option<&str>) -> Result<String, String> {
    let zone = zone.filter(|zone| !zone.is_empty()).unwrap_or("UTC");
    let zone = TimeZone::get(zone).map_err(|_| {
        format!("no time zone is named `{zone}`; use an IANA name such as `Europe/Berlin`")
    })?;
    let here = now.to_zoned(zone);
    let name = here.time_zone().iana_name().unwrap_or("UTC");
    Ok(format!("{} ({name})", here.strftime("%Y-%m-%dT%H:%M:%S%:z, %A")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_told_where_one_is() {
        let now: Timestamp = "2026-03-01T23:30:00.5Z".parse().unwrap();
        let tell = |zone| tell(now, zone);
        let utc = Ok("2026-03-01T23:30:00+00:00, Sunday (UTC)".to_owned());
        assert_eq!(tell(None), utc);
        assert_eq!(tell(Some("")), utc);
        assert_eq!(tell(Some("utc")), utc);
        let berlin = "2026-03-02T00:30:00+01:00, Monday (Europe/Berlin)";
        assert_eq!(tell(Some("Europe/Berlin")).as_deref(), Ok(berlin));
        for unknown in ["Middle/Earth", "../../etc/passwd", "/etc/localtime", "\0", "CEST"] {
            let message = format!(
                "no time zone is named `{unknown}`; use an IANA name such as `Europe/Berlin`"
            );
            assert_eq!(tell(Some(unknown)), Err(message));
        }
    }
}
