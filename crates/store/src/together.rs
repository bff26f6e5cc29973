//! Look-ups that wait for the disk together instead of one after the other.
//!
//! Input: a look-up for each of several items. Output: nothing: what the look-ups need is in memory
//! afterwards. While they run here, the first range of a file that nobody has read or asked for ends a
//! look-up: the range is requested, and the next item has its turn. Does not depend on what is looked up.

use std::cell::Cell;

/// So many look-ups whose ranges were all in memory, and the others are expected to be there, too.
const HERE_MAX: usize = 2;
/// Each round requests one more range for each item. A look-up reads fewer.
const ROUNDS_MAX: usize = 64;

/// What the look-up of this thread does at a range that is not in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Wait for it.
    Waiting,
    /// Request it and end.
    Asking,
    /// It has done that.
    HasAsked,
}

thread_local! {
    static MODE: Cell<Mode> = const { Cell::new(Mode::Waiting) };
}

/// Calls `look` with each item, several times, so that the disk reads for all items at the same time. What
/// `look` returns is not used: it may be an error that only means that the disk was asked. The caller then
/// looks again, and waits no more, or not for long.
///
/// `look` must not keep what failed. If the first items need nothing from the disk, the others are left out.
pub fn read_together<T, R>(items: impl IntoIterator<Item = T>, mut look: impl FnMut(&T) -> R) {
    if is_asking() {
        return;
    }
    let mut items = items.into_iter();
    // One alone waits as long in its own look-up.
    let (Some(first), Some(second)) = (items.next(), items.next()) else { return };
    let (mut waiting, mut here_count) = (Vec::new(), 0);
    for item in [first, second].into_iter().chain(items) {
        if asks(&mut look, &item) {
            waiting.push(item);
        } else {
            here_count += 1;
            if waiting.is_empty() && here_count == HERE_MAX {
                return;
            }
        }
    }
    for _ in 0..ROUNDS_MAX {
        if waiting.len() < 2 {
            return;
        }
        waiting.retain(|item| asks(&mut look, item));
    }
}

/// Returns whether ranges that are not in memory are to be requested, and then refused.
pub(crate) fn is_asking() -> bool {
    MODE.get() != Mode::Waiting
}

/// Says that the look-up of this thread ends because it has requested something.
pub(crate) fn has_asked() {
    MODE.set(Mode::HasAsked);
}

/// Looks once, and returns whether that requested something.
fn asks<T, R>(look: &mut impl FnMut(&T) -> R, item: &T) -> bool {
    /// Also ends the mode if the look-up panics.
    struct Turn;
    impl Drop for Turn {
        fn drop(&mut self) {
            MODE.set(Mode::Waiting);
        }
    }
    let _turn = Turn;
    MODE.set(Mode::Asking);
    look(item);
    MODE.get() == Mode::HasAsked
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Looks up items that need so many ranges each, of which these are in memory at first. Returns the
    /// ranges in the order in which they were requested, and how often `look` was called.
    fn requested(items: &[(char, usize)], here: &[(char, usize)]) -> (Vec<(char, usize)>, usize) {
        let (mut known, mut requests, mut calls) =
            (here.iter().copied().collect::<HashSet<_>>(), Vec::new(), 0);
        read_together(items, |&&(name, count)| {
            calls += 1;
            for range in (0..count).map(|number| (name, number)) {
                if is_asking() && known.insert(range) {
                    requests.push(range);
                    has_asked();
                    return Err(());
                }
            }
            Ok(())
        });
        assert!(!is_asking());
        (requests, calls)
    }

    #[test]
    fn all_are_asked_for_the_next_range_before_any_goes_on() {
        let (ranges, calls) = requested(&[('a', 2), ('b', 3), ('c', 0), ('d', 2)], &[]);
        let expected = [('a', 0), ('b', 0), ('d', 0), ('a', 1), ('b', 1), ('d', 1), ('b', 2)];
        assert_eq!((ranges, calls), (expected.to_vec(), 10));
    }

    #[test]
    fn if_the_first_need_nothing_the_others_are_left_out() {
        let here = [('a', 0), ('b', 0)];
        assert_eq!(requested(&[('a', 1), ('b', 1), ('c', 1), ('d', 1)], &here), (vec![], 2));
        // After one that had to wait, the others may have to, too.
        let (ranges, _) = requested(&[('z', 1), ('a', 1), ('b', 1), ('c', 1)], &here);
        assert_eq!(ranges, [('z', 0), ('c', 0)]);
    }

    #[test]
    fn look_ups_within_a_look_up_and_after_a_panic_are_as_always() {
        read_together([1, 2], |_| {
            read_together([1, 2], |_| panic!("nested"));
            assert!(is_asking());
        });
        let panic = std::panic::catch_unwind(|| read_together([1, 2], |_| panic!("a look-up")));
        assert!(panic.is_err() && !is_asking());
    }

    #[test]
    fn one_item_is_left_to_its_own_look_up() {
        assert_eq!(requested(&[('a', 3)], &[]), (vec![], 0));
        assert_eq!(requested(&[], &[]), (vec![], 0));
    }

    #[test]
    fn endless_requests_end() {
        let mut calls = 0;
        read_together([1, 2], |_| {
            calls += 1;
            has_asked();
        });
        assert_eq!(calls, 2 * (1 + ROUNDS_MAX));
    }
}
