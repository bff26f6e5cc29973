//! One connection, from its first byte to its last. Input: a stream of bytes. Output: answers on it. Does not
//! know what is asked.

use crate::answer::{Client, answer};
use crate::limits::COOKIE_BYTES_MAX;
use crate::listen::Stream;
use crate::pace::Pace;
use crate::peer::Peer;
use crate::registry::Place;
use crate::shared::Shared;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::future::pending;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

/// The least that hyper takes as the size of its buffer.
const BUFFER_BYTES_MIN: usize = 8 << 10;

/// Serves a client until it hangs up, or takes too long.
pub(crate) async fn serve(shared: Arc<Shared>, (stream, peer): (Box<dyn Stream>, Peer), place: Place) {
    let pace = Arc::new(Pace::new(place, &shared.limits));
    let limits = &shared.limits;
    // Heads up to twice the limits are read, so that they get an answer like all others. hyper refuses larger
    // ones, and what is not HTTP, with an empty answer.
    let head_bytes =
        limits.header_bytes_max.saturating_add(limits.url_bytes_max).saturating_add(COOKIE_BYTES_MAX);
    let head_bytes = head_bytes.saturating_mul(2);
    let mut http = http1::Builder::new();
    http.max_buf_size(head_bytes.max(BUFFER_BYTES_MIN));
    http.max_headers(limits.header_count_max.saturating_mul(2));
    // All deadlines are those of `Pace`.
    http.header_read_timeout(None);
    let stream = Arc::new(Mutex::new(stream));
    let io = TokioIo::new(Watched { stream: Arc::clone(&stream), pace: Arc::clone(&pace) });
    let (of_connection, peer) = (Arc::clone(&pace), Arc::new(peer));
    let service = service_fn(move |request| {
        let client = Client { pace: Arc::clone(&of_connection), peer: Arc::clone(&peer) };
        Box::pin(answer(Arc::clone(&shared), client, request))
    });
    let mut connection = http.serve_connection(io, service);
    let mut end: Option<Pin<Box<dyn Future<Output = ()> + Send>>> = None;
    let ended = pace.keep(|context| {
        if Pin::new(&mut connection).poll(context).is_ready() {
            return Poll::Ready(true);
        }
        if pace.may_miss_end() {
            let end = end.get_or_insert_with(|| Box::pin(end_of(lock(&stream).as_fd().try_clone_to_owned())));
            ready!(end.as_mut().poll(context));
            return Poll::Ready(false);
        }
        Poll::Pending
    });
    if ended.await == Some(true) && pace.is_body_unread() {
        pace.lingers();
        pace.keep(|context| hang_up(Pin::new(&mut **lock(&stream)), context)).await;
    }
}

/// The stream of a connection, which only its own task uses.
type Shareable = Arc<Mutex<Box<dyn Stream>>>;

fn lock(stream: &Mutex<Box<dyn Stream>>) -> MutexGuard<'_, Box<dyn Stream>> {
    stream.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until the client sends no more, whatever it has sent that nobody has read: hyper notices only the
/// end of what it has read. Waits for ever if there are no files left to watch it with.
async fn end_of(socket: io::Result<OwnedFd>) {
    // Nothing is read, written or asked of its address, so it may be a socket of another family.
    if let Ok(socket) = socket.and_then(|socket| TcpStream::from_std(socket.into())) {
        // Is ready when there is urgent data, which is not watched here, and when there is no more to come.
        let _ = socket.ready(Interest::PRIORITY).await;
        return;
    }
    pending::<()>().await;
}

/// Says that no more is sent, and waits for the client to say the same. To close a socket with unread bytes
/// would take back what the client has not read yet (RFC 9112, 9.6).
fn hang_up(mut stream: Pin<&mut dyn Stream>, context: &mut Context) -> Poll<io::Result<()>> {
    ready!(stream.as_mut().poll_shutdown(context))?;
    let mut waste = [0; 4096];
    loop {
        let mut buffer = ReadBuf::new(&mut waste);
        ready!(stream.as_mut().poll_read(context, &mut buffer))?;
        if buffer.filled().is_empty() {
            return Poll::Ready(Ok(()));
        }
    }
}

/// A stream that tells [`Pace`] when something is read, and when everything has been written.
struct Watched {
    stream: Shareable,
    pace: Arc<Pace>,
}

impl AsyncRead for Watched {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut **lock(&self.stream)).poll_read(context, buffer))?;
        if let Some(bytes) = buffer.filled().get(before..).filter(|bytes| !bytes.is_empty()) {
            self.pace.reads(bytes);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut **lock(&self.stream)).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // hyper flushes when it has written everything.
        ready!(Pin::new(&mut **lock(&self.stream)).poll_flush(context))?;
        self.pace.is_flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut **lock(&self.stream)).poll_shutdown(context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut **lock(&self.stream)).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        lock(&self.stream).is_write_vectored()
    }
}
