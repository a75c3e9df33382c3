//! Embeds the page anew whenever it was built anew: its files change their names.

fn main() {
    println!("cargo:rerun-if-changed=../../ui/dist");
}
