//! Whether another program is there to be asked by a test.
//!
//! Input: what was found. Output: yes or no, and a line on standard error; or a panic where CI must have it.
//! Does not know what is asked.

/// Returns whether a test may ask `program`, and prints a line if it is not there.
///
/// # Panics
/// If it is not there though it must be. `way_out` says how to get it.
#[expect(clippy::print_stderr, reason = "a test that does nothing has to say so")]
pub fn may_ask(program: &str, way_out: &str, is_there: bool, must_be: bool) -> bool {
    assert!(is_there || !must_be, "tests need {program}: {way_out}");
    if !is_there {
        eprintln!("no {program}: nothing is asked of it; {way_out}");
    }
    is_there
}

/// Returns whether this run must ask all programs that there are: the environment's `CI` is `true`.
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
