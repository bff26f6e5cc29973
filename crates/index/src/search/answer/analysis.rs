//! Explains how a query was answered and what each step cost.
//!
//! Input: a plan that was carried out. Output: a tree of plain values. Must not know how it is printed.

use crate::error::Result;
use crate::search::answer::eval;
use crate::search::answer::pattern::Wanted;
use crate::search::answer::plan::{Node, Step};
use crate::search::answer::prepare::Answer;
use crate::search::answer::values::derived_flag;
use crate::search::mailbox::Mailbox;
use crate::text::TextField;
use query::{FlagName, Query};

/// How a query was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// The query in canonical form.
    pub query: String,
    /// The steps, in the order in which they ran.
    pub root: AnalysisStep,
    /// The total time, including planning.
    pub nanoseconds: u64,
}

/// One step of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalysisStep {
    /// An operator, or a term in canonical form.
    pub what: String,
    /// The sources that answer a term; empty for an operator.
    pub sources: Vec<&'static str>,
    /// How many messages it found, and how many nanoseconds that took, including its children. `None` if the
    /// step was not needed.
    pub measured: Option<(u64, u64)>,
    /// The operands of an operator, cheapest first.
    pub children: Vec<AnalysisStep>,
}

impl Mailbox {
    /// Answers a query and explains how. `clock` returns nanoseconds.
    ///
    /// # Errors
    /// As for [`Mailbox::find`].
    pub fn analyze(&self, query: &Query, clock: &dyn Fn() -> i64) -> Result<Analysis> {
        let started = clock();
        let (step, _) = eval::measured(self, query, clock)?;
        let nanoseconds = u64::try_from(clock().saturating_sub(started)).unwrap_or(0);
        Ok(Analysis { query: query.to_string(), root: describe(&step), nanoseconds })
    }
}

fn describe(step: &Step<'_>) -> AnalysisStep {
    let list =
        |what: &str, steps: &[Step<'_>]| (what.to_owned(), Vec::new(), steps.iter().map(describe).collect());
    let (what, sources, children) = match &step.node {
        Node::All => ("*".to_owned(), vec!["every message"], Vec::new()),
        Node::And(steps) => list("and", steps),
        Node::Or(steps) => list("or", steps),
        Node::Xor(steps) => list("xor", steps),
        Node::Not(step) => list("not", std::slice::from_ref(step)),
        Node::Leaf(leaf, answers) => {
            let mut sources: Vec<&'static str> = answers.iter().map(source).collect();
            sources.dedup();
            (leaf.to_string(), sources, Vec::new())
        }
    };
    let measured = step.measured.map(|measured| (measured.found, measured.nanoseconds));
    AnalysisStep { what, sources, measured, children }
}

fn source(answer: &Answer) -> &'static str {
    match answer {
        Answer::Dates(..) | Answer::Sizes(..) | Answer::Priority(_) => "columns of messages",
        Answer::Values(..) | Answer::Flag(FlagName::Personal) => "every header value",
        Answer::Flag(flag) if derived_flag(*flag).is_some() => "columns of messages",
        Answer::Tagged(_) | Answer::Flag(FlagName::Muted) => "tags",
        Answer::Thread(_) | Answer::ThreadsOf(_) => "threads",
        Answer::Changed(..) | Answer::Flag(_) | Answer::Keyword(_) => "columns of files",
        Answer::MessageId(_) => "index of message-ids",
        Answer::Maildir(_) | Answer::Path(_) | Answer::Below(_) => "folders",
        Answer::Paths(_) => "every path",
        Answer::Text(..) => "text index",
        Answer::Terms(_, _, Wanted::Stem(_)) => "words of one stem in the text index",
        Answer::Terms(field, ..) if is_whole(*field) => "every value in the text index",
        Answer::Terms(..) => "every word in the text index",
    }
}

fn is_whole(field: TextField) -> bool {
    use TextField::{Label, Language, List, MessageId, Mime, Reference};
    matches!(field, List | Mime | Reference | Label | MessageId | Language)
}
