//! Options of the commands that print tuples: which rows, and how.

use crate::source::OpenSpace;
use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use tarantool::query::{Expression, KeyConditions, TupleForm, TupleWriter, field_list};

// Without a doc comment, which would become the help of every command.
#[derive(Clone, Debug, Args)]
pub(crate) struct RowOptions {
    /// Use this index. Default: the primary key
    #[arg(long, value_name = "NAME")]
    pub index: Option<String>,
    /// Only tuples with this key, or with a key that begins with it: a value for each part
    #[arg(long, value_name = "VALUE", num_args = 1.., allow_negative_numbers = true)]
    #[arg(conflicts_with_all = ["ge", "gt", "le", "lt"])]
    eq: Vec<String>,
    /// Begin with this key, or with the first one that begins with it
    #[arg(long, value_name = "VALUE", num_args = 1.., allow_negative_numbers = true)]
    #[arg(visible_alias = "from")]
    ge: Vec<String>,
    /// Begin after this key and all keys that begin with it
    #[arg(long, value_name = "VALUE", num_args = 1.., allow_negative_numbers = true)]
    #[arg(conflicts_with = "ge")]
    gt: Vec<String>,
    /// End with this key and all keys that begin with it
    #[arg(long, value_name = "VALUE", num_args = 1.., allow_negative_numbers = true)]
    #[arg(visible_alias = "to")]
    le: Vec<String>,
    /// End before this key and all keys that begin with it
    #[arg(long, value_name = "VALUE", num_args = 1.., allow_negative_numbers = true)]
    #[arg(conflicts_with = "le")]
    lt: Vec<String>,
    /// Only tuples that fit, such as 'price > 10 and name = "x"'; see docs/tarantool.md
    #[arg(long = "where", value_name = "EXPRESSION")]
    condition: Option<String>,
}

impl RowOptions {
    /// Returns the conditions on the key.
    pub(crate) fn keys(&self) -> KeyConditions {
        let RowOptions { eq, ge, gt, le, lt, .. } = self.clone();
        KeyConditions { eq, ge, gt, le, lt }
    }

    /// Returns the condition on the fields, if there is one.
    ///
    /// # Errors
    /// It is no expression.
    pub(crate) fn expression(&self, space: &OpenSpace) -> Result<Option<Expression>> {
        let Some(text) = &self.condition else { return Ok(None) };
        let parsed = Expression::parse(text, &space.space);
        parsed.map(Some).map_err(|error| anyhow!("--where: {error}"))
    }
}

// Without a doc comment, which would become the help of every command.
#[derive(Clone, Debug, Args)]
pub(crate) struct PrintOptions {
    /// Print only these fields: names, numbers from 1, or paths such as address.town
    #[arg(long, value_name = "FIELD,..")]
    fields: Option<String>,
    /// array is an array of fields; json is an object with the names of fields
    #[arg(long, value_name = "FORMAT", default_value = "array")]
    format: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Array,
    Json,
}

impl PrintOptions {
    /// Returns what writes the tuples of a space.
    ///
    /// # Errors
    /// There is no such field.
    pub(crate) fn writer(&self, space: &OpenSpace) -> Result<TupleWriter> {
        let fields = self.fields.as_deref().map(|text| field_list(text, &space.space)).transpose();
        let fields = fields.map_err(|what| anyhow!("--fields: {what}"))?;
        let form = match self.format {
            Form::Array => TupleForm::Array,
            Form::Json => TupleForm::Object,
        };
        Ok(TupleWriter::new(&space.space, form, fields))
    }
}

/// Appends a tuple with a line feed.
///
/// # Errors
/// It is not msgpack.
pub(crate) fn put_line(writer: &mut TupleWriter, tuple: &[u8], out: &mut Vec<u8>) -> Result<()> {
    writer.put(tuple, out).map_err(|damage| damaged(&damage))?;
    out.push(b'\n');
    Ok(())
}

/// Returns the error for a tuple that cannot be read.
pub(crate) fn damaged(damage: &tarantool::Damage) -> anyhow::Error {
    anyhow!("a tuple is damaged at byte {}: {}", damage.offset, damage.what)
}
