//! Embeds the applets and apps anew whenever one of them changes.

fn main() {
    println!("cargo:rerun-if-changed=../../apps");
}
