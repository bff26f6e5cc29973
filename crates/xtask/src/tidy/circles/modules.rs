//! The modules of a crate, and the names in each.
//!
//! Input: a [`Tree`] and the file with which the crate begins. Output: its modules with what they define,
//! import and mention. Knows no rules about them, and does not resolve names.

use super::super::tree::Tree;
use super::tokens::{Token, is, tokens};
use std::collections::{BTreeMap, BTreeSet};

/// The words before the name of an item.
const ITEM_WORDS: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "const", "static", "union"];

/// A name imported by `use`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Import {
    /// What the module calls it; `*` for all names of a module.
    pub(super) name: String,
    /// Where it comes from; without the `*`.
    pub(super) path: Vec<String>,
    pub(super) line: usize,
    /// Whether the import has a `pub`: it may then be only for other modules.
    pub(super) is_public: bool,
}

/// A path in code, outside of imports: one word, or several joined by `::`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
    /// Whether a `(` or `!` follows.
    pub(super) is_call: bool,
}

/// A module: a file, or `mod name { .. }` in one.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) file: String,
    /// The index of the module around it; of the crate's root, its own.
    pub(super) parent: usize,
    /// The indexes of the modules in it, by name.
    pub(super) children: BTreeMap<String, usize>,
    pub(super) items: BTreeSet<String>,
    pub(super) imports: Vec<Import>,
    pub(super) mentions: Vec<Mention>,
}

/// A crate; its root is the first module.
#[derive(Debug)]
pub(super) struct Crate {
    pub(super) modules: Vec<Module>,
}

impl Crate {
    /// Reads the crate that begins with the file `root`, and the files of its modules.
    pub(super) fn read(tree: &Tree, root: &str) -> Crate {
        let mut modules = vec![Module { file: root.to_owned(), ..Module::default() }];
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut waiting = vec![(0, folder.to_owned())];
        while let Some((index, folder)) = waiting.pop() {
            let text = tree.get(&modules[index].file).unwrap_or_default();
            let mut reader = Reader { modules: &mut modules, declared: Vec::new() };
            reader.read(&tokens(text), index, &folder);
            for (parent, name, folder) in reader.declared {
                let below = format!("{folder}/{name}");
                let files = [format!("{below}.rs"), format!("{below}/mod.rs")];
                let Some(file) = files.into_iter().find(|file| tree.get(file).is_some()) else { continue };
                waiting.push((add(&mut modules, parent, name, file), below));
            }
        }
        Crate { modules }
    }
}

/// Adds a module to its parent and returns its index.
fn add(modules: &mut Vec<Module>, parent: usize, name: String, file: String) -> usize {
    let index = modules.len();
    modules.push(Module { file, parent, ..Module::default() });
    modules[parent].children.insert(name, index);
    index
}

/// Reads one file.
struct Reader<'a> {
    modules: &'a mut Vec<Module>,
    /// Modules that have files of their own: their parent, their name, and the folder where the file is.
    declared: Vec<(usize, String, String)>,
}

impl Reader<'_> {
    /// Reads the tokens of a file into the module `index`, whose children's files are in `folder`.
    fn read(&mut self, tokens: &[Token], index: usize, folder: &str) {
        // The open modules at this place, each with the folder of its children and the depth of its items.
        let mut around = vec![(index, folder.to_owned(), 0)];
        let (mut depth, mut at) = (0_usize, 0);
        while let Some(token) = tokens.get(at) {
            let (module, folder, item_depth) = around.last().cloned().expect("the file itself is never left");
            let next = tokens.get(at + 1).filter(|next| next.is_word());
            at += 1;
            match (token.text.as_str(), next) {
                ("{", _) => depth += 1,
                ("}", _) => {
                    depth = depth.saturating_sub(1);
                    around.truncate(1 + around[1..].iter().filter(|scope| scope.2 <= depth).count());
                }
                ("mod", Some(name)) if is(tokens, at + 1, ";") => {
                    self.declared.push((module, name.text.clone(), folder));
                    at += 1;
                }
                ("mod", Some(name)) if is(tokens, at + 1, "{") => {
                    let file = self.modules[module].file.clone();
                    let inner = add(self.modules, module, name.text.clone(), file);
                    depth += 1;
                    around.push((inner, format!("{folder}/{}", name.text), depth));
                    at += 2;
                }
                ("use", _) if !is(tokens, at, "<") => {
                    let length = tokens[at..].iter().take_while(|token| token.text != ";").count();
                    let is_public = at >= 2 && ["pub", ")"].contains(&tokens[at - 2].text.as_str());
                    let mut trees = &tokens[at..at + length];
                    import(&mut trees, &[], is_public, &mut self.modules[module].imports);
                    at += length;
                }
                (word, Some(name))
                    if ITEM_WORDS.contains(&word) && !ITEM_WORDS.contains(&name.text.as_str()) =>
                {
                    at += 1;
                    if depth == item_depth {
                        self.modules[module].items.insert(name.text.clone());
                    }
                }
                ("macro_rules", None) if depth == item_depth => {
                    self.modules[module].items.extend(tokens.get(at + 1).map(|name| name.text.clone()));
                    at += 2;
                }
                _ if token.is_word() => at = self.mention(tokens, at - 1, module),
                _ => {}
            }
        }
    }

    /// Reads the path that begins at `at` and returns where it ends.
    fn mention(&mut self, tokens: &[Token], at: usize, module: usize) -> usize {
        let mut end = at + 1;
        while is(tokens, end, "::") && tokens.get(end + 1).is_some_and(Token::is_word) {
            end += 2;
        }
        let is_alone = end == at + 1;
        // Fields, methods and what follows a `::` belong to something else; so does `field: value`.
        let follows = at > 0 && [".", "::"].contains(&tokens[at - 1].text.as_str());
        let is_field = is_alone && is(tokens, end, ":");
        if !follows && !is_field {
            let path = tokens[at..end].iter().step_by(2).map(|token| token.text.clone()).collect();
            let is_call = is(tokens, end, "(") || is(tokens, end, "!");
            self.modules[module].mentions.push(Mention { path, line: tokens[at].line, is_call });
        }
        end
    }
}

/// Reads one tree of a `use`, below the path `before`, up to the comma or brace that ends it.
fn import(tokens: &mut &[Token], before: &[String], is_public: bool, imports: &mut Vec<Import>) {
    let mut path = before.to_vec();
    let (mut line, mut is_glob, mut alias) = (0, false, None);
    while let Some((token, rest)) = tokens.split_first() {
        *tokens = rest;
        line = token.line;
        match token.text.as_str() {
            "{" => {
                while !tokens.is_empty() && !is(tokens, 0, "}") {
                    import(tokens, &path, is_public, imports);
                    if is(tokens, 0, ",") {
                        *tokens = &tokens[1..];
                    }
                }
                *tokens = tokens.get(1..).unwrap_or_default();
                return;
            }
            // Another crate, whatever the modules here are called.
            "::" if path.is_empty() => path.push(String::new()),
            "::" => {}
            "*" => is_glob = true,
            "self" if !path.is_empty() => {}
            "as" => {
                alias = rest.first().map(|token| token.text.clone());
                *tokens = rest.get(1..).unwrap_or_default();
            }
            text => path.push(text.to_owned()),
        }
        if is(tokens, 0, ",") || is(tokens, 0, "}") {
            break;
        }
    }
    let last = if is_glob { Some("*".to_owned()) } else { path.last().cloned() };
    if let Some(name) = alias.or(last) {
        imports.push(Import { name, path, line, is_public });
    }
}
