//! Which records a request created so far, and the properties that refer to them (RFC 8620, sections 3.3 and
//! 5.3).
//!
//! Input: creation ids and ids. Output: the id that a reference means. Does not know what is created.

use crate::id::{Id, IdReference};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The ids of records by their creation ids: one map for all types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreatedIds(BTreeMap<Id, Id>);

/// A property does not hold ids, or one that belongs to no record that was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is no id, and not that of a record that was created")]
pub struct Unresolved;

impl CreatedIds {
    /// Reads the `createdIds` of a request.
    pub(crate) fn read(map: Map<String, Value>) -> Option<CreatedIds> {
        let pair = |(creation, value)| match value {
            Value::String(id) => Some((Id::new(creation)?, Id::new(id)?)),
            _ => None,
        };
        map.into_iter().map(pair).collect::<Option<_>>().map(CreatedIds)
    }

    /// Returns the `createdIds` of a response.
    pub(crate) fn into_json(self) -> Map<String, Value> {
        self.0.into_iter().map(|(creation, id)| (creation.into(), id.into())).collect()
    }

    /// Notes that a record was created. A creation id that was used before means the new record from now on.
    pub fn add(&mut self, creation: Id, id: Id) {
        self.0.insert(creation, id);
    }

    /// Returns the id that `reference` means, or `None` if nothing was created under that creation id.
    pub fn resolve(&self, reference: &IdReference) -> Option<Id> {
        match reference {
            IdReference::Id(id) => Some(id.clone()),
            IdReference::Created(creation) => self.0.get(creation).cloned(),
        }
    }

    /// Returns the id that `text` is or refers to.
    fn id(&self, text: &str) -> Result<Id, Unresolved> {
        IdReference::new(text).and_then(|reference| self.resolve(&reference)).ok_or(Unresolved)
    }

    /// Replaces creation ids by ids in `object[property]`, which is an id, an array of ids, an object whose
    /// names are ids, or null. In a PatchObject, also in pointers into the property, as in `property/#k1`. A
    /// property that is missing is left alone.
    ///
    /// # Errors
    /// The property holds anything else, or refers to what was not created.
    pub fn resolve_property(
        &self,
        object: &mut Map<String, Value>,
        property: &str,
    ) -> Result<(), Unresolved> {
        if let Some(value) = object.get_mut(property) {
            self.resolve_value(value)?;
        }
        let is_within = |path: &str| path.strip_prefix(property).is_some_and(|rest| rest.starts_with("/#"));
        let paths: Vec<String> = object.keys().filter(|path| is_within(path)).cloned().collect();
        for path in paths {
            let reference =
                path.strip_prefix(property).and_then(|rest| rest.strip_prefix('/')).unwrap_or_default();
            let id = self.id(reference)?;
            if let Some(value) = object.remove(&path) {
                let is_new = object.insert(format!("{property}/{id}"), value).is_none();
                is_new.then_some(()).ok_or(Unresolved)?;
            }
        }
        Ok(())
    }

    /// Replaces creation ids by ids in the value of a property.
    fn resolve_value(&self, value: &mut Value) -> Result<(), Unresolved> {
        match value {
            Value::Null => {}
            Value::String(text) => *text = self.id(text)?.into(),
            Value::Array(items) => {
                for item in items {
                    let Value::String(text) = item else { return Err(Unresolved) };
                    *text = self.id(text)?.into();
                }
            }
            Value::Object(members) => {
                let count = members.len();
                let renamed = std::mem::take(members).into_iter();
                let renamed = renamed.map(|(name, value)| Ok((self.id(&name)?.into(), value)));
                *members = renamed.collect::<Result<_, Unresolved>>()?;
                // The id and the creation id of one record are two names for it: which value counts?
                (members.len() == count).then_some(()).ok_or(Unresolved)?;
            }
            _ => return Err(Unresolved),
        }
        Ok(())
    }

    /// Returns the ids that `references` mean, each once, and the references that mean none.
    pub fn resolve_all(&self, references: &[IdReference]) -> (Vec<Id>, Vec<IdReference>) {
        let mut seen = std::collections::HashSet::new();
        let (mut ids, mut unknown) = (Vec::new(), Vec::new());
        for reference in references {
            match self.resolve(reference) {
                Some(id) if seen.insert(IdReference::Id(id.clone())) => ids.push(id),
                None if seen.insert(reference.clone()) => unknown.push(reference.clone()),
                _ => {}
            }
        }
        (ids, unknown)
    }
}

