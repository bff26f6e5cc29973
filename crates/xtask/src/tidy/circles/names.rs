//! Which file each name comes from.
//!
//! Input: the modules of a crate. Output: which files use which others. Follows re-exports to the file that
//! defines a name. Does not depend on circles.

use super::modules::{Crate, Import, Mention, Module};
use super::uses::{Use, Uses};

/// How many re-exports in a row are followed. More than that must be a circle of imports.
const STEPS_MAX: usize = 20;

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    Module(usize),
    /// An item, or something in it, of the module.
    Item(usize, String),
}

/// What kind of name a path is resolved for. Modules have names apart from functions and types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Module,
    Item,
}

/// Returns the first use that each file of the crate makes of each other file.
pub(super) fn uses(parsed: &Crate) -> Uses {
    let mut uses = Uses::new();
    for (index, module) in parsed.modules.iter().enumerate() {
        for import in module.imports.iter().filter(|import| is_used(module, import)) {
            put(parsed, &mut uses, index, import.line, resolve(parsed, index, &import.path, Wanted::Item, 0));
        }
        for mention in &module.mentions {
            put(parsed, &mut uses, index, mention.line, mentioned(parsed, index, mention));
        }
    }
    uses
}

/// Adds the use of `target` by the module `user`, unless both are in one file.
fn put(parsed: &Crate, uses: &mut Uses, user: usize, line: usize, target: Option<Target>) {
    let Some(Target::Item(module, name)) = target else { return };
    let (from, to) = (&parsed.modules[user].file, &parsed.modules[module].file);
    if from != to {
        uses.entry(from.clone()).or_default().entry(to.clone()).or_insert(Use { name, line });
    }
}

/// Returns whether the module itself uses what it imports. A re-export may be only for other modules.
fn is_used(module: &Module, import: &Import) -> bool {
    !import.is_public
        || module.mentions.iter().any(|mention| mention.path[0] == import.name && is_item_like(mention))
}

/// Returns whether the first word of a mention can be an item. A lower-case word that is not called is a
/// variable.
fn is_item_like(mention: &Mention) -> bool {
    mention.path.len() > 1 || mention.is_call || mention.path[0].starts_with(char::is_uppercase)
}

/// Returns what a path in code leads to. A single word leads elsewhere only by `use module::*`: other imports
/// are counted at their `use`.
fn mentioned(parsed: &Crate, module: usize, mention: &Mention) -> Option<Target> {
    let here = &parsed.modules[module];
    let first = &mention.path[0];
    let is_named = here.imports.iter().any(|import| import.name == *first) || here.items.contains(first);
    if mention.path.len() == 1 && (is_named || !is_item_like(mention)) {
        return None;
    }
    resolve(parsed, module, &mention.path, Wanted::Item, 0)
}

/// Follows `path` from the module `from`.
fn resolve(parsed: &Crate, from: usize, path: &[String], wanted: Wanted, steps: usize) -> Option<Target> {
    let mut target = Target::Module(from);
    for (index, name) in path.iter().enumerate() {
        let Target::Module(module) = target else { return Some(target) };
        let wanted = if index + 1 == path.len() { wanted } else { Wanted::Module };
        target = match name.as_str() {
            "crate" if index == 0 => Target::Module(0),
            "self" if index == 0 => Target::Module(from),
            "super" => Target::Module(parsed.modules[module].parent),
            _ => look_up(parsed, module, name, wanted, steps)?,
        };
    }
    Some(target)
}

/// Returns what `name` is in a module.
fn look_up(parsed: &Crate, module: usize, name: &str, wanted: Wanted, steps: usize) -> Option<Target> {
    if steps == STEPS_MAX {
        return None;
    }
    let here = &parsed.modules[module];
    let child = here.children.get(name).map(|&child| Target::Module(child));
    let item = || here.items.contains(name).then(|| Target::Item(module, name.to_owned()));
    let imported = || {
        let named = here.imports.iter().filter(|import| import.name == name);
        named.filter_map(|import| resolve(parsed, module, &import.path, wanted, steps + 1)).next()
    };
    let through_globs = || {
        here.imports.iter().filter(|import| import.name == "*").find_map(|import| {
            match resolve(parsed, module, &import.path, Wanted::Module, steps + 1)? {
                Target::Module(source) => look_up(parsed, source, name, wanted, steps + 1),
                Target::Item(..) => None,
            }
        })
    };
    match wanted {
        Wanted::Module => child.or_else(imported).or_else(item).or_else(through_globs),
        Wanted::Item => item().or_else(imported).or(child).or_else(through_globs),
    }
}
