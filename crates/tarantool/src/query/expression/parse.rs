//! Makes a tree of an expression.
//!
//! ```text
//! any        = all { "or" all }
//! all        = one { "and" one }
//! one        = "not" one | "(" any ")" | comparison
//! comparison = operand [ SIGN operand ] | path "is" ["not"] "null" | path ["not"] "like" TEXT
//! operand    = path | NUMBER | TEXT | "true" | "false" | "null"
//! ```
//!
//! Words of the language may be written in upper case.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::literal::Literal;
use super::pattern::Pattern;
use super::token::{Mistake, Placed, Token, tokens};
use super::tree::{Condition, Operand};
use crate::query::fields::FieldPath;
use crate::space::Space;

/// How deep `not` and parentheses may be nested.
pub const DEPTH_MAX: usize = 100;
/// The longest expression.
pub const EXPRESSION_BYTES_MAX: usize = 64 << 10;

/// Reads an expression.
pub(super) fn parse(text: &str, space: &Space) -> Result<Condition, Mistake> {
    if text.len() > EXPRESSION_BYTES_MAX {
        return Err((0, format!("the expression has over {EXPRESSION_BYTES_MAX} bytes")));
    }
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, next: 0, depth: 0, space };
    let condition = parser.any()?;
    match parser.peek() {
        Placed { token: Token::End, .. } => Ok(condition),
        other => Err((other.offset, "\"and\", \"or\" or the end is expected here".to_owned())),
    }
}

struct Parser<'a> {
    tokens: &'a [Placed],
    next: usize,
    depth: usize,
    space: &'a Space,
}

/// What stands for all tokens after the last one.
const END: Placed = Placed { token: Token::End, offset: usize::MAX };

impl<'a> Parser<'a> {
    fn peek(&self) -> &'a Placed {
        self.tokens.get(self.next).or(self.tokens.last()).unwrap_or(&END)
    }

    fn take(&mut self) -> &'a Placed {
        let token = self.peek();
        self.next = self.next.saturating_add(1);
        token
    }

    /// Takes the next token if it is this word of the language.
    fn takes(&mut self, word: &str) -> bool {
        let is_it = is_word(&self.peek().token, word);
        if is_it {
            self.take();
        }
        is_it
    }

    fn any(&mut self) -> Result<Condition, Mistake> {
        let first = self.all()?;
        let mut conditions = vec![first];
        while self.takes("or") {
            conditions.push(self.all()?);
        }
        Ok(single(conditions, Condition::Any))
    }

    fn all(&mut self) -> Result<Condition, Mistake> {
        let first = self.one()?;
        let mut conditions = vec![first];
        while self.takes("and") {
            conditions.push(self.one()?);
        }
        Ok(single(conditions, Condition::All))
    }

    fn one(&mut self) -> Result<Condition, Mistake> {
        let begin = self.peek();
        if self.depth >= DEPTH_MAX {
            return Err((begin.offset, format!("the expression is nested deeper than {DEPTH_MAX} levels")));
        }
        self.depth = self.depth.saturating_add(1);
        let condition = if self.takes("not") {
            Condition::Not(Box::new(self.one()?))
        } else if begin.token == Token::Open {
            self.take();
            let inside = self.any()?;
            let end = self.take();
            if end.token != Token::Close {
                return Err((end.offset, "\")\" is expected here".to_owned()));
            }
            inside
        } else {
            self.comparison()?
        };
        self.depth = self.depth.saturating_sub(1);
        Ok(condition)
    }

    fn comparison(&mut self) -> Result<Condition, Mistake> {
        let begin = self.peek().offset;
        let left = self.operand()?;
        let sign = self.peek();
        if let Token::Compare(comparison) = sign.token {
            self.take();
            return Ok(Condition::Compare(left, comparison, self.operand()?));
        }
        if self.takes("is") {
            let is_not = self.takes("not");
            let null = self.take();
            if !is_word(&null.token, "null") {
                return Err((null.offset, "\"null\" or \"not null\" is expected here".to_owned()));
            }
            let condition = Condition::IsNull(path(left, begin)?);
            return Ok(if is_not { Condition::Not(Box::new(condition)) } else { condition });
        }
        let is_not = self.takes("not");
        if self.takes("like") {
            let pattern = self.take();
            let Token::Text(text) = &pattern.token else {
                return Err((pattern.offset, "text in double quotes is expected here".to_owned()));
            };
            let condition = Condition::Like(path(left, begin)?, Pattern::new(text));
            return Ok(if is_not { Condition::Not(Box::new(condition)) } else { condition });
        }
        if is_not {
            return Err((self.peek().offset, "\"like\" is expected here".to_owned()));
        }
        match left {
            Operand::Path(_) | Operand::Literal(Literal::Boolean(_)) => Ok(Condition::IsTrue(left)),
            Operand::Literal(_) => Err((sign.offset, "a comparison such as = is expected here".to_owned())),
        }
    }

    fn operand(&mut self) -> Result<Operand, Mistake> {
        let placed = self.take();
        let literal = match &placed.token {
            Token::Text(text) => Literal::text(text.clone()),
            Token::Number(text) => Literal::number(text)
                .ok_or_else(|| (placed.offset, format!("{text} is no number, or is too large")))?,
            Token::Word(word) => match word.to_lowercase().as_str() {
                "null" => Literal::Null,
                "true" => Literal::Boolean(true),
                "false" => Literal::Boolean(false),
                "and" | "or" | "not" | "is" | "like" => return Err(no_operand(placed.offset)),
                _ => {
                    let path = FieldPath::parse(word, self.space).map_err(|what| (placed.offset, what))?;
                    return Ok(Operand::Path(path));
                }
            },
            Token::Open | Token::Close | Token::Compare(_) | Token::End => {
                return Err(no_operand(placed.offset));
            }
        };
        Ok(Operand::Literal(literal))
    }
}

