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
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

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
    let io = TokioIo::new(Watched { stream, pace: Arc::clone(&pace) });
    let (of_connection, peer) = (Arc::clone(&pace), Arc::new(peer));
    let service = service_fn(move |request| {
        let client = Client { pace: Arc::clone(&of_connection), peer: Arc::clone(&peer) };
        Box::pin(answer(Arc::clone(&shared), client, request))
    });
    let mut connection = http.serve_connection(io, service);
    let ended = pace.keep(|context| Pin::new(&mut connection).poll(context)).await;
    if ended.is_some() && pace.is_body_unread() {
        let mut stream = connection.into_parts().io.into_inner().stream;
        pace.lingers();
        pace.keep(|context| hang_up(Pin::new(&mut *stream), context)).await;
    }
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
    stream: Box<dyn Stream>,
    pace: Arc<Pace>,
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        if let Some(bytes) = buffer.filled().get(before..).filter(|bytes| !bytes.is_empty()) {
            self.pace.reads(bytes);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // hyper flushes when it has written everything.
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        self.pace.is_flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
