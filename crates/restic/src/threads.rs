//! Work that is shared out to threads.
//!
//! Input: pieces of work. Output: the first error. Does not depend on what is done.

use crate::error::Result;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Does `work` on every item, on up to `thread_count` threads, each with a state of its own that it uses
/// again and again. After an error no more items are begun.
///
/// # Errors
/// One that `work` returned.
pub(crate) fn on_all_threads<Item: Sync, State: Default>(
    thread_count: usize,
    items: &[Item],
    work: impl Fn(&mut State, &Item) -> Result<()> + Sync,
) -> Result<()> {
    let taken = AtomicUsize::new(0);
    let has_failed = AtomicBool::new(false);
    let run = || {
        let mut state = State::default();
        while let Some(item) = items.get(taken.fetch_add(1, Ordering::Relaxed)) {
            if has_failed.load(Ordering::Relaxed) {
                break;
            }
            work(&mut state, item).inspect_err(|_| has_failed.store(true, Ordering::Relaxed))?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let helper_count = thread_count.min(items.len()).saturating_sub(1);
        let helpers: Vec<_> = (0..helper_count).map(|_| scope.spawn(run)).collect();
        helpers.into_iter().fold(run(), |result, helper| {
            // A panic in a helper is one here: nothing is said to be done.
            result.and(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use std::sync::Mutex;

    #[test]
    fn every_item_is_done_once() {
        let items: Vec<usize> = (0..1000).collect();
        for thread_count in [0, 1, 3] {
            let done = Mutex::new(vec![0; items.len()]);
            on_all_threads(thread_count, &items, |_: &mut (), &item| {
                done.lock().unwrap()[item] += 1;
                Ok(())
            })
            .unwrap();
            assert!(done.into_inner().unwrap().iter().all(|&count| count == 1));
        }
    }

    #[test]
    fn an_error_ends_the_work() {
        let done = AtomicUsize::new(0);
        let result = on_all_threads(1, &[1, 2, 3], |_: &mut (), &item| {
            done.fetch_add(1, Ordering::Relaxed);
            if item == 2 { Err(Error::Interrupted) } else { Ok(()) }
        });
        assert!(matches!(result, Err(Error::Interrupted)));
        assert_eq!(done.into_inner(), 2);
    }
}
