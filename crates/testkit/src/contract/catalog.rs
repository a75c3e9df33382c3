//! What a catalog must do with records; what it does with sessions is in the log's contract.

use kernel::ports::{Catalog, Shelf};

/// `make` makes a new, empty catalog.
pub async fn catalog<C: Catalog>(make: impl AsyncFn() -> C) {
    a_record_is_what_was_put_last(&make().await).await;
    each_shelf_is_its_own(&make().await).await;
    a_prefix_is_meant_literally(&make().await).await;
    names_are_listed_in_order(&make().await).await;
}

async fn a_record_is_what_was_put_last(catalog: &dyn Catalog) {
    let get = async || catalog.get(Shelf::Clients, "a").await.unwrap();
    assert_eq!(get().await, None);
    catalog.discard(Shelf::Clients, "a").await.unwrap();
    for value in ["one", "", "zwei 🏛 \u{0} '"] {
        catalog.put(Shelf::Clients, "a", value.to_owned()).await.unwrap();
        assert_eq!(get().await.as_deref(), Some(value));
    }
    let large = "x".repeat(2 << 20);
    catalog.put(Shelf::Clients, "a", large.clone()).await.unwrap();
    assert!(get().await == Some(large));
    catalog.discard(Shelf::Clients, "a").await.unwrap();
    assert_eq!(get().await, None);
}

async fn each_shelf_is_its_own(catalog: &dyn Catalog) {
    for shelf in Shelf::ALL {
        catalog.put(shelf, "name", shelf.name().to_owned()).await.unwrap();
    }
    catalog.discard(Shelf::Clients, "name").await.unwrap();
    for shelf in Shelf::ALL {
        let kept = (shelf != Shelf::Clients).then(|| shelf.name().to_owned());
        assert_eq!(catalog.get(shelf, "name").await.unwrap(), kept);
        let listed = catalog.list(shelf, "").await.unwrap();
        assert_eq!(listed, Vec::from_iter(kept.map(|value| ("name".to_owned(), value))));
    }
}

async fn a_prefix_is_meant_literally(catalog: &dyn Catalog) {
    let names = ["", "%", "%a", "*a", "A", "_a", "a", "a%b", "a/", "a/b", "axb", "ä", "🏛x"];
    for name in names {
        catalog.put(Shelf::Preferences, name, format!("value of {name}")).await.unwrap();
    }
    let prefixes = ["", "%", "_", "*", "a", "a/", "a%", "a_", "A", "ä", "🏛", "b", "axbc"];
    for prefix in prefixes {
        let expected: Vec<_> = names
            .iter()
            .filter(|name| name.starts_with(prefix))
            .map(|name| ((*name).to_owned(), format!("value of {name}")))
            .collect();
        let listed = catalog.list(Shelf::Preferences, prefix).await.unwrap();
        assert_eq!(listed, expected, "{prefix}");
    }
}

async fn names_are_listed_in_order(catalog: &dyn Catalog) {
    for name in ["b", "ä", "10", "B", "9", "a", "\u{10ffff}", "Ω"] {
        catalog.put(Shelf::AppletState, name, String::new()).await.unwrap();
    }
    let listed = catalog.list(Shelf::AppletState, "").await.unwrap();
    let names: Vec<_> = listed.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["10", "9", "B", "a", "b", "ä", "Ω", "\u{10ffff}"]);
}
