//! The folders that an import writes to.
//!
//! Input: the folder that the user named, and names of folders below it, which come from files. Output: a
//! directory for each; those that do not exist are created. None is outside of a root.

use crate::action::folder::Chosen;
use crate::error::Result;
use crate::host::Host;
use crate::mail_import::model::MailImportOptions;
use index::Root;
use std::path::{Path, PathBuf};

/// A folder to write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// Its directory.
    pub path: PathBuf,
    /// Whether it is there. Only a dry run has others.
    pub exists: bool,
}

impl Host {
    /// Returns the folders in which the messages of each folder go, in the same order. One below the folder
    /// that cannot be created, because its name is too long, is an error of its own.
    ///
    /// # Errors
    /// There is no index, or no such folder; it cannot be created.
    pub(super) fn targets<'f>(
        &self,
        name: &str,
        folders: impl Iterator<Item = &'f [String]>,
        options: &MailImportOptions,
    ) -> Result<Vec<Result<Target>>> {
        let roots = self.newest_view()?.roots().to_vec();
        let top = self.choose_folder(name, options.creates_folder)?;
        let mut targets = Vec::new();
        for parts in folders {
            targets.push(match parts {
                [] => Ok(self.target(top.clone(), options)?),
                parts => self
                    .choose_folder(&below(&top.path, parts, &roots), true)
                    .and_then(|chosen| self.target(chosen, options)),
            });
        }
        Ok(targets)
    }

    fn target(&self, Chosen { path, is_new }: Chosen, options: &MailImportOptions) -> Result<Target> {
        if is_new && !options.is_dry {
            crate::action::create(&path)?;
        }
        Ok(Target { path, exists: !is_new || !options.is_dry })
    }
}

/// Returns the name of a folder below another one: as Maildir++ has it if that one is named so. The root
/// itself has no name for what is below it.
fn below(top: &Path, parts: &[String], roots: &[Root]) -> String {
    let parent = top.parent().unwrap_or(top);
    let is_dotted = top.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    if is_dotted && roots.iter().any(|root| root.path == parent) {
        let parts: Vec<String> = parts.iter().map(|part| part.replace('.', "_")).collect();
        return format!("{}.{}", top.display(), mail::encoded_folder(&parts.join(".")));
    }
    if roots.len() == 1 && roots.iter().any(|root| root.path == top) {
        return parts.join("/");
    }
    format!("{}/{}", top.display(), parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_below_are_named_as_their_root_names_them() {
        let roots = [Root { name: "mail".into(), path: "/m".into() }];
        let parts = ["a.b".to_owned(), "Entwürfe".to_owned()];
        let named = |top: &str| below(Path::new(top), &parts, &roots);
        assert_eq!(named("/m/old"), "/m/old/a.b/Entwürfe");
        assert_eq!(named("/m/.old"), "/m/.old.a_b.Entw&APw-rfe");
        assert_eq!(named("/m/x/.old"), "/m/x/.old/a.b/Entwürfe");
        assert_eq!(named("/m"), "a.b/Entwürfe");
    }
}
