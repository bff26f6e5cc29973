//! A server: it listens, accepts clients, and stops. Input: settings, an application. Output: connections.
//! Does not know HTTP.

use crate::allowed::Names;
use crate::answer::login_url;
use crate::application::Application;
use crate::connection::serve;
use crate::error::{Error, Result};
use crate::limits::{Limits, STREAM_THREADS_MAX};
use crate::listen::{Address, Bound, Listener, bind};
use crate::login::{Login, Logins};
use crate::peer;
use crate::registry::Registry;
use crate::shared::Shared;
use crate::token::Secret;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, Semaphore};
use work::Cancel;

/// How long the server rests when the system has no more files for it.
const REST: Duration = Duration::from_millis(100);

/// How a server is reached, and by whom.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it listens.
    pub address: Address,
    /// The host, and the port unless it is 443, of a proxy with TLS that leads here. It must pass on `Host`
    /// as it is. With it the server may listen on any address.
    pub behind_proxy: Option<String>,
    /// The token for clients other than browsers; `None` makes a new one.
    pub token: Option<Secret>,
    /// How much clients may use.
    pub limits: Limits,
}

/// A server that clients can connect to, and that answers once it runs.
pub struct Server {
    bound: Bound,
    address: Address,
    limits: Limits,
    knows_peers: bool,
    names: Names,
    token: Secret,
    handle: Handle,
}

impl fmt::Debug for Server {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Server {
    /// Begins to listen.
    ///
    /// # Errors
    /// The address cannot be used, or not safely; there are no random numbers.
    pub fn bind(settings: Settings) -> Result<Server> {
        let proxy = settings.behind_proxy.as_deref().map(host).transpose()?;
        let token = settings.token.map_or_else(Secret::random, Ok)?;
        let (bound, address) = bind(&settings.address, proxy.is_some())?;
        let port = match &address {
            Address::Tcp(tcp) => tcp.port(),
            Address::Unix(_) => 0,
        };
        let knows_peers = proxy.is_none() && matches!(address, Address::Tcp(_)) && peer::is_known();
        let names = Names::new(&address, proxy);
        let handle = Handle(Arc::new(Control {
            logins: Arc::new(Logins::new(&token, port)),
            origin: names.main_origin(),
            is_stopped: AtomicBool::new(false),
            stops: Notify::new(),
        }));
        Ok(Server { bound, address, limits: settings.limits, knows_peers, names, token, handle })
    }

    /// Returns where it listens, with the port.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns whether a browser's cookie can be used by programs of other users, to whose servers the
    /// browser sends it: clients connect over TCP, not by a proxy, and the kernel does not say who they are.
    pub fn is_open_to_other_users(&self) -> bool {
        let is_direct = matches!(self.address, Address::Tcp(_)) && !self.names.has_proxy();
        is_direct && !self.knows_peers
    }

    /// Returns the token for clients other than browsers.
    pub fn token(&self) -> &Secret {
        &self.token
    }

    /// Returns what other threads need.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Returns a link that logs a browser in, once, within two minutes.
    ///
    /// # Errors
    /// [`Error::Random`].
    pub fn new_login(&self) -> Result<Login> {
        self.handle.new_login()
    }

    /// Answers requests until it is stopped.
    ///
    /// [`Handle::stop`] stops it at once. `cancel` is looked at whenever this thread wakes up and before it
    /// sleeps. So a signal that this thread handles is noticed, and so is everything that happens on a
    /// connection; but who sets `cancel` in another thread must call [`Handle::stop`] also.
    ///
    /// # Errors
    /// [`Error::Start`] if the system refuses what is needed.
    pub fn run(self, application: Arc<dyn Application>, cancel: &Cancel) -> Result<()> {
        let knows_peers = self.knows_peers;
        let Server { bound, limits, names, handle, .. } = self;
        let registry = Arc::new(Registry::new(&limits));
        let shared = Arc::new(Shared {
            names,
            logins: Arc::clone(&handle.0.logins),
            application,
            turns: Arc::new(Semaphore::new(limits.answers_max.clamp(1, Semaphore::MAX_PERMITS))),
            reads: Arc::new(Semaphore::new(STREAM_THREADS_MAX)),
            event_streams: Arc::new(Semaphore::new(limits.event_streams_max.min(Semaphore::MAX_PERMITS))),
            limits,
        });
        let runtime = runtime(&shared.limits, &handle, cancel).map_err(Error::Start)?;
        let accepted = runtime.block_on(async {
            let listener = Listener::new(bound, knows_peers)?;
            accept(&listener, &shared, &registry, &handle.0).await;
            // Before connections end, so that nobody connects in vain.
            drop(listener);
            registry.close_all().await;
            Ok(())
        });
        runtime.shutdown_timeout(shared.limits.stop_time);
        accepted.map_err(Error::Start)
    }
}

/// Controls a server from any thread. Clones control the same one.
#[derive(Clone)]
pub struct Handle(Arc<Control>);

impl Handle {
    /// Stops the server: it takes no more requests, cancels those that are being answered, and ends all
    /// connections. A server that does not run yet will stop at once.
    pub fn stop(&self) {
        self.0.is_stopped.store(true, Ordering::SeqCst);
        self.0.stops.notify_one();
    }

