//! What a device wants to be told, and when it is left alone.

use jiff::{Timestamp, civil::Time, tz::TimeZone};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What people are told of while they look elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Something waits for an answer.
    Question,
    /// Something that took long, or was planned, has ended.
    Task,
    /// Something was said that nobody asked for.
    Message,
    /// Any other answer.
    Answer,
}

#[expect(clippy::struct_excessive_bools, reason = "each is a switch that a person turns")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = PushSettings)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Settings {
    /// Questions that wait for an answer.
    pub questions: bool,
    /// Turns that took half a minute or had a plan, and runs of schedules.
    pub tasks: bool,
    /// What agents say of their own accord: turns that an app or another agent began.
    pub messages: bool,
    /// Every other answer.
    pub answers: bool,
    /// Only the kind of a message is told, and nothing of what it says.
    pub hide_content: bool,
    pub quiet: Option<Quiet>,
    /// Where the device is: `Europe/Berlin`. UTC if absent.
    #[schema(value_type = Option<String>)]
    pub time_zone: Option<String>,
}

/// Hours of the day in which nothing is sent; it comes afterwards, the newest of each session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = PushQuiet)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Quiet {
    /// `22:00`.
    #[schema(value_type = String, example = "22:00")]
    pub from: Hour,
    #[schema(value_type = String, example = "07:00")]
    pub to: Hour,
    /// Whether questions come all the same.
    #[serde(default)]
    pub except_questions: bool,
}

/// A time of day to the minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hour(Time);

impl TryFrom<String> for Hour {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let problem = || format!("`{text}` is no time of day such as 22:00");
        let (hours, minutes) = text.split_once(':').ok_or_else(problem)?;
        let number = |digits: &str| {
            let is_pair = digits.len() == 2 && digits.bytes().all(|it| it.is_ascii_digit());
            is_pair.then(|| digits.parse::<i8>().ok()).flatten()
        };
        let (hours, minutes) = number(hours).zip(number(minutes)).ok_or_else(problem)?;
        Time::new(hours, minutes, 0, 0).map(Self).map_err(|_| problem())
    }
}

impl From<Hour> for String {
    fn from(Hour(time): Hour) -> Self {
        format!("{:02}:{:02}", time.hour(), time.minute())
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            questions: true,
            tasks: true,
            messages: true,
            answers: false,
            hide_content: false,
            quiet: None,
            time_zone: None,
        }
    }
}

impl Settings {
    pub fn check(&self) -> Result<(), String> {
        let Some(name) = &self.time_zone else { return Ok(()) };
        let known = TimeZone::get(name).map(drop);
        known.map_err(|_| format!("`{name}` is no time zone such as Europe/Berlin"))
    }

    pub fn wants(&self, kind: Kind) -> bool {
        match kind {
            Kind::Question => self.questions,
            Kind::Task => self.tasks,
            Kind::Message => self.messages,
            Kind::Answer => self.answers,
        }
    }

    /// Until when such a message has to wait, if it has to.
    pub fn waits(&self, kind: Kind, now: Timestamp) -> Option<Timestamp> {
        let quiet = self.quiet.as_ref()?;
        if kind == Kind::Question && quiet.except_questions {
            return None;
        }
        let zone = self.time_zone.as_deref().and_then(|name| TimeZone::get(name).ok());
        let here = now.to_zoned(zone.unwrap_or(TimeZone::UTC));
        let (Hour(from), Hour(to), time) = (quiet.from, quiet.to, here.time());
        let over_night = from > to;
        let is_quiet =
            if over_night { time >= from || time < to } else { time >= from && time < to };
        if !is_quiet {
            return None;
        }
        let ends_tomorrow = over_night && time >= from;
        let day = if ends_tomorrow { here.date().tomorrow().ok()? } else { here.date() };
        let end = day.to_datetime(to).to_zoned(here.time_zone().clone()).ok()?.timestamp();
        // An hour that is left out of the day must not be waited for again and again.
        (end > now).then_some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet(from: &str, to: &str, except_questions: bool) -> Settings {
        let hour = |text: &str| Hour::try_from(text.to_owned()).unwrap();
        let quiet = Quiet { from: hour(from), to: hour(to), except_questions };
        let time_zone = Some("Europe/Berlin".to_owned());
        Settings { quiet: Some(quiet), time_zone, ..Settings::default() }
    }

    fn waits(settings: &Settings, kind: Kind, now: &str) -> Option<String> {
        settings.waits(kind, now.parse().unwrap()).map(|it| it.to_string())
    }

    #[test]
    fn the_night_is_quiet_where_the_device_is() {
        let night = quiet("22:00", "07:00", true);
        let morning = Some("2026-02-02T06:00:00Z".to_owned());
        for (now, until) in [
            ("2026-02-01T20:59:59Z", None),
            ("2026-02-01T21:00:00Z", morning.clone()),
            ("2026-02-02T00:00:00Z", morning.clone()),
            ("2026-02-02T05:59:59Z", morning),
            ("2026-02-02T06:00:00Z", None),
        ] {
            assert_eq!(waits(&night, Kind::Task, now), until, "{now}");
            assert_eq!(waits(&night, Kind::Question, now), None, "questions come all the same");
        }
        let noon = quiet("12:00", "14:30", false);
        let after = Some("2026-02-01T13:30:00Z".to_owned());
        assert_eq!(waits(&noon, Kind::Question, "2026-02-01T11:00:00Z"), after);
        assert_eq!(waits(&noon, Kind::Question, "2026-02-01T13:30:00Z"), None);
        let never = quiet("12:00", "12:00", false);
        assert_eq!(waits(&never, Kind::Task, "2026-02-01T11:00:00Z"), None);
    }

    #[test]
    fn a_night_in_which_clocks_change_ends_when_they_say_so() {
        let night = quiet("22:00", "02:30", false);
        // There is no half past two in that night.
        let end = Some("2026-03-29T01:30:00Z".to_owned());
        assert_eq!(waits(&night, Kind::Task, "2026-03-28T23:00:00Z"), end);
    }

    #[test]
    fn what_is_no_time_of_day_is_explained() {
        for text in ["", "22", "24:00", "7:00", "07:60", "-1:00", "07:00:00", "ab:cd"] {
            let problem = Hour::try_from(text.to_owned()).unwrap_err();
            assert_eq!(problem, format!("`{text}` is no time of day such as 22:00"));
        }
        assert_eq!(String::from(Hour::try_from("07:05".to_owned()).unwrap()), "07:05");
        let lost = Settings { time_zone: Some("Nowhere".to_owned()), ..Settings::default() };
        assert_eq!(lost.check(), Err("`Nowhere` is no time zone such as Europe/Berlin".to_owned()));
    }
}
