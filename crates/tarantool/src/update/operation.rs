//! Parses operations in the form of a log.
//!
//! Input: a list of operations, and the fields of the space. Does not know the tuples they change.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::number::Arithmetic;
use crate::json_path::{self, PathStep, Understood};
use crate::msgpack::{Class, Reader, Result as Read};
use crate::space::Field;

/// The most operations of one update.
const OPERATIONS_MAX: u32 = 4000;

/// What an update needs to know about a space.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The number of the first field in the operations.
    pub index_base: i64,
    /// The fields' names, starting with the first field.
    pub fields: &'a [Field],
    /// The numbers of the fields that hold only floating-point numbers of 64 bits.
    pub double_fields: &'a [u32],
}

/// One operation.
#[derive(Clone, Debug)]
pub(super) struct Operation<'a> {
    pub(super) code: u8,
    /// The number of the field from 0, or from the end if below 0.
    pub(super) field: i64,
    /// The path within the field.
    pub(super) path: Vec<PathStep>,
    pub(super) understood: Understood,
    pub(super) argument: Argument<'a>,
}

/// The operand of an operation.
#[derive(Clone, Debug)]
pub(super) enum Argument<'a> {
    Value(&'a [u8]),
    Count(u64),
    Number(Arithmetic),
    Bits(u64),
    Splice { offset: i64, cut: i64, paste: &'a [u8] },
}

/// Reads a list of operations.
///
/// # Errors
/// Which operation is malformed.
pub(super) fn read_operations<'a>(
    operations: &'a [u8],
    context: &Context,
) -> Result<Vec<Operation<'a>>, String> {
    let mut reader = Reader::new(operations);
    let count = reader.array_len().map_err(|damage| damage.what)?;
    if count > OPERATIONS_MAX {
        return Err(format!("{count} operations, allowed are {OPERATIONS_MAX}"));
    }
    let mut read = Vec::with_capacity(count as usize);
    for _ in 0..count {
        read.push(read_operation(&mut reader, context)?);
    }
    Ok(read)
}

fn read_operation<'a>(reader: &mut Reader<'a>, context: &Context) -> Result<Operation<'a>, String> {
    let (count, code) = read_code(reader).map_err(|damage| damage.what)?;
    let wanted = if code == b':' { 5 } else { 3 };
    if !b"=!#+-&|^:".contains(&code) || count != wanted {
        return Err(format!("there is no operation {} of {count} parts", char::from(code)));
    }
    let (field, path, understood) = read_target(reader, context)?;
    let argument = read_argument(reader, code, context.index_base)?;
    Ok(Operation { code, field, path, understood, argument })
}

fn read_code(reader: &mut Reader) -> Read<(u32, u8)> {
    let count = reader.array_len()?;
    let damage = reader.damage("an operation is one letter");
    match reader.str()? {
        [code] => Ok((count, *code)),
        _ => Err(damage),
    }
}

/// The number of a field, the path within it, and how much of the path was understood.
type Target = (i64, Vec<PathStep>, Understood);

/// A target is a number, a name, or a path that begins with either.
fn read_target(reader: &mut Reader, context: &Context) -> Result<Target, String> {
    let whole = |field| (field, Vec::new(), Understood::Whole);
    let class = reader.peek().map_err(|damage| damage.what)?;
    if class != Class::String {
        let number = reader.int().map_err(|_| "a place is a number or text")?;
        let number = i64::from(i32::try_from(number).map_err(|_| format!("there is no field {number}"))?);
        let field = number.checked_sub(context.index_base).filter(|&field| field >= 0);
        let field = field.or((number < 0).then_some(number));
        return field.map(whole).ok_or_else(|| format!("there is no field {number}"));
    }
    let name = reader.str().map_err(|damage| damage.what)?;
    let named = |name: &[u8]| {
        let place = context.fields.iter().position(|field| field.name == name)?;
        i64::try_from(place).ok()
    };
    if let Some(field) = named(name) {
        return Ok(whole(field));
    }
    let text = String::from_utf8_lossy(name);
    let (mut steps, understood) = json_path::steps(&text);
    let missing = || format!("there is no field {text}");
    if steps.is_empty() {
        return Err(missing());
    }
    let field = match steps.remove(0) {
        PathStep::Index(index) => Some(i64::from(index)),
        PathStep::Key(key) => named(&key),
        PathStep::Every => None,
    };
    Ok((field.ok_or_else(missing)?, steps, understood))
}

fn read_argument<'a>(reader: &mut Reader<'a>, code: u8, index_base: i64) -> Result<Argument<'a>, String> {
    let what = |damage: crate::Damage| damage.what.to_owned();
    Ok(match code {
        b'=' | b'!' => Argument::Value(reader.skip().map_err(what)?),
        b'#' => match reader.uint().map_err(what)? {
            0 => return Err("no fields are to be deleted".to_owned()),
            count => Argument::Count(count),
        },
        b'+' | b'-' => Argument::Number(Arithmetic::read(reader).map_err(what)?),
        b'&' | b'|' | b'^' => Argument::Bits(reader.uint().map_err(what)?),
        _ => {
            let (offset, cut) = (small(reader)?, small(reader)?);
            let offset = if offset >= 0 { offset.saturating_sub(index_base) } else { offset };
            let paste = reader.str().map_err(what)?;
            Argument::Splice { offset, cut, paste }
        }
    })
}

fn small(reader: &mut Reader) -> Result<i64, String> {
    let number = reader.int().ok().and_then(|number| i32::try_from(number).ok());
    number.map(i64::from).ok_or_else(|| "a number of 32 bits is expected".to_owned())
}
