//! The set of roots of a walk from which a path can be reached.

/// A set of numbers of roots: bit by bit, since neighbouring snapshots share nearly all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootSet {
    words: Box<[u64]>,
}

impl RootSet {
    /// Returns the set of `root` alone, for a walk of `root_count`.
    pub(super) fn of(root: usize, root_count: usize) -> RootSet {
        let mut words = vec![0; root_count.div_ceil(64)].into_boxed_slice();
        if let Some(word) = words.get_mut(root / 64) {
            *word = 1 << (root % 64);
        }
        RootSet { words }
    }

    /// Adds all of `other`, a set of the same walk. Returns whether any was new.
    pub(crate) fn add(&mut self, other: &RootSet) -> bool {
        let mut is_more = false;
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            is_more |= *more & !*word != 0;
            *word |= more;
        }
        is_more
    }

    /// Returns whether the root of that number is in it.
    pub fn contains(&self, root: usize) -> bool {
        self.words.get(root / 64).is_some_and(|word| word >> (root % 64) & 1 == 1)
    }

    /// Returns the numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.words.len() * 64).filter(|&root| self.contains(root))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_was_added() {
        let mut set = RootSet::of(3, 130);
        assert!(set.add(&RootSet::of(129, 130)) && !set.add(&RootSet::of(3, 130)));
        assert!(set.contains(129) && !set.contains(128) && !set.contains(1000));
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 129]);
    }
}