fn no_operand(offset: usize) -> Mistake {
    (offset, "a field, a number or text in double quotes is expected here".to_owned())
}

fn is_word(token: &Token, word: &str) -> bool {
    matches!(token, Token::Word(found) if found.eq_ignore_ascii_case(word))
}

fn path(operand: Operand, offset: usize) -> Result<FieldPath, Mistake> {
    match operand {
        Operand::Path(path) => Ok(path),
        Operand::Literal(_) => Err((offset, "a field is expected here".to_owned())),
    }
}

fn single(mut conditions: Vec<Condition>, several: fn(Vec<Condition>) -> Condition) -> Condition {
    match conditions.pop() {
        Some(last) if conditions.is_empty() => last,
        Some(last) => {
            conditions.push(last);
            several(conditions)
        }
        None => several(conditions),
    }
}

#[cfg(test)]
mod tests {
    use crate::msgpack::{
        put_array_len, put_boolean, put_double, put_ext, put_int, put_nil, put_str, put_uint,
    };
    use crate::query::{Expression, ExpressionError};
    use crate::space::{Field, Space};

    fn space() -> Space {
        let names = ["id", "name", "price", "town", "paid", "big", "uuid", "time", "not"];
        let field = |name: &str| Field { name: name.as_bytes().to_vec(), ..Field::default() };
        Space { id: 512, name: "orders".to_owned(), fields: names.map(field).to_vec(), ..Space::default() }
    }

    /// A tuple with a value of each kind.
    fn tuple() -> Vec<u8> {
        let mut out = Vec::new();
        put_array_len(&mut out, 10);
        put_int(&mut out, -5);
        put_str(&mut out, "Zoë".as_bytes());
        put_double(&mut out, 0.1);
        // {"a": [1, "x"]}
        out.extend_from_slice(b"\x81\xa1a\x92\x01\xa1x");
        put_boolean(&mut out, true);
        put_uint(&mut out, (1 << 53) + 1);
        put_ext(&mut out, 2, &[0x11; 16]);
        put_ext(&mut out, 4, &86_400_i64.to_le_bytes());
        put_nil(&mut out);
        // A decimal, 1.50.
        put_ext(&mut out, 1, &[2, 0x15, 0x0c]);
        out
    }

