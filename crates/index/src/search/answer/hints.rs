//! Suggests why a query found nothing.
//!
//! Input: a query without results. Output: for each folder, tag and MIME type in it that no message has, what
//! the user probably meant. Must not know how the hint is worded.

use crate::error::Result;
use crate::rows::FolderRow;
use crate::search::answer::files::folder_files;
use crate::search::mailbox::{Mailbox, folder_name, folder_names};
use crate::user::Tags;
use query::flags::FLAGS;
use query::fold::fold;
use query::{Field, FieldSet, FlagName, Leaf, Matcher, Pattern, Query, Target, nearest};

/// Most hints for one query. A query with more such terms was probably written by a program.
const HINT_COUNT_MAX: usize = 3;

/// What other programs call the folder that new mail comes to, folded.
const INBOX: &str = "/inbox";

/// The beginnings of MIME types. Anything else that is typed without a slash is probably the end of one.
const TYPE_BEGINNINGS: [&str; 9] =
    ["text", "image", "audio", "video", "application", "multipart", "message", "font", "model"];

/// A term of a query that no message can match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The folder holds no message, but folders below it do.
    FolderBelow {
        /// Its name.
        folder: String,
        /// The term that also finds those.
        term: String,
    },
    /// There is no such folder.
    UnknownFolder {
        /// Its name.
        folder: String,
        /// A term for a folder with a similar name, if there is one.
        term: Option<String>,
    },
    /// No message has the tag.
    UnknownTag {
        /// The tag.
        tag: String,
        /// A term for the flag or folder of that name, or for a similar tag or flag, if there is one.
        term: Option<String>,
    },
    /// A MIME type without a slash.
    PartOfType {
        /// As typed.
        part: String,
        /// Terms for whole types and for names of attachments, at least one.
        terms: Vec<String>,
    },
}

