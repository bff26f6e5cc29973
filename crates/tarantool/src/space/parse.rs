//! Parses the tuples of `_space` and `_index`.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::definition::{Engine, Field, IndexProblem, Part, Space, SpaceIndex};
use crate::error::Damage;
use crate::json_path::{self, PathStep, Understood};
use crate::key::{PartKind, PartType};
use crate::msgpack::{Class, Reader, Result};

/// Numbers of the collations that compare bytes: none and binary.
const COLLATIONS_OF_BYTES: [u64; 2] = [0, 3];
/// The collation of a part without one.
const COLLATION_NONE: u64 = u32::MAX as u64;

/// Reads field `field` of a tuple as a number of 32 bits.
pub(super) fn number(tuple: &[u8], field: u64) -> Result<u32> {
    let mut reader = Reader::new(tuple);
    if u64::from(reader.array_len()?) <= field {
        return Err(reader.damage("a definition lacks its number"));
    }
    reader.skip_many(field)?;
    small(&mut reader)
}

fn small(reader: &mut Reader) -> Result<u32> {
    let damage = reader.damage("a definition's number is over 32 bits");
    u32::try_from(reader.uint()?).map_err(|_| damage)
}

/// `[id, owner, name, engine, field_count, flags, format]`. Old tuples end early.
pub(super) fn space(tuple: &[u8]) -> Result<Space> {
    let mut reader = Reader::new(tuple);
    let count = reader.array_len()?;
    let id = small(&mut reader)?;
    reader.skip()?;
    let name = text(reader.str()?);
    let engine = if count > 3 { reader.str()? } else { b"memtx" };
    let engine = match engine.to_ascii_lowercase().as_slice() {
        b"memtx" => Engine::Memtx,
        b"vinyl" => Engine::Vinyl,
        other => Engine::Other(text(other)),
    };
    let mut space = Space {
        id,
        name,
        engine,
        is_local: false,
        is_temporary: false,
        is_synchronous: false,
        fields: Vec::new(),
        indexes: Vec::new(),
    };
    if count > 4 {
        reader.skip()?;
    }
    if count > 5 {
        flags(&mut reader, &mut space)?;
    }
    if count > 6 {
        space.fields = fields(&mut reader)?;
    }
    Ok(space)
}

/// `{temporary = true, group_id = 1, is_sync = true, type = 'data-temporary'}`, or text with the word
/// temporary in it.
fn flags(reader: &mut Reader, space: &mut Space) -> Result<()> {
    if reader.peek()? == Class::String {
        space.is_temporary = reader.str()?.windows(9).any(|word| word == b"temporary");
        return Ok(());
    }
    each_option(reader, |key, value| {
        match key {
            b"temporary" => space.is_temporary |= is_true(value)?,
            b"is_sync" => space.is_synchronous = is_true(value)?,
            b"group_id" => space.is_local = value.peek()? == Class::Unsigned && value.uint()? == 1,
            b"type" if value.peek()? == Class::String => {
                space.is_temporary |= matches!(value.str()?, b"temporary" | b"data-temporary");
            }
            _ => {}
        }
        Ok(())
    })
}

fn fields(reader: &mut Reader) -> Result<Vec<Field>> {
    let mut fields = Vec::new();
    if reader.peek()? != Class::Array {
        return Ok(fields);
    }
    for _ in 0..reader.array_len()? {
        let mut field = Field::default();
        if reader.peek()? == Class::Map {
            each_option(reader, |key, value| {
                match key {
                    b"name" if value.peek()? == Class::String => field.name = value.str()?.to_vec(),
                    b"type" if value.peek()? == Class::String => field.type_name = value.str()?.to_vec(),
                    b"is_nullable" => field.is_nullable = is_true(value)?,
                    _ => {}
                }
                Ok(())
            })?;
        } else {
            reader.skip()?;
        }
        fields.push(field);
    }
    Ok(fields)
}

/// `[space, iid, name, type, options, parts]`, or
/// `[space, iid, name, type, is_unique, part_count, field, type, field, type, ..]`.
///
/// An index that cannot be read is left out.
pub(super) fn index(tuple: &[u8], iid: u32, fields: &[Field]) -> SpaceIndex {
    let mut index = SpaceIndex {
        iid,
        name: format!("index {iid}"),
        is_hash: false,
        is_unique: true,
        parts: Vec::new(),
        problem: None,
    };
    if let Err(damage) = read_index(tuple, fields, &mut index) {
        index.leave_out(format!("cannot be read ({})", damage.what));
    }
    if matches!(index.problem, Some(IndexProblem::LeftOut(_))) {
        index.parts.clear();
    }
    index
}

impl SpaceIndex {
    fn leave_out(&mut self, why: String) {
        if !matches!(self.problem, Some(IndexProblem::LeftOut(_))) {
            self.problem = Some(IndexProblem::LeftOut(why));
        }
    }
}

