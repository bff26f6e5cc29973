//! Checks the project's own files, so that `cargo test` reports findings, too.

use std::path::Path;

#[test]
fn the_workspace_is_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if let Err(findings) = xtask::tidy::check(&root) {
        panic!("{findings}");
    }
}
