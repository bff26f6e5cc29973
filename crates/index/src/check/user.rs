//! Checks the user's data: tags and saved queries, and the second copy of both.
//!
//! Input: an environment. Output: damage, each with its repair. Damage here does not end the check of other
//! files. Writes nothing.

use super::damage::{Damage, Depth, Repair, is_damage};
use crate::environment::Environment;
use crate::error::{Error, TableError};
use crate::user;
use disk::Disk;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;
use store::FileDamage;

/// Adds what is damaged. A store that is newer, or that the disk does not let us read, is not damage, and is
/// reported as it is.
pub(super) fn check(environment: &Environment, depth: Depth, found: &mut Vec<Damage>) {
    let directory = environment.user_directory();
    let opened = user::snapshot(&environment.disk, &directory)
        .and_then(|user| user::folders::read(user.as_ref()).map(|_| user))
        .and_then(|user| user::identities::read(user.as_ref()).map(|_| ()));
    if let Err(error) = &opened
        && !is_damage_of_user(error)
    {
        found.push(Damage::of_error(directory, error, Repair::AsSaid));
        return;
    }
    let mut damage = match depth {
        Depth::Quick => store::cannot_open(&environment.disk, &directory),
        Depth::Deep => store::damage_of(&environment.disk, &directory),
    };
    for (file, what) in user::check_queries(environment).into_iter().flatten() {
        damage.push(FileDamage { file, what });
    }
    if let (Err(error), true) = (opened, damage.is_empty()) {
        // The bytes are intact, but their content is wrong.
        found.push(Damage::of_error(directory, &error, Repair::Backup));
        return;
    }
    let twice = damaged_twice(environment.disk.as_ref(), &damage, &directory);
    found.extend(damage.iter().map(|damage| Damage {
        file: damage.file.clone(),
        what: damage.what.clone(),
        remedy: None,
        repair: if damage.file.file_name().is_some_and(|name| twice.contains(name)) {
            Repair::Backup
        } else {
            Repair::Copy
        },
    }));
}

fn is_damage_of_user(error: &Error) -> bool {
    match error {
        Error::WithSecondCopy { .. } | Error::UserDamaged { .. } | Error::KeptText { .. } => true,
        Error::Store(TableError(error)) => is_damage(error),
        _ => false,
    }
}

/// Returns the names of files without an intact copy.
fn damaged_twice<'a>(disk: &dyn Disk, damage: &'a [FileDamage], directory: &Path) -> HashSet<&'a OsStr> {
    let second = store::second_copy(directory);
    let names = |place: &Path| -> HashSet<&'a OsStr> {
        let in_place = damage.iter().filter(|damage| damage.file.parent() == Some(place));
        in_place.filter_map(|damage| damage.file.file_name()).collect()
    };
    let (own, copied) = (names(directory), names(&second));
    // A store of an older version has no second copy yet.
    own.into_iter().filter(|name| copied.contains(name) || disk.size(&second.join(name)).is_err()).collect()
}
