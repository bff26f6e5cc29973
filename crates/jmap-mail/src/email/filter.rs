//! The filter of Email/query (RFC 8621, section 4.4.1).
//!
//! Input: conditions of a client. Output: the contents that match. Each condition becomes a set, by the index
//! of text or by columns; operators join sets. A content is found only for what it has itself, not for what a
//! copy has. Dates are those that pneu sorts by; a message without one counts as of the beginning of 1970.

use super::keywords::Keyword;
use super::pneu_query::{self, Ending};
use super::search_text::{Allowance, Scope, search};
use crate::account::Account;
use crate::capabilities::QUERY;
use crate::error::failed;
use jmap::{Arguments, Context, Date, Filter, Id, MethodError, MethodErrorKind};
use pneu::{Grouping, NumberSet, View};
use query::{Field, FieldSet, FlagName, Leaf, Matcher, Pattern, Query, Target};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The conditions of one object, all of which must hold.
pub(crate) type Conditions = Vec<Condition>;

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    /// It is in this mailbox.
    InMailbox(Id),
    /// It is in a mailbox that is none of these.
    InOther(HashSet<Id>),
    /// It has this keyword.
    HasKeyword(String),
    /// It does not have this keyword.
    NotKeyword(String),
    /// All emails of its thread have this keyword.
    AllInThread(String),
    /// An email of its thread has this keyword.
    SomeInThread(String),
    /// No email of its thread has this keyword.
    NoneInThread(String),
    /// It has a text.
    Text {
        /// Where.
        scope: Scope,
        /// The text, as the client wrote it.
        text: String,
        /// What the index looks for.
        query: Query,
    },
    /// It matches a query of the query language.
    Pneu {
        /// The query, as the client wrote it.
        text: String,
        /// What it means.
        query: Query,
    },
    /// Something else that the index can be asked.
    Query(Query),
}

/// Reads a filter. The view knows the header fields that the configuration names, and saved queries.
///
/// # Errors
/// As [`Filter::read`]; `unsupportedFilter`, if the index does not have a header field, or all texts together
/// have too many words; `invalidArguments` with a place, if a query cannot be understood.
pub(crate) fn read_filter(
    filter: Map<String, Value>,
    view: &View,
    context: &Context<'_>,
) -> Result<Filter<Conditions>, MethodError> {
    let mut allowance = Allowance::default();
    let has_pneu = context.uses(QUERY);
    Filter::read(filter, context.limits, &mut |mut members| {
        let pneu = if has_pneu { members.optional_string("pneuQuery")? } else { None };
        let ending = match pneu.is_some() && members.boolean("endsInPrefix", false)? {
            true => Ending::Prefix,
            false => Ending::Whole,
        };
        let read = |text: &String| pneu_query::read((text, ending), view, &mut allowance);
        let query = pneu.as_ref().map(read).transpose()?;
        let mut all = conditions(members, &view.settings().configuration.headers, &mut allowance)?;
        all.extend(pneu.zip(query).map(|(text, query)| Condition::Pneu { text, query }));
        Ok(all)
    })
}

/// Returns whether the results of a filter may change while nothing else does: a query of pneu may name dates
/// that count from now, and saved queries.
pub(super) fn changes_with_time(filter: &Filter<Conditions>) -> bool {
    match filter {
        Filter::And(filters) | Filter::Or(filters) | Filter::Not(filters) => {
            filters.iter().any(changes_with_time)
        }
        Filter::Condition(conditions) => {
            conditions.iter().any(|condition| matches!(condition, Condition::Pneu { .. }))
        }
    }
}

