//! EmailSubmission/get, /changes, /query and /queryChanges (RFC 8621, section 7).
//!
//! Input: calls. Output: responses of a list that is always empty: an email is sent at once, and nothing is
//! kept of it but the email itself, as the RFC permits.

use super::STATE;
use crate::account::Account;
use crate::error::unknown_state;
use jmap::{
    Arguments, ChangesArguments, ChangesResponse, Context, Difference, GetArguments, GetResponse,
    MethodError, QueryArguments, QueryChangesArguments, QueryChangesResponse, QueryResponse,
};
use serde_json::{Map, Value};

impl Account<'_> {
    pub(in crate::write) fn submission_get(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let get = GetArguments::read(arguments, &[], context)?;
        self.check(&get.account_id)?;
        let mut not_found = get.unknown;
        not_found.extend(get.ids.into_iter().flatten().map(String::from));
        let (account_id, state) = (get.account_id, STATE.to_owned());
        Ok(GetResponse { account_id, state, list: Vec::new(), not_found }.into())
    }

    pub(in crate::write) fn submission_changes(
        &self,
        arguments: Arguments,
    ) -> Result<Map<String, Value>, MethodError> {
        let changes = ChangesArguments::read(arguments, &[])?;
        self.check(&changes.account_id)?;
        if changes.since_state != STATE {
            return Err(unknown_state());
        }
        Ok(ChangesResponse::unchanged(changes.account_id, changes.since_state).into())
    }

    pub(in crate::write) fn submission_query(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let query = QueryArguments::read(arguments, &[], context)?;
        self.check(&query.account_id)?;
        let shown = query.window.show(0, None, |_| None)?;
        let response = QueryResponse {
            account_id: query.account_id,
            query_state: STATE.to_owned(),
            can_calculate_changes: true,
            position: shown.position,
            ids: Vec::new(),
            total: query.calculate_total.then_some(0),
            limit: shown.limit,
        };
        Ok(response.into())
    }

    pub(in crate::write) fn submission_query_changes(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let query = QueryChangesArguments::read(arguments, &[], context)?;
        self.check(&query.account_id)?;
        if query.since_query_state != STATE {
            return Err(unknown_state());
        }
        let response = QueryChangesResponse {
            account_id: query.account_id,
            old_query_state: query.since_query_state,
            new_query_state: STATE.to_owned(),
            total: query.calculate_total.then_some(0),
            difference: Difference { removed: Vec::new(), added: Vec::new() },
        };
        Ok(response.into())
    }
}
