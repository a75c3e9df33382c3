//! What comes out for what is in the folder.

use std::fs;

use proptest::prelude::*;

use super::*;
use crate::folder::tests::{House, house};

fn whole(house: &House, path: &str) -> Result<String, String> {
    part(house, path, None, None)
}

fn part(
    house: &House,
    path: &str,
    offset: Option<u64>,
    limit: Option<u64>,
) -> Result<String, String> {
    let reply = read(&house.folder, &Input { path: path.into(), offset, limit })?;
    assert_eq!((reply.pictures, reply.data), (Vec::new(), None));
    Ok(reply.text)
}

fn put(house: &House, name: &str, content: impl AsRef<[u8]>) {
    fs::write(house.room().join(name), content).unwrap();
}

#[test]
fn a_file_is_read_as_it_is() {
    let house = house();
    for (name, content) in [("a.md", "one\r\ntwo"), ("empty", ""), ("grüße 👋.txt", "\n\nñ\n")]
    {
        put(&house, name, content);
        assert_eq!(whole(&house, name).as_deref(), Ok(content));
        let absolute = house.room().join(name).display().to_string();
        assert_eq!(whole(&house, &absolute).as_deref(), Ok(content));
        assert_eq!(whole(&house, &format!("./x/../{name}")).ok(), None, "x does not exist");
    }
}

#[test]
fn lines_are_read_from_an_offset() {
    let house = house();
    put(&house, "a", "1\n2\n3");
    let read = |offset, limit| part(&house, "a", offset, limit);
    assert_eq!(read(Some(2), None).as_deref(), Ok("2\n3"));
    assert_eq!(read(Some(0), Some(1)).as_deref(), Ok("1\n[more follows; read on with offset 2]"));
    assert_eq!(read(Some(3), Some(1)).as_deref(), Ok("3"));
    assert_eq!(read(None, Some(3)).as_deref(), Ok("1\n2\n3"));
    assert_eq!(read(None, Some(0)).as_deref(), Ok("[more follows; read on with offset 1]"));
    let over = Err("`a` has only 3 lines".to_owned());
    assert_eq!(read(Some(4), None), over);
    assert_eq!(read(Some(u64::MAX), Some(u64::MAX)), over);
}

#[test]
fn a_huge_file_is_cut_between_lines_and_can_be_read_on() {
    let house = house();
    let line = "0123456789abcde\n";
    let count = MOST / line.len();
    put(&house, "big", line.repeat(count + 2));
    let text = whole(&house, "big").unwrap();
    let next = count + 1;
    let note =
        format!("[cut: at most 1048576 bytes are shown at once; read on with offset {next}]");
    assert!(text == line.repeat(count) + &note);
    assert_eq!(part(&house, "big", Some(next as u64), None), Ok(line.repeat(2)));
    put(&house, "fits", line.repeat(count));
    assert!(whole(&house, "fits").unwrap() == line.repeat(count));
}

#[test]
fn a_huge_line_is_cut_between_characters() {
    let house = house();
    put(&house, "line", format!("a{}\nnext", "é".repeat(MOST)));
    let text = whole(&house, "line").unwrap();
    let note = "[cut: line 1 has more than 1048576 bytes; the next line is at offset 2]";
    assert!(text == format!("a{}\n{note}", "é".repeat(MOST / 2 - 1)));
    assert_eq!(part(&house, "line", Some(2), None).as_deref(), Ok("next"));
}

#[test]
fn what_is_not_text_is_refused() {
    let house = house();
    put(&house, "bytes", b"ok\nfine\xff");
    let refused = Err("`bytes` is not text: it is not UTF-8 at byte 7".to_owned());
    assert_eq!(whole(&house, "bytes"), refused);
    assert_eq!(part(&house, "bytes", Some(2), None), refused);
    put(&house, "cut", b"\xc3");
    assert_eq!(whole(&house, "cut"), Err("`cut` is not text: it is not UTF-8 at byte 0".into()));
}

