//! Embeds the applets anew whenever one of them changes.

fn main() {
    println!("cargo:rerun-if-changed=../../apps/applets");
}
