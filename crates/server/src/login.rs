//! Who has logged in. Input: tokens and the heads of requests. Output: whether a request may be answered.
//! Does not know paths or sockets.
//!
//! A browser logs in with a link that works once and not for long, and gets a cookie, until it logs out or
//! stays away. Other programs send the server's token with each request, as `Bearer` or as the password of
//! `Basic`. Of all these secrets, only digests are kept. The time is an argument.

use crate::error::Result;
use crate::limits::{LINK_TIME, LOGINS_MAX, SESSION_TIME, SESSIONS_MAX, WRONG_TIME};
use crate::token::{Digest, Secret};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, COOKIE, HeaderValue};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A link that logs a browser in, once, within two minutes.
pub struct Login {
    /// The address to open. It has a secret.
    pub url: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("Login(..)")
    }
}

/// What a request's head says about its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It has the token.
    HasToken,
    /// It has the cookie of a session.
    HasCookie,
    /// It claims nothing, or has a cookie of no session: that of a server that ran before, perhaps.
    Unknown,
    /// It has a wrong token.
    Wrong,
}

/// Everything that opens the server.
pub(crate) struct Logins {
    token: Digest,
    cookie_name: String,
    links: Mutex<Secrets>,
    sessions: Mutex<Secrets>,
    wrong: Mutex<Wrong>,
}

impl Logins {
    /// `port` tells apart servers on one machine: cookies do not.
    pub(crate) fn new(token: &Secret, port: u16) -> Logins {
        Logins {
            token: Digest::of(&token.text()),
            cookie_name: format!("pneu-{port}"),
            links: Mutex::new(Secrets::new(LOGINS_MAX, LINK_TIME)),
            sessions: Mutex::new(Secrets::new(SESSIONS_MAX, SESSION_TIME)),
            wrong: Mutex::default(),
        }
    }

    /// Returns a secret that logs a browser in, once.
    pub(crate) fn new_link(&self, now: Instant) -> Result<Secret> {
        let secret = Secret::random()?;
        lock(&self.links).add(&secret, now);
        Ok(secret)
    }

    /// Uses up a link. Returns the new session's secret, or `None` if there is no such link.
    pub(crate) fn log_in(&self, link: &str, now: Instant) -> Result<Option<Secret>> {
        if !lock(&self.links).take(&Digest::of(link), now) {
            return Ok(None);
        }
        let session = Secret::random()?;
        lock(&self.sessions).add(&session, now);
        Ok(Some(session))
    }

    /// Ends the sessions whose cookies a request has.
    pub(crate) fn log_out(&self, headers: &HeaderMap, now: Instant) {
        let mut sessions = lock(&self.sessions);
        for value in cookies(headers, &self.cookie_name) {
            sessions.take(&Digest::of(value), now);
        }
    }

    /// Returns the header field that gives a browser its session.
    pub(crate) fn set_cookie(&self, session: &Secret, is_secure: bool) -> String {
        self.cookie(&session.text(), is_secure)
    }

    /// Returns the header field that takes a browser's session away.
    pub(crate) fn clear_cookie(&self, is_secure: bool) -> String {
        format!("{}; Max-Age=0", self.cookie("", is_secure))
    }

    fn cookie(&self, value: &str, is_secure: bool) -> String {
        let secure = if is_secure { "; Secure" } else { "" };
        format!("{}={value}; HttpOnly; SameSite=Strict; Path=/{secure}", self.cookie_name)
    }

    /// Judges a request's head. A request with a token is judged by that alone.
    pub(crate) fn judge(&self, headers: &HeaderMap, now: Instant) -> Verdict {
        let mut tokens = headers.get_all(AUTHORIZATION).iter().peekable();
        if tokens.peek().is_some() {
            let is_right =
                tokens.all(|value| token_in(value.as_bytes()).is_some_and(|token| self.opens(&token)));
            return if is_right { Verdict::HasToken } else { Verdict::Wrong };
        }
        let mut sessions = lock(&self.sessions);
        let is_session = cookies(headers, &self.cookie_name).any(|it| sessions.uses(&Digest::of(it), now));
        if is_session { Verdict::HasCookie } else { Verdict::Unknown }
    }

    /// Returns how many wrong tokens there were not long ago, with the one that was just found.
    pub(crate) fn count_wrong(&self, now: Instant) -> u32 {
        lock(&self.wrong).count_another(now)
    }

    fn opens(&self, token: &str) -> bool {
        self.token.is(&Digest::of(token))
    }
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Digests of secrets, each with the time when it was last used.
struct Secrets {
    digests: VecDeque<(Digest, Instant)>,
    count_max: usize,
    time: Duration,
}

impl Secrets {
    fn new(count_max: usize, time: Duration) -> Secrets {
        Secrets { digests: VecDeque::new(), count_max, time }
    }

