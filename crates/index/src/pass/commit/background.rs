//! Publishes a batch while the next one is read.
//!
//! Input: the findings of a batch whose messages may not all be parsed yet. Output: the commit, when somebody
//! asks for it. One batch at a time. Must not know files, nor what a commit holds.

use crate::error::Result;
use crate::pass::commit::findings::Findings;
use crate::pass::commit::pipeline::Pipeline;
use crate::pass::commit::publish::{Published, Publisher};
use std::sync::{Mutex, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;
use work::{Progress, on_threads};

/// Who holds the lock for which a thread waits. The observer is told by the coordinator, when it waits
/// itself: as long as it works, the process is not one that waits.
#[derive(Default)]
pub(in crate::pass) struct Holder(Mutex<Option<String>>);

impl Progress for Holder {
    fn waiting(&self, holder: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(holder.to_owned());
    }

    /// Asked when the lock is there.
    fn is_cancelled(&self) -> bool {
        self.take();
        false
    }
}

impl Holder {
    fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// How often the coordinator looks whether a batch is published, or why not.
const LOOK: Duration = Duration::from_millis(5);

/// Publishes a batch while the next one is read.
pub(in crate::pass) struct Publishing<'scope, 'env, 'a> {
    pub(in crate::pass) scope: &'scope Scope<'scope, 'env>,
    pub(in crate::pass) observer: &'scope dyn Progress,
    pub(in crate::pass) holder: &'scope Holder,
    pub(in crate::pass) thread_count: usize,
    pub(in crate::pass) pipeline: &'scope Pipeline<'scope>,
    /// Who publishes, when there is nothing to publish.
    pub(in crate::pass) idle: Option<Publisher<'a>>,
    pub(in crate::pass) busy: Option<Busy<'scope, 'a>>,
}

/// A batch that is being published.
pub(in crate::pass) enum Busy<'scope, 'a> {
    /// By a thread.
    Thread(ScopedJoinHandle<'scope, Done<'a>>),
    /// By nobody yet: whoever waits for it does it. Without workers there is nothing else to do meanwhile.
    Waiter(Box<dyn FnOnce() -> Done<'a> + 'scope>),
}

/// Who has published a batch, and what.
pub(in crate::pass) type Done<'a> = (Publisher<'a>, Result<Option<Published>>);

impl<'scope, 'a: 'scope> Publishing<'scope, '_, 'a> {
    /// Returns whether the last batch is published.
    pub(in crate::pass) fn is_idle(&self) -> bool {
        match &self.busy {
            Some(Busy::Thread(thread)) => thread.is_finished(),
            Some(Busy::Waiter(_)) => false,
            None => true,
        }
    }

    /// Begins to publish a batch as soon as it is whole. The one before must be published.
    pub(in crate::pass) fn begin(&mut self, batch: u64, findings: Findings) {
        let Some(mut publisher) = self.idle.take() else { unreachable!("the batch before is published") };
        let (pipeline, is_last) = (self.pipeline, findings.is_last());
        let publish = move |observer: &dyn Progress| {
            let mut findings = findings;
            let published = match pipeline.take_batch(batch) {
                Some((messages, text)) => {
                    (findings.messages, findings.text) = (messages, text);
                    publisher.publish(&findings, observer)
                }
                // The pipeline says why.
                None => Ok(None),
            };
            if !matches!(published, Ok(Some(_))) {
                pipeline.give_up();
            }
            (publisher, published)
        };
        self.busy = Some(if is_last || !pipeline.has_workers() {
            let observer = self.observer;
            Busy::Waiter(Box::new(move || publish(observer)))
        } else {
            let (holder, thread_count) = (self.holder, self.thread_count);
            Busy::Thread(self.scope.spawn(move || on_threads(thread_count, || publish(holder))))
        });
    }

    /// Waits until the batch is published. Returns `None` if the pass must begin again.
    pub(in crate::pass) fn wait(&mut self) -> Result<Option<Published>> {
        let (publisher, published) = match self.busy.take() {
            Some(Busy::Thread(thread)) => {
                while !thread.is_finished() {
                    if let Some(holder) = self.holder.take() {
                        self.observer.waiting(&holder);
                    }
                    std::thread::sleep(LOOK);
                }
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }
            Some(Busy::Waiter(publish)) => publish(),
            None => return Ok(None),
        };
        self.idle = Some(publisher);
        let published = published?;
        if published.is_none() {
            self.pipeline.check()?;
        }
        Ok(published)
    }
}
