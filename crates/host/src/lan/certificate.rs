//! The certificate of this server: its own, made once and renewed in time, or one that was given.

use std::{
    fs,
    net::IpAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use jiff::{SignedDuration, Timestamp, Unit, tz::TimeZone};
use rcgen::{
    CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose, SanType,
};
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use sha2::{Digest as _, Sha256};

use crate::{place, wire::Tls};

const FILE: &str = "certificate.pem";
/// As long as phones bear.
const LASTS: SignedDuration = SignedDuration::from_hours(397 * 24);
/// It is renewed when less is left.
const SPARE: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Clocks differ.
const BEFORE: SignedDuration = SignedDuration::from_hours(24);
/// What stands in the file before its end, above the certificate.
const UNTIL: &str = "Valid until ";

/// What this machine is called, and by which addresses it is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    pub names: Vec<String>,
    pub addresses: Vec<IpAddr>,
}

impl Names {
    pub fn of_this_machine(others: &[String]) -> Self {
        let name = hostname::get().unwrap_or_default();
        let name = name.to_string_lossy().to_ascii_lowercase();
        let addresses = if_addrs::get_if_addrs().unwrap_or_default();
        let addresses = addresses.into_iter().map(|it| it.ip()).filter(|ip| !is_linked(*ip));
        Self::from(&name, addresses, others)
    }

    fn from(name: &str, addresses: impl Iterator<Item = IpAddr>, others: &[String]) -> Self {
        let bare = name.split('.').next().unwrap_or_default();
        let plain = |it: &char| it.is_ascii_alphanumeric() || *it == '-';
        let bare: String = bare.chars().filter(plain).take(63).collect();
        let mut names = vec!["localhost".to_owned()];
        if !bare.is_empty() && bare != "localhost" {
            names.extend([bare.clone(), format!("{bare}.local")]);
        }
        for name in others.iter().map(String::as_str).chain([name]) {
            let fits = !name.is_empty() && name.chars().all(|it| plain(&it) || it == '.');
            if fits && !names.iter().any(|it| it == name) {
                names.push(name.to_owned());
            }
        }
        let mut addresses: Vec<IpAddr> = addresses.collect();
        addresses.extend([IpAddr::from([127, 0, 0, 1]), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])]);
        addresses.sort();
        addresses.dedup();
        Self { names, addresses }
    }

    /// The one that it goes by in its network.
    pub fn local(&self) -> Option<&str> {
        self.names.iter().map(String::as_str).find(|name| name.strip_suffix(".local").is_some())
    }

    /// The addresses that others reach it by.
    pub fn outward(&self) -> impl Iterator<Item = IpAddr> {
        self.addresses.iter().copied().filter(|ip| !ip.is_loopback())
    }
}

/// Good on one cable alone.
fn is_linked(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    }
}

