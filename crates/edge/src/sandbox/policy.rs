//! What a frame is allowed, as browsers are told: sandbox flags, features, and where it may load from.

/// What a frame may do besides showing something. There is none that would give it an origin, or
/// the window it sits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    Scripts,
    Forms,
    Popups,
    Modals,
    Downloads,
}

impl Flag {
    pub const ALL: [Self; 5] =
        [Self::Scripts, Self::Forms, Self::Popups, Self::Modals, Self::Downloads];

    fn name(self) -> &'static str {
        match self {
            Self::Scripts => "allow-scripts",
            Self::Forms => "allow-forms",
            Self::Popups => "allow-popups",
            Self::Modals => "allow-modals",
            Self::Downloads => "allow-downloads",
        }
    }
}

/// What a site says of itself, before anything of it is shown.
#[derive(Clone, Debug, Default)]
pub struct Face {
    pub title: String,
    pub flags: Vec<Flag>,
    /// Features of the browser, as the `allow` of a frame lists them.
    pub features: Vec<&'static str>,
    /// Whether scripts and styles may stand in its documents.
    pub inline: bool,
    /// Whether its scripts may make others out of text.
    pub eval: bool,
    /// Origins it may speak to.
    pub connects: Vec<String>,
    /// Origins it may load scripts, styles, pictures, fonts and sounds from.
    pub loads: Vec<String>,
    /// Origins it may frame.
    pub frames: Vec<String>,
}

impl Face {
    pub fn sandbox(&self) -> String {
        let names: Vec<&str> = self.flags.iter().map(|flag| flag.name()).collect();
        names.join(" ")
    }

    pub fn allow(&self) -> String {
        self.features.join("; ")
    }

    /// Nothing but what is at `own` and what was declared; framed by `ancestor` alone.
    pub fn policy(&self, own: &str, ancestor: &str) -> String {
        let loads = list(&self.loads);
        let inline = if self.inline { " 'unsafe-inline'" } else { "" };
        let eval = if self.eval { " 'unsafe-eval'" } else { "" };
        let frames = match list(&self.frames) {
            none if none.is_empty() => " 'none'".to_owned(),
            some => some,
        };
        format!(
            "default-src 'none'; script-src {own}{inline}{eval}{loads}; style-src {own}{inline}{loads}; \
             img-src {own} data: blob:{loads}; font-src {own} data:{loads}; \
             media-src {own} data: blob:{loads}; connect-src {own}{}; frame-src{frames}; \
             form-action {own}; base-uri 'none'; frame-ancestors {ancestor}; sandbox {}",
            list(&self.connects),
            self.sandbox(),
        )
    }
}

/// Those that name an origin and nothing else, each with a blank in front. Whatever could begin
/// another directive is left out.
fn list(sources: &[String]) -> String {
    let good = sources.iter().filter(|source| is_source(source));
    good.fold(String::new(), |list, source| list + " " + source)
}

fn is_source(text: &str) -> bool {
    let schemes = ["https://", "http://", "wss://", "ws://"];
    let Some(place) = schemes.iter().find_map(|it| text.strip_prefix(it)) else { return false };
    let plain = |it: u8| it.is_ascii_alphanumeric() || b"-._~:/*%".contains(&it);
    !place.is_empty() && place.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_loaded_that_was_not_declared() {
        let face = Face { flags: vec![Flag::Scripts, Flag::Forms], ..Face::default() };
        let expected = "default-src 'none'; script-src h:1/f/t/; style-src h:1/f/t/; \
            img-src h:1/f/t/ data: blob:; font-src h:1/f/t/ data:; \
            media-src h:1/f/t/ data: blob:; connect-src h:1/f/t/; frame-src 'none'; \
            form-action h:1/f/t/; base-uri 'none'; frame-ancestors http://h:0; \
            sandbox allow-scripts allow-forms";
        assert_eq!(face.policy("h:1/f/t/", "http://h:0"), expected);
    }

    #[test]
    fn declared_origins_are_added_and_anything_else_is_left_out() {
        let listed =
            |sources: &[&str]| list(&sources.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            listed(&["https://a.example", "wss://*.b.example:8443/x"]),
            " https://a.example wss://*.b.example:8443/x"
        );
        for hostile in [
            "*",
            "'unsafe-eval'",
            "data:",
            "https:",
            "https://",
            "https://a; script-src *",
            "https://a script-src",
            "https://a\r\nset-cookie: a",
            "https://a,https://b",
            "https://a'",
            "javascript://a",
        ] {
            assert_eq!(listed(&[hostile]), "", "{hostile}");
        }
    }
}
