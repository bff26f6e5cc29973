//! Page faults and blocks, which the system counts for all children together.
//!
//! Input: nothing. Output: the counts at one moment, and their increase. Does not know what ran.

use anyhow::{Context, Result};
use nix::sys::resource::{UsageWho, getrusage};

/// The system's counts of all children that were waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
    pub(crate) inputs: u64,
    pub(crate) outputs: u64,
}

impl Counted {
    pub(crate) fn of_children() -> Result<Counted> {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("cannot ask for what children used")?;
        // The counts never decrease.
        let count = |value: i64| u64::try_from(value).unwrap_or(0);
        Ok(Counted {
            minor_faults: count(usage.minor_page_faults()),
            major_faults: count(usage.major_page_faults()),
            inputs: count(usage.block_reads()),
            outputs: count(usage.block_writes()),
        })
    }

    pub(crate) fn since(&self, before: &Counted) -> Counted {
        Counted {
            minor_faults: self.minor_faults.saturating_sub(before.minor_faults),
            major_faults: self.major_faults.saturating_sub(before.major_faults),
            inputs: self.inputs.saturating_sub(before.inputs),
            outputs: self.outputs.saturating_sub(before.outputs),
        }
    }
}
