//! How much clients may use: every limit, with its reason. Knows no socket.

use std::time::Duration;

/// How many login links may wait to be used. A new one takes the place of the oldest.
pub(crate) const LOGINS_MAX: usize = 16;
/// The bytes of all cookies of a request; more are answered with 431. Browsers send those of all programs at
/// this host's ports, so they have room of their own.
pub(crate) const COOKIE_BYTES_MAX: usize = 64 << 10;
/// How long a login link works. Whoever finds one later, in a terminal or a history, cannot use it.
pub(crate) const LINK_TIME: Duration = Duration::from_secs(2 * 60);
/// How long a browser stays logged in after its last request.
pub(crate) const SESSION_TIME: Duration = Duration::from_secs(30 * 24 * 3600);
/// How long without a wrong token halves the number of those that count.
pub(crate) const WRONG_TIME: Duration = Duration::from_secs(60);
/// How many browsers may be logged in. A new one takes the place of the oldest.
pub(crate) const SESSIONS_MAX: usize = 64;
/// The threads that read long answers, beside those for [`Limits::answers_max`].
pub(crate) const STREAM_THREADS_MAX: usize = 4;
/// How many bytes of a long answer are read at once.
pub(crate) const CHUNK_BYTES: usize = 64 << 10;

/// How much clients may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of all header fields of a request but cookies; more are answered with 431.
    pub header_bytes_max: usize,
    /// The number of header fields of a request; more are answered with 431.
    pub header_count_max: usize,
    /// The bytes of the address in a request; more are answered with 414.
    pub url_bytes_max: usize,
    /// How long a client may take to send the head of a request, from its first byte; the first request's
    /// time begins with the connection. Slower ones are cut.
    pub head_time: Duration,
    /// How long a client may take to send the body of a request. Slower ones are cut.
    pub body_time: Duration,
    /// How long a connection stays open between two requests.
    pub idle_time: Duration,
    /// How long a client may take to read an answer, from its begin to its end. Slower ones are cut.
    pub answer_time: Duration,
    /// How long a client may take to read one event. Slower ones are cut.
    pub event_time: Duration,
    /// How long a connection stays open after a request was refused whose body was not read, so that the
    /// client reads the answer before it notices that nobody reads its body.
    pub linger_time: Duration,
    /// The number of connections. For another one, that connection is closed that has waited longest for a
    /// complete request of somebody who logged in. If there is none, the new one waits.
    pub connections_max: usize,
    /// How many requests are answered at the same time.
    pub answers_max: usize,
    /// How long a request waits for others to be answered, before it gets 503.
    pub answer_wait: Duration,
    /// How many event streams there may be; more get 503.
    pub event_streams_max: usize,
    /// Event streams send signs of life no more often than this.
    pub ping_interval_min: Duration,
    /// How long the answer to the first wrong token is held back. Each further one doubles it. They are
    /// forgotten after some minutes.
    pub login_pause_first: Duration,
    /// The longest such pause.
    pub login_pause_max: Duration,
    /// How long a server that stops waits for answers that do not notice that they are cancelled.
    pub stop_time: Duration,
}

impl Default for Limits {
    /// Returns limits for one user, with some browsers and programs.
    fn default() -> Limits {
        Limits {
            header_bytes_max: 16 << 10,
            header_count_max: 64,
            url_bytes_max: 8 << 10,
            head_time: Duration::from_secs(10),
            body_time: Duration::from_secs(120),
            idle_time: Duration::from_secs(120),
            answer_time: Duration::from_secs(600),
            event_time: Duration::from_secs(30),
            linger_time: Duration::from_secs(2),
            connections_max: 256,
            answers_max: 8,
            answer_wait: Duration::from_secs(10),
            event_streams_max: 32,
            ping_interval_min: Duration::from_secs(5),
            login_pause_first: Duration::from_millis(100),
            login_pause_max: Duration::from_secs(10),
            stop_time: Duration::from_secs(3),
        }
    }
}

/// Returns how long the answer to a wrong token is held back, the `count`th of those that count.
pub(crate) fn login_pause(limits: &Limits, count: u32) -> Duration {
    let doublings = count.saturating_sub(1).min(31);
    limits.login_pause_first.saturating_mul(1 << doublings).min(limits.login_pause_max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_their_limit() {
        let limits = Limits::default();
        let pauses: Vec<u128> = (1..9).map(|count| login_pause(&limits, count).as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 3200, 6400, 10_000]);
        assert_eq!(login_pause(&limits, u32::MAX), limits.login_pause_max);
    }
}