fn read_index(tuple: &[u8], fields: &[Field], index: &mut SpaceIndex) -> Result<()> {
    let mut reader = Reader::new(tuple);
    reader.array_len()?;
    reader.skip_many(2)?;
    index.name = text(reader.str()?);
    let type_name = text(reader.str()?);
    match type_name.to_ascii_lowercase().as_str() {
        "tree" => {}
        "hash" => index.is_hash = true,
        _ => index.leave_out(format!("is of the type {}", type_name.to_ascii_uppercase())),
    }
    if reader.peek()? == Class::Map {
        read_options(&mut reader, index)?;
        let count = reader.array_len()?;
        for _ in 0..count {
            read_part(&mut reader, fields, index)?;
        }
    } else {
        index.is_unique = reader.uint()? != 0;
        for _ in 0..reader.uint()? {
            let (field, name) = (small(&mut reader)?, reader.str()?);
            add_part(
                index,
                field,
                name,
                Modifiers { is_nullable: is_nullable(fields, field), ..Modifiers::default() },
            );
        }
    }
    Ok(())
}

fn read_options(reader: &mut Reader, index: &mut SpaceIndex) -> Result<()> {
    let mut is_functional = false;
    let mut is_unique = true;
    each_option(reader, |key, value| {
        match key {
            b"unique" => is_unique = is_true(value)?,
            b"func" => is_functional = !(value.peek()? == Class::Unsigned && value.uint()? == 0),
            _ => {}
        }
        Ok(())
    })?;
    index.is_unique = is_unique;
    if is_functional {
        index.leave_out("is functional".to_owned());
    }
    Ok(())
}

/// Properties of a part besides its field and type.
#[derive(Default)]
struct Modifiers {
    is_nullable: bool,
    path: Vec<PathStep>,
    problem: Option<IndexProblem>,
}

fn read_part(reader: &mut Reader, fields: &[Field], index: &mut SpaceIndex) -> Result<()> {
    if reader.peek()? == Class::Map {
        return read_named_part(reader, index);
    }
    let count = reader.array_len()?;
    let (field, name) = (small(reader)?, reader.str()?);
    reader.skip_many(u64::from(count).saturating_sub(2))?;
    add_part(
        index,
        field,
        name,
        Modifiers { is_nullable: is_nullable(fields, field), ..Modifiers::default() },
    );
    Ok(())
}

fn read_named_part(reader: &mut Reader, index: &mut SpaceIndex) -> Result<()> {
    let missing = reader.damage("a part has no field or no type");
    let (mut field, mut type_name, mut modifiers) = (None, None, Modifiers::default());
    each_option(reader, |key, value| {
        let left_out = |why: &str| Some(IndexProblem::LeftOut(why.to_owned()));
        match key {
            b"field" => field = Some(small(value)?),
            b"type" => type_name = Some(value.str()?.to_vec()),
            b"is_nullable" => modifiers.is_nullable = is_true(value)?,
            b"collation" if !compares_bytes(value)? => modifiers.problem = left_out("has a collation"),
            b"sort_order" if value.peek()? == Class::String && value.str()?.eq_ignore_ascii_case(b"desc") => {
                modifiers.problem = left_out("has a descending part");
            }
            b"exclude_null" if is_true(value)? && modifiers.problem.is_none() => {
                modifiers.problem = Some(IndexProblem::HasNils);
            }
            b"path" if value.peek()? == Class::String => match json_path::steps(&text(value.str()?)) {
                (steps, _) if steps.contains(&PathStep::Every) => modifiers.problem = left_out("is multikey"),
                (_, Understood::UpToMistake) => modifiers.problem = left_out("has a path that is none"),
                (steps, Understood::Whole) => modifiers.path = steps,
            },
            _ => {}
        }
        Ok(())
    })?;
    let (Some(field), Some(type_name)) = (field, type_name) else { return Err(missing) };
    add_part(index, field, &type_name, modifiers);
    Ok(())
}

fn add_part(index: &mut SpaceIndex, field: u32, type_name: &[u8], modifiers: Modifiers) {
    match modifiers.problem {
        Some(IndexProblem::LeftOut(why)) => index.leave_out(why),
        Some(IndexProblem::HasNils) if index.problem.is_none() => index.problem = Some(IndexProblem::HasNils),
        _ => {}
    }
    let Some(part_type) = PartType::named(type_name) else {
        return index.leave_out(format!("has a part of the type {}", text(type_name)));
    };
    let kind = PartKind { part_type, is_nullable: modifiers.is_nullable };
    index.parts.push(Part { field, path: modifiers.path, kind });
}

fn is_nullable(fields: &[Field], field: u32) -> bool {
    fields.get(field as usize).is_some_and(|field| field.is_nullable)
}

fn compares_bytes(value: &mut Reader) -> Result<bool> {
    Ok(match value.peek()? {
        Class::Unsigned => {
            let number = value.uint()?;
            number == COLLATION_NONE || COLLATIONS_OF_BYTES.contains(&number)
        }
        Class::String => matches!(value.str()?, b"none" | b"binary"),
        Class::Nil => true,
        _ => false,
    })
}

fn is_true(value: &mut Reader) -> Result<bool> {
    Ok(value.peek()? == Class::Boolean && value.boolean()?)
}

/// Passes each pair of a map to `take`, with a reader of its own for the value.
fn each_option<'a>(
    reader: &mut Reader<'a>,
    mut take: impl FnMut(&'a [u8], &mut Reader<'a>) -> std::result::Result<(), Damage>,
) -> Result<()> {
    if reader.peek()? != Class::Map {
        reader.skip()?;
        return Ok(());
    }
    for _ in 0..reader.map_len()? {
        let key = if reader.peek()? == Class::String {
            reader.str()?
        } else {
            reader.skip()?;
            b""
        };
        let mut value = *reader;
        reader.skip()?;
        take(key, &mut value)?;
    }
    Ok(())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
