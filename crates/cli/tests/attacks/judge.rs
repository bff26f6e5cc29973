//! Judges what the program says: it must give the right answer, or report an error.
//!
//! Input: a stage, and questions with the answers that an intact one gives. Output: what is wrong, as text.
//! Does not depend on what was done to the stage.

use super::stage::Stage;
use crate::support::Run;

/// What is asked of an index and of what the user said.
pub(super) const OF_MAIL: [&[&str]; 10] = [
    &["count", "*"],
    &["count", "hello"],
    &["count", "many1*"],
    &["find", "--format", "json", "*"],
    &["find", "--threads", "--fields", "i", "date:2020..2025"],
    &["find", "--fields", "i", "tag:later and not flag:unread"],
    &["tag"],
    &["query"],
    &["contacts", "ana"],
    &["view", "--format", "raw", "id:31@example.org"],
];

/// What is asked of a repository.
pub(super) const OF_ARCHIVE: [&[&str]; 6] = [
    &["archive", "snapshots", "--format", "json"],
    &["archive", "ls", "latest"],
    &["archive", "find", "2:2,"],
    &["archive", "check", "--read-data"],
    &["find", "--archived", "--fields", "i", "hello"],
    &["view", "--format", "raw", "id:2@example.org"],
];

/// Codes that say that something is wrong: an error, done in part, and what restic's codes say of
/// repositories.
const WRONG_CODES: [i32; 5] = [2, 3, 10, 11, 12];

/// How much of what a command printed is told.
const TOLD_CHARACTERS: usize = 600;

/// Asks every question.
pub(super) fn ask(stage: &Stage, questions: &[&[&str]]) -> Vec<Run> {
    questions.iter().map(|question| stage.run(question)).collect()
}

/// What answers are worth.
pub(super) struct Verdict {
    /// Answers that are wrong though nothing was said, and ends that no program should have.
    pub(super) faults: Vec<String>,
    /// How many answers are right.
    pub(super) right_count: usize,
}

/// Compares answers with the right ones.
pub(super) fn judge(questions: &[&[&str]], answers: &[Run], right: &[Run]) -> Verdict {
    let mut verdict = Verdict { faults: Vec::new(), right_count: 0 };
    for ((question, answer), right) in questions.iter().zip(answers).zip(right) {
        if let Some(fault) = ending(answer) {
            verdict.faults.push(format!("{question:?}: {fault}"));
        } else if (answer.code, &answer.bytes) == (right.code, &right.bytes) {
            verdict.right_count += 1;
        } else if !answer.code.is_some_and(|code| WRONG_CODES.contains(&code)) {
            verdict.faults.push(format!("{question:?}: {}, not {}", told(answer), told(right)));
        }
    }
    verdict
}

/// Returns how a command ended, in short.
pub(super) fn told(run: &Run) -> String {
    let short = |text: &str| text.chars().take(TOLD_CHARACTERS).collect::<String>();
    format!("code {:?}, {:?}, {:?}", run.code, short(&run.out), short(&run.err))
}

/// Returns what is wrong with how a command ended, if anything is: whatever it is given, it ends by itself,
/// and an error is a sentence.
pub(super) fn ending(run: &Run) -> Option<String> {
    let is_silent = run.err.is_empty() && run.out.is_empty();
    match run.code {
        None | Some(101 | 134 | 137 | 139) => Some(format!("it did not end by itself: {}", told(run))),
        _ if run.err.contains("panicked") || run.err.contains("Error {") => Some(told(run)),
        Some(code) if code != 0 && is_silent => Some(format!("code {code} without a word")),
        _ => None,
    }
}
