//! The arguments of a method, taken one by one with their types (RFC 8620, sections 1.2 to 1.4, 3.5 and 3.9).
//!
//! Input: an object. Output: values of the types that the RFC names, or an error that names the argument. An
//! argument that nobody takes is an error, too. Knows no method.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::date::Date;
use crate::error::MethodError;
use crate::id::{Id, IdReference};
use serde_json::{Map, Value};

/// The largest `Int`, the last up to which a double holds all integers (RFC 8620, section 1.3).
pub const INT_MAX: i64 = (1 << 53) - 1;

/// Names and the objects that they stand for.
type Objects<K> = Vec<(K, Map<String, Value>)>;

/// An object whose members are taken one by one: the arguments of a call, a condition, a comparator.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    values: Map<String, Value>,
    /// What stands before a name in an error.
    path: String,
}

impl Arguments {
    /// Returns the arguments of a method call.
    pub fn new(values: Map<String, Value>) -> Self {
        Arguments { values, path: String::new() }
    }

    /// Returns the members of an object that is itself within an argument. Errors name them as `path/name`.
    pub fn within(values: Map<String, Value>, path: &str) -> Self {
        Arguments { values, path: format!("{path}/") }
    }

    /// Returns the path of the member `name`.
    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}{name}", self.path)
    }

    /// Returns whether there is nothing left.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Takes what is left, as it is.
    pub fn into_values(self) -> Map<String, Value> {
        self.values
    }

    /// Returns whether there is a value with this name, which may be null.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Takes a value of any type.
    pub fn value(&mut self, name: &str) -> Option<Value> {
        self.values.remove(name)
    }

    /// Returns an error about the member `name`; `fault` says more, as in "is missing".
    pub fn fault(&self, name: &str, fault: &str) -> MethodError {
        MethodError::invalid_argument(self.path(name), fault)
    }

    /// Ends the taking.
    ///
    /// # Errors
    /// Something is left, which nobody knows.
    pub fn finish(self) -> Result<(), MethodError> {
        self.only(&[]).map(|_| ())
    }

    /// Returns what is left, which may only have these names.
    ///
    /// # Errors
    /// Something else is left.
    pub fn only(self, names: &[&str]) -> Result<Arguments, MethodError> {
        match self.values.keys().find(|name| !names.contains(&name.as_str())) {
            Some(name) => Err(self.fault(name, "is not known")),
            None => Ok(self),
        }
    }

    /// Takes a value that `read` understands. One that is missing is `None`.
    fn given<T>(
        &mut self,
        name: &str,
        type_name: &str,
        read: impl FnOnce(Value) -> Option<T>,
    ) -> Result<Option<T>, MethodError> {
        let Some(value) = self.values.remove(name) else { return Ok(None) };
        match read(value) {
            Some(value) => Ok(Some(value)),
            None => Err(self.fault(name, &format!("is not of the type {type_name}"))),
        }
    }

    /// Takes a value that `read` understands. One that is missing or null is `None`.
    fn optional<T>(
        &mut self,
        name: &str,
        type_name: &str,
        read: impl FnOnce(Value) -> Option<T>,
    ) -> Result<Option<T>, MethodError> {
        let nullable = |value: Value| if value.is_null() { Some(None) } else { read(value).map(Some) };
        self.given(name, &format!("{type_name}|null"), nullable).map(Option::flatten)
    }

    /// Returns `taken`, which must be there.
    fn required<T>(&self, name: &str, taken: Option<T>) -> Result<T, MethodError> {
        taken.ok_or_else(|| self.fault(name, "is missing"))
    }

    /// Takes an `Id`.
    ///
    /// # Errors
    /// It is missing or none.
    pub fn id(&mut self, name: &str) -> Result<Id, MethodError> {
        let taken = self.given(name, "Id", as_id)?;
        self.required(name, taken)
    }

    /// Takes an `Id|null`.
    ///
    /// # Errors
    /// It is neither.
    pub fn optional_id(&mut self, name: &str) -> Result<Option<Id>, MethodError> {
        self.optional(name, "Id", as_id)
    }

    /// Takes an `Id[]|null`, whose items may also be creation ids.
    ///
    /// # Errors
    /// It is neither.
    pub fn optional_references(&mut self, name: &str) -> Result<Option<Vec<IdReference>>, MethodError> {
        self.optional(name, "Id[]", |value| items(value, |item| IdReference::new(item.as_str()?)))
    }

    /// Takes a `String`.
    ///
    /// # Errors
    /// It is missing or none.
    pub fn string(&mut self, name: &str) -> Result<String, MethodError> {
        let taken = self.given(name, "String", as_string)?;
        self.required(name, taken)
    }

    /// Takes a `String|null`.
    ///
    /// # Errors
    /// It is neither.
    pub fn optional_string(&mut self, name: &str) -> Result<Option<String>, MethodError> {
        self.optional(name, "String", as_string)
    }

    /// Takes a `String[]|null`.
    ///
    /// # Errors
    /// It is neither.
    pub fn optional_strings(&mut self, name: &str) -> Result<Option<Vec<String>>, MethodError> {
        self.optional(name, "String[]", |value| items(value, as_string))
    }

    /// Takes a `Boolean`, which is `default` if it is missing.
    ///
    /// # Errors
    /// It is none.
    pub fn boolean(&mut self, name: &str, default: bool) -> Result<bool, MethodError> {
        Ok(self.given(name, "Boolean", |value| value.as_bool())?.unwrap_or(default))
    }

    /// Takes an `Int`, which is `default` if it is missing.
    ///
    /// # Errors
    /// It is none.
    pub fn integer(&mut self, name: &str, default: i64) -> Result<i64, MethodError> {
        Ok(self.given(name, "Int", |value| as_integer(&value))?.unwrap_or(default))
    }

    /// Takes an `UnsignedInt|null`.
    ///
    /// # Errors
    /// It is neither.
    pub fn optional_unsigned(&mut self, name: &str) -> Result<Option<u64>, MethodError> {
        self.optional(name, "UnsignedInt", |value| u64::try_from(as_integer(&value)?).ok())
    }

    /// Takes a `UTCDate|null`.
    ///
    /// # Errors
    /// It is neither.
    pub fn optional_utc_date(&mut self, name: &str) -> Result<Option<Date>, MethodError> {
        self.optional(name, "UTCDate", |value| Date::read_utc(value.as_str()?))
    }

    /// Takes an object or null.
    ///
    /// # Errors
    /// It is neither.
    pub fn optional_object(&mut self, name: &str) -> Result<Option<Map<String, Value>>, MethodError> {
        self.optional(name, "Object", as_object)
    }

    /// Takes an array or null. `read` gets each item with its path, as in `sort/0`.
    ///
    /// # Errors
    /// It is neither, or `read` fails.
    pub fn optional_array<T>(
        &mut self,
        name: &str,
        mut read: impl FnMut(Value, &str) -> Result<T, MethodError>,
    ) -> Result<Option<Vec<T>>, MethodError> {
        let array = |value| if let Value::Array(array) = value { Some(array) } else { None };
        let Some(array) = self.optional(name, "Array", array)? else { return Ok(None) };
        let path = self.path(name);
        let items = array.into_iter().enumerate();
        items.map(|(place, item)| read(item, &format!("{path}/{place}"))).collect::<Result<_, _>>().map(Some)
    }

    /// Takes an object or null whose values are objects and whose names `key` understands.
    ///
    /// # Errors
    /// It is neither.
    pub fn optional_objects<K>(
        &mut self,
        name: &str,
        key: impl Fn(&str) -> Option<K>,
    ) -> Result<Option<Objects<K>>, MethodError> {
        let pair = |(name, value): (String, Value)| Some((key(&name)?, as_object(value)?));
        let read = |value| as_object(value)?.into_iter().map(pair).collect();
        self.optional(name, "Id[Object]", read)
    }
}

