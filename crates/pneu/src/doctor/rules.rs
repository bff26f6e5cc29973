//! Looks for rules of the configuration that can do nothing.
//!
//! Input: rules, and a view. Output: what is wrong with them. Tags of rules were checked when the
//! configuration was read.

use crate::arrivals::sentence;
use crate::error::{Error, Result};
use crate::setup::rules::Rule;
use crate::view::View;
use index::Hint;

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleFault {
    /// Its query cannot be understood or answered.
    Query(String),
    /// No message matches, because of what the query names.
    Unmatched(Vec<Hint>),
}

/// Returns the numbers of the rules that can do nothing, from 1.
pub(super) fn faults(view: &View, rules: &[Rule]) -> Result<Vec<(usize, RuleFault)>> {
    let mut found = Vec::new();
    for (number, rule) in (1..).zip(rules) {
        match fault(view, rule) {
            Ok(fault) => found.extend(fault.map(|fault| (number, fault))),
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => found.push((number, RuleFault::Query(sentence(error)))),
        }
    }
    Ok(found)
}

fn fault(view: &View, rule: &Rule) -> Result<Option<RuleFault>> {
    let query = view.query(&rule.query)?;
    if view.count(&query)? > 0 {
        return Ok(None);
    }
    let hints = view.hints(&query)?;
    Ok((!hints.is_empty()).then_some(RuleFault::Unmatched(hints)))
}
