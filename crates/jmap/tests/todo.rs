//! A small server: the type "Todo" of RFC 8620, section 5.7, in memory. Input: requests. Output: responses.
//! Knows nothing of the tests that use it.

use jmap::*;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(crate) const TODO: &str = "urn:example:todo";
const CAPABILITIES: [&str; 2] = [CORE, TODO];

type Object = Map<String, Value>;

/// All records in each state so far. The name of a state is its place.
pub(crate) struct Todos {
    states: Vec<BTreeMap<Id, Object>>,
    pub(crate) response_bytes: usize,
}

pub(crate) fn id(text: &str) -> Id {
    Id::new(text).expect("an id")
}

/// Returns a server with the todos `names`, whose titles are their names.
pub(crate) fn todos(names: &[&str]) -> Todos {
    let record = |name: &&str| (id(name), Object::from_iter([("title".to_owned(), Value::from(*name))]));
    let states = vec![BTreeMap::new(), names.iter().map(record).collect()];
    Todos { states, response_bytes: Limits::default().response_bytes }
}

impl Todos {
    /// Answers the bytes of a request.
    pub(crate) fn answer_bytes(&mut self, bytes: &[u8]) -> Result<Value, RequestError> {
        let response_bytes = self.response_bytes;
        let limits =
            Limits { max_objects_in_get: 4, max_objects_in_set: 5, response_bytes, ..Limits::default() };
        let request = Request::read(bytes, &limits, &CAPABILITIES)?;
        let response = run(request, &limits, self).into_bytes();
        Ok(serde_json::from_slice(&response).expect("a response is JSON"))
    }

    /// Answers `calls` in a request that uses all capabilities.
    pub(crate) fn answer(&mut self, calls: Value) -> Value {
        let request = serde_json::json!({"using": CAPABILITIES, "methodCalls": calls});
        self.answer_bytes(request.to_string().as_bytes()).expect("a request")["methodResponses"].take()
    }

    fn state(&self) -> String {
        (self.states.len() - 1).to_string()
    }

    fn now(&self) -> &BTreeMap<Id, Object> {
        self.states.last().expect("there is always a state")
    }

    fn at(&self, state: &str) -> Result<&BTreeMap<Id, Object>, MethodError> {
        let place = state.parse().ok().filter(|place: &usize| place.to_string() == state);
        place
            .and_then(|place| self.states.get(place))
            .ok_or_else(|| MethodErrorKind::CannotCalculateChanges.into())
    }

    fn get(&self, arguments: Arguments, context: &Context<'_>) -> Result<Object, MethodError> {
        let get = GetArguments::read(arguments, &[], context)?;
        account(&get.account_id)?;
        let shown = |id: &Id, record: &Object| {
            let mut record = record.clone();
            record.retain(|name, _| get.properties.as_ref().is_none_or(|wanted| wanted.contains(name)));
            record.insert("id".to_owned(), id.clone().into());
            Value::Object(record)
        };
        let ids = get.ids.clone().unwrap_or_else(|| self.now().keys().cloned().collect());
        let mut not_found = get.unknown.clone();
        let mut list = Vec::new();
        for id in ids {
            match self.now().get(&id) {
                Some(record) => list.push(shown(&id, record)),
                None => not_found.push(id.into()),
            }
        }
        Ok(GetResponse { account_id: get.account_id, state: self.state(), list, not_found }.into())
    }

    fn changes(&self, arguments: Arguments) -> Result<Object, MethodError> {
        let changes = ChangesArguments::read(arguments, &[])?;
        account(&changes.account_id)?;
        let (old, new) = (self.at(&changes.since_state)?, self.now());
        let missing = |from: &BTreeMap<Id, Object>, other: &BTreeMap<Id, Object>| -> Vec<Id> {
            from.keys().filter(|id| !other.contains_key(*id)).cloned().collect()
        };
        let is_updated = |(id, record): &(&Id, &Object)| old.get(*id).is_some_and(|before| before != *record);
        let response = ChangesResponse {
            account_id: changes.account_id,
            old_state: changes.since_state,
            new_state: self.state(),
            has_more_changes: false,
            created: missing(new, old),
            updated: new.iter().filter(is_updated).map(|(id, _)| id.clone()).collect(),
            destroyed: missing(old, new),
        };
        let count = response.created.len() + response.updated.len() + response.destroyed.len();
        if changes.max_changes.is_some_and(|max| count as u64 > max.get()) {
            return Err(MethodErrorKind::CannotCalculateChanges.into());
        }
        Ok(response.into())
    }

