//! Remedies for errors, for problems of a pass, and for damage.
//!
//! A remedy is a value, not a sentence: only the program knows the commands and options that carry it out.

/// What the user can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remedy {
    /// Say where the mail is, and index it: there is no index yet.
    MakeIndex,
    /// Run a pass, which rebuilds an index of an older version.
    UpgradeIndex,
    /// Rebuild the index from the mail: it is damaged.
    RebuildIndex,
    /// Rebuild the index, so that it has the header fields that the configuration names.
    AddHeaders,
    /// Repair the user's data from its second copy ([`crate::repair_user`]).
    RepairFromCopy,
    /// Put the user's data back from a backup: it is damaged, and has no second copy.
    RestoreUserData,
    /// Give more of a message's id.
    GiveMoreOfHandle,
    /// Take a new token, and list everything: what changed since the old one is not known.
    ListEverything,
    /// Set the clock right.
    SetClock,
    /// Use a newer version of the program.
    UseNewerProgram,
    /// Use a newer version of the program, or remove the index and rebuild it.
    UseNewerProgramOrRebuild,
    /// Name the user's own addresses in the configuration.
    NameOwnAddresses,
    /// Run a pass that accepts losses ([`crate::Loss::Accept`]), if the files were removed on purpose.
    AcceptLoss,
    /// Run a pass that accepts losses, if the folder was removed for good.
    AcceptLossOfFolder,
    /// Name the root in the configuration, or run a pass that accepts losses.
    NameRootOrAcceptLoss,
    /// Mount the device, or run a pass that accepts losses.
    MountOrAcceptLoss,
    /// Run a pass once the directory can be read.
    RunPass,
}
