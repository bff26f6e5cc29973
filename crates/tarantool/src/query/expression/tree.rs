//! An expression as a tree, and its answer for a tuple.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::literal::Literal;
use super::pattern::Pattern;
use super::scalar::{Scalar, are_equal, order};
use super::token::Comparison;
use crate::msgpack::Result;
use crate::query::fields::FieldPath;
use std::cmp::Ordering;

/// A condition. Its depth is limited by the parser.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    /// All of these.
    All(Vec<Condition>),
    /// Any of these.
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Compare(Operand, Comparison, Operand),
    /// The value is nil or missing.
    IsNull(FieldPath),
    Like(FieldPath, Pattern),
    /// The value is `true`.
    IsTrue(Operand),
}

/// What is compared.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Path(FieldPath),
    Literal(Literal),
}

impl Condition {
    /// Returns whether a tuple fits.
    pub(super) fn fits(&self, tuple: &[u8]) -> Result<bool> {
        match self {
            Condition::All(conditions) => {
                for condition in conditions {
                    if !condition.fits(tuple)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Condition::Any(conditions) => {
                for condition in conditions {
                    if condition.fits(tuple)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Condition::Not(condition) => Ok(!condition.fits(tuple)?),
            Condition::Compare(left, comparison, right) => compare(left, *comparison, right, tuple),
            Condition::IsNull(path) => Ok(matches!(Scalar::read(path.value(tuple)?)?, Scalar::Null)),
            Condition::Like(path, pattern) => Ok(match Scalar::read(path.value(tuple)?)? {
                Scalar::Text(text) => std::str::from_utf8(text).is_ok_and(|text| pattern.fits(text)),
                _ => false,
            }),
            Condition::IsTrue(Operand::Literal(literal)) => Ok(matches!(literal, Literal::Boolean(true))),
            Condition::IsTrue(Operand::Path(path)) => {
                Ok(matches!(Scalar::read(path.value(tuple)?)?, Scalar::Boolean(true)))
            }
        }
    }
}

#[inline]
fn compare(left: &Operand, comparison: Comparison, right: &Operand, tuple: &[u8]) -> Result<bool> {
    let read = |path: &FieldPath| Scalar::read(path.value(tuple)?);
    Ok(match (left, right) {
        (Operand::Path(left), Operand::Path(right)) => holds(&read(left)?, comparison, &read(right)?),
        (Operand::Path(left), Operand::Literal(right)) => {
            let left = read(left)?;
            holds(&left, comparison, &right.beside(&left))
        }
        (Operand::Literal(left), Operand::Path(right)) => {
            let right = read(right)?;
            holds(&left.beside(&right), comparison, &right)
        }
        (Operand::Literal(left), Operand::Literal(right)) => {
            holds(&left.beside(&Scalar::Null), comparison, &right.beside(&Scalar::Null))
        }
    })
}

#[inline]
fn holds(left: &Scalar, comparison: Comparison, right: &Scalar) -> bool {
    let is = |wanted: fn(Ordering) -> bool| order(left, right).is_some_and(wanted);
    match comparison {
        Comparison::Equal => are_equal(left, right),
        Comparison::Unequal => !are_equal(left, right),
        Comparison::Less => is(Ordering::is_lt),
        Comparison::LessOrEqual => is(Ordering::is_le),
        Comparison::Greater => is(Ordering::is_gt),
        Comparison::GreaterOrEqual => is(Ordering::is_ge),
    }
}