/// The one in the data directory; another is made if there is none, or it ends soon. A new address is no
/// reason: who has compared the fingerprint once need not do so again in another network.
pub fn own(data_dir: &Path, names: &Names, now: Timestamp) -> anyhow::Result<Tls> {
    let path = data_dir.join(FILE);
    let kept = fs::read_to_string(&path).ok().filter(|text| is_good(text, now));
    if let Some(tls) = kept.and_then(|text| read(text.as_bytes(), text.as_bytes()).ok()) {
        return Ok(tls);
    }
    let text = make(names, now)?;
    place::prepare(data_dir)?;
    place::write_private(&path, text.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    read(text.as_bytes(), text.as_bytes())
}

/// One that somebody else made.
pub fn given(cert: &PathBuf, key: &PathBuf) -> anyhow::Result<Tls> {
    let bytes = |path: &PathBuf, flag: &str| {
        fs::read(path).with_context(|| format!("cannot read {} ({flag})", path.display()))
    };
    let (cert, key) = (bytes(cert, "--tls-cert")?, bytes(key, "--tls-key")?);
    read(&cert, &key)
}

fn is_good(text: &str, now: Timestamp) -> bool {
    let until = text.lines().find_map(|line| line.strip_prefix(UNTIL));
    let until = until.and_then(|until| until.trim().parse::<Timestamp>().ok());
    until.is_some_and(|until| until.duration_since(now) > SPARE)
}

fn make(names: &Names, now: Timestamp) -> anyhow::Result<String> {
    let mut params = CertificateParams::new(names.names.clone())?;
    params.subject_alt_names.extend(names.addresses.iter().copied().map(SanType::IpAddress));
    let name = names.local().unwrap_or("localhost");
    params.distinguished_name.push(DnType::CommonName, format!("Megaron on {name}"));
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let until = (now + LASTS).round(Unit::Second)?;
    let date = |at: Timestamp| {
        let day = at.to_zoned(TimeZone::UTC).date();
        let part = |number: i8| u8::try_from(number).unwrap_or(1);
        rcgen::date_time_ymd(i32::from(day.year()), part(day.month()), part(day.day()))
    };
    (params.not_before, params.not_after) = (date(now - BEFORE), date(until));
    let key = KeyPair::generate()?;
    let cert = params.self_signed(&key)?;
    Ok(format!("{UNTIL}{until}\n{}{}", cert.pem(), key.serialize_pem()))
}

fn read(cert: &[u8], key: &[u8]) -> anyhow::Result<Tls> {
    let chain = CertificateDer::pem_slice_iter(cert).collect::<Result<Vec<_>, _>>();
    let chain = chain.context("the certificate cannot be read as PEM")?;
    let first = chain.first().context("there is no certificate in the PEM file")?;
    let fingerprint = fingerprint(first);
    let key = PrivateKeyDer::from_pem_slice(key).context("the key cannot be read as PEM")?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .context("the certificate and the key do not fit each other, or are of no use")?;
    Ok(Tls { config: Arc::new(config), fingerprint, strict: false })
}

/// The SHA-256 of a certificate, as browsers show it.
pub fn fingerprint(certificate: &[u8]) -> String {
    let digest = Sha256::digest(certificate);
    digest.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn names() -> Names {
        let lan = IpAddr::from([192, 168, 1, 20]);
        Names::from("Hall.home".to_ascii_lowercase().as_str(), [lan].into_iter(), &[])
    }

    #[test]
    fn a_machine_goes_by_its_names_and_addresses() {
        let Names { names, addresses } = names();
        assert_eq!(names, ["localhost", "hall", "hall.local", "hall.home"]);
        let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        assert_eq!(addresses, ["127.0.0.1", "192.168.1.20", "::1"]);
        let odd = Names::from("böse <b>", [].into_iter(), &["megaron.example".to_owned()]);
        assert_eq!(odd.names, ["localhost", "bseb", "bseb.local", "megaron.example"]);
    }

    #[test]
    fn a_certificate_is_made_once_kept_private_and_renewed_before_it_ends() {
        let dir = tempfile::tempdir().unwrap();
        let now: Timestamp = "2026-02-07T10:30:00Z".parse().unwrap();
        let first = own(dir.path(), &names(), now).unwrap().fingerprint;
        assert_eq!((first.len(), first.matches(':').count()), (95, 31));
        let mode = fs::metadata(dir.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let later = now + SignedDuration::from_hours(300 * 24);
        assert_eq!(own(dir.path(), &Names::default(), later).unwrap().fingerprint, first);
        let late = now + SignedDuration::from_hours(370 * 24);
        let second = own(dir.path(), &names(), late).unwrap().fingerprint;
        assert_ne!(second, first);
        // What cannot be read is made anew.
        fs::write(dir.path().join(FILE), "Valid until 2999-01-01T00:00:00Z\nnonsense").unwrap();
        assert_ne!(own(dir.path(), &names(), late).unwrap().fingerprint, second);
    }

    #[test]
    fn what_is_wrong_with_a_given_certificate_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = (dir.path().join("one.pem"), dir.path().join("other.pem"));
        let now: Timestamp = "2026-02-07T10:30:00Z".parse().unwrap();
        fs::write(&one, make(&names(), now).unwrap()).unwrap();
        fs::write(&other, make(&names(), now).unwrap()).unwrap();
        assert!(given(&one, &one).is_ok());
        let said = |cert: &PathBuf, key: &PathBuf| given(cert, key).unwrap_err().to_string();
        assert!(said(&one, &other).contains("do not fit each other"));
        assert!(said(&dir.path().join("none"), &one).contains("(--tls-cert)"));
        fs::write(&other, "nothing").unwrap();
        assert!(said(&other, &one).contains("no certificate"), "{}", said(&other, &one));
        assert!(said(&one, &other).contains("key cannot be read"));
    }
}
