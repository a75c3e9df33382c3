use super::*;

fn built(change: impl Fn(&mut ProviderSettings)) -> Result<Provider, SettingsError> {
    let mut settings = ProviderSettings::new(Kind::Anthropic);
    change(&mut settings);
    let env = |name: &str| name.ends_with("_API_KEY").then(|| "sk-secret".to_owned());
    Provider::new("house", settings, &env)
}

#[test]
fn a_vendor_needs_no_more_than_its_kind() {
    let provider = built(|_| ()).unwrap();
    assert_eq!(provider.base_url.as_str(), "https://api.anthropic.com/v1");
    assert_eq!(provider.payer(), "your Anthropic account");
    assert_eq!(provider.silence, Duration::from_mins(1));
    let Key::Known { secret, from } = &provider.key else { unreachable!() };
    assert_eq!((secret.expose(), from.as_str()), ("sk-secret", "ANTHROPIC_API_KEY"));
}

#[test]
fn an_address_may_leave_out_the_usual_place() {
    let cases = [
        (Kind::OpenaiChat, "http://localhost:11434", "http://localhost:11434/v1"),
        (Kind::OpenaiChat, "http://[::1]:8080/", "http://[::1]:8080/v1"),
        (Kind::Gemini, "https://g.example", "https://g.example/v1beta"),
        (Kind::OpenaiChat, "https://r.example/api/v1/", "https://r.example/api/v1/"),
    ];
    for (kind, given, expected) in cases {
        let provider = built(|settings| {
            settings.kind = kind;
            settings.base_url = Some(given.into());
        });
        let provider = provider.unwrap();
        assert_eq!(provider.base_url.as_str(), expected);
        assert!(matches!(provider.key, Key::None), "a key for one place is not sent to another");
        let here = expected.starts_with("http://");
        let payer = if here { "nobody: it runs on this machine" } else { "your account at " };
        assert!(provider.payer().starts_with(payer), "{}", provider.payer());
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    type Change = fn(&mut ProviderSettings);
    let cases: [(Change, SettingsError); 9] = [
        (|it| it.base_url = Some("ftp://x".into()), SettingsError::BaseUrl("ftp://x".into())),
        (|it| it.base_url = Some("nonsense".into()), SettingsError::BaseUrl("nonsense".into())),
        (|it| it.silence_seconds = Some(0.0), SettingsError::Silence),
        (|it| it.silence_seconds = Some(f64::NAN), SettingsError::Silence),
        (|it| it.max_tokens = Some(0), SettingsError::Zero("max_tokens")),
        (|it| it.price = Some(Price::new(1.0, -1.0)), SettingsError::Price),
        (|it| it.proxy = Some("::".into()), SettingsError::Proxy),
        (
            |it| drop(it.headers.insert("a b".into(), "c".into())),
            SettingsError::Header("a b".into()),
        ),
        (
            |it| {
                it.api_key_env = Some("A".into());
                it.api_key_file = Some("b".into());
            },
            SettingsError::TwoKeys,
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(built(change).unwrap_err(), expected);
    }
    let unnamed = Provider::new("a/b", ProviderSettings::new(Kind::Gemini), &|_| None);
    assert_eq!(unnamed.unwrap_err(), SettingsError::Name);
}

#[test]
fn a_login_in_an_address_is_hidden_in_every_form() {
    let provider = built(|settings| {
        settings.proxy = Some("http://me:hush%21hush@proxy.example:3128".into());
        settings.base_url = Some("https://you:quiet-please@models.example".into());
    });
    let basic = STANDARD.encode("me:hush!hush");
    let said = format!("hush!hush hush%21hush {basic} quiet-please");
    assert_eq!(provider.unwrap().clean(&said), "[key] [key] [key] [key]");
    let error = built(|settings| settings.base_url = Some("ftp://me:hush@x".into())).unwrap_err();
    assert_eq!(error, SettingsError::BaseUrl("(hidden)".into()));
}

#[test]
fn a_key_that_another_found_is_used_or_its_absence_explained() {
    let with = |found: Result<&str, String>| {
        let provider = built(|settings| {
            settings.api_key = Some(Given::new(found.clone(), "the keyring"));
        });
        provider.unwrap()
    };
    let Key::Known { secret, from } = &with(Ok("sk-kept\n")).key else { unreachable!() };
    assert_eq!((secret.expose(), from.as_str()), ("sk-kept", "the keyring"));
    let problem = with(Err("it is locked".into())).keyless().unwrap();
    assert_eq!(problem.what, "has no key: it is locked");
    let both = built(|settings| {
        settings.api_key = Some(Given::new(Ok("sk-kept"), "the keyring"));
        settings.api_key_env = Some("X".into());
    });
    assert_eq!(both.unwrap_err(), SettingsError::TwoKeys);
}
