//! What an attic must do.

use std::path::Path;

use kernel::ports::{Attic, StoreError};

use crate::Author;

/// `read` gives the bytes of a file that was kept.
pub async fn attic(attic: &dyn Attic, read: impl Fn(&Path) -> Option<Vec<u8>>) {
    let (one, other) = (Author::new(1).session, Author::new(2).session);
    attic.clear(one).await.unwrap();
    let keep = async |session, extension: &str, bytes: &[u8]| {
        attic.keep(session, extension, bytes.to_owned()).await.unwrap()
    };
    let kept = [
        (keep(one, "png", b"a picture").await, b"a picture".to_vec()),
        (keep(one, "png", b"another").await, b"another".to_vec()),
        (keep(one, "7z", b"").await, Vec::new()),
    ];
    let of_other = keep(other, "abcdefgh", &[0, 255]).await;
    for (path, bytes) in &kept {
        assert!(path.is_absolute());
        assert_eq!(read(path).as_ref(), Some(bytes));
        assert_eq!(attic.fetch(one, path.clone()).await.unwrap().as_ref(), Some(bytes));
        assert_eq!(attic.fetch(other, path.clone()).await.unwrap(), None, "not its own");
        let size = attic.size(one, path.clone()).await.unwrap();
        assert_eq!(size, u64::try_from(bytes.len()).ok());
        assert_eq!(attic.size(other, path.clone()).await.unwrap(), None, "not its own");
    }
    for elsewhere in ["/etc/hostname", "hostname", "", "/"] {
        assert_eq!(attic.fetch(one, elsewhere.into()).await.unwrap(), None, "{elsewhere}");
        assert_eq!(attic.size(one, elsewhere.into()).await.unwrap(), None, "{elsewhere}");
    }
    let extensions = kept.each_ref().map(|(path, _)| path.extension().unwrap());
    assert_eq!(extensions, ["png", "png", "7z"]);
    for extension in ["", "PNG", "a/b", "..", ".", "ä", "abcdefghi", "a b", "a\0"] {
        let refused = attic.keep(one, extension, Vec::new()).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{extension}: {refused:?}");
    }
    attic.clear(one).await.unwrap();
    for (path, _) in kept {
        assert_eq!(read(&path), None);
        assert_eq!(attic.fetch(one, path.clone()).await.unwrap(), None);
        assert_eq!(attic.size(one, path).await.unwrap(), None);
    }
    assert_eq!(read(&of_other), Some(vec![0, 255]));
    let path = keep(one, "txt", b"again").await;
    assert_eq!(read(&path), Some(b"again".to_vec()));
}
