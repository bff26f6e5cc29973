//! Whether a program that a test needs is installed.
//!
//! Input: the program that was found, if any. Output: yes or no, and a line on standard error; or a panic if
//! CI requires it. Does not know what the program is for.

/// Returns whether a test may use `program`. Prints a line if it is not installed.
///
/// # Panics
/// If it is required and not installed. `way_out` says how to install it.
#[expect(clippy::print_stderr, reason = "a test that does nothing has to say so")]
pub fn may_ask(program: &str, way_out: &str, is_there: bool, must_be: bool) -> bool {
    assert!(is_there || !must_be, "tests need {program}: {way_out}");
    if !is_there {
        eprintln!("no {program}: nothing is asked of it; {way_out}");
    }
    is_there
}

/// Returns whether this run requires all programs: the environment variable `CI` is `true`.
pub fn is_ci() -> bool {
    std::env::var("CI").as_deref() == Ok("true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_outside_of_ci_may_it_be_missing() {
        let may = |is_there, must_be| may_ask("a program", "install it", is_there, must_be);
        assert!(may(true, true) && may(true, false) && !may(false, false));
        assert!(std::panic::catch_unwind(|| may(false, true)).is_err());
    }
}
