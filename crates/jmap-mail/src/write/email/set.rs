//! Email/set (RFC 8621, section 4.6).
//!
//! Input: emails to create, to update and to destroy. Output: the response. An email that is destroyed is
//! removed for good with all its files; this alone cannot be undone. Does not know what a patch says.

use crate::account::Account;
use crate::error::failed;
use crate::ids;
use crate::write::not_done;
use jmap::{
    Arguments, Context, IdReference, MethodError, SetArguments, SetErrorKind, SetResponse, check_state,
};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

impl Account<'_> {
    pub(in crate::write) fn email_set(
        &mut self,
        arguments: Arguments,
        context: &mut Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let set = SetArguments::read(arguments, &[], context)?;
        self.check(&set.account_id)?;
        self.renew()?;
        let old_state = self.state()?.to_owned();
        check_state(set.if_in_state.as_deref(), &old_state)?;
        let mut response = SetResponse::new(set.account_id, &old_state);
        let mut changed = BTreeSet::new();
        changed.extend(self.create_emails(set.create, context, &mut response)?);
        let will_destroy = set.destroy.iter().filter_map(|reference| context.created_ids.resolve(reference));
        let will_destroy = will_destroy.collect();
        changed.extend(self.update_emails(set.update, &will_destroy, context, &mut response)?);
        changed.extend(self.destroy_emails(set.destroy, context, &mut response)?);
        response.new_state = self.state()?.to_owned();
        response.old_state = self.only_changed(&changed, old_state);
        Ok(response.into())
    }

    /// Destroys emails, all in one action. Returns their contents.
    fn destroy_emails(
        &mut self,
        destroy: Vec<IdReference>,
        context: &Context<'_>,
        response: &mut SetResponse,
    ) -> Result<Vec<[u8; 32]>, MethodError> {
        let (mut contents, mut meant) = (Vec::new(), Vec::new());
        for reference in destroy {
            let id = context.created_ids.resolve(&reference);
            let sha256 = id.as_ref().and_then(ids::email_content);
            let hit = sha256.map(|sha256| self.view.content_hit(&sha256)).transpose().map_err(failed)?;
            match (id, sha256, hit.flatten()) {
                (Some(id), Some(sha256), Some(_)) => {
                    if !contents.contains(&sha256) {
                        contents.push(sha256);
                        meant.push((reference, id, sha256));
                    }
                }
                _ => _ = response.not_destroyed.insert(reference, SetErrorKind::NotFound.into()),
            }
        }
        if contents.is_empty() {
            return Ok(contents);
        }
        let removed = self.host.remove_contents(&contents, &self.patience());
        self.renew_after(removed, response.old_state.as_deref())?;
        for (reference, id, sha256) in meant {
            match self.view.content_hit(&sha256).map_err(failed)? {
                None => response.destroyed.push(id),
                Some(_) => {
                    let error = not_done("a file of the email changed just now, or cannot be removed");
                    response.not_destroyed.insert(reference, error);
                }
            }
        }
        Ok(contents)
    }
}
