//! Small crates with and without circles.

use super::*;

/// Returns the uses that close the circles of a crate, each as `from -> to: name`.
fn circle_steps(files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<(String, &str)> =
        files.iter().map(|&(path, text)| (format!("crates/a/src/{path}"), text)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    circles(&Tree::from_files(&files))
        .into_iter()
        .map(|finding| finding.what.replace("crates/a/src/", ""))
        .collect()
}

fn assert_circle(files: &[(&str, &str)], uses: &str) {
    let found = circle_steps(files);
    assert_eq!(found, [format!("{uses}; move what they share into a file of its own")]);
}

const LIB: (&str, &str) = ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::{B, go};\n");

#[test]
fn files_in_one_direction_are_accepted() {
    let a = ("a.rs", "use crate::b::B;\npub struct A(B);\n#[cfg(test)]\nmod tests {\n    use super::*;\n}\n");
    assert_eq!(circle_steps(&[LIB, a, ("b.rs", "pub struct B;\n")]), [""; 0]);
    let tested = "pub struct B;\n#[cfg(test)]\nmod tests {\n    use crate::A;\n}\n";
    assert_eq!(circle_steps(&[LIB, a, ("b.rs", tested)]), [""; 0]);
    let told = "//! Used by [`crate::A`].\npub struct B;\nconst TEXT: &str = \"crate::a::A\";\n";
    assert_eq!(circle_steps(&[LIB, a, ("b.rs", told)]), [""; 0]);
}

#[test]
fn a_circle_is_told_once_with_what_closes_it() {
    assert_circle(
        &[
            LIB,
            ("a.rs", "use crate::b::B;\npub struct A(B);\n"),
            ("b.rs", "\nuse super::A;\npub struct B;\nfn go(_: A) {}"),
        ],
        "uses B of b.rs in a circle: b.rs:2 uses A of a.rs",
    );
}

#[test]
fn names_are_followed_through_re_exports() {
    let a = ("a.rs", "pub struct A;\nfn f() { crate::go(); }\n");
    let b = ("b.rs", "use crate::{self as top, a::{A as Other}};\npub struct B(Other);\npub fn go() {}\n");
    assert_circle(&[LIB, a, b], "uses go of b.rs in a circle: b.rs:1 uses A of a.rs");
    let through = ("b.rs", "use super::*;\npub struct B(A);\npub fn go() {}\n");
    assert_circle(&[LIB, a, through], "uses go of b.rs in a circle: b.rs:2 uses A of a.rs");
    let by_module = ("b.rs", "use crate::a;\npub struct B(a::A);\npub fn go() {}\n");
    assert_circle(&[LIB, a, by_module], "uses go of b.rs in a circle: b.rs:2 uses A of a.rs");
}

#[test]
fn a_parent_may_re_export_a_child_or_use_it_or_be_used_by_it() {
    let lib = ("lib.rs", "mod a;\n");
    let child = ("a/c.rs", "use super::Shared;\npub fn c(_: Shared) {}\n");
    let exports = ("a/mod.rs", "mod c;\npub use c::c;\npub struct Shared;\nfn f(c: u8) -> u8 { c }\n");
    assert_eq!(circle_steps(&[lib, exports, child]), [""; 0]);
    for calls in [
        "mod c; pub struct Shared; fn f() { c::c(Shared) }\n",
        "mod c; pub use c::c; pub struct Shared; fn f() { c(Shared) }\n",
        "mod c; pub struct Shared; use self::c::c;\n",
    ] {
        let uses = "uses Shared of a/mod.rs in a circle: a/mod.rs:1 uses c of a/c.rs";
        assert_circle(&[lib, ("a/mod.rs", calls), child], uses);
    }
}

#[test]
fn of_a_longer_circle_all_files_are_told() {
    let found = circle_steps(&[
        ("main.rs", "mod a; mod b; mod c; mod d; fn main() { a::a() }"),
        ("a.rs", "use crate::b::b; pub fn a() { b() }"),
        ("b.rs", "use crate::{c::c, a::a}; pub fn b() { c(); a() }"),
        ("c.rs", "pub fn c() { crate::a::a(); super::d::d() }"),
        ("d.rs", "pub fn d() {}"),
    ]);
    assert_eq!(found.len(), 1);
    assert!(
        found[0].contains(
            "uses b of b.rs in a circle: b.rs:1 uses a of a.rs; the whole circle is a.rs, b.rs, c.rs;"
        ),
        "{found:?}"
    );
}

#[test]
fn modules_in_a_file_belong_to_it_and_other_crates_are_no_modules() {
    let lib = ("lib.rs", "mod a; mod b;");
    let a = ("a.rs", "pub mod inner { pub struct In; impl super::Out {} }\npub struct Out;\nuse ::b::B;\n");
    assert_eq!(circle_steps(&[lib, a, ("b.rs", "use crate::a::inner::In; pub struct B(In);")]), [""; 0]);
    let inward = ("a.rs", "pub mod inner { use super::super::b::B; pub struct In; }\n");
    assert_circle(
        &[lib, inward, ("b.rs", "use crate::a::inner::In; pub struct B(In);")],
        "uses B of b.rs in a circle: b.rs:1 uses In of a.rs",
    );
}