fn conditions(
    mut members: Arguments,
    headers: &[String],
    allowance: &mut Allowance,
) -> Result<Conditions, MethodError> {
    let mut all = Vec::new();
    all.extend(members.optional_id("inMailbox")?.map(Condition::InMailbox));
    if let Some(ids) = members.optional_strings("inMailboxOtherThan")? {
        // A text that is no id is that of no mailbox.
        all.push(Condition::InOther(ids.into_iter().filter_map(Id::new).collect()));
    }
    if let Some(date) = members.optional_utc_date("before")? {
        all.push(Condition::Query(before(date)));
    }
    if let Some(date) = members.optional_utc_date("after")? {
        all.push(Condition::Query(Query::not(before(date))));
    }
    if let Some(size) = members.optional_unsigned("minSize")? {
        all.push(Condition::Query(leaf(Field::Size, Matcher::SizeRange { from: Some(size), to: None })));
    }
    if let Some(size) = members.optional_unsigned("maxSize")? {
        let below = |to| leaf(Field::Size, Matcher::SizeRange { from: None, to: Some(to) });
        all.push(Condition::Query(size.checked_sub(1).map_or(Query::not(Query::All), below)));
    }
    let keyword_conditions = [
        ("allInThreadHaveKeyword", Condition::AllInThread as fn(String) -> Condition),
        ("someInThreadHaveKeyword", Condition::SomeInThread),
        ("noneInThreadHaveKeyword", Condition::NoneInThread),
        ("hasKeyword", Condition::HasKeyword),
        ("notKeyword", Condition::NotKeyword),
    ];
    for (name, condition) in keyword_conditions {
        all.extend(members.optional_string(name)?.map(condition));
    }
    if members.has("hasAttachment") {
        let has = leaf(Field::Flag, Matcher::Flag(FlagName::Attach));
        let is_wanted = members.boolean("hasAttachment", false)?;
        all.push(Condition::Query(if is_wanted { has } else { Query::not(has) }));
    }
    let texts = [
        ("text", Scope::Fields(FieldSet::BARE)),
        ("from", Scope::of(Field::From)),
        ("to", Scope::of(Field::To)),
        ("cc", Scope::of(Field::Cc)),
        ("bcc", Scope::of(Field::Bcc)),
        ("subject", Scope::of(Field::Subject)),
        ("body", Scope::of(Field::Body)),
    ];
    for (name, scope) in texts {
        if let Some(text) = members.optional_string(name)? {
            let query = search(&text, &scope, allowance)?;
            all.push(Condition::Text { scope, text, query });
        }
    }
    if let Some(header) = members.optional_strings("header")? {
        all.push(header_condition(header, headers, (&members, allowance))?);
    }
    members.finish().map(|()| all)
}

/// Returns the condition of a header field that is there, or has a text.
fn header_condition(
    header: Vec<String>,
    headers: &[String],
    (members, allowance): (&Arguments, &mut Allowance),
) -> Result<Condition, MethodError> {
    let mut header = header.into_iter();
    let (Some(name), value, None) = (header.next(), header.next(), header.next()) else {
        return Err(members.fault("header", "does not have one or two items"));
    };
    let field = match name.to_ascii_lowercase().as_str() {
        "from" => Some(Field::From),
        "to" => Some(Field::To),
        "cc" => Some(Field::Cc),
        "bcc" => Some(Field::Bcc),
        "subject" => Some(Field::Subject),
        _ => None,
    };
    if let (true, Some(id)) = (name.eq_ignore_ascii_case("message-id"), &value) {
        // The index finds it whole, however many messages there are.
        let id = id.trim().trim_start_matches('<').trim_end_matches('>').to_owned();
        return Ok(Condition::Query(leaf(Field::MessageId, Matcher::Value(Pattern::Whole(id)))));
    }
    let configured = headers.iter().find(|known| known.eq_ignore_ascii_case(&name));
    let scope = match (field, configured) {
        (Some(field), _) => Scope::of(field),
        (None, Some(name)) => Scope::Header(name.clone()),
        (None, None) => {
            let what = "the index does not have this header field";
            return Err(MethodError::new(MethodErrorKind::UnsupportedFilter, what));
        }
    };
    let query = match &value {
        Some(text) => search(text, &scope, allowance)?,
        None => {
            let matcher = Matcher::Prefix { before: Vec::new(), last: String::new() };
            Query::Leaf(Leaf { target: scope.target(), matcher, span: 0..0 })
        }
    };
    Ok(Condition::Query(query))
}

/// Returns the query for dates before a moment. A message without a date counts as of the beginning of 1970.
fn before(date: Date) -> Query {
    // The last whole second before the moment.
    let last = if date.nanoseconds > 0 { date.seconds } else { date.seconds.saturating_sub(1) };
    let dated = |from, to| leaf(Field::Date, Matcher::DateRange { from, to });
    let in_time = dated(None, Some(last));
    if last >= 0 { Query::or(vec![in_time, Query::not(dated(Some(i64::MIN), None))]) } else { in_time }
}

