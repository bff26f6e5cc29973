//! Conditions on the fields of a tuple: `price > 10 and name = "x"`.
//!
//! Input: text and the definition of a space. Output: an [`Expression`], which says for each tuple whether it
//! fits, or an [`ExpressionError`] that points at the mistake. Does not know where tuples come from.
//!
//! - `token` divides the text, `parse` makes a tree of it.
//! - `tree` answers. `scalar` compares values as Tarantool does; `literal` has the values that are written
//!   in an expression, and `pattern` those of `like`.
//!
//! The text has a limit, and so has the depth of its parentheses, because trees are walked by recursion.

mod error;
mod literal;
mod parse;
mod pattern;
mod scalar;
mod token;
mod tree;

use crate::msgpack::Result;
use crate::space::Space;
use tree::Condition;

pub use error::ExpressionError;
pub use parse::{DEPTH_MAX, EXPRESSION_BYTES_MAX};

/// A condition on the fields of a tuple.
#[derive(Clone, Debug)]
pub struct Expression(Condition);

impl Expression {
    /// Reads an expression. docs/tarantool.md describes the language.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(text: &str, space: &Space) -> std::result::Result<Expression, ExpressionError> {
        let parsed = parse::parse(text, space);
        let error = |(offset, what)| ExpressionError { what, expression: text.to_owned(), offset };
        parsed.map(Expression).map_err(error)
    }

    /// Returns whether a tuple fits.
    ///
    /// # Errors
    /// If the tuple is damaged.
    #[inline]
    pub fn fits(&self, tuple: &[u8]) -> Result<bool> {
        self.0.fits(tuple)
    }
}
