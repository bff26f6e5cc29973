//! The columns of a space: those of its format, and one for each further field that a tuple has.

use anyhow::{Result, anyhow, bail};
use std::collections::{BTreeMap, BTreeSet};
use tarantool::SpaceTuples;
use tarantool::msgpack::Reader;
use tarantool::space::Space;

/// Columns of a table. A field beyond them has no name.
const COLUMNS_MAX: usize = 2000;

/// The columns of a space.
pub(super) struct Table {
    /// Their names. No two are equal, whatever the case of their letters.
    pub(super) columns: Vec<String>,
    /// Whether the space has a format, so that fields have names.
    pub(super) has_names: bool,
}

impl Table {
    /// Looks at the format of a space and the lengths of its tuples.
    ///
    /// # Errors
    /// Damage; a tuple has too many fields.
    pub(super) fn new(
        space: &Space,
        rows: &SpaceTuples,
        renames: &mut Renames,
        remarks: &mut Vec<String>,
    ) -> Result<Table> {
        let parts = space.indexes.iter().flat_map(|index| &index.parts);
        let keys = parts.map(|part| part.field as usize + 1).filter(|&count| count <= COLUMNS_MAX);
        let mut count = keys.max().unwrap_or(0).max(space.fields.len());
        rows.each(|tuple| {
            let length = Reader::new(tuple).array_len().unwrap_or(0);
            count = count.max(length as usize);
            Ok(())
        })?;
        if count > COLUMNS_MAX {
            bail!("space {} has tuples of {count} fields, and at most {COLUMNS_MAX} are columns", space.name);
        }
        let mut columns: Vec<String> = Vec::new();
        let mut taken = BTreeSet::new();
        for number in 0..count {
            let own = space.fields.get(number).map(|field| String::from_utf8_lossy(&field.name).into_owned());
            let own = own.filter(|name| !name.is_empty());
            let named = own.map_or_else(|| (number + 1).to_string(), |name| renames.new_name(&name));
            // SQL ends there.
            let wanted = named.replace('\0', "\u{fffd}");
            if wanted != named {
                remarks.push(format!(
                    "space {}: a name may have no NUL: field {} is called {wanted}",
                    space.name,
                    number + 1
                ));
            }
            let mut name = wanted.clone();
            while !taken.insert(name.to_lowercase()) {
                name = format!("{name}_{}", number + 1);
            }
            if name != wanted {
                let place = number + 1;
                remarks.push(format!(
                    "space {}: another field is named {wanted}, too: field {place} is called {name}",
                    space.name
                ));
            }
            columns.push(name);
        }
        Ok(Table { columns, has_names: !space.fields.is_empty() })
    }
}

/// New names of fields.
pub(super) struct Renames {
    names: BTreeMap<String, String>,
    used: BTreeSet<String>,
}

impl Renames {
    /// Reads `old=new`.
    ///
    /// # Errors
    /// There is no `=`, or a name is given twice.
    pub(super) fn parse(texts: &[String]) -> Result<Renames> {
        let mut names = BTreeMap::new();
        for text in texts {
            let pair = text.split_once('=').filter(|(old, new)| !old.is_empty() && !new.is_empty());
            let (old, new) = pair.ok_or_else(|| anyhow!("\"{text}\" is no new name: old=new is expected"))?;
            if names.insert(old.to_owned(), new.to_owned()).is_some() {
                bail!("field {old} gets two names");
            }
        }
        Ok(Renames { names, used: BTreeSet::new() })
    }

    fn new_name(&mut self, old: &str) -> String {
        let Some(new) = self.names.get(old) else { return old.to_owned() };
        self.used.insert(old.to_owned());
        new.clone()
    }

    /// Checks that each old name exists.
    ///
    /// # Errors
    /// One does not.
    pub(super) fn check(&self) -> Result<()> {
        match self.names.keys().find(|old| !self.used.contains(*old)) {
            Some(old) => bail!("no space that is written has a field {old}"),
            None => Ok(()),
        }
    }
}