    /// Keeps a secret's digest. The oldest one goes if there are too many.
    fn add(&mut self, secret: &Secret, now: Instant) {
        if self.digests.len() >= self.count_max {
            self.digests.pop_front();
        }
        self.digests.push_back((Digest::of(&secret.text()), now));
    }

    /// Removes a digest. Returns whether it was there.
    fn take(&mut self, digest: &Digest, now: Instant) -> bool {
        self.forget(now);
        let before = self.digests.len();
        self.digests.retain(|(other, _)| !other.is(digest));
        self.digests.len() < before
    }

    /// Returns whether a digest is there. Looks at all of them, wherever it is. Its time begins again.
    fn uses(&mut self, digest: &Digest, now: Instant) -> bool {
        self.forget(now);
        let mut is_found = false;
        for (other, used) in &mut self.digests {
            if other.is(digest) {
                (*used, is_found) = (now, true);
            }
        }
        is_found
    }

    fn forget(&mut self, now: Instant) {
        let time = self.time;
        self.digests.retain(|(_, used)| now.saturating_duration_since(*used) < time);
    }
}

/// Wrong tokens. Old ones are forgotten, so that a mistake does not slow the user down for good.
#[derive(Default)]
struct Wrong {
    count: u32,
    last: Option<Instant>,
}

impl Wrong {
    /// Each [`WRONG_TIME`] without a wrong token halves the count.
    fn count_another(&mut self, now: Instant) -> u32 {
        let rest = self.last.map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
        let halvings = u32::try_from(rest.as_secs() / WRONG_TIME.as_secs()).unwrap_or(u32::MAX);
        self.count = self.count.checked_shr(halvings).unwrap_or(0).saturating_add(1);
        self.last = Some(now);
        self.count
    }
}

/// Returns the token in a value of `Authorization`.
fn token_in(value: &[u8]) -> Option<String> {
    let (scheme, rest) = std::str::from_utf8(value).ok()?.split_once(' ')?;
    let rest = rest.trim_matches(' ');
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = String::from_utf8(STANDARD.decode(rest).ok()?).ok()?;
    pair.split_once(':').map(|(_, password)| password.to_owned())
}

/// Returns the values of all cookies of this name. Those of other programs may be any bytes.
pub(crate) fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let values = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes);
    values.flat_map(|value| value.split(|byte| *byte == b';')).filter_map(move |pair| {
        let value = pair.trim_ascii().strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        std::str::from_utf8(value).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(logins: &Logins, name: &'static str, values: &[&str]) -> Verdict {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name, HeaderValue::from_str(value).unwrap());
        }
        logins.judge(&headers, Instant::now())
    }

    #[test]
    fn a_token_comes_as_bearer_or_as_password_and_must_be_right() {
        let token = Secret::random().unwrap();
        let logins = Logins::new(&token, 1);
        let text = token.text();
        let basic = |pair: String| format!("Basic {}", STANDARD.encode(pair));
        let judge = |value: &str| verdict(&logins, "authorization", &[value]);
        for right in [format!("Bearer {text}"), format!("bearer  {text} "), basic(format!("me:{text}"))] {
            assert_eq!(judge(&right), Verdict::HasToken, "{right}");
        }
        let other = Secret::random().unwrap().text();
        for wrong in [
            format!("Bearer {other}"),
            "Bearer".to_owned(),
            text.clone(),
            format!("Digest {text}"),
            basic(text.clone()),
            basic(format!("me:{text}:")),
            basic(format!("{text}:me")),
            format!("Basic {text}"),
        ] {
            assert_eq!(judge(&wrong), Verdict::Wrong, "{wrong}");
        }
        let two = [format!("Bearer {text}"), format!("Bearer {other}")];
        assert_eq!(verdict(&logins, "authorization", &[&two[0], &two[1]]), Verdict::Wrong);
    }

    #[test]
    fn a_session_is_a_cookie_of_this_servers_name() {
        let logins = Logins::new(&Secret::random().unwrap(), 7);
        let link = logins.new_link(Instant::now()).unwrap();
        let session = logins.log_in(&link.text(), Instant::now()).unwrap().unwrap().text();
        let judge = |values: &[&str]| verdict(&logins, "cookie", values);
        assert_eq!(judge(&[&format!("a=b; pneu-7={session}")]), Verdict::HasCookie);
        assert_eq!(judge(&[&format!("pneu-7=old;pneu-7={session}; c")]), Verdict::HasCookie);
        assert_eq!(judge(&["a=b", &format!("pneu-7={session}")]), Verdict::HasCookie);
        assert_eq!(judge(&[&format!("pneu-70={session}; Pneu-7={session}")]), Verdict::Unknown);
        assert_eq!(judge(&["pneu-7=old"]), Verdict::Unknown);
        assert_eq!(judge(&[&format!("pneu-7={}", link.text())]), Verdict::Unknown);
        assert_eq!(judge(&[]), Verdict::Unknown);
        // Whatever other programs have put there.
        for bytes in [&b"theme=\xff; "[..], b"\t;;=;\xc3\xa9=\xe9;", b"pneu-7=\xe9; pneu-7; "] {
            let value = [bytes, format!("pneu-7={session}; b=\u{e9}").as_bytes()].concat();
            let headers = [(COOKIE, HeaderValue::from_bytes(&value).unwrap())].into_iter().collect();
            assert_eq!(logins.judge(&headers, Instant::now()), Verdict::HasCookie, "{value:?}");
        }
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn links_and_sessions_end_if_they_are_not_used() {
        let logins = Logins::new(&Secret::random().unwrap(), 7);
        let begin = Instant::now();
        let links = [(); 2].map(|()| logins.new_link(begin).unwrap().text());
        assert!(logins.log_in(&links[0], begin + LINK_TIME).unwrap().is_none());
        let mut now = begin + LINK_TIME - SECOND;
        assert!(logins.log_in(&links[1], now).unwrap().is_none(), "it was forgotten");
        let link = logins.new_link(begin).unwrap().text();
        let session = logins.log_in(&link, now).unwrap().unwrap().text();
        let value = HeaderValue::try_from(format!("pneu-7={session}")).unwrap();
        let headers = HeaderMap::from_iter([(COOKIE, value)]);
        // Each use begins its time again.
        for _ in 0..3 {
            now += SESSION_TIME - SECOND;
            assert_eq!(logins.judge(&headers, now), Verdict::HasCookie);
        }
        assert_eq!(logins.judge(&headers, now + SESSION_TIME), Verdict::Unknown);
    }

    #[test]
    fn wrong_tokens_are_forgotten() {
        let logins = Logins::new(&Secret::random().unwrap(), 7);
        let begin = Instant::now();
        for count in 1..=8 {
            assert_eq!(logins.count_wrong(begin), count);
        }
        assert_eq!(logins.count_wrong(begin + WRONG_TIME - SECOND), 9);
        let mut now = begin + WRONG_TIME * 3;
        assert_eq!(logins.count_wrong(now), 9 / 4 + 1);
        now += WRONG_TIME * 1000;
        assert_eq!(logins.count_wrong(now), 1);
    }

    #[test]
    fn a_link_works_once_and_the_oldest_give_way() {
        let logins = Logins::new(&Secret::random().unwrap(), 7);
        let links: Vec<Secret> = (0..=LOGINS_MAX).map(|_| logins.new_link(Instant::now()).unwrap()).collect();
        let works = |link: &Secret| logins.log_in(&link.text(), Instant::now()).unwrap().is_some();
        assert!(!works(&links[0]), "its place was taken");
        assert!(works(&links[1]) && !works(&links[1]));
        assert!(works(&links[LOGINS_MAX]));
        assert!(logins.log_in("", Instant::now()).unwrap().is_none());
    }

    #[test]
    fn the_oldest_session_gives_way() {
        let logins = Logins::new(&Secret::random().unwrap(), 7);
        let log_in = || {
            logins
                .log_in(&logins.new_link(Instant::now()).unwrap().text(), Instant::now())
                .unwrap()
                .unwrap()
                .text()
        };
        let sessions: Vec<String> = (0..=SESSIONS_MAX).map(|_| log_in()).collect();
        let judge = |session: &str| verdict(&logins, "cookie", &[&format!("pneu-7={session}")]);
        assert_eq!(judge(&sessions[0]), Verdict::Unknown);
        assert_eq!(judge(&sessions[1]), Verdict::HasCookie);
        assert_eq!(judge(&sessions[SESSIONS_MAX]), Verdict::HasCookie);
    }

    #[test]
    fn a_cookie_is_for_this_server_alone() {
        let logins = Logins::new(&Secret::random().unwrap(), 7);
        let session = Secret::random().unwrap();
        let cookie = logins.set_cookie(&session, false);
        assert_eq!(cookie, format!("pneu-7={}; HttpOnly; SameSite=Strict; Path=/", session.text()));
        assert!(logins.set_cookie(&session, true).ends_with("; Secure"));
        let login = Login { url: session.text() };
        assert_eq!(format!("{login:?}"), "Login(..)");
    }
}