    /// Returns a link that logs a browser in, once, within two minutes.
    ///
    /// # Errors
    /// [`Error::Random`].
    pub fn new_login(&self) -> Result<Login> {
        let link = self.0.logins.new_link(Instant::now())?;
        Ok(Login { url: login_url(&self.0.origin, &link) })
    }

    /// Returns the server's address as users see it: scheme, host and port.
    pub fn origin(&self) -> &str {
        &self.0.origin
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "Handle({})", self.0.origin)
    }
}

struct Control {
    logins: Arc<Logins>,
    origin: String,
    is_stopped: AtomicBool,
    stops: Notify,
}

impl Control {
    /// Waits for something. Returns `None` if the server is stopped first.
    async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let (mut work, mut stops) = (pin!(work), pin!(self.stops.notified()));
        poll_fn(|context| {
            if self.is_stopped.load(Ordering::SeqCst) || stops.as_mut().poll(context).is_ready() {
                return Poll::Ready(None);
            }
            work.as_mut().poll(context).map(Some)
        })
        .await
    }
}

/// Returns one thread for sockets, this one, and some for answers, which are started when they are needed.
fn runtime(limits: &Limits, handle: &Handle, cancel: &Cancel) -> io::Result<Runtime> {
    let look = || {
        let (handle, cancel) = (handle.clone(), cancel.clone());
        move || {
            if cancel.is_cancelled() {
                handle.stop();
            }
        }
    };
    look()();
    Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(limits.answers_max.clamp(1, 1024) + STREAM_THREADS_MAX)
        .thread_name("answers")
        .on_thread_park(look())
        .on_thread_unpark(look())
        .build()
}

/// Accepts clients until the server is stopped.
async fn accept(listener: &Listener, shared: &Arc<Shared>, registry: &Arc<Registry>, control: &Control) {
    loop {
        let Some(accepted) = control.unless_stopped(listener.accept()).await else { return };
        match accepted {
            Ok(None) => {}
            Ok(Some((stream, peer))) => {
                let Some(place) = control.unless_stopped(registry.enter()).await else { return };
                let id = place.id();
                let task = tokio::spawn(serve(Arc::clone(shared), (stream, peer), place));
                registry.belongs_to(id, task.abort_handle());
            }
            Err(error) if is_of_client(&error) => {}
            // No files or no memory: an end of another connection helps.
            Err(_) => {
                registry.close_oldest();
                if control.unless_stopped(tokio::time::sleep(REST)).await.is_none() {
                    return;
                }
            }
        }
    }
}

/// Returns whether one client, which went away before it was accepted, is the reason of an error.
fn is_of_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted)
}

/// Checks the name of a proxy's host. Returns it as browsers write it.
fn host(text: &str) -> Result<String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
    let is_host = text.parse::<hyper::http::uri::Authority>().is_ok_and(|host| !host.host().is_empty());
    if !(is_host && text.bytes().all(allowed)) {
        return Err(Error::Host { host: text.to_owned() });
    }
    let text = text.to_ascii_lowercase();
    Ok(text.strip_suffix(":443").unwrap_or(&text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_has_a_host_and_nothing_else() {
        assert_eq!(host("Mail.Example.org:443").unwrap(), "mail.example.org");
        assert_eq!(host("mail.example.org:8443").unwrap(), "mail.example.org:8443");
        for wrong in ["", "https://a", "a/b", "a b", "me@a", "a\n", ":1", "a\"b"] {
            assert!(matches!(host(wrong), Err(Error::Host { .. })), "{wrong:?}");
        }
    }
}
