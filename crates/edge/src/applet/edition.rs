//! What an applet consists of, in a word: another word for other content.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use kernel::gallery::{Needs, Parts};
use sha2::{Digest as _, Sha256};

/// All that decides what it does and shows. Its description does not, nor when it was changed.
pub fn edition(parts: &Parts) -> String {
    let Parts { applet, html, script, style } = parts;
    let Needs { permissions, connect, resources } = &applet.needs;
    let needs = permissions.iter().map(|it| it.name());
    let needs = needs.chain(connect.iter().chain(resources).map(String::as_str));
    let needs = needs.collect::<Vec<_>>().join(" ");
    let mut hasher = Sha256::new();
    for part in [Some(&applet.name), Some(&needs), Some(html), script.as_ref(), style.as_ref()] {
        // With its length, so that nothing moves from one part to the next.
        let length = part.map_or(u64::MAX, |part| part.len() as u64);
        hasher.update(length.to_le_bytes());
        hasher.update(part.map_or("", String::as_str));
    }
    URL_SAFE_NO_PAD.encode(hasher.finalize())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use kernel::gallery::{Applet, Permission, StateSchema};
    use serde_json::Map;

    use super::*;

    fn parts() -> Parts {
        let applet = Applet {
            slug: "a".into(),
            name: "A".into(),
            description: None,
            params: Map::new(),
            purpose: None,
            state_schema: StateSchema::default(),
            updated: Timestamp::UNIX_EPOCH,
            needs: Needs::default(),
            folder: None,
        };
        Parts { applet, html: "ab".into(), script: Some("c".into()), style: None }
    }

    #[test]
    fn every_part_counts_and_nothing_moves_between_them() {
        let needs = Needs { permissions: vec![Permission::Shell], ..Needs::default() };
        let others = [
            Parts { html: "a".into(), script: Some("bc".into()), ..parts() },
            Parts { script: None, style: Some("c".into()), ..parts() },
            Parts { style: Some(String::new()), ..parts() },
            Parts { applet: Applet { needs, ..parts().applet }, ..parts() },
            Parts { applet: Applet { name: "B".into(), ..parts().applet }, ..parts() },
        ];
        for other in &others {
            assert_ne!(edition(other), edition(&parts()), "{other:?}");
        }
        let described = Some("what it does".to_owned());
        let same = Applet { description: described, updated: Timestamp::MAX, ..parts().applet };
        assert_eq!(edition(&Parts { applet: same, ..parts() }), edition(&parts()));
    }
}