    fn set(&mut self, arguments: Arguments, context: &mut Context<'_>) -> Result<Object, MethodError> {
        let set = SetArguments::read(arguments, &[], context)?;
        account(&set.account_id)?;
        check_state(set.if_in_state.as_deref(), &self.state())?;
        let mut response = SetResponse::new(set.account_id.clone(), &self.state());
        let mut records = self.now().clone();
        for creation in creation_order(&set.create, &["subTodoIds"]) {
            let mut record = set.create[&creation].clone();
            match valid(&mut record, context) {
                Ok(()) => {
                    let id = id(&format!("new{}", records.len()));
                    records.insert(id.clone(), record);
                    context.created_ids.add(creation.clone(), id.clone());
                    response.created.insert(creation, Object::from_iter([("id".to_owned(), id.into())]));
                }
                Err(error) => {
                    response.not_created.insert(creation, error);
                }
            }
        }
        for (reference, patch) in set.update {
            let id = context.created_ids.resolve(&reference).filter(|id| records.contains_key(id));
            let updated = id.ok_or(SetErrorKind::NotFound.into()).and_then(|id| {
                let mut record = apply_patch(&records[&id], patch)?;
                valid(&mut record, context).map(|()| (id, record))
            });
            match updated {
                Ok((id, record)) => {
                    records.insert(id.clone(), record);
                    response.updated.insert(id, None);
                }
                Err(error) => {
                    response.not_updated.insert(reference, error);
                }
            }
        }
        for reference in set.destroy {
            match context.created_ids.resolve(&reference).and_then(|id| records.remove_entry(&id)) {
                Some((id, _)) => response.destroyed.push(id),
                None => {
                    response.not_destroyed.insert(reference, SetErrorKind::NotFound.into());
                }
            }
        }
        if records != *self.now() {
            self.states.push(records);
        }
        response.new_state = self.state();
        Ok(response.into())
    }

    /// Returns the ids of the records in a state that match, in order.
    fn found(
        &self,
        state: &str,
        filter: Option<Object>,
        sort: &[Comparator],
        limits: &Limits,
    ) -> Result<Vec<Id>, MethodError> {
        let records = self.at(state)?;
        let condition = |mut members: Arguments| {
            let title = members.optional_string("title")?;
            members.finish().map(|()| title)
        };
        let filter = filter.map(|filter| Filter::read(filter, limits, &mut { condition })).transpose()?;
        let text = |record: &Object| record.get("title").and_then(Value::as_str).map(str::to_owned);
        let is_match = |record: &Object| match &filter {
            Some(filter) => filter.matches(&mut |title| title.is_none() || *title == text(record)),
            None => true,
        };
        let mut found: Vec<_> = records.iter().filter(|(_, record)| is_match(record)).collect();
        for comparator in sort.iter().rev() {
            if comparator.property != "title" {
                return Err(MethodErrorKind::UnsupportedSort.into());
            }
            comparator.rest.clone().finish()?;
            found.sort_by_key(|(_, record)| text(record));
            if !comparator.is_ascending {
                found.reverse();
            }
        }
        Ok(found.into_iter().map(|(id, _)| id.clone()).collect())
    }

    fn query(&self, arguments: Arguments, context: &Context<'_>) -> Result<Object, MethodError> {
        let query = QueryArguments::read(arguments, &[], context)?;
        account(&query.account_id)?;
        let found = self.found(&self.state(), query.filter, &query.sort, context.limits)?;
        let shown =
            query.window.show(found.len(), Some(3), |id| found.iter().position(|other| other == id))?;
        let response = QueryResponse {
            account_id: query.account_id,
            query_state: self.state(),
            can_calculate_changes: true,
            position: shown.position,
            ids: found[shown.range].to_vec(),
            total: query.calculate_total.then_some(found.len() as u64),
            limit: shown.limit,
        };
        Ok(response.into())
    }