    #[test]
    fn conditions_hold_or_do_not() {
        let (space, tuple) = (space(), tuple());
        let fits = |text: &str| Expression::parse(text, &space).unwrap().fits(&tuple).unwrap();
        for text in [
            "id = -5 and name = \"Zoë\"",
            "id < 0 AND NOT (id > 0 OR name = \"x\")",
            "price = 0.1 and price > 0 and price < 1",
            "town.a[2] = \"x\" and town.a[1] == 1 and [4].a[1] = 1",
            "paid and not false and true and paid = true",
            "big = 9007199254740993 and big > 9007199254740992 and big > 9007199254740992.0",
            "uuid = \"11111111-1111-1111-1111-111111111111\" and uuid != \"x\"",
            "time = \"1970-01-02\" and time < \"1970-01-02T00:00:00.000000001\" and time >= \"1970-01-01\"",
            "[\"not\"] is null and town.b is null and [77] is null and id is not null",
            "[9] = null and id != null and not ([9] > 1) and not ([9] < 1)",
            "[10] = 1.5 and [10] = 1.50 and [10] > 1.4999999999999999999 and [10] < 2 and 1 < [10]",
            "name like \"Z%\" and name like \"_o_\" and name not like \"z%\" and id not like \"%\"",
            "id < name and paid < id and name < uuid and uuid < time",
            "town = town and town != 1 and not town < 1 and not town > 1",
            "id <> 5 or id = 5",
            "id = 1 or id = 2 and id = 3 or id = -5",
        ] {
            assert!(fits(text), "{text}");
            assert!(!fits(&format!("not ({text})")), "{text}");
        }
    }

    #[test]
    fn mistakes_are_pointed_at() {
        let space = space();
        let operand = "a field, a number or text in double quotes is expected here";
        for (text, offset, what) in [
            ("", 0, operand),
            ("price >", 7, operand),
            ("price > and name = 1", 8, operand),
            ("(price > 1", 10, "\")\" is expected here"),
            ("price > 1)", 9, "\"and\", \"or\" or the end is expected here"),
            ("price > 1 2", 10, "\"and\", \"or\" or the end is expected here"),
            (
                "id = 1 and prise = 2",
                11,
                "there is no field prise in space orders; there are: id, name, price, town, paid, big, uuid, \
                 time, not",
            ),
            ("name = 'x'", 7, "text is written in double quotes"),
            ("name is 5", 8, "\"null\" or \"not null\" is expected here"),
            ("name like x", 10, "text in double quotes is expected here"),
            ("5 like \"x\"", 0, "a field is expected here"),
            ("name not \"x\"", 9, "\"like\" is expected here"),
            ("5", 1, "a comparison such as = is expected here"),
            ("id = 1x", 5, "1x is no number, or is too large"),
        ] {
            let error = ExpressionError { what: what.to_owned(), expression: text.to_owned(), offset };
            assert_eq!(Expression::parse(text, &space).map(|_| ()), Err(error), "{text}");
        }
    }

    #[test]
    fn depth_and_length_have_limits() {
        let space = space();
        let deep = |depth: usize| format!("{}paid{}", "(".repeat(depth), ")".repeat(depth));
        assert!(Expression::parse(&deep(super::DEPTH_MAX - 1), &space).is_ok());
        for text in [deep(super::DEPTH_MAX), deep(30_000), "not ".repeat(10_000) + "paid"] {
            let error = Expression::parse(&text, &space).unwrap_err();
            assert_eq!(error.what, "the expression is nested deeper than 100 levels");
        }
        let long = "paid or ".repeat(super::EXPRESSION_BYTES_MAX / 8) + "paid";
        assert_eq!(Expression::parse(&long, &space).unwrap_err().what, "the expression has over 65536 bytes");
        let wide = "paid or ".repeat(super::EXPRESSION_BYTES_MAX / 8 - 1) + "paid";
        assert!(Expression::parse(&wide, &space).unwrap().fits(&tuple()).unwrap());
    }
}
