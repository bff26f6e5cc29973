//! The names that `--sort` takes.
//!
//! Turns a name or letter of the query language into a key for the library. Does not know how anything is
//! sorted.

use clap::ValueEnum;
use pneu::SortKey;

/// What to sort by: a name, or the letter that `--fields` has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    #[value(alias = "d")]
    Date,
    #[value(alias = "z")]
    Size,
    #[value(alias = "s")]
    Subject,
    #[value(alias = "f")]
    From,
    #[value(alias = "t")]
    To,
    #[value(alias = "c")]
    Cc,
    #[value(alias = "h")]
    Bcc,
    #[value(alias = "v")]
    List,
    #[value(aliases = ["j", "file"])]
    Attachment,
    #[value(aliases = ["i", "message-id"])]
    Msgid,
    #[value(alias = "m")]
    Maildir,
    #[value(alias = "l")]
    Path,
    #[value(aliases = ["g", "flag"])]
    Flags,
    #[value(aliases = ["p", "prio"])]
    Priority,
    #[value(alias = "a")]
    Language,
    #[value(alias = "k")]
    Changed,
    Relevance,
}

impl Sort {
    /// Returns what is compared.
    pub(crate) fn key(self) -> SortKey {
        match self {
            Sort::Date => SortKey::Date,
            Sort::Size => SortKey::Size,
            Sort::Subject => SortKey::Subject,
            Sort::From => SortKey::From,
            Sort::To => SortKey::To,
            Sort::Cc => SortKey::Cc,
            Sort::Bcc => SortKey::Bcc,
            Sort::List => SortKey::List,
            Sort::Attachment => SortKey::Attachment,
            Sort::Msgid => SortKey::MessageId,
            Sort::Maildir => SortKey::Maildir,
            Sort::Path => SortKey::Path,
            Sort::Flags => SortKey::Flags,
            Sort::Priority => SortKey::Priority,
            Sort::Language => SortKey::Language,
            Sort::Changed => SortKey::Changed,
            Sort::Relevance => SortKey::Relevance,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::fields::FIELDS;

    #[test]
    fn every_field_of_a_list_sorts_by_its_name_and_letter() {
        for field in FIELDS.iter().filter(|field| !["references", "tag"].contains(&field.name)) {
            let by_name = Sort::from_str(field.name, false).unwrap();
            assert_eq!(Sort::from_str(&field.letter.to_string(), false), Ok(by_name), "{}", field.name);
            let name = by_name.to_possible_value().unwrap().get_name().to_owned();
            assert_eq!(
                query::fields::find(&name).unwrap().name,
                query::fields::find(field.name).unwrap().name
            );
        }
    }
}