    fn query_changes(&self, arguments: Arguments, context: &Context<'_>) -> Result<Object, MethodError> {
        let query = QueryChangesArguments::read(arguments, &[], context)?;
        account(&query.account_id)?;
        let of = |state: &str| self.found(state, query.filter.clone(), &query.sort, context.limits);
        let (old, new) = (of(&query.since_query_state)?, of(&self.state())?);
        let response = QueryChangesResponse {
            difference: difference(&old, &new, query.up_to_id.as_ref(), query.max_changes)?,
            account_id: query.account_id,
            old_query_state: query.since_query_state,
            new_query_state: self.state(),
            total: query.calculate_total.then_some(new.len() as u64),
        };
        Ok(response.into())
    }

    /// Copies from the account "A2", where a record with any id is, and destroys nothing there.
    fn copy(&mut self, arguments: Arguments, context: &mut Context<'_>) -> Result<Vec<Answer>, MethodError> {
        let copy = CopyArguments::read(arguments, &[], context)?;
        account(&copy.account_id)?;
        let mut response = CopyResponse {
            from_account_id: copy.from_account_id,
            account_id: copy.account_id,
            old_state: None,
            new_state: self.state(),
            created: BTreeMap::new(),
            not_created: BTreeMap::new(),
        };
        for (creation, mut object) in copy.create {
            match original(&mut object, &context.created_ids) {
                Ok(id) if self.now().contains_key(&id) => {
                    response.not_created.insert(creation, SetError::already_exists(id));
                }
                Ok(id) => {
                    response.created.insert(creation, Object::from_iter([("id".to_owned(), id.into())]));
                }
                Err(error) => {
                    response.not_created.insert(creation, error);
                }
            }
        }
        let mut answers = vec![Answer::new("Todo/copy", response.into())];
        if copy.on_success_destroy_original {
            answers.push(MethodError::from(MethodErrorKind::AccountReadOnly).into());
        }
        Ok(answers)
    }
}

impl Methods for Todos {
    fn capability(&self, name: &str) -> Option<&str> {
        name.starts_with("Todo/").then_some(TODO)
    }

    fn call(
        &mut self,
        name: &str,
        arguments: Arguments,
        context: &mut Context<'_>,
    ) -> Result<Vec<Answer>, MethodError> {
        let response = match name {
            "Todo/get" => self.get(arguments, context)?,
            "Todo/changes" => self.changes(arguments)?,
            "Todo/set" => self.set(arguments, context)?,
            "Todo/query" => self.query(arguments, context)?,
            "Todo/queryChanges" => self.query_changes(arguments, context)?,
            "Todo/copy" => return self.copy(arguments, context),
            "Todo/silent" => return Ok(Vec::new()),
            _ => return Err(MethodErrorKind::UnknownMethod.into()),
        };
        Ok(vec![Answer::new(name, response)])
    }

    fn session_state(&self) -> String {
        format!("s{}", self.state())
    }
}

fn account(id: &Id) -> Result<(), MethodError> {
    if id.as_str() == "A1" { Ok(()) } else { Err(MethodErrorKind::AccountNotFound.into()) }
}

/// Checks a record, and resolves its references.
fn valid(record: &mut Object, context: &Context<'_>) -> Result<(), SetError> {
    let unresolved = context.created_ids.resolve_property(record, "subTodoIds").is_err();
    let wrong = record.keys().filter(|name| !["title", "keywords", "subTodoIds"].contains(&name.as_str()));
    let wrong: Vec<String> = wrong.cloned().chain(unresolved.then(|| "subTodoIds".to_owned())).collect();
    if wrong.is_empty() { Ok(()) } else { Err(SetError::invalid_properties(wrong)) }
}