impl Mailbox {
    /// Returns hints for the folders, tags and MIME types that a query wants and that no message has.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn hints(&self, query: &Query) -> Result<Vec<Hint>> {
        let mut named: Vec<(Field, &str)> = Vec::new();
        name_wanted(query, &mut named);
        named.sort_unstable();
        named.dedup();
        let mut hints = Vec::new();
        for (field, value) in named {
            hints.extend(match field {
                Field::Maildir => self.folder_hint(value)?,
                Field::Tag => self.tag_hint(value)?,
                _ => self.type_hint(value)?,
            });
            if hints.len() == HINT_COUNT_MAX {
                break;
            }
        }
        Ok(hints)
    }

    /// Returns a hint for a tag, unless messages have it or the user gave it to messages that are gone.
    fn tag_hint(&self, tag: &str) -> Result<Option<Hint>> {
        if self.finds(Field::Tag, Matcher::Value(Pattern::Whole(tag.to_owned())))? {
            return Ok(None);
        }
        let names = self.user_tags()?.map_or(Ok(Vec::new()), Tags::names)?;
        let wanted = fold(tag);
        if names.iter().any(|name| fold(name) == wanted) {
            return Ok(None);
        }
        // A single letter is a flag, too, but nobody means one by `tag:a`.
        let flag = FlagName::from_name(tag).filter(|_| tag.len() > 1);
        let term = match flag {
            Some(flag) => Some(term(Field::Flag, Matcher::Flag(flag))),
            None => self.folder_term(&format!("/{wanted}"))?.or_else(|| near_tag(tag, &names)),
        };
        Ok(Some(Hint::UnknownTag { tag: tag.to_owned(), term }))
    }

    /// Returns a term for the folder of this folded name, if it holds messages.
    fn folder_term(&self, wanted: &str) -> Result<Option<String>> {
        for row in self.folders() {
            self.check_cancelled()?;
            let name = folder_name(row);
            if fold(&name) == wanted && self.has_messages(row)? {
                return Ok(Some(folder_term_of(Pattern::Whole(name))));
            }
        }
        Ok(self.inbox_at_root(wanted)?.then(|| folder_term_of(Pattern::Whole("/".to_owned()))))
    }

    /// Returns whether the folder is the inbox, and new mail comes to the directory above all folders.
    fn inbox_at_root(&self, wanted: &str) -> Result<bool> {
        if wanted != INBOX {
            return Ok(false);
        }
        for row in self.folders().iter().filter(|row| row.path.is_empty()) {
            if self.has_messages(row)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns a hint for a MIME type without a slash: terms that find messages, or else one that might.
    fn type_hint(&self, part: &str) -> Result<Option<Hint>> {
        if part.contains('/') {
            return Ok(None);
        }
        let is_beginning = TYPE_BEGINNINGS.contains(&&*fold(part));
        let whole =
            if is_beginning { Pattern::Start(format!("{part}/")) } else { Pattern::End(format!("/{part}")) };
        let whole = (Field::Mime, Matcher::Value(whole));
        let name = (Field::File, Matcher::Words(vec![fold(part).into_owned()]));
        let mut terms = Vec::new();
        for (field, matcher) in [whole.clone(), name] {
            if self.finds(field, matcher.clone())? {
                terms.push(term(field, matcher));
            }
        }
        if terms.is_empty() {
            terms.push(term(whole.0, whole.1));
        }
        Ok(Some(Hint::PartOfType { part: part.to_owned(), terms }))
    }

    fn finds(&self, field: Field, matcher: Matcher) -> Result<bool> {
        Ok(!self.evaluate(&Query::Leaf(leaf(field, matcher)))?.is_empty())
    }

    fn folder_hint(&self, folder: &str) -> Result<Option<Hint>> {
        let wanted = fold(folder);
        let begin = format!("{}/", wanted.trim_end_matches('/'));
        let (mut is_known, mut has_below) = (false, false);
        for row in self.folders() {
            self.check_cancelled()?;
            let names = folder_names(row).map(|name| fold(&name).into_owned());
            if names.iter().any(|name| *name == wanted) {
                is_known = true;
                if self.has_messages(row)? {
                    return Ok(None);
                }
            } else if !has_below && names.iter().any(|name| name.starts_with(&begin)) {
                has_below = self.has_messages(row)?;
            }
        }
        let folder = folder.to_owned();
        Ok(if has_below {
            let term = folder_term_of(Pattern::Below(folder.clone()));
            Some(Hint::FolderBelow { folder, term })
        } else if is_known {
            None
        } else {
            let near =
                if self.inbox_at_root(&wanted)? { Some("/".to_owned()) } else { self.near_folder(&wanted) };
            Some(Hint::UnknownFolder { folder, term: near.map(|near| folder_term_of(Pattern::Whole(near))) })
        })
    }

    fn has_messages(&self, folder: &FolderRow) -> Result<bool> {
        let mut found = self.empty();
        folder_files(self, folder, None, &mut found)?;
        Ok(!found.is_empty())
    }

    /// Returns the folder with the most similar name, or else one whose path ends with the name.
    fn near_folder(&self, wanted: &str) -> Option<String> {
        let names: Vec<String> = self.folders().iter().map(folder_name).collect();
        let near = nearest(wanted, names.iter().map(String::as_str));
        let below = || names.iter().map(String::as_str).find(|name| fold(name).ends_with(wanted));
        near.or_else(below).map(str::to_owned)
    }
}

/// Adds what the terms of a query name, except negated ones: those exclude nothing if no message has it.
fn name_wanted<'a>(query: &'a Query, named: &mut Vec<(Field, &'a str)>) {
    match query {
        Query::And(children) | Query::Or(children) | Query::Xor(children) => {
            children.iter().for_each(|child| name_wanted(child, named));
        }
        Query::Leaf(leaf) => named.extend(named_by(leaf)),
        Query::All | Query::Not(_) => {}
    }
}

/// Returns the folder, tag or MIME type that a term names completely, and which of these it is.
fn named_by(leaf: &Leaf) -> Option<(Field, &str)> {
    let (Target::Fields(fields), Matcher::Value(Pattern::Whole(value))) = (&leaf.target, &leaf.matcher)
    else {
        return None;
    };
    let field =
        [Field::Maildir, Field::Tag, Field::Mime].into_iter().find(|field| fields.contains(*field))?;
    Some((field, value))
}

/// Returns a term for the tag with the most similar name, or else the flag.
fn near_tag(tag: &str, names: &[String]) -> Option<String> {
    let near = nearest(tag, names.iter().map(String::as_str));
    let near = near.map(|near| term(Field::Tag, Matcher::Value(Pattern::Whole(near.to_owned()))));
    let flag = || FlagName::from_name(nearest(tag, FLAGS.iter().map(|info| info.name))?);
    near.or_else(|| flag().map(|flag| term(Field::Flag, Matcher::Flag(flag))))
}

fn folder_term_of(pattern: Pattern) -> String {
    term(Field::Maildir, Matcher::Value(pattern))
}

fn term(field: Field, matcher: Matcher) -> String {
    leaf(field, matcher).to_string()
}

fn leaf(field: Field, matcher: Matcher) -> Leaf {
    Leaf { target: Target::Fields(FieldSet::of(field)), matcher, span: 0..0 }
}
