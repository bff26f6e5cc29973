//! Decides the order in which the parts of a query are looked up: cheap ones first, so that expensive ones
//! are often not needed.
//!
//! Input: a query and what answers its leaves. Output: a tree of steps. Costs are estimates in microseconds
//! for 100,000 messages, accurate to a factor of ten: only their order matters. Looks nothing up.

use crate::error::Result;
use crate::search::answer::pattern::Wanted;
use crate::search::answer::prepare::Answer;
use crate::text::{Needle, TextField};
use query::{FlagName, Leaf, Query};

/// One step of a plan.
#[derive(Debug)]
pub(super) struct Step<'q> {
    /// What to do.
    pub node: Node<'q>,
    /// Its estimated cost.
    pub cost: u64,
    /// Its result, once it has run.
    pub measured: Option<Measured>,
}

/// What a step does.
#[derive(Debug)]
pub(super) enum Node<'q> {
    /// Takes every message.
    All,
    /// Takes the messages that all children find.
    And(Vec<Step<'q>>),
    /// Takes the messages that any child finds.
    Or(Vec<Step<'q>>),
    /// Takes the messages that an odd number of children find.
    Xor(Vec<Step<'q>>),
    /// Takes the messages that the child does not find.
    Not(Box<Step<'q>>),
    /// Takes the messages that any answer finds.
    Leaf(&'q Leaf, Vec<Answer>),
}

/// The result of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Measured {
    /// How many messages it found.
    pub found: u64,
    /// How long it took, including its children.
    pub nanoseconds: u64,
}

/// Plans a query. Sorts the children of `and` and `or` by cost; children of equal cost stay in written order.
///
/// # Errors
/// The error of `answers` for the first leaf that has no answer, in the order of the query.
pub(super) fn plan<'q>(
    query: &'q Query,
    answers: &impl Fn(&Leaf) -> Result<Vec<Answer>>,
) -> Result<Step<'q>> {
    let children = |children: &'q [Query]| -> Result<Vec<Step<'q>>> {
        children.iter().map(|child| plan(child, answers)).collect()
    };
    let in_order = |mut steps: Vec<Step<'q>>| {
        steps.sort_by_key(|step| step.cost);
        steps
    };
    let node = match query {
        Query::All => Node::All,
        Query::And(all) => Node::And(in_order(children(all)?)),
        Query::Or(all) => Node::Or(in_order(children(all)?)),
        // A chain of xor never ends early.
        Query::Xor(all) => Node::Xor(children(all)?),
        Query::Not(child) => Node::Not(Box::new(plan(child, answers)?)),
        Query::Leaf(leaf) => Node::Leaf(leaf, answers(leaf)?),
    };
    let sum = |steps: &[Step<'_>]| steps.iter().map(|step| step.cost).fold(0, u64::saturating_add);
    let cost = match &node {
        Node::All => 0,
        Node::And(steps) | Node::Or(steps) | Node::Xor(steps) => sum(steps),
        Node::Not(step) => step.cost,
        Node::Leaf(_, answers) => answers.iter().map(cost).sum(),
    };
    Ok(Step { node, cost, measured: None })
}

fn cost(answer: &Answer) -> u64 {
    match answer {
        Answer::MessageId(_) | Answer::Path(_) => 5,
        Answer::Text(_, Needle::Phrase(words)) if words.len() > 1 => 50,
        Answer::Text(_, Needle::Phrase(_) | Needle::Whole(_)) => 10,
        Answer::Text(_, Needle::Prefix(words)) if words.len() > 1 => 200,
        Answer::Text(_, Needle::Prefix(_) | Needle::WholePrefix(_)) => 50,
        Answer::Maildir(_) | Answer::Below(_) => 50,
        Answer::Tagged(_) | Answer::Flag(FlagName::Muted) => 100,
        Answer::Thread(_) => 500,
        Answer::ThreadsOf(ids) => cost(ids).saturating_add(500),
        Answer::Keyword(_) => 150,
        Answer::Dates(..) | Answer::Sizes(..) | Answer::Priority(_) => 100,
        Answer::Values(..) | Answer::Flag(FlagName::Personal) => 5_000,
        Answer::Changed(..) | Answer::Flag(_) => 150,
        // Few words share the first letters of a stem.
        Answer::Terms(_, _, Wanted::Stem(_)) => 500,
        Answer::Terms(TextField::Body, ..) => 20_000,
        Answer::Terms(..) => 2_000,
        Answer::Paths(_) => 50_000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use query::{Field, FieldSet, Matcher, Target};

    fn leaf(word: &str) -> Query {
        let target = Target::Fields(FieldSet::of(Field::Body));
        Query::Leaf(Leaf { target, matcher: Matcher::Words(vec![word.to_owned()]), span: 0..0 })
    }

    /// An ordinary word has the cost of a word, `slow` has the cost of an infix, and `wrong` has no answer.
    fn answers(leaf: &Leaf) -> Result<Vec<Answer>> {
        let Matcher::Words(words) = &leaf.matcher else { unreachable!("only words are asked for here") };
        match words[0].as_str() {
            "wrong" => Err(Error::Query { span: leaf.span.clone(), what: "wrong".into(), remedy: None }),
            "slow" => Ok(vec![Answer::Terms(TextField::Body, String::new(), Wanted::End("x".into()))]),
            _ => Ok(vec![Answer::Text(TextField::Body, Needle::Phrase(words.clone()))]),
        }
    }

    fn show(step: &Step<'_>) -> String {
        let list = |name: &str, steps: &[Step<'_>]| {
            format!("{name}({})", steps.iter().map(show).collect::<Vec<_>>().join(" "))
        };
        match &step.node {
            Node::All => "*".into(),
            Node::And(steps) => list("and", steps),
            Node::Or(steps) => list("or", steps),
            Node::Xor(steps) => list("xor", steps),
            Node::Not(step) => format!("not {}", show(step)),
            Node::Leaf(leaf, _) => leaf.to_string().trim_start_matches("body:").to_owned(),
        }
    }

    fn planned(query: &Query) -> String {
        show(&plan(query, &answers).unwrap())
    }

    #[test]
    fn what_is_cheap_comes_first() {
        let slow = || leaf("slow");
        let or = Query::or(vec![slow(), leaf("b")]);
        assert_eq!(planned(&or), "or(b slow)");
        assert_eq!(planned(&Query::and(vec![or, slow(), leaf("c"), leaf("d")])), "and(c d slow or(b slow))");
        let not = Query::not(slow());
        assert_eq!(planned(&Query::and(vec![not, Query::All, leaf("e")])), "and(* e not slow)");
        assert_eq!(planned(&Query::xor(vec![slow(), leaf("f")])), "xor(slow f)");
    }

    #[test]
    fn the_first_leaf_without_an_answer_is_the_error() {
        let query = Query::and(vec![leaf("slow"), Query::not(leaf("wrong")), leaf("a")]);
        assert!(matches!(plan(&query, &answers), Err(Error::Query { what, .. }) if what == "wrong"));
    }
}
