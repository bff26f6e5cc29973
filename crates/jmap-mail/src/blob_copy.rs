//! Blob/copy (RFC 8620, section 6.3), which copies between accounts. There is one, so it always refuses.
//!
//! Input: a call. Output: why it is refused. Reads no blob.

use crate::account::Account;
use jmap::{Arguments, MethodError, MethodErrorKind};

impl Account<'_> {
    pub(crate) fn blob_copy(&self, mut arguments: Arguments) -> MethodError {
        self.refused_copy(&mut arguments).unwrap_or_else(|error| error)
    }

    fn refused_copy(&self, arguments: &mut Arguments) -> Result<MethodError, MethodError> {
        let from = arguments.id("fromAccountId")?;
        let to = arguments.id("accountId")?;
        let ids = arguments.optional_references("blobIds")?;
        ids.ok_or_else(|| arguments.fault("blobIds", "is missing"))?;
        arguments.clone().finish()?;
        self.check(&to)?;
        self.check(&from).map_err(|_| MethodErrorKind::FromAccountNotFound)?;
        Ok(arguments.fault("fromAccountId", "is the account to copy to"))
    }
}