/// Returns the creation ids of `create` in an order in which each record comes after those that it refers to
/// in `properties`, as RFC 8620, section 5.3, demands. Records that refer to each other in a circle come
/// last.
pub fn creation_order(create: &BTreeMap<Id, Map<String, Value>>, properties: &[&str]) -> Vec<Id> {
    let mut order: Vec<Id> = Vec::with_capacity(create.len());
    let mut waiting: BTreeMap<&Id, std::collections::BTreeSet<Id>> = BTreeMap::new();
    for (creation, object) in create {
        let values = properties.iter().filter_map(|property| object.get(*property));
        let referred = values.flat_map(creations).filter(|other| create.contains_key(other));
        waiting.insert(creation, referred.collect());
    }
    loop {
        let ready: Vec<Id> =
            waiting.iter().filter(|(_, needs)| needs.is_empty()).map(|(&id, _)| id.clone()).collect();
        if ready.is_empty() {
            order.extend(waiting.into_keys().cloned());
            return order;
        }
        for id in &ready {
            waiting.remove(id);
        }
        for needs in waiting.values_mut() {
            ready.iter().for_each(|id| {
                needs.remove(id);
            });
        }
        order.extend(ready);
    }
}

/// Returns the creation ids that the value of a property refers to.
fn creations(value: &Value) -> Vec<Id> {
    let texts: Vec<&str> = match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        Value::Object(members) => members.keys().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    let creations = texts.into_iter().filter_map(|text| text.strip_prefix('#').and_then(Id::new));
    creations.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn id(text: &str) -> Id {
        Id::new(text).unwrap()
    }

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { panic!("{value}") };
        object
    }

    fn created() -> CreatedIds {
        CreatedIds::read(object(json!({"k1": "a", "k2": "b"}))).unwrap()
    }

    #[test]
    fn the_map_of_a_request_holds_only_ids() {
        for wrong in
            [json!({"": "a"}), json!({"#k": "a"}), json!({"k": "#a"}), json!({"k": 1}), json!({"k": null})]
        {
            assert_eq!(CreatedIds::read(object(wrong.clone())), None, "{wrong}");
        }
    }

    #[test]
    fn a_creation_id_means_the_record_that_was_created_last() {
        let mut created = created();
        created.add(id("k1"), id("c"));
        assert_eq!(created.resolve(&IdReference::new("#k1").unwrap()), Some(id("c")));
        assert_eq!(created.resolve(&IdReference::new("k1").unwrap()), Some(id("k1")));
        assert_eq!(created.resolve(&IdReference::new("#k3").unwrap()), None);
        assert_eq!(Value::Object(created.into_json()), json!({"k1": "c", "k2": "b"}));
    }

    #[test]
    fn properties_and_pointers_into_them_are_resolved() {
        let mut patch = object(json!({
            "one": "#k1", "plain": "x", "none": null, "many": ["#k2", "y"], "set": {"#k1": true, "z": false},
            "set/#k2": true, "set/q": true, "sets/#k1": 1, "other": "#k1",
        }));
        for property in ["one", "plain", "none", "many", "set", "missing"] {
            created().resolve_property(&mut patch, property).unwrap();
        }
        let expected = json!({
            "one": "a", "plain": "x", "none": null, "many": ["b", "y"], "set": {"a": true, "z": false},
            "set/b": true, "set/q": true, "sets/#k1": 1, "other": "#k1",
        });
        assert_eq!(Value::Object(patch), expected);
    }

    #[test]
    fn what_is_no_id_or_was_not_created_is_an_error() {
        let wrong = [
            json!({"p": "#k3"}),
            json!({"p": ["a", "#k3"]}),
            json!({"p": ["a", 1]}),
            json!({"p": {"#k3": true}}),
            json!({"p": {"#k1": true, "a": false}}),
            json!({"p/#k3": true}),
            json!({"p/#k1": true, "p/a": null}),
            json!({"p": 1}),
            json!({"p": ""}),
        ];
        for value in wrong {
            let mut patch = object(value.clone());
            assert_eq!(created().resolve_property(&mut patch, "p"), Err(Unresolved), "{value}");
        }
    }

    #[test]
    fn records_are_created_after_those_that_they_refer_to() {
        let create = object(json!({
            "a": {"parent": "#c"}, "b": {"parent": "x", "others": ["#a", "#elsewhere"]},
            "c": {"set": {"#elsewhere": 1}},
            "d": {"set": {"#b": true}}, "e": {"parent": "#f"}, "f": {"parent": "#e"}, "g": {"ignored": "#f"},
        }));
        let create = create.into_iter().map(|(name, value)| (id(&name), object(value))).collect();
        let order = creation_order(&create, &["parent", "others", "set"]);
        let order: Vec<&str> = order.iter().map(Id::as_str).collect();
        assert_eq!(order, ["c", "g", "a", "b", "d", "e", "f"]);
    }
}
