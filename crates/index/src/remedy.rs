//! What helps against an error, a problem of a pass, or damage.
//!
//! A value, not a sentence: how a remedy is asked for is known to the program alone, which has the commands
//! and options.

/// What the user can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remedy {
    /// Say where the mail is, and index it: there is no index yet.
    MakeIndex,
    /// Run a pass, which makes an index of an older version anew.
    UpgradeIndex,
    /// Make the index anew from the mail: it is damaged.
    RebuildIndex,
    /// Make the index anew, so that it has the header fields that the configuration names.
    AddHeaders,
    /// Repair what the user said from its second copy ([`crate::repair_user`]).
    RepairFromCopy,
    /// Use a newer version of the program.
    UseNewerProgram,
    /// Use a newer version of the program, or remove the index and make it anew.
    UseNewerProgramOrRebuild,
    /// Name the user's own addresses in the configuration.
    NameOwnAddresses,
    /// Run a pass that accepts losses ([`crate::Loss::Accept`]), if the files are gone on purpose.
    AcceptLoss,
    /// The same, if the folder is gone for good.
    AcceptLossOfFolder,
    /// Mount the device, or run a pass that accepts losses.
    MountOrAcceptLoss,
    /// Run a pass once the directory can be read.
    RunPass,
}