fn leaf(field: Field, matcher: Matcher) -> Query {
    Query::Leaf(Leaf { target: Target::Fields(FieldSet::of(field)), matcher, span: 0..0 })
}

impl Account<'_> {
    /// Returns the contents that match a filter; all, if there is none.
    pub(crate) fn found(&self, filter: Option<&Filter<Conditions>>) -> Result<NumberSet, MethodError> {
        let mut all = self.view.contents().map_err(failed)?;
        if let Some(left_out) = &self.left_out {
            all.minus(left_out);
        }
        match filter {
            Some(filter) => self.matching(filter, &all),
            None => Ok(all),
        }
    }

    fn matching(&self, filter: &Filter<Conditions>, all: &NumberSet) -> Result<NumberSet, MethodError> {
        match filter {
            Filter::And(filters) => {
                let mut found = all.clone();
                for filter in filters {
                    if found.is_empty() {
                        break;
                    }
                    found.and(&self.matching(filter, all)?);
                }
                Ok(found)
            }
            Filter::Or(filters) => self.any(filters, all),
            Filter::Not(filters) => {
                let mut found = all.clone();
                found.minus(&self.any(filters, all)?);
                Ok(found)
            }
            Filter::Condition(conditions) => {
                let mut found = all.clone();
                for condition in conditions {
                    if found.is_empty() {
                        break;
                    }
                    let holding = self.holding(condition, all);
                    found.and(&holding.map_err(|error| match condition {
                        Condition::Pneu { text, .. } => pneu_query::fault(text, error),
                        _ => failed(error),
                    })?);
                }
                Ok(found)
            }
        }
    }

    fn any(&self, filters: &[Filter<Conditions>], all: &NumberSet) -> Result<NumberSet, MethodError> {
        let mut found = NumberSet::new(all.bound());
        for filter in filters {
            found.or(&self.matching(filter, all)?);
        }
        Ok(found)
    }

    /// Returns the contents for which a condition holds.
    pub(super) fn holding(&self, condition: &Condition, all: &NumberSet) -> pneu::Result<NumberSet> {
        match condition {
            Condition::InMailbox(id) => self.in_mailboxes(all, |other| other == id),
            Condition::InOther(ids) => self.in_mailboxes(all, |id| !ids.contains(id)),
            Condition::HasKeyword(keyword) => with_keyword(&self.view, keyword, all),
            Condition::NotKeyword(keyword) => Ok(rest(all, &with_keyword(&self.view, keyword, all)?)),
            Condition::AllInThread(keyword) => {
                let without = rest(all, &with_keyword(&self.view, keyword, all)?);
                Ok(rest(all, &self.in_threads_of(&without)?))
            }
            Condition::SomeInThread(keyword) => self.in_threads_of(&with_keyword(&self.view, keyword, all)?),
            Condition::NoneInThread(keyword) => {
                let with = with_keyword(&self.view, keyword, all)?;
                Ok(rest(all, &self.in_threads_of(&with)?))
            }
            Condition::Text { query, .. } | Condition::Pneu { query, .. } | Condition::Query(query) => {
                self.view.contents_matching(query)
            }
        }
    }

    fn in_threads_of(&self, found: &NumberSet) -> pneu::Result<NumberSet> {
        self.view.contents_related(found, Grouping::Threads)
    }

    fn in_mailboxes(&self, all: &NumberSet, is_one: impl Fn(&Id) -> bool) -> pneu::Result<NumberSet> {
        let mut found = NumberSet::new(all.bound());
        for (number, id) in self.mailbox_ids()? {
            if is_one(&id) {
                found.or(&self.view.contents_in(number)?);
            }
        }
        Ok(found)
    }
}

/// Returns the contents with a keyword.
fn with_keyword(view: &View, keyword: &str, all: &NumberSet) -> pneu::Result<NumberSet> {
    match Keyword::read(keyword) {
        Keyword::Flag(flag) => view.contents_with_flag(flag),
        Keyword::Tag(tag) => view.contents_with_tag(&tag),
        Keyword::None => Ok(NumberSet::new(all.bound())),
    }
}

/// Returns what is in a set and not in another one.
fn rest(all: &NumberSet, without: &NumberSet) -> NumberSet {
    let mut rest = all.clone();
    rest.minus(without);
    rest
}
