//! Archives as they are made, and as nobody should make them.

use std::io::{Cursor, Write as _};

use ::tar::{Builder, EntryType, Header};
use ::zip::{ZipWriter, write::SimpleFileOptions};
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;

use super::*;

fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in files {
        writer.start_file(*path, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// By hand, so that paths are written which no proper packer would.
fn tarred(files: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, kind, bytes) in files {
        let mut header = Header::new_ustar();
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        if matches!(kind, EntryType::Symlink | EntryType::Link) {
            header.set_link_name("/etc/passwd").unwrap();
        }
        header.set_cksum();
        builder.append(&header, *bytes).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

fn held(parcel: Result<Parcel, String>) -> Result<Vec<(String, Vec<u8>)>, String> {
    parcel.map(|parcel| parcel.files.into_iter().collect())
}

fn owned(files: &[(&str, &[u8])]) -> Vec<(String, Vec<u8>)> {
    files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())).collect()
}

#[test]
fn both_kinds_of_archive_and_a_folder_hold_the_same() {
    let files: &[(&str, &[u8])] = &[("a/b.js", b"b"), ("app.json", b"{}"), ("index.html", b"hi")];
    let hidden: &[(&str, &[u8])] = &[
        (".git/config", b"x"),
        ("a/.env", b"x"),
        ("__MACOSX/a", b"x"),
        ("node_modules/a.js", b"x"),
    ];
    let all = [files, hidden].concat();
    assert_eq!(held(Parcel::unpack(&zipped(&all))), Ok(owned(files)));
    let dotted: Vec<(String, &[u8])> =
        all.iter().map(|(path, bytes)| (format!("./{path}"), *bytes)).collect();
    let regular: Vec<(&str, EntryType, &[u8])> =
        dotted.iter().map(|(path, bytes)| (path.as_str(), EntryType::Regular, *bytes)).collect();
    assert_eq!(held(Parcel::unpack(&tarred(&regular))), Ok(owned(files)));
    let temp = tempfile::tempdir().unwrap();
    for (path, bytes) in all {
        let path = temp.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    // Left over from another machine, and no more hidden than its name says.
    fs::remove_dir_all(temp.path().join("__MACOSX")).unwrap();
    assert_eq!(held(Parcel::gather(temp.path())), Ok(owned(files)));
}

#[test]
fn a_path_that_leads_out_makes_all_of_it_unusable() {
    for (path, why) in [
        ("../app.json", "leads out of the app"),
        ("a/../../app.json", "leads out of the app"),
        ("a/..", "leads out of the app"),
        ("a/./b", "leads out of the app"),
        ("/etc/passwd", "leads out of the app"),
        ("..\\app.json", "holds a character that no path of an app may"),
        ("C:/app.json", "holds a character that no path of an app may"),
        ("a\nb", "holds a character that no path of an app may"),
        ("a//b", "has a name that is empty"),
    ] {
        let expected = Err(format!("the path `{}` {why}", shown(path)));
        assert_eq!(held(Parcel::unpack(&zipped(&[("ok", b""), (path, b"")]))), expected, "{path}");
        let tar = tarred(&[("ok", EntryType::Regular, b""), (path, EntryType::Regular, b"")]);
        assert_eq!(held(Parcel::unpack(&tar)), expected, "{path}");
    }
    let long = "a/".repeat(300) + "b";
    let error = held(Parcel::unpack(&zipped(&[(&long, b"")]))).unwrap_err();
    assert!(error.ends_with("is too long"), "{error}");
}

#[test]
fn links_and_devices_are_no_files() {
    for kind in
        [EntryType::Symlink, EntryType::Link, EntryType::Char, EntryType::Block, EntryType::Fifo]
    {
        let error = held(Parcel::unpack(&tarred(&[("link", kind, b"")]))).unwrap_err();
        assert_eq!(error, "`link` is a link or something else that is not a file", "{kind:?}");
    }
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.add_symlink("link", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    let error = held(Parcel::unpack(&bytes)).unwrap_err();
    assert_eq!(error, "`link` is a link or something else that is not a file");
    let temp = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/etc/passwd", temp.path().join("link")).unwrap();
    let error = held(Parcel::gather(temp.path())).unwrap_err();
    assert_eq!(error, "`link` is a link or something else that is not a file");
}

#[test]
fn what_would_become_too_large_is_refused_before_it_does() {
    let chunk = vec![0; 40 << 20];
    let bomb = zipped(&[("a", &chunk), ("b", &chunk), ("c", &chunk), ("d", &chunk)]);
    assert!(bomb.len() < 1 << 20);
    let expected = Err(format!("unpacked it has more than {BYTES} bytes"));
    assert_eq!(held(Parcel::unpack(&bomb)), expected);
    let files = ["a", "b", "c", "d"].map(|name| (name, EntryType::Regular, chunk.as_slice()));
    assert_eq!(held(Parcel::unpack(&tarred(&files))), expected);
    let names: Vec<String> = (0..=FILES).map(|n| n.to_string()).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    let expected = Err(format!("it holds more than {FILES} files"));
    assert_eq!(held(Parcel::unpack(&zipped(&many))), expected);
    let twice = tarred(&[("a", EntryType::Regular, b"1"), ("./a", EntryType::Regular, b"2")]);
    assert_eq!(held(Parcel::unpack(&twice)), Err("it holds `a` twice".into()));
    let large = vec![0; ARCHIVE_BYTES + 1];
    let expected = format!("an archive may have {ARCHIVE_BYTES} bytes at most");
    assert_eq!(held(Parcel::unpack(&large)), Err(expected));
    for nothing in [&b""[..], b"hello", b"\x7fELF"] {
        let expected = Err("expected a .zip or a .tar.gz archive".into());
        assert_eq!(held(Parcel::unpack(nothing)), expected);
    }
}

#[test]
fn the_one_folder_that_all_lies_in_is_left_out() {
    let mut parcel =
        Parcel::unpack(&zipped(&[("sheet/app.json", b"{}"), ("sheet/a/b.js", b"b")])).unwrap();
    assert_eq!(parcel.strip(), Some("sheet".into()));
    assert_eq!(parcel.files.into_keys().collect::<Vec<_>>(), ["a/b.js", "app.json"]);
    for files in [
        &[("app.json", &b"{}"[..]), ("a/b.js", b"b")][..],
        &[("a/app.json", b"{}"), ("b/c.js", b"b")],
        &[("a/b.js", b"b")],
        &[],
    ] {
        assert_eq!(Parcel::unpack(&zipped(files)).unwrap().strip(), None);
    }
    let confused = Parcel::unpack(&zipped(&[("a", b""), ("a-b", b""), ("a/b", b"")])).unwrap();
    assert_eq!(confused.is_confused(), Some("a"));
    let clear = Parcel::unpack(&zipped(&[("a", b""), ("ab/c", b"")])).unwrap();
    assert_eq!(clear.is_confused(), None);
}

/// Nothing that is kept could be written anywhere but below the app.
fn is_safe(parcel: &Parcel) -> bool {
    let safe = |path: &String| {
        let parts = Path::new(path).components();
        let normal = |it: std::path::Component<'_>| matches!(it, std::path::Component::Normal(_));
        !path.is_empty() && parts.into_iter().all(normal)
    };
    parcel.files.keys().all(safe)
}

proptest! {
    #[test]
    fn whatever_paths_an_archive_names_only_safe_ones_are_kept(
        paths in prop::collection::vec("[a./\\\\:\u{0}~ ]{1,12}", 0..6),
    ) {
        let paths: Vec<String> = paths;
        let files: Vec<(&str, &[u8])> = paths.iter().map(|path| (path.as_str(), &b"x"[..])).collect();
        let entries: Vec<(&str, EntryType, &[u8])> =
            files.iter().map(|(path, bytes)| (*path, EntryType::Regular, *bytes)).collect();
        prop_assert!(Parcel::unpack(&tarred(&entries)).map_or(true, |parcel| is_safe(&parcel)));
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (path, bytes) in &files {
            // The packer refuses some by itself.
            if writer.start_file(*path, SimpleFileOptions::default()).is_ok() {
                writer.write_all(bytes).unwrap();
            }
        }
        let bytes = writer.finish().unwrap().into_inner();
        prop_assert!(Parcel::unpack(&bytes).map_or(true, |parcel| is_safe(&parcel)));
    }

    #[test]
    fn a_damaged_archive_is_refused_or_safe_and_never_more(
        at in any::<prop::sample::Index>(), with in any::<u8>(), cut in any::<prop::sample::Index>(),
    ) {
        for whole in [
            zipped(&[("app.json", b"{}"), ("a/b.js", b"hello")]),
            tarred(&[("app.json", EntryType::Regular, b"{}"), ("b.js", EntryType::Regular, b"hello")]),
        ] {
            let mut damaged = whole.clone();
            let place = at.index(damaged.len());
            damaged[place] ^= with;
            prop_assert!(Parcel::unpack(&damaged).map_or(true, |parcel| is_safe(&parcel)));
            let short = &whole[..cut.index(whole.len())];
            prop_assert!(Parcel::unpack(short).map_or(true, |parcel| is_safe(&parcel)));
        }
    }

    #[test]
    fn bytes_that_begin_like_an_archive_never_break_anything(
        mut bytes in prop::collection::vec(any::<u8>(), 4..512), zip in any::<bool>(),
    ) {
        let begin: &[u8] = if zip { b"PK\x03\x04" } else { b"\x1f\x8b\x08\x00" };
        bytes[..4].copy_from_slice(begin);
        prop_assert!(Parcel::unpack(&bytes).map_or(true, |parcel| is_safe(&parcel)));
    }
}
