//! Decides which variables of the environment the commands get that read attachments.
//!
//! Input: the name of a variable. Output: whether they get it. They read what strangers sent, so they get
//! what programs need and nothing else: no passwords, keys, addresses of repositories, agents or proxies.
//! Does not know the environment.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The names.
const NAMES: [&str; 10] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "LANGUAGE"];
/// How names begin.
const BEGINNINGS: [&str; 2] = ["LC_", "XDG_"];

/// Returns whether commands that read attachments get a variable.
pub fn is_for_filters(name: &OsStr) -> bool {
    NAMES.iter().any(|known| name == OsStr::new(known))
        || BEGINNINGS.iter().any(|beginning| name.as_bytes().starts_with(beginning.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_what_leads_to_them_are_kept_back() {
        for name in ["PATH", "HOME", "LC_ALL", "XDG_RUNTIME_DIR", "LANG"] {
            assert!(is_for_filters(OsStr::new(name)), "{name}");
        }
        for name in [
            "RESTIC_PASSWORD",
            "RESTIC_PASSWORD_COMMAND",
            "RESTIC_PASSWORD_FILE",
            "RESTIC_REPOSITORY",
            "RESTIC_REPOSITORY_FILE",
            "AWS_ACCESS_KEY_ID",
            "AWS_PROFILE",
            "GITHUB_TOKEN",
            "SSH_AUTH_SOCK",
            "PATHS",
            "LC",
            "path",
            "",
        ] {
            assert!(!is_for_filters(OsStr::new(name)), "{name}");
        }
    }
}
