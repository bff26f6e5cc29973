//! Parts that all processors make, and that are handed out in order.
//!
//! Input: what each part is made of, and how many may be made ahead. Output: the parts, one at a time, on the
//! caller's thread, while others are made. Does not know what parts are.

use rayon::{Yield, in_place_scope_fifo, yield_now};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// How long a thread of a pool waits before it looks for work of the pool again.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Makes parts on the current rayon pool, and calls `take` with each in order, until it fails. At most
/// `ahead` parts are being made or wait while one is taken; 0 counts as 1.
///
/// # Errors
/// What `take` returns.
pub fn in_order<P: Send, T: Send, E>(
    works: impl Iterator<Item = P>,
    ahead: usize,
    make: &(impl Fn(P) -> T + Sync),
    take: &mut impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let is_over = &AtomicBool::new(false);
    let mut works = works.fuse();
    in_place_scope_fifo(|scope| {
        let mut waiting = VecDeque::new();
        let outcome = loop {
            while waiting.len() < ahead.max(1)
                && let Some(work) = works.next()
            {
                let (send, receive) = sync_channel(1);
                scope.spawn_fifo(move |_| {
                    if !is_over.load(Ordering::Relaxed) {
                        // Nobody waits for it after `take` failed.
                        let _ = send.send(make(work));
                    }
                });
                waiting.push_back(receive);
            }
            // Without a part its making panicked, and the end of the scope panics, too.
            let Some(part) = waiting.pop_front().and_then(|part| receive(&part)) else { break Ok(()) };
            if let Err(error) = take(part) {
                break Err(error);
            }
        };
        is_over.store(true, Ordering::Relaxed);
        outcome
    })
}

/// Waits for a part. A thread of the pool works meanwhile: nobody else may make the part.
fn receive<T>(part: &Receiver<T>) -> Option<T> {
    loop {
        let wait = match yield_now() {
            Some(Yield::Executed) => Duration::ZERO,
            Some(Yield::Idle) => LOOK_AGAIN,
            None => return part.recv().ok(),
        };
        match part.recv_timeout(wait) {
            Ok(part) => return Some(part),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::ThreadPoolBuilder;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::AtomicUsize;

    /// Returns what is taken of 1,000 parts, until the part `last`.
    fn taken(ahead: usize, last: usize) -> (Result<(), usize>, Vec<usize>) {
        let mut taken = Vec::new();
        let make = |number: usize| {
            // Threads do not finish in the order in which they began.
            (0..number % 7).for_each(|_| std::thread::yield_now());
            number
        };
        let outcome = in_order(0..1000, ahead, &make, &mut |part| {
            taken.push(part);
            if part == last { Err(part) } else { Ok(()) }
        });
        (outcome, taken)
    }

    #[test]
    fn parts_come_in_order_until_one_is_refused() {
        for threads in [1, 2, 5] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for ahead in [0, 1, 3, 2000] {
                let all = (Ok(()), (0..1000).collect());
                assert_eq!(pool.install(|| taken(ahead, usize::MAX)), all, "{threads} {ahead}");
                let some = (Err(17), (0..18).collect());
                assert_eq!(pool.install(|| taken(ahead, 17)), some, "{threads} {ahead}");
            }
        }
        assert_eq!(taken(3, 999), (Err(999), (0..1000).collect()));
    }

    #[test]
    fn few_parts_are_made_ahead() {
        let made = AtomicUsize::new(0);
        let make = |number: usize| {
            made.fetch_add(1, Ordering::SeqCst);
            number
        };
        let mut most = 0;
        in_order(0..1000, 4, &make, &mut |part| {
            most = most.max(made.load(Ordering::SeqCst) - part - 1);
            Ok::<_, ()>(())
        })
        .unwrap();
        assert!(most <= 4, "{most} parts were made ahead");
        assert_eq!(made.into_inner(), 1000);
    }

    #[test]
    fn a_panic_is_passed_on() {
        let make = |number: usize| assert!(number != 5, "part 5");
        let run = || in_order(0..1000, 3, &make, &mut |()| Ok::<_, ()>(()));
        let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"part 5"));
    }
}