#[test]
fn a_picture_is_shown_whatever_it_is_called() {
    let house = house();
    for (start, mime) in [
        (b"\x89PNG\r\n\x1a\n".as_slice(), "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBP", "image/webp"),
    ] {
        let bytes = [start, &[7].repeat(20_000)].concat();
        put(&house, "a.txt", &bytes);
        let reply =
            read(&house.folder, &Input { path: "a.txt".into(), offset: Some(3), limit: None });
        let text = format!("`a.txt` is a picture ({mime}, {} bytes)", bytes.len());
        let pictures = vec![Picture { mime: mime.into(), bytes }];
        assert_eq!(reply, Ok(Reply { text, pictures, ..Reply::default() }));
    }
    put(&house, "a.png", "GIF is a format");
    assert_eq!(whole(&house, "a.png").as_deref(), Ok("GIF is a format"));
}

#[test]
fn a_picture_that_is_too_large_is_refused() {
    let house = house();
    put(&house, "a.gif", "GIF89a");
    let file = fs::OpenOptions::new().write(true).open(house.room().join("a.gif")).unwrap();
    file.set_len(LARGEST_PICTURE + 1).unwrap();
    let refused = "`a.gif` cannot be used: \
                   it is a picture of 5242881 bytes, and the most is 5242880";
    assert_eq!(whole(&house, "a.gif"), Err(refused.into()));
    file.set_len(LARGEST_PICTURE).unwrap();
    let input = Input { path: "a.gif".into(), offset: None, limit: None };
    assert_eq!(read(&house.folder, &input).unwrap().pictures.len(), 1);
}

#[test]
fn nothing_outside_the_folder_can_be_read() {
    let house = house();
    for way in house.ways_out() {
        assert_eq!(whole(&house, &way), Err(house.outside(&way)), "{way}");
    }
}

#[test]
fn what_is_no_file_is_explained() {
    let house = house();
    fs::create_dir(house.room().join("dir")).unwrap();
    put(&house, "a", "");
    for (path, message) in [
        ("", "the path is empty"),
        ("a\0", "a path cannot contain a NUL character"),
        ("dir", "`dir` is a directory; list_directory shows what is in it"),
        (".", "`.` is a directory; list_directory shows what is in it"),
        ("gone", "`gone` does not exist"),
        ("a/b", "`a/b` is not, or is not in, a directory"),
    ] {
        assert_eq!(whole(&house, path), Err(message.to_owned()));
    }
    let long = "x".repeat(5000);
    let refused = whole(&house, &long).unwrap_err();
    assert!(refused.starts_with(&format!("`{long}` cannot be used: ")));
}

#[cfg(unix)]
#[test]
fn a_link_within_the_folder_is_followed() {
    let house = house();
    put(&house, "a", "text");
    std::os::unix::fs::symlink("a", house.room().join("link")).unwrap();
    assert_eq!(whole(&house, "link").as_deref(), Ok("text"));
    std::os::unix::fs::symlink("gone", house.room().join("dangling")).unwrap();
    assert_eq!(whole(&house, "dangling"), Err("`dangling` does not exist".into()));
    std::os::unix::fs::symlink("loop", house.room().join("loop")).unwrap();
    assert!(whole(&house, "loop").unwrap_err().starts_with("`loop` cannot be used: "));
}

proptest! {
    #[test]
    fn no_path_is_too_strange(path in "[./a\\PC\0\n]{0,20}") {
        let house = house();
        prop_assert_ne!(whole(&house, &path), Ok("secret".to_owned()));
    }

    #[test]
    fn parts_make_up_the_whole(content in "[ab\né]{0,30}", limit in 1_u64..5) {
        let house = house();
        put(&house, "a", &content);
        let (mut read, mut offset) = (String::new(), 1);
        loop {
            let text = part(&house, "a", Some(offset), Some(limit)).unwrap();
            offset += limit;
            match text.rsplit_once("[more follows; ") {
                Some((text, note)) => {
                    prop_assert_eq!(note, format!("read on with offset {offset}]"));
                    read += text;
                }
                None => break read += &text,
            }
        }
        prop_assert_eq!(read, content);
    }
}
