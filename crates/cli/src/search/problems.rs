//! Reports how many messages have problems, by kind, and how to list them.
//!
//! Takes an index and returns a line. Does not know what a problem is.

use crate::amount::count;
use crate::search::typed_query;
use crate::session::Session;
use anyhow::Result;
use index::Mailbox;
use pneu::setup::configuration::Configuration;
use std::collections::BTreeMap;

/// What finds every message with a problem.
const ANY: &str = "problem:*";

/// Returns a line; none if no message has a problem.
///
/// # Errors
/// Damage of the index.
pub(crate) fn line(session: &Session) -> Result<Option<String>> {
    let mailbox = Mailbox::open(&session.index)?;
    let context = typed_query::context(Configuration::default(), BTreeMap::new());
    let count_of = |text: &str| -> Result<u64> { Ok(mailbox.count(&query::parse(text, &context)?)?) };
    let all = count_of(ANY)?;
    if all == 0 {
        return Ok(None);
    }
    let mut groups = Vec::new();
    for group in mail::problem_groups() {
        groups.push((group, count_of(&format!("problem:{group}"))?));
    }
    groups.retain(|(_, count)| *count > 0);
    groups.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Ok(Some(shown(all, &groups)))
}

fn shown(all: u64, groups: &[(&str, u64)]) -> String {
    let has = if all == 1 { "has" } else { "have" };
    let groups: Vec<String> = groups.iter().map(|(group, count)| format!("{group} {count}")).collect();
    format!(
        "{} {has} problems: {}; list them with: pneu find '{ANY}'",
        count(all, "message"),
        groups.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_all_kinds() {
        let line = shown(3, &[("date", 2), ("nul", 1)]);
        assert_eq!(line, "3 messages have problems: date 2, nul 1; list them with: pneu find 'problem:*'");
        assert!(shown(1, &[("nul", 1)]).starts_with("1 message has problems: nul 1;"));
    }
}
