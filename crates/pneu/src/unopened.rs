//! Why a repository cannot be opened when nobody can be asked for its password. Must not know how it is
//! opened.

/// Why a repository is not opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unopened {
    /// None is named.
    #[error("no repository is named in the configuration, under [archive]")]
    NotNamed,
    /// Its password would have to be typed.
    #[error(
        "nobody can be asked for its password: name a password_file or password_command in the \
         configuration, under [archive]"
    )]
    NeedsPassword,
    /// It cannot be opened: a sentence says why.
    #[error("{0}")]
    Failed(String),
}
