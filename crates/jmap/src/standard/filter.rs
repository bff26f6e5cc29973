//! Filters: conditions joined by operators (RFC 8620, section 5.5).
//!
//! Input: the argument `filter`, and what reads a condition. Output: a tree. Does not know what conditions
//! mean.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::arguments::Arguments;
use crate::error::{MethodError, MethodErrorKind};
use crate::limits::Limits;
use serde_json::{Map, Value};

/// What records must be like.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter<C> {
    /// All of these match. Without any, every record matches.
    And(Vec<Filter<C>>),
    /// At least one of these matches. Without any, no record matches.
    Or(Vec<Filter<C>>),
    /// None of these matches. Without any, every record matches.
    Not(Vec<Filter<C>>),
    /// The condition holds.
    Condition(C),
}

impl<C> Filter<C> {
    /// Reads the argument `filter` of a query. `condition` reads the members of one condition and calls
    /// [`finish`](Arguments::finish).
    ///
    /// # Errors
    /// `unsupportedFilter`, if the filter is nested deeper or has more operators and conditions than `limits`
    /// allow; `invalidArguments`, if it is no filter; the errors of `condition`.
    pub fn read(
        filter: Map<String, Value>,
        limits: &Limits,
        condition: &mut dyn FnMut(Arguments) -> Result<C, MethodError>,
    ) -> Result<Filter<C>, MethodError> {
        let mut reader = Reader { nodes_left: limits.filter_nodes, condition };
        reader.node(filter, "filter", limits.filter_depth)
    }

    /// Returns whether a record matches for which `holds` knows the conditions that hold.
    pub fn matches(&self, holds: &mut dyn FnMut(&C) -> bool) -> bool {
        match self {
            Filter::And(filters) => filters.iter().all(|filter| filter.matches(holds)),
            Filter::Or(filters) => filters.iter().any(|filter| filter.matches(holds)),
            Filter::Not(filters) => !filters.iter().any(|filter| filter.matches(holds)),
            Filter::Condition(condition) => holds(condition),
        }
    }
}

struct Reader<'r, C> {
    nodes_left: usize,
    condition: &'r mut dyn FnMut(Arguments) -> Result<C, MethodError>,
}

impl<C> Reader<'_, C> {
    /// Reads an operator or a condition, below which `depth_left` levels are allowed, itself included.
    fn node(
        &mut self,
        object: Map<String, Value>,
        path: &str,
        depth_left: usize,
    ) -> Result<Filter<C>, MethodError> {
        let too_much = |what| MethodError::new(MethodErrorKind::UnsupportedFilter, what);
        self.nodes_left = self.nodes_left.checked_sub(1).ok_or_else(|| too_much("the filter is too long"))?;
        let below = depth_left.checked_sub(1).ok_or_else(|| too_much("the filter is nested too deep"))?;
        let mut members = Arguments::within(object, path);
        let Some(operator) = members.value("operator") else { return self.condition(members) };
        let join = match operator.as_str() {
            Some("AND") => Filter::And,
            Some("OR") => Filter::Or,
            Some("NOT") => Filter::Not,
            _ => return Err(members.fault("operator", "is not \"AND\", \"OR\" or \"NOT\"")),
        };
        let read = |value, path: &str| match value {
            Value::Object(object) => self.node(object, path, below),
            _ => {
                Err(MethodError::invalid_argument(path, "is not of the type FilterOperator|FilterCondition"))
            }
        };
        let conditions = members.optional_array("conditions", read)?;
        let conditions = conditions.ok_or_else(|| members.fault("conditions", "is missing"))?;
        members.finish()?;
        Ok(join(conditions))
    }

    fn condition(&mut self, members: Arguments) -> Result<Filter<C>, MethodError> {
        (self.condition)(members).map(Filter::Condition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> Result<Filter<i64>, MethodError> {
        let Value::Object(object) = value else { panic!("{value}") };
        let limits = Limits { filter_depth: 3, filter_nodes: 6, ..Limits::default() };
        Filter::read(object, &limits, &mut |mut members| {
            let number = members.integer("is", 0)?;
            members.finish()?;
            Ok(number)
        })
    }

    fn op(operator: &str, conditions: Value) -> Value {
        json!({"operator": operator, "conditions": conditions})
    }

    #[test]
    fn operators_and_conditions_make_a_tree() {
        let filter =
            read(op("OR", json!([{"is": 1}, op("NOT", json!([{"is": 2}, {}])), op("AND", json!([]))])));
        let expected = Filter::Or(vec![
            Filter::Condition(1),
            Filter::Not(vec![Filter::Condition(2), Filter::Condition(0)]),
            Filter::And(vec![]),
        ]);
        assert_eq!(filter, Ok(expected));
        assert_eq!(read(json!({"is": 5})), Ok(Filter::Condition(5)));
    }

    #[test]
    fn operators_mean_all_any_and_none() {
        let is_match = |value| read(value).unwrap().matches(&mut |&number| number > 0);
        let (yes, no) = (json!({"is": 1}), json!({"is": -1}));
        for (operator, conditions, expected) in [
            ("AND", json!([yes, yes]), true),
            ("AND", json!([yes, no]), false),
            ("AND", json!([]), true),
            ("OR", json!([no, yes]), true),
            ("OR", json!([no, no]), false),
            ("OR", json!([]), false),
            ("NOT", json!([no, no]), true),
            ("NOT", json!([no, yes]), false),
            ("NOT", json!([]), true),
        ] {
            assert_eq!(is_match(op(operator, conditions.clone())), expected, "{operator} {conditions}");
        }
    }

    #[test]
    fn what_is_no_filter_is_an_invalid_argument_with_its_path() {
        let wrong = [
            (op("XOR", json!([])), "filter/operator"),
            (op("and", json!([])), "filter/operator"),
            (json!({"operator": null, "conditions": []}), "filter/operator"),
            (json!({"operator": "AND"}), "filter/conditions"),
            (op("AND", json!(null)), "filter/conditions"),
            (op("AND", json!({})), "filter/conditions"),
            (op("AND", json!([{}, 1])), "filter/conditions/1"),
            (op("AND", json!([{"was": 1}])), "filter/conditions/0/was"),
            (op("AND", json!([{"is": "1"}])), "filter/conditions/0/is"),
            (json!({"operator": "AND", "conditions": [], "is": 1}), "filter/is"),
        ];
        for (value, path) in wrong {
            let error = read(value.clone()).unwrap_err();
            assert_eq!(error.kind, MethodErrorKind::InvalidArguments, "{value}");
            assert_eq!(error.arguments, [path], "{value}");
        }
    }

    #[test]
    fn depth_and_length_are_limited() {
        let kind = |value| read(value).map_err(|error| error.kind);
        let deepest = op("NOT", json!([op("NOT", json!([{}]))]));
        assert!(kind(deepest.clone()).is_ok());
        assert_eq!(kind(op("NOT", json!([deepest]))), Err(MethodErrorKind::UnsupportedFilter));
        assert!(kind(op("OR", json!([{}, {}, {}, {}, {}]))).is_ok());
        assert_eq!(kind(op("OR", json!([{}, {}, {}, {}, {}, {}]))), Err(MethodErrorKind::UnsupportedFilter));
    }
}
