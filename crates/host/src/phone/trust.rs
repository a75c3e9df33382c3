//! Which certificate is trusted: those that this machine trusts, or the one of a fingerprint and no other.

use std::{error::Error as StdError, io, sync::Arc};

use anyhow::Context as _;
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{
        CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
    },
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::lan::certificate;

/// For a server whose certificate this machine trusts.
pub fn known() -> anyhow::Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let trusting = builder(provider)?.with_platform_verifier();
    Ok(trusting
        .context("cannot read which certificates this machine trusts")?
        .with_no_client_auth())
}

/// For a server whose certificate has this SHA-256, however it is written.
pub fn pinned(fingerprint: &str) -> anyhow::Result<ClientConfig> {
    let wanted: String = fingerprint.chars().filter(char::is_ascii_hexdigit).collect();
    let odd = fingerprint.chars().any(|it| !it.is_ascii_hexdigit() && !matches!(it, ':' | ' '));
    anyhow::ensure!(
        wanted.len() == 64 && !odd,
        "--fingerprint must be a SHA-256 of 64 hexadecimal digits, as `megaron pair` tells it"
    );
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let algorithms = provider.signature_verification_algorithms;
    let verifier = Pinned { wanted: wanted.to_ascii_uppercase(), algorithms };
    Ok(builder(provider)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth())
}

/// Whether a connection failed because of who is at its other end.
pub fn is_distrust(error: &(dyn StdError + 'static)) -> bool {
    // What an error of I/O holds is none of its sources, and may be one itself.
    if let Some(inner) = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        return is_distrust(inner);
    }
    let tls = error.downcast_ref::<Error>();
    matches!(tls, Some(Error::InvalidCertificate(_) | Error::General(_)))
}

fn builder(
    provider: Arc<CryptoProvider>,
) -> Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>, Error> {
    ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()
}

/// Its name and its end do not matter: it is known.
#[derive(Debug)]
struct Pinned {
    wanted: String,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let found = certificate::fingerprint(end_entity);
        if found.replace(':', "") == self.wanted {
            return Ok(ServerCertVerified::assertion());
        }
        Err(Error::General(format!("the certificate is another one: its SHA-256 is {found}")))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
