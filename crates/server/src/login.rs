//! Who has logged in. Input: tokens and the heads of requests. Output: whether a request may be answered.
//! Does not know paths or sockets.
//!
//! A browser logs in with a link that works once, and gets a cookie. Other programs send the server's token
//! with each request, as `Bearer` or as the password of `Basic`. Of all these secrets, only digests are kept.

use crate::error::Result;
use crate::limits::{LOGINS_MAX, SESSIONS_MAX};
use crate::token::{Digest, Secret};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, COOKIE};
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// A link that logs a browser in, once.
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
    LoggedIn,
    /// It claims nothing.
    Unknown,
    /// It has a wrong token or cookie.
    Wrong,
}

/// Everything that opens the server.
pub(crate) struct Logins {
    token: Digest,
    cookie_name: String,
    links: Mutex<VecDeque<Digest>>,
    sessions: Mutex<VecDeque<Digest>>,
    wrong_count: AtomicU32,
}

impl Logins {
    /// `port` tells apart servers on one machine: cookies do not.
    pub(crate) fn new(token: &Secret, port: u16) -> Logins {
        Logins {
            token: Digest::of(&token.text()),
            cookie_name: format!("pneu-{port}"),
            links: Mutex::default(),
            sessions: Mutex::default(),
            wrong_count: AtomicU32::new(0),
        }
    }

    /// Returns a secret that logs a browser in, once.
    pub(crate) fn new_link(&self) -> Result<Secret> {
        let secret = Secret::random()?;
        add(&self.links, &secret, LOGINS_MAX);
        Ok(secret)
    }

    /// Uses up a link. Returns the new session's secret, or `None` if there is no such link.
    pub(crate) fn log_in(&self, link: &str) -> Result<Option<Secret>> {
        if !take(&self.links, &Digest::of(link)) {
            return Ok(None);
        }
        let session = Secret::random()?;
        add(&self.sessions, &session, SESSIONS_MAX);
        Ok(Some(session))
    }

    /// Returns the header field that gives a browser its session.
    pub(crate) fn set_cookie(&self, session: &Secret, is_secure: bool) -> String {
        let secure = if is_secure { "; Secure" } else { "" };
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/{secure}", self.cookie_name, session.text())
    }

    /// Judges a request's head. A request with a token is judged by that alone.
    pub(crate) fn judge(&self, headers: &HeaderMap) -> Verdict {
        let mut tokens = headers.get_all(AUTHORIZATION).iter().peekable();
        if tokens.peek().is_some() {
            let is_right =
                tokens.all(|value| token_in(value.as_bytes()).is_some_and(|token| self.opens(&token)));
            return if is_right { Verdict::LoggedIn } else { Verdict::Wrong };
        }
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let mut verdict = Verdict::Unknown;
        for value in cookies(headers, &self.cookie_name) {
            let digest = Digest::of(value);
            if sessions.iter().fold(false, |found, session| found | session.is(&digest)) {
                return Verdict::LoggedIn;
            }
            verdict = Verdict::Wrong;
        }
        verdict
    }

    /// Returns how many wrong tokens there were, with the one that was just found.
    pub(crate) fn count_wrong(&self) -> u32 {
        self.wrong_count.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    fn opens(&self, token: &str) -> bool {
        self.token.is(&Digest::of(token))
    }
}

/// Keeps a secret's digest. The oldest one goes if there are too many.
fn add(digests: &Mutex<VecDeque<Digest>>, secret: &Secret, count_max: usize) {
    let mut digests = digests.lock().unwrap_or_else(PoisonError::into_inner);
    if digests.len() >= count_max {
        digests.pop_front();
    }
    digests.push_back(Digest::of(&secret.text()));
}

/// Removes a digest. Returns whether it was there. Looks at all of them, wherever it is.
fn take(digests: &Mutex<VecDeque<Digest>>, digest: &Digest) -> bool {
    let mut digests = digests.lock().unwrap_or_else(PoisonError::into_inner);
    let before = digests.len();
    digests.retain(|other| !other.is(digest));
    digests.len() < before
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

/// Returns the values of all cookies of this name.
fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let texts = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| text.split(';')).filter_map(move |pair| {
        pair.trim().split_once('=').filter(|(found, _)| *found == name).map(|(_, value)| value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn verdict(logins: &Logins, name: &'static str, values: &[&str]) -> Verdict {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name, HeaderValue::from_str(value).unwrap());
        }
        logins.judge(&headers)
    }

    #[test]
    fn a_token_comes_as_bearer_or_as_password_and_must_be_right() {
        let token = Secret::random().unwrap();
        let logins = Logins::new(&token, 1);
        let text = token.text();
        let basic = |pair: String| format!("Basic {}", STANDARD.encode(pair));
        let judge = |value: &str| verdict(&logins, "authorization", &[value]);
        for right in [format!("Bearer {text}"), format!("bearer  {text} "), basic(format!("me:{text}"))] {
            assert_eq!(judge(&right), Verdict::LoggedIn, "{right}");
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
        let link = logins.new_link().unwrap();
        let session = logins.log_in(&link.text()).unwrap().unwrap().text();
        let judge = |values: &[&str]| verdict(&logins, "cookie", values);
        assert_eq!(judge(&[&format!("a=b; pneu-7={session}")]), Verdict::LoggedIn);
        assert_eq!(judge(&[&format!("pneu-7=old;pneu-7={session}; c")]), Verdict::LoggedIn);
        assert_eq!(judge(&["a=b", &format!("pneu-7={session}")]), Verdict::LoggedIn);
        assert_eq!(judge(&[&format!("pneu-70={session}; Pneu-7={session}")]), Verdict::Unknown);
        assert_eq!(judge(&["pneu-7=old"]), Verdict::Wrong);
        assert_eq!(judge(&[&format!("pneu-7={}", link.text())]), Verdict::Wrong);
        assert_eq!(judge(&[]), Verdict::Unknown);
    }

    #[test]
    fn a_link_works_once_and_the_oldest_give_way() {
        let logins = Logins::new(&Secret::random().unwrap(), 7);
        let links: Vec<Secret> = (0..=LOGINS_MAX).map(|_| logins.new_link().unwrap()).collect();
        let works = |link: &Secret| logins.log_in(&link.text()).unwrap().is_some();
        assert!(!works(&links[0]), "its place was taken");
        assert!(works(&links[1]) && !works(&links[1]));
        assert!(works(&links[LOGINS_MAX]));
        assert!(logins.log_in("").unwrap().is_none());
    }

    #[test]
    fn the_oldest_session_gives_way() {
        let logins = Logins::new(&Secret::random().unwrap(), 7);
        let log_in = || logins.log_in(&logins.new_link().unwrap().text()).unwrap().unwrap().text();
        let sessions: Vec<String> = (0..=SESSIONS_MAX).map(|_| log_in()).collect();
        let judge = |session: &str| verdict(&logins, "cookie", &[&format!("pneu-7={session}")]);
        assert_eq!(judge(&sessions[0]), Verdict::Wrong);
        assert_eq!(judge(&sessions[1]), Verdict::LoggedIn);
        assert_eq!(judge(&sessions[SESSIONS_MAX]), Verdict::LoggedIn);
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