/// Returns the items of an array, if `read` understands each.
fn items<T>(value: Value, read: impl FnMut(Value) -> Option<T>) -> Option<Vec<T>> {
    let Value::Array(array) = value else { return None };
    array.into_iter().map(read).collect()
}

fn as_id(value: Value) -> Option<Id> {
    as_string(value).and_then(Id::new)
}

fn as_string(value: Value) -> Option<String> {
    if let Value::String(text) = value { Some(text) } else { None }
}

fn as_object(value: Value) -> Option<Map<String, Value>> {
    if let Value::Object(object) = value { Some(object) } else { None }
}

/// Returns an `Int` (RFC 8620, section 1.3). `1.0` and `1e2` are integers: JSON has only one type of number.
fn as_integer(value: &Value) -> Option<i64> {
    let whole = |number: &f64| number.fract() == 0.0;
    let number = match value.as_i64() {
        Some(number) => number,
        None => format!("{:.0}", value.as_f64().filter(whole)?).parse().ok()?,
    };
    (-INT_MAX..=INT_MAX).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn arguments(value: Value) -> Arguments {
        Arguments::new(as_object(value).unwrap())
    }

    #[test]
    fn integers_are_those_that_a_double_holds() {
        let read = |value: Value| as_integer(&value);
        assert_eq!(INT_MAX, 9_007_199_254_740_991);
        assert_eq!(read(json!(INT_MAX)), Some(INT_MAX));
        assert_eq!(read(json!(-INT_MAX)), Some(-INT_MAX));
        assert_eq!(read(json!(-2.0)), Some(-2));
        assert_eq!(read(json!(1e3)), Some(1_000));
        let none = [json!(INT_MAX + 1), json!(-INT_MAX - 1), json!(u64::MAX), json!(i64::MIN), json!(0.5)];
        for value in none.into_iter().chain([json!(1e300), json!("1"), json!(null), json!(true), json!([1])])
        {
            assert_eq!(read(value.clone()), None, "{value}");
        }
    }

    #[test]
    fn null_stands_for_a_missing_argument_only_where_the_type_allows_it() {
        let all =
            json!({"i": null, "s": null, "b": null, "n": null, "u": null, "o": null, "a": null, "d": null});
        let mut given = arguments(all);
        assert_eq!(given.clone().optional_id("i"), Ok(None));
        assert_eq!(given.clone().optional_string("s"), Ok(None));
        assert_eq!(given.clone().optional_unsigned("u"), Ok(None));
        assert_eq!(given.clone().optional_object("o"), Ok(None));
        assert_eq!(given.clone().optional_references("a"), Ok(None));
        assert_eq!(given.clone().optional_utc_date("d"), Ok(None));
        assert!(given.id("i").is_err());
        assert!(given.string("s").is_err());
        assert!(given.boolean("b", true).is_err());
        assert!(given.integer("n", 1).is_err());
        let mut none = arguments(json!({}));
        assert_eq!(none.boolean("b", true), Ok(true));
        assert_eq!(none.integer("n", 7), Ok(7));
        assert_eq!(none.id("i").unwrap_err().arguments, ["i"]);
        assert_eq!(none.optional_strings("a"), Ok(None));
    }

    #[test]
    fn a_wrong_type_names_the_argument_and_the_type() {
        let mut given = arguments(json!({"ids": "a", "limit": -1, "list": ["a", ""], "date": "2014"}));
        let error = given.optional_references("ids").unwrap_err();
        assert_eq!(error.arguments, ["ids"]);
        assert!(error.to_string().ends_with("the argument \"ids\" is not of the type Id[]|null"), "{error}");
        assert!(given.optional_unsigned("limit").is_err());
        assert!(given.optional_references("list").is_err());
        assert!(given.optional_utc_date("date").is_err());
    }

    #[test]
    fn what_nobody_took_is_an_error_with_its_path() {
        let object = as_object(json!({"a": 1, "b": 2})).unwrap();
        let mut given = Arguments::within(object, "filter");
        assert_eq!(given.integer("a", 0), Ok(1));
        assert_eq!(
            given.clone().only(&["b"]).map(Arguments::into_values),
            Ok(as_object(json!({"b": 2})).unwrap())
        );
        assert_eq!(given.finish().unwrap_err().arguments, ["filter/b"]);
        assert_eq!(arguments(json!({})).finish(), Ok(()));
    }

    #[test]
    fn maps_of_objects_have_checked_names() {
        let taken = |value: Value| arguments(json!({"m": value})).optional_objects("m", IdReference::new);
        assert_eq!(taken(json!({"#a": {}, "b": {"x": 1}})).unwrap().unwrap().len(), 2);
        assert!(taken(json!({"a b": {}})).is_err());
        assert!(taken(json!({"a": null})).is_err());
        assert!(taken(json!([])).is_err());
    }
}
