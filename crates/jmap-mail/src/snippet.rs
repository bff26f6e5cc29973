//! SearchSnippet/get (RFC 8621, section 5.1).
//!
//! Input: a filter and ids. Output: subject and text of each email with the words of the filter marked. What
//! a filter only excludes is not marked. If no file of an email can be read, its first words stand for its
//! text.

use crate::account::Account;
use crate::email::{Condition, Conditions, Scope, phrases, read_filter};
use crate::error::failed;
use crate::highlight::{Wanted, marked, marked_part};
use crate::ids;
use jmap::{Arguments, Context, Filter, Id, MethodError, MethodErrorKind};
use pneu::{Content, PreferredAlternative, RecordReader};
use query::{Field, FieldSet, Leaf, Query, Target};
use serde_json::{Map, Value, json};

/// The longest text of a snippet in bytes, as the RFC says.
const PREVIEW_BYTES_MAX: usize = 255;
/// How much of a text is searched for the words.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// The words that are marked.
#[derive(Default)]
struct Marks {
    subject: Wanted,
    body: Wanted,
}

impl Account<'_> {
    pub(crate) fn search_snippet_get(
        &self,
        mut arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let account_id = arguments.id("accountId")?;
        let filter = arguments.optional_object("filter")?;
        let email_ids = arguments.optional_references("emailIds")?;
        let email_ids = email_ids.ok_or_else(|| arguments.fault("emailIds", "is missing"))?;
        arguments.finish()?;
        self.check(&account_id)?;
        if email_ids.len() > context.limits.max_objects_in_get {
            return Err(MethodErrorKind::RequestTooLarge.into());
        }
        let mut marks = Marks::default();
        if let Some(filter) = filter {
            marks.add(&read_filter(filter, &self.view, context)?);
        }
        let (email_ids, unknown) = context.created_ids.resolve_all(&email_ids);
        let mut not_found: Vec<Value> = unknown.iter().map(|unknown| unknown.to_string().into()).collect();
        let mut reader = RecordReader::new();
        let mut list = Vec::new();
        for id in email_ids {
            let sha256 = ids::email_content(&id);
            let hit = sha256.map(|sha256| self.hit(&sha256, context)).transpose()?;
            match hit.flatten() {
                Some(hit) => {
                    let content = self.view.content(&hit, &mut reader).map_err(failed)?;
                    let snippet = self.snippet(&id, &content, &marks)?;
                    context.count(&snippet)?;
                    list.push(snippet);
                }
                None => not_found.push(id.into()),
            }
        }
        let not_found = if not_found.is_empty() { Value::Null } else { not_found.into() };
        let response = [("accountId", account_id.into()), ("list", list.into()), ("notFound", not_found)];
        Ok(response.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    fn snippet(&self, id: &Id, content: &Content, marks: &Marks) -> Result<Value, MethodError> {
        let preview = if marks.body.is_empty() { None } else { self.preview(content, &marks.body)? };
        let subject = marked(&content.message.line.subject, &marks.subject);
        Ok(json!({ "emailId": id.as_str(), "subject": subject, "preview": preview }))
    }

    fn preview(&self, content: &Content, words: &Wanted) -> Result<Option<String>, MethodError> {
        let text = match self.read_message(&content.message)? {
            Some(reading) => reading.content.parsed(PreferredAlternative::Better).text.clone(),
            None => content.message.rest.snippet.clone(),
        };
        let text = text.get(..text.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or(&text);
        Ok(marked_part(text, words, PREVIEW_BYTES_MAX))
    }
}

impl Marks {
    /// Adds the words that a filter wants.
    fn add(&mut self, filter: &Filter<Conditions>) {
        match filter {
            Filter::And(filters) | Filter::Or(filters) => filters.iter().for_each(|filter| self.add(filter)),
            Filter::Not(_) => {}
            Filter::Condition(conditions) => conditions.iter().for_each(|condition| self.add_one(condition)),
        }
    }

    fn add_one(&mut self, condition: &Condition) {
        match condition {
            Condition::Text { scope: Scope::Fields(fields), text, .. } => {
                for phrase in phrases(text) {
                    self.in_fields(*fields, &|wanted| wanted.add_phrase(&phrase));
                }
            }
            Condition::Pneu { query, .. } => self.add_query(query),
            _ => {}
        }
    }

    /// Adds the words that a query of the query language wants.
    fn add_query(&mut self, query: &Query) {
        match query {
            Query::And(queries) | Query::Or(queries) | Query::Xor(queries) => {
                queries.iter().for_each(|query| self.add_query(query));
            }
            Query::Leaf(Leaf { target: Target::Fields(fields), matcher, .. }) => {
                self.in_fields(*fields, &|wanted| wanted.add_term(matcher));
            }
            Query::All | Query::Not(_) | Query::Leaf(_) => {}
        }
    }

    fn in_fields(&mut self, fields: FieldSet, add: &dyn Fn(&mut Wanted)) {
        if fields.contains(Field::Subject) {
            add(&mut self.subject);
        }
        if fields.contains(Field::Body) {
            add(&mut self.body);
        }
    }
}
