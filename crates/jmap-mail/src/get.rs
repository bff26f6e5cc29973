//! What all /get methods begin with.
//!
//! Input: a call. Output: its arguments, for this account, and the properties that it asks for. Does not know
//! which properties records have.

use crate::account::Account;
use jmap::{Arguments, Context, GetArguments, MethodError};

impl Account<'_> {
    /// Reads the arguments of a /get method. `further` names those that it has besides, and `read` reads the
    /// names of properties; there are none if the call does not say.
    ///
    /// # Errors
    /// As [`GetArguments::read`]; `accountNotFound`; what `read` returns.
    pub(crate) fn get<P>(
        &self,
        arguments: Arguments,
        further: &[&str],
        context: &Context<'_>,
        read: impl FnOnce(Option<&[String]>) -> Result<P, MethodError>,
    ) -> Result<(GetArguments, P), MethodError> {
        let get = GetArguments::read(arguments, further, context)?;
        self.check(&get.account_id)?;
        let properties = read(get.properties.as_deref())?;
        Ok((get, properties))
    }
}

/// Returns the properties that a call asks for, with the id; all, if it does not say.
///
/// # Errors
/// `invalidArguments`, if one of them is not known.
pub(crate) fn wanted(
    properties: Option<&[String]>,
    known: &[&'static str],
) -> Result<Vec<&'static str>, MethodError> {
    let Some(properties) = properties else { return Ok(known.to_vec()) };
    let mut wanted = vec!["id"];
    for property in properties {
        let Some(property) = known.iter().find(|known| *known == property) else {
            return Err(MethodError::invalid_argument("properties", "names a property that is not known"));
        };
        if !wanted.contains(property) {
            wanted.push(property);
        }
    }
    Ok(wanted)
}
