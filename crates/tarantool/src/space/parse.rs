//! Parses the tuples of `_space` and `_index`.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::collations::Collations;
use super::definition::{Engine, Field, Part, Space, SpaceIndex};
use super::entries::EntryShape;
use super::values::{each_option, is_true, small, text};
use crate::json_path::{self, PathStep, Understood};
use crate::key::{Collation, PartKind, PartType};
use crate::msgpack::{Class, Reader, Result};
use std::collections::BTreeSet;

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

/// What a definition of an index refers to.
#[derive(Clone, Copy)]
pub(super) struct IndexContext<'a> {
    /// The fields of the space.
    pub(super) fields: &'a [Field],
    pub(super) collations: &'a Collations,
}

/// `[space, iid, name, type, options, parts]`, or
/// `[space, iid, name, type, is_unique, part_count, field, type, field, type, ..]`.
///
/// An index that cannot be read is left out.
pub(super) fn index(tuple: &[u8], iid: u32, context: IndexContext) -> SpaceIndex {
    let mut index = SpaceIndex {
        iid,
        name: format!("index {iid}"),
        is_hash: false,
        is_unique: true,
        parts: Vec::new(),
        excluding: BTreeSet::new(),
        left_out: None,
    };
    if let Err(damage) = read_index(tuple, context, &mut index) {
        index.leave_out(format!("cannot be read ({})", damage.what));
    }
    if let Err(why) = EntryShape::new(&index) {
        index.leave_out(why);
    }
    if index.left_out.is_some() {
        index.parts.clear();
    }
    index
}

impl SpaceIndex {
    fn leave_out(&mut self, why: String) {
        self.left_out.get_or_insert(why);
    }
}

fn read_index(tuple: &[u8], context: IndexContext, index: &mut SpaceIndex) -> Result<()> {
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
            read_part(&mut reader, context, index)?;
        }
    } else {
        index.is_unique = reader.uint()? != 0;
        for _ in 0..reader.uint()? {
            let (field, name) = (small(&mut reader)?, reader.str()?);
            add_part(index, field, name, Modifiers::of_field(context, field));
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
        index.leave_out("is functional, and only Tarantool runs the function that makes its keys".to_owned());
    }
    Ok(())
}

/// Properties of a part besides its field and type.
#[derive(Default)]
struct Modifiers {
    is_nullable: bool,
    is_descending: bool,
    collation: Option<Collation>,
    path: Vec<PathStep>,
    excludes_nil: bool,
    left_out: Option<String>,
}

impl Modifiers {
    /// Returns those of a part that gives its field and its type only.
    fn of_field(context: IndexContext, field: u32) -> Modifiers {
        let is_nullable = context.fields.get(field as usize).is_some_and(|field| field.is_nullable);
        Modifiers { is_nullable, ..Modifiers::default() }
    }
}

fn read_part(reader: &mut Reader, context: IndexContext, index: &mut SpaceIndex) -> Result<()> {
    if reader.peek()? == Class::Map {
        return read_named_part(reader, context, index);
    }
    let count = reader.array_len()?;
    let (field, name) = (small(reader)?, reader.str()?);
    reader.skip_many(u64::from(count).saturating_sub(2))?;
    add_part(index, field, name, Modifiers::of_field(context, field));
    Ok(())
}

fn read_named_part(reader: &mut Reader, context: IndexContext, index: &mut SpaceIndex) -> Result<()> {
    let missing = reader.damage("a part has no field or no type");
    let (mut field, mut type_name, mut modifiers) = (None, None, Modifiers::default());
    each_option(reader, |key, value| {
        match key {
            b"field" => field = Some(small(value)?),
            b"type" => type_name = Some(value.str()?.to_vec()),
            b"is_nullable" => modifiers.is_nullable = is_true(value)?,
            b"collation" => match collation(value, context.collations)? {
                Ok(collation) => modifiers.collation = collation,
                Err(why) => modifiers.left_out = Some(why),
            },
            b"sort_order" if value.peek()? == Class::String => {
                modifiers.is_descending = value.str()?.eq_ignore_ascii_case(b"desc");
            }
            b"exclude_null" => modifiers.excludes_nil = is_true(value)?,
            b"path" if value.peek()? == Class::String => match json_path::steps(&text(value.str()?)) {
                (_, Understood::UpToMistake) => {
                    modifiers.left_out = Some("has an invalid path".to_owned());
                }
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
    if let Some(why) = modifiers.left_out {
        index.leave_out(why);
    }
    let Some(part_type) = PartType::named(type_name) else {
        return index.leave_out(format!("has a part of the type {}", text(type_name)));
    };
    // Other values than text have only one order.
    let has_text = matches!(part_type, PartType::String | PartType::Scalar);
    let kind = PartKind {
        part_type,
        is_nullable: modifiers.is_nullable,
        is_descending: modifiers.is_descending,
        collation: modifiers.collation.filter(|_| has_text),
    };
    if modifiers.excludes_nil {
        index.excluding.insert(index.parts.len());
    }
    index.parts.push(Part { field, path: modifiers.path, kind });
}

/// Reads the number or the name of a collation. The inner error is why it cannot be carried out.
fn collation(
    value: &mut Reader,
    collations: &Collations,
) -> Result<std::result::Result<Option<Collation>, String>> {
    Ok(match value.peek()? {
        Class::Unsigned => collations.numbered(small(value)?),
        Class::String => collations.named(&text(value.str()?)),
        Class::Nil => Ok(None),
        _ => Err("has an invalid collation".to_owned()),
    })
}
