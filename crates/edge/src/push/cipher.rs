//! Seals a message for one browser, so that whoever carries it cannot read it: RFC 8291 over RFC 8188.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey},
    agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral},
    hkdf::{HKDF_SHA256, KeyType, Salt},
    rand::{SecureRandom as _, SystemRandom},
};

/// The most that fits into the one record that every push service carries.
pub const MOST_BYTES: usize = 3 << 10;
const RECORD_BYTES: u32 = 4096;
/// What follows the text of the last record.
const LAST: u8 = 2;
const POINT_BYTES: usize = 65;
const SALT_BYTES: usize = 16;

/// Whom a message is for: what the browser made for its subscription.
#[derive(Clone)]
pub struct Recipient {
    point: [u8; POINT_BYTES],
    secret: [u8; 16],
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CipherError {
    #[error("keys.p256dh must be a point of P-256 in base64url: 65 bytes that begin with 4")]
    Point,
    #[error("keys.auth must be 16 bytes in base64url")]
    Secret,
    #[error("the message is longer than {MOST_BYTES} bytes")]
    TooLong,
    #[error("no random bytes can be had")]
    Chance,
}

impl Recipient {
    /// Both as browsers write them.
    pub fn read(point: &str, secret: &str) -> Result<Self, CipherError> {
        let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
        let point = bytes(point).and_then(|it| it.try_into().ok());
        let point: [u8; POINT_BYTES] = point.ok_or(CipherError::Point)?;
        let secret = bytes(secret).and_then(|it| it.try_into().ok()).ok_or(CipherError::Secret)?;
        let recipient = Self { point, secret };
        // Whether it is on the curve at all shows only when it is used.
        recipient.seal(b"")?;
        Ok(recipient)
    }

    /// The body of a request with `Content-Encoding: aes128gcm`.
    pub fn seal(&self, text: &[u8]) -> Result<Vec<u8>, CipherError> {
        let random = SystemRandom::new();
        let chance = |_| CipherError::Chance;
        let mut salt = [0; SALT_BYTES];
        random.fill(&mut salt).map_err(chance)?;
        let private = EphemeralPrivateKey::generate(&ECDH_P256, &random).map_err(chance)?;
        let public = private.compute_public_key().map_err(chance)?;
        let theirs = UnparsedPublicKey::new(&ECDH_P256, self.point);
        let sealed = agree_ephemeral(private, &theirs, |shared| {
            self.seal_with(shared, public.as_ref(), salt, text)
        });
        sealed.map_err(|_| CipherError::Point)?
    }

    fn seal_with(
        &self,
        shared: &[u8],
        public: &[u8],
        salt: [u8; SALT_BYTES],
        text: &[u8],
    ) -> Result<Vec<u8>, CipherError> {
        if text.len() > MOST_BYTES {
            return Err(CipherError::TooLong);
        }
        let about: [&[u8]; 3] = [b"WebPush: info\0", &self.point, public];
        let key: [u8; 32] = derive(&self.secret, shared, &about)?;
        let content: [u8; 16] = derive(&salt, &key, &[b"Content-Encoding: aes128gcm\0"])?;
        let nonce: [u8; 12] = derive(&salt, &key, &[b"Content-Encoding: nonce\0"])?;
        let key = UnboundKey::new(&AES_128_GCM, &content).map_err(|_| CipherError::Chance)?;
        let mut record = [text, &[LAST]].concat();
        let nonce = Nonce::assume_unique_for_key(nonce);
        LessSafeKey::new(key)
            .seal_in_place_append_tag(nonce, Aad::empty(), &mut record)
            .map_err(|_| CipherError::TooLong)?;
        let length = u8::try_from(public.len()).map_err(|_| CipherError::Point)?;
        let head: [&[u8]; 4] = [&salt, &RECORD_BYTES.to_be_bytes(), &[length], public];
        Ok([head.concat(), record].concat())
    }
}

struct Bytes(usize);

impl KeyType for Bytes {
    fn len(&self) -> usize {
        self.0
    }
}

/// So many bytes, which nobody knows without the secret.
fn derive<const LENGTH: usize>(
    salt: &[u8],
    secret: &[u8],
    about: &[&[u8]],
) -> Result<[u8; LENGTH], CipherError> {
    let mut bytes = [0; LENGTH];
    let extracted = Salt::new(HKDF_SHA256, salt).extract(secret);
    let expanded = extracted.expand(about, Bytes(LENGTH)).map_err(|_| CipherError::Chance)?;
    expanded.fill(&mut bytes).map_err(|_| CipherError::Chance)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINT: &str =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    const SECRET: &str = "BTBZMqHH6r4Tts7J_aSIgg";

    fn bytes(text: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(text).unwrap()
    }

    /// From appendix A of RFC 8291.
    #[test]
    fn a_message_is_sealed_as_the_standard_has_it() {
        let recipient = Recipient::read(POINT, SECRET).unwrap();
        let shared = bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs");
        let public = bytes(
            "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
        );
        let salt = bytes("DGv6ra1nlYgDCS1FRnbzlw").try_into().unwrap();
        let text = b"When I grow up, I want to be a watermelon";
        let sealed = recipient.seal_with(&shared, &public, salt, text).unwrap();
        assert_eq!(
            URL_SAFE_NO_PAD.encode(sealed),
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmY\
             WAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexS\
             gSxsj_Qulcy4a-fN"
        );
    }

    #[test]
    fn keys_that_no_browser_makes_are_told_apart() {
        let refused = |point: &str, secret: &str| Recipient::read(point, secret).err();
        assert_eq!(refused(POINT, SECRET), None);
        assert_eq!(refused(POINT, "AAAA"), Some(CipherError::Secret));
        assert_eq!(refused("!", SECRET), Some(CipherError::Point));
        let off_the_curve = URL_SAFE_NO_PAD.encode([4; POINT_BYTES]);
        assert_eq!(refused(&off_the_curve, SECRET), Some(CipherError::Point));
        let recipient = Recipient::read(POINT, SECRET).unwrap();
        assert_eq!(recipient.seal(&[b'x'; MOST_BYTES + 1]), Err(CipherError::TooLong));
    }
}
