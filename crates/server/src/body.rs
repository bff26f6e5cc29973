//! The bytes of an answer, as hyper asks for them. Input: what the application gave. Output: pieces. Does not
//! know header fields.

use crate::events::EventStream;
use crate::limits::CHUNK_BYTES;
use crate::pace::Pace;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::io::{self, ErrorKind, Read};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::{Instant, Sleep, sleep};
use work::Cancel;

/// Sets a request's `cancel` when nobody waits for its answer any more.
pub(crate) struct CancelAtEnd(pub(crate) Cancel);

impl Drop for CancelAtEnd {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The body of an answer. hyper drops it when it has taken everything, and when the client went away.
pub(crate) struct AnswerBody {
    pub(crate) source: Source,
    pub(crate) pace: Arc<Pace>,
    /// Of the request that is answered, if the application answers it.
    pub(crate) _cancel: Option<CancelAtEnd>,
}

/// Where bytes come from.
pub(crate) enum Source {
    Empty,
    Bytes(Bytes),
    Read(Reading, Option<u64>),
    Events(Box<Events>),
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        self.pace.has_ended();
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = &mut *self;
        let piece = match &mut this.source {
            Source::Empty => None,
            Source::Bytes(bytes) => {
                let bytes = std::mem::take(bytes);
                this.source = Source::Empty;
                Some(Ok(bytes))
            }
            Source::Read(reading, _) => ready!(reading.poll(&this.pace, context)),
            Source::Events(events) => ready!(events.poll(&this.pace, context)).map(Ok),
        };
        if let Some(Ok(_)) = &piece {
            this.pace.gives();
        }
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.source, Source::Empty)
    }

    fn size_hint(&self) -> SizeHint {
        let length = match &self.source {
            Source::Empty => Some(0),
            Source::Bytes(bytes) => Some(bytes.len() as u64),
            Source::Read(_, length) => *length,
            Source::Events(_) => None,
        };
        length.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// A reader, which waits for disks and programs, so that it is read and dropped on other threads.
pub(crate) struct Reading {
    state: State,
    threads: Handle,
    /// One for each reader that is read at the same time: the other threads are for answers.
    turns: Arc<Semaphore>,
}

type Reader = Box<dyn Read + Send>;

enum State {
    Waits(Reader),
    /// Waits for a thread.
    Queues(Reader, Pin<Box<dyn Future<Output = Option<OwnedSemaphorePermit>> + Send>>),
    Reads(JoinHandle<(Reader, io::Result<Vec<u8>>)>),
    /// The end, or an error, is to be told.
    Ends(Option<io::Error>),
    Done,
}

impl Reading {
    /// Must be called within the runtime.
    pub(crate) fn new(reader: Reader, turns: Arc<Semaphore>) -> Reading {
        Reading { state: State::Waits(reader), threads: Handle::current(), turns }
    }

    fn poll(&mut self, pace: &Pace, context: &mut Context) -> Poll<Option<io::Result<Bytes>>> {
        loop {
            match std::mem::replace(&mut self.state, State::Done) {
                State::Done => return Poll::Ready(None),
                State::Waits(reader) => {
                    let turn = Arc::clone(&self.turns).acquire_owned();
                    self.state = State::Queues(reader, Box::pin(async { turn.await.ok() }));
                }
                State::Queues(reader, mut turn) => {
                    let Poll::Ready(turn) = turn.as_mut().poll(context) else {
                        self.state = State::Queues(reader, turn);
                        return Poll::Pending;
                    };
                    let read = move || {
                        let _turn = turn;
                        read_chunk(reader)
                    };
                    self.state = State::Reads(self.threads.spawn_blocking(read));
                }
                State::Reads(mut task) => {
                    let Poll::Ready(read) = Pin::new(&mut task).poll(context) else {
                        self.state = State::Reads(task);
                        return Poll::Pending;
                    };
                    match read {
                        Ok((reader, Ok(chunk))) if !chunk.is_empty() => {
                            self.state = State::Waits(reader);
                            return Poll::Ready(Some(Ok(Bytes::from(chunk))));
                        }
                        Ok((reader, end)) => {
                            self.drop_reader(reader);
                            self.state = State::Ends(end.err());
                        }
                        // A reader that panics ends its own answer.
                        Err(panic) => self.state = State::Ends(Some(io::Error::other(panic))),
                    }
                }
                // hyper cuts the connection at once after an error, with what it has not written yet.
                State::Ends(error) => {
                    if pace.poll_flushed(context).is_pending() {
                        self.state = State::Ends(error);
                        return Poll::Pending;
                    }
                    return Poll::Ready(error.map(Err));
                }
            }
        }
    }

    fn drop_reader(&self, reader: Reader) {
        let (turns, threads) = (Arc::clone(&self.turns), self.threads.clone());
        self.threads.spawn(async move {
            let turn = turns.acquire_owned().await;
            threads.spawn_blocking(move || {
                drop(reader);
                drop(turn);
            });
        });
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if let State::Waits(reader) | State::Queues(reader, _) =
            std::mem::replace(&mut self.state, State::Done)
        {
            self.drop_reader(reader);
        }
    }
}

/// Reads what is there, some bytes at least. Nothing is the end.
fn read_chunk(mut reader: Reader) -> (Reader, io::Result<Vec<u8>>) {
    let mut chunk = vec![0; CHUNK_BYTES];
    let read = loop {
        match reader.read(&mut chunk) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => break other,
        }
    };
    let read = read.map(|count| {
        chunk.truncate(count);
        chunk
    });
    (reader, read)
}

/// A stream of events on its way.
pub(crate) struct Events {
    stream: EventStream,
    interval: Option<Duration>,
    /// When the next sign of life is due.
    alarm: Option<Pin<Box<Sleep>>>,
    has_ended: bool,
    /// One of the streams that there may be.
    _permit: OwnedSemaphorePermit,
}

impl Events {
    /// Must be called within the runtime.
    pub(crate) fn new(stream: EventStream, interval_min: Duration, permit: OwnedSemaphorePermit) -> Events {
        let interval = stream.options.ping.as_ref().map(|ping| ping.interval.max(interval_min));
        let alarm = interval.map(|interval| Box::pin(sleep(interval)));
        Events { stream, interval, alarm, has_ended: false, _permit: permit }
    }

    fn poll(&mut self, pace: &Pace, context: &mut Context) -> Poll<Option<Bytes>> {
        if self.has_ended {
            return Poll::Ready(None);
        }
        ready!(pace.poll_flushed(context));
        let text = match self.stream.poll_event(context) {
            Poll::Ready(Some(event)) => {
                self.has_ended = self.stream.options.closes_after_event;
                event.text()
            }
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Pending => ready!(self.poll_ping(context)),
        };
        if let (Some(alarm), Some(interval)) = (&mut self.alarm, self.interval)
            && let Some(next) = Instant::now().checked_add(interval)
        {
            alarm.as_mut().reset(next);
        }
        Poll::Ready(Some(Bytes::from(text)))
    }

    fn poll_ping(&mut self, context: &mut Context) -> Poll<String> {
        match &mut self.alarm {
            Some(alarm) => ready!(alarm.as_mut().poll(context)),
            None => return Poll::Pending,
        }
        let event = self.stream.options.ping.as_ref().and_then(|ping| ping.event.as_ref());
        Poll::Ready(event.map_or_else(|| ": ping\n\n".to_owned(), crate::events::Event::text))
    }
}
