//! Comparators: by what results are sorted (RFC 8620, section 5.5).
//!
//! Input: one item of the argument `sort`. Output: a comparator. Does not know which properties records have.

use crate::arguments::Arguments;
use crate::error::{MethodError, MethodErrorKind};
use serde_json::Value;

/// The most comparators of a query.
pub const COMPARATOR_COUNT_MAX: usize = 32;

/// By which property results are sorted, if all comparators before find no difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparator {
    /// The property. If the server cannot sort by it, that is an `unsupportedSort`.
    pub property: String,
    /// Whether the smallest value comes first.
    pub is_ascending: bool,
    /// One of the collations that the server offers, or the server's choice.
    pub collation: Option<String>,
    /// The further members. A method takes those that it knows for the property. Others do not count: clients
    /// send the members of other objects here, and a property that is not known is refused anyway.
    pub rest: Arguments,
}

impl Comparator {
    /// Reads the argument `sort`. A missing one sorts by nothing.
    pub(super) fn read_all(
        arguments: &mut Arguments,
        collations: &[String],
    ) -> Result<Vec<Comparator>, MethodError> {
        let comparators = arguments.optional_array("sort", Comparator::read)?.unwrap_or_default();
        if comparators.len() > COMPARATOR_COUNT_MAX {
            let what = format!("there are more than {COMPARATOR_COUNT_MAX} comparators");
            return Err(MethodError::new(MethodErrorKind::UnsupportedSort, what));
        }
        let mut named = comparators.iter().filter_map(|comparator| comparator.collation.as_ref());
        match named.find(|&name| !collations.contains(name)) {
            Some(_) => {
                Err(MethodError::new(MethodErrorKind::UnsupportedSort, "the collation is not offered"))
            }
            None => Ok(comparators),
        }
    }

    fn read(value: Value, path: &str) -> Result<Comparator, MethodError> {
        let Value::Object(members) = value else {
            return Err(MethodError::invalid_argument(path, "is not of the type Comparator"));
        };
        let mut members = Arguments::within(members, path);
        let property = members.string("property")?;
        let is_ascending = members.boolean("isAscending", true)?;
        let collation = members.optional_string("collation")?;
        Ok(Comparator { property, is_ascending, collation, rest: members })
    }
}
