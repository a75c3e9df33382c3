//! The names that somebody may have meant.

/// How alike two names must be, from 0 to 1.
const ALIKE: f64 = 0.8;
const MOST: usize = 3;

/// The known names that look most like this one, the nearest first.
pub fn near<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let bare = |id: &str| {
        let last = id.rsplit('/').next().unwrap_or_default();
        last.split(':').next().unwrap_or_default().to_lowercase()
    };
    let likeness = |id: &str| {
        let whole = strsim::jaro_winkler(&name.to_lowercase(), &id.to_lowercase());
        whole.max(strsim::jaro_winkler(&bare(name), &bare(id)))
    };
    let mut alike: Vec<(f64, &str)> = known.into_iter().map(|id| (likeness(id), id)).collect();
    alike.retain(|(likeness, _)| *likeness >= ALIKE);
    alike.sort_by(|a, b| b.0.total_cmp(&a.0));
    alike.into_iter().take(MOST).map(|(_, id)| id).collect()
}

/// The question to whoever wrote it, beginning with `; `; empty if nothing looks like it.
pub fn did_you_mean(near: &[&str]) -> String {
    if near.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> = near.iter().map(|id| format!("`{id}`")).collect();
    format!("; did you mean {}?", quoted.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first_and_strange_ones_not_at_all() {
        let known = ["demo", "box/llama3.2:latest", "box/llama3.1", "lab/qwen3"];
        assert_eq!(near("box/lama3.2", known), ["box/llama3.2:latest", "box/llama3.1"]);
        assert_eq!(near("Qwen-3", known), ["lab/qwen3"]);
        assert_eq!(near("zzz", known), [""; 0]);
        assert_eq!(did_you_mean(&near("qwen", known)), "; did you mean `lab/qwen3`?");
        assert_eq!(did_you_mean(&["a", "b"]), "; did you mean `a` or `b`?");
        assert_eq!(did_you_mean(&[]), "");
    }
}
