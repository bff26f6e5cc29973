//! Names of users and groups, each looked up once.
//!
//! Input: a look-up function, or the text of `/etc/passwd`. Output: the name for a number.

use std::collections::HashMap;
use std::fmt::{Debug, Formatter};
use std::sync::{Arc, PoisonError, RwLock};

/// Most names that are kept; those beyond are looked up again each time.
const NAMES_MAX: usize = 65_536;

/// Names by number, looked up on first use. Many threads may use it.
pub struct OwnerNames {
    look_up: Box<dyn Fn(u32) -> Option<String> + Send + Sync>,
    known: RwLock<HashMap<u32, Arc<str>>>,
}

impl Debug for OwnerNames {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("OwnerNames").field("known", &self.known).finish_non_exhaustive()
    }
}

impl OwnerNames {
    /// Begins with none known.
    pub fn new(look_up: impl Fn(u32) -> Option<String> + Send + Sync + 'static) -> OwnerNames {
        OwnerNames { look_up: Box::new(look_up), known: RwLock::default() }
    }

    /// Takes names from the text of `/etc/passwd` or `/etc/group`: `name:password:number:..`, a line each. Of
    /// several lines with a number the first counts.
    pub fn of_text(text: &str) -> OwnerNames {
        let mut names: HashMap<u32, String> = HashMap::new();
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '+', '-'])) {
            let mut fields = line.split(':');
            if let (Some(name), Some(number)) = (fields.next(), fields.nth(1))
                && let Ok(number) = number.parse()
                && !name.is_empty()
            {
                names.entry(number).or_insert_with(|| name.to_owned());
            }
        }
        OwnerNames::new(move |number| names.get(&number).cloned())
    }

    /// Returns the name of a number; an empty one if there is none.
    pub fn name(&self, number: u32) -> Arc<str> {
        if let Some(name) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&number) {
            return name.clone();
        }
        let name: Arc<str> = (self.look_up)(number).unwrap_or_default().into();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() < NAMES_MAX {
            known.insert(number, name.clone());
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn each_is_looked_up_once() {
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = asked.clone();
        let names = OwnerNames::new(move |number| {
            counter.fetch_add(1, Ordering::Relaxed);
            (number != 1).then(|| format!("n{number}"))
        });
        let found = [0, 1, 0, 1, 7].map(|number| names.name(number).to_string());
        assert_eq!((found.join(","), asked.load(Ordering::Relaxed)), ("n0,,n0,,n7".to_owned(), 3));
    }

    #[test]
    fn names_of_a_text() {
        let text = "root:x:0:0:root:/root:/bin/sh\n#no:x:1:\n\n+nis:x:2:\nana:x:1000:1000::/home:\n\
            admin:x:0:\nbad:x:y:\n:x:3:\n";
        let names = OwnerNames::of_text(text);
        assert_eq!(
            [0, 1, 2, 3, 1000].map(|number| names.name(number).to_string()),
            ["root", "", "", "", "ana"]
        );
    }
}
