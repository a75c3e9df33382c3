//! A part of a conversation in the form that models accept: calls with their results, and only the newest pictures.

use std::collections::HashMap;

use super::Part;
use crate::update::{Attachment, Output};

/// Pictures are dear: so many of the newest messages that have any keep them.
const WITH_IMAGES: usize = 2;

/// A part of a conversation as models accept it.
pub(crate) fn presentable(parts: Vec<Part>) -> Vec<Part> {
    let mut parts = show(pair(parts));
    forget_old_images(&mut parts);
    parts
}

/// The pictures that tools returned, each after the results of its step: not every vendor takes
/// them in the results themselves.
fn show(parts: Vec<Part>) -> Vec<Part> {
    let mut shown = Vec::with_capacity(parts.len());
    let mut pictures = Vec::new();
    for part in parts {
        match &part {
            Part::Result { output, .. } => pictures.extend(output.images().iter().cloned()),
            Part::User { .. } | Part::Assistant { .. } | Part::Pictures { .. } => {
                shown.extend(pictures_of(std::mem::take(&mut pictures)));
            }
        }
        shown.push(part);
    }
    shown.extend(pictures_of(pictures));
    shown
}

/// What the model is shown of these, if there are any.
pub(crate) fn pictures_of(images: Vec<Attachment>) -> Option<Part> {
    (!images.is_empty()).then_some(Part::Pictures { images })
}

fn forget_old_images(parts: &mut Vec<Part>) {
    let mut seen = 0;
    for part in parts.iter_mut().rev() {
        let (Part::User { images, .. } | Part::Pictures { images }) = part else { continue };
        if images.is_empty() {
            continue;
        }
        seen += 1;
        if seen <= WITH_IMAGES {
            continue;
        }
        let old = std::mem::take(images);
        if let Part::User { text, .. } = part {
            for image in old {
                text.push_str("\n[picture left out: ");
                text.push_str(&image.name);
                text.push(']');
            }
        }
    }
    parts.retain(|part| !matches!(part, Part::Pictures { images } if images.is_empty()));
}

/// Begins with a message, and gives every call its result right behind it: models accept nothing
/// else, but a log may have been cut at either end, or crashed in the middle, and an agent goes on
/// before all that it began has returned.
fn pair(parts: Vec<Part>) -> Vec<Part> {
    let mut groups: Vec<(Part, Vec<Part>)> = Vec::with_capacity(parts.len());
    let mut open: HashMap<String, usize> = HashMap::new();
    for part in parts.into_iter().skip_while(|part| !matches!(part, Part::User { .. })) {
        match &part {
            Part::Result { call, .. } => {
                let place = open.remove(call).and_then(|place| groups.get_mut(place));
                if let Some((_, results)) = place {
                    results.push(part);
                }
                continue;
            }
            Part::Assistant { calls, .. } => {
                open.extend(calls.iter().map(|call| (call.id.clone(), groups.len())));
            }
            Part::User { .. } | Part::Pictures { .. } => (),
        }
        groups.push((part, Vec::new()));
    }
    let whole = |(place, (part, mut results)): (usize, (Part, Vec<Part>))| {
        if let Part::Assistant { calls, .. } = &part {
            let lost = calls.iter().filter(|call| open.get(&call.id) == Some(&place));
            let lost = lost.map(|call| call.id.clone());
            results.extend(lost.map(|call| Part::Result { call, output: Output::Interrupted }));
        }
        std::iter::once(part).chain(results)
    };
    groups.into_iter().enumerate().flat_map(whole).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::update::ToolRequest;

    fn user(text: &str) -> Part {
        Part::User { text: text.into(), images: Vec::new() }
    }

    fn calls(ids: &[&str]) -> Part {
        let call = |id: &&str| ToolRequest {
            id: (*id).into(),
            name: "t".into(),
            args: json!({}),
            title: "t".into(),
        };
        let calls = ids.iter().map(call).collect();
        Part::Assistant { text: String::new(), reasoning: String::new(), calls, trace: None }
    }

    fn result(call: &str, output: Output) -> Part {
        Part::Result { call: call.into(), output }
    }

    fn done(call: &str) -> Part {
        result(call, Output::done("ok"))
    }

    #[test]
    fn every_call_has_its_result_before_anything_else_is_said() {
        let parts = vec![user("a"), calls(&["1", "2"]), done("2"), user("b"), calls(&["3"])];
        let lost = |id| result(id, Output::Interrupted);
        let expected = [
            user("a"),
            calls(&["1", "2"]),
            done("2"),
            lost("1"),
            user("b"),
            calls(&["3"]),
            lost("3"),
        ];
        assert_eq!(pair(parts), expected);
    }

    #[test]
    fn what_was_cut_off_at_the_front_leaves_no_orphans() {
        let parts = vec![done("0"), calls(&["1"]), done("1"), user("a"), done("9"), calls(&[])];
        assert_eq!(pair(parts), [user("a"), calls(&[])]);
    }

    #[test]
    fn only_the_newest_pictures_are_shown_again() {
        let image = |name: &str| Attachment {
            path: name.into(),
            mime: "image/png".into(),
            name: name.into(),
        };
        let with = |name: &str| Part::User { text: "look".into(), images: vec![image(name)] };
        let mut parts = vec![with("a"), user("b"), with("c"), with("d")];
        forget_old_images(&mut parts);
        assert_eq!(parts, [user("look\n[picture left out: a]"), user("b"), with("c"), with("d")]);
    }
}
