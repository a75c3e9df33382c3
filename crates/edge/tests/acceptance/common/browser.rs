//! A browser that wants to be told, with the push service that carries what it is sent: opens every
//! message, and holds it against the standards.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use kernel::web::{WebAnswer, WebRequest};
use p256::{
    PublicKey, SecretKey,
    ecdh::diffie_hellman,
    ecdsa::{Signature, VerifyingKey, signature::Verifier as _},
    elliptic_curve::sec1::ToEncodedPoint as _,
};
use ring::{
    aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey},
    hkdf::{HKDF_SHA256, KeyType, Salt},
};
use serde_json::{Value, json};

use super::House;

pub struct Browser {
    pub endpoint: String,
    private: SecretKey,
    secret: [u8; 16],
}

pub fn answered(status: u16, headers: &[(&str, &str)]) -> WebAnswer {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    WebAnswer { status, headers: headers.collect(), ..WebAnswer::default() }
}

impl Browser {
    /// Its service takes what it is sent.
    pub fn new(house: &House, number: u8) -> Self {
        let endpoint = format!("https://push.example/send/{number}");
        house.web.answer(&endpoint, Ok(answered(201, &[])));
        let private = SecretKey::from_slice(&[number; 32]).unwrap();
        Self { endpoint, private, secret: [number; 16] }
    }

    pub fn answers(&self, house: &House, status: u16, headers: &[(&str, &str)]) {
        house.web.answer(&self.endpoint, Ok(answered(status, headers)));
    }

    /// What the browser itself says of its subscription.
    pub fn wish(&self) -> Value {
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let keys = json!({ "p256dh": encode(&self.point()), "auth": encode(&self.secret) });
        json!({ "endpoint": self.endpoint, "keys": keys })
    }

    pub async fn subscribe(&self, house: &House, settings: Value) -> Value {
        let mut wish = self.wish();
        wish["settings"] = settings;
        let (status, shown) = house.post("/api/push/subscriptions", wish).await;
        assert_eq!(status, 200, "{shown}");
        shown
    }

    /// What is in a message, if it is for this browser and comes from this house.
    pub async fn open(&self, house: &House, request: &WebRequest) -> Value {
        assert_eq!((request.method.as_str(), &request.url), ("POST", &self.endpoint));
        assert_eq!(header(request, "content-encoding"), "aes128gcm");
        self.check_sender(house, &header(request, "authorization")).await;
        let body = request.body.as_deref().unwrap();
        let (salt, rest) = body.split_at(16);
        assert_eq!(rest[..5], [0, 0, 16, 0, 65], "one record, and the key of its sender");
        let (sender, sealed) = rest[5..].split_at(65);
        let theirs = PublicKey::from_sec1_bytes(sender).unwrap();
        let shared = diffie_hellman(self.private.to_nonzero_scalar(), theirs.as_affine());
        let about = [b"WebPush: info\0".as_slice(), &self.point(), sender].concat();
        let key: [u8; 32] = derive(&self.secret, shared.raw_secret_bytes(), &about);
        let content: [u8; 16] = derive(salt, &key, b"Content-Encoding: aes128gcm\0");
        let nonce = derive(salt, &key, b"Content-Encoding: nonce\0");
        let opener = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &content).unwrap());
        let mut sealed = sealed.to_vec();
        let nonce = Nonce::assume_unique_for_key(nonce);
        let text = opener.open_in_place(nonce, Aad::empty(), &mut sealed).unwrap();
        let (end, text) = text.split_last().unwrap();
        assert_eq!(*end, 2);
        serde_json::from_slice(text).unwrap()
    }

    async fn check_sender(&self, house: &House, authorization: &str) {
        let said = authorization.strip_prefix("vapid t=").unwrap();
        let (token, key) = said.split_once(", k=").unwrap();
        assert_eq!(house.get("/api/push").await.1["publicKey"], key);
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        let (message, signature) = token.rsplit_once('.').unwrap();
        let known = VerifyingKey::from_sec1_bytes(&decode(key)).unwrap();
        let signature = Signature::from_slice(&decode(signature)).unwrap();
        known.verify(message.as_bytes(), &signature).unwrap();
        let (head, claims) = message.split_once('.').unwrap();
        let part = |text: &str| serde_json::from_slice::<Value>(&decode(text)).unwrap();
        assert_eq!(part(head), json!({ "typ": "JWT", "alg": "ES256" }));
        let claims = part(claims);
        assert_eq!(claims["aud"], "https://push.example");
        let left = claims["exp"].as_i64().unwrap() - house.now().as_second();
        assert!((1..=24 * 60 * 60).contains(&left), "{left}");
        assert!(claims["sub"].as_str().unwrap().starts_with("mailto:"));
    }

    fn point(&self) -> Vec<u8> {
        self.private.public_key().to_encoded_point(false).as_bytes().to_vec()
    }
}

pub fn header(request: &WebRequest, name: &str) -> String {
    let found = request.headers.iter().find(|(it, _)| it == name);
    found.map(|(_, value)| value.clone()).unwrap_or_default()
}

struct Bytes(usize);

impl KeyType for Bytes {
    fn len(&self) -> usize {
        self.0
    }
}

fn derive<const LENGTH: usize>(salt: &[u8], secret: &[u8], about: &[u8]) -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    let extracted = Salt::new(HKDF_SHA256, salt).extract(secret);
    extracted.expand(&[about], Bytes(LENGTH)).unwrap().fill(&mut bytes).unwrap();
    bytes
}
