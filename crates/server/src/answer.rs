//! Answers one request. Input: its head and body. Output: an answer for hyper. Does not know sockets.

use crate::allowed::{self, Asked, Refusal};
use crate::application::{Access, Method, Request};
use crate::body::{AnswerBody, CancelAtEnd, Events, Reading, Source};
use crate::head::query_pairs;
use crate::headers;
use crate::limits::login_pause;
use crate::login::Verdict;
use crate::pace::Pace;
use crate::peer::Peer;
use crate::response::Body;
use crate::shared::Shared;
use crate::token::Secret;
use bytes::Bytes;
use hyper::body::{Body as _, Incoming};
use hyper::header::{
    ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, RETRY_AFTER,
    SET_COOKIE, WWW_AUTHENTICATE,
};
use hyper::http::request::Parts;
use hyper::{HeaderMap, StatusCode};
use std::convert::Infallible;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;
use tokio::time::{sleep, timeout};
use work::Cancel;

/// The path of login links, which is the server's own.
pub(crate) const LOGIN_PATH: &str = "/login";
/// The path that ends a browser's session, which is the server's own.
const LOGOUT_PATH: &str = "/logout";
/// The path at which a program with the token gets a login link, which is the server's own.
pub(crate) const NEW_LINK_PATH: &str = "/login-link";
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// An answer before it is written.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    source: Source,
    cancel: Option<CancelAtEnd>,
}

/// Who asks.
pub(crate) struct Client {
    pub(crate) pace: Arc<Pace>,
    pub(crate) peer: Arc<Peer>,
}

/// Answers a request.
pub(crate) async fn answer(
    shared: Arc<Shared>,
    client: Client,
    request: hyper::Request<Incoming>,
) -> Result<hyper::Response<AnswerBody>, Infallible> {
    let pace = Arc::clone(&client.pace);
    let (parts, mut incoming) = request.into_parts();
    pace.looks_at(!incoming.is_end_stream());
    let answered = passed(&shared, &client, &parts, &mut incoming).await;
    let mut answer = answered.unwrap_or_else(|refusal| refused(&refusal, &shared, &parts));
    if !incoming.is_end_stream() {
        pace.has_unread_body();
        answer.headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if parts.method == hyper::Method::HEAD {
        let length = match &answer.source {
            Source::Events(_) => None,
            Source::Read(_, length) => *length,
            Source::Empty => Some(0),
            Source::Bytes(bytes) => Some(bytes.len() as u64),
        };
        if let Some(length) = length {
            answer.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        answer.source = Source::Empty;
    }
    if let Source::Events(_) = &answer.source {
        pace.sends_events();
    } else {
        pace.sends();
    }
    let mut response =
        hyper::Response::new(AnswerBody { source: answer.source, pace, _cancel: answer.cancel });
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    Ok(response)
}

/// Leads a request through all gates, and to the application.
async fn passed(
    shared: &Arc<Shared>,
    client: &Client,
    parts: &Parts,
    incoming: &mut Incoming,
) -> Result<Answer, Refusal> {
    let Client { pace, peer } = client;
    let (target, heads) = (&parts.uri, &parts.headers);
    let asked = allowed::head((&parts.method, target), heads, &shared.names, &shared.limits)?;
    match target.path() {
        LOGIN_PATH => return log_in(shared, parts, &asked).await,
        NEW_LINK_PATH => return new_link(shared, parts, &asked).await,
        LOGOUT_PATH => return log_out(shared, (peer, parts), &asked).await,
        _ => {}
    }
    let ask = AssertUnwindSafe(|| shared.application.rule(asked.method, target.path()));
    let rule = catch_unwind(ask).map_err(|_| failed())?;
    allowed::visit(&asked, rule.access)?;
    if rule.access == Access::LoggedIn {
        check_login(shared, peer, heads).await?;
    }
    let bytes_max = allowed::body(&asked, &rule, heads)?;
    let Some(query) = query_pairs(target.query().unwrap_or_default()) else {
        return Err(Refusal { status: StatusCode::BAD_REQUEST, reason: "the query is not encoded right" });
    };
    pace.awaits_body();
    let body = read_body(incoming, bytes_max).await?;
    match rule.access {
        Access::LoggedIn => pace.works(),
        Access::Open => pace.answers(),
    }
    let text = |name| heads.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let request = Request {
        method: asked.method,
        path: target.path().to_owned(),
        query,
        content_type: text(CONTENT_TYPE),
        last_event_id: text(LAST_EVENT_ID),
        origin: asked.origin.text,
        body,
        cancel: Cancel::new(),
    };
    ask_application(shared, request).await
}

/// Uses up a login link.
async fn log_in(shared: &Shared, parts: &Parts, asked: &Asked) -> Result<Answer, Refusal> {
    if asked.method != Method::Get || parts.method == hyper::Method::HEAD {
        return Ok(not_allowed("a login link is opened with GET", "GET", (shared, parts)));
    }
    let pairs = query_pairs(parts.uri.query().unwrap_or_default()).unwrap_or_default();
    let link = pairs.iter().find(|(name, _)| name == "token").map_or("", |(_, token)| token.as_str());
    let Some(session) = shared.logins.log_in(link, Instant::now()).map_err(|_| failed())? else {
        pause(shared).await;
        let reason =
            "this login link was used, or is more than two minutes old; ask the program for another one";
        return Err(Refusal { status: StatusCode::FORBIDDEN, reason });
    };
    let cookie = shared.logins.set_cookie(&session, asked.origin.is_secure);
    let mut headers = headers::common();
    headers.insert(LOCATION, HeaderValue::from_static("/"));
    headers.insert(SET_COOKIE, HeaderValue::try_from(cookie).map_err(|_| failed())?);
    Ok(Answer { status: StatusCode::SEE_OTHER, headers, source: Source::Empty, cancel: None })
}

/// Returns the address of a login link. `origin` is the server's.
pub(crate) fn login_url(origin: &str, link: &Secret) -> String {
    format!("{origin}{LOGIN_PATH}?token={}", link.text())
}

/// Makes a login link. Who has a cookie gets none: a page that is led astray must not log others in.
async fn new_link(shared: &Shared, parts: &Parts, asked: &Asked) -> Result<Answer, Refusal> {
    if asked.method != Method::Post {
        return Ok(not_allowed("who wants a login link uses POST", "POST", (shared, parts)));
    }
    let verdict = shared.logins.judge(&parts.headers, Instant::now());
    if verdict == Verdict::Wrong {
        pause(shared).await;
    }
    if verdict != Verdict::HasToken {
        return Err(Refusal {
            status: StatusCode::UNAUTHORIZED,
            reason: "a login link is given for a token",
        });
    }
    let link = shared.logins.new_link(Instant::now()).map_err(|_| failed())?;
    let mut headers = headers::common();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    let text = Bytes::from(format!("{}\n", login_url(&shared.names.main_origin(), &link)));
    Ok(Answer { status: StatusCode::OK, headers, source: Source::Bytes(text), cancel: None })
}

/// Ends the session of a browser.
async fn log_out(shared: &Shared, (peer, parts): (&Peer, &Parts), asked: &Asked) -> Result<Answer, Refusal> {
    if asked.method != Method::Post {
        return Ok(not_allowed("who logs out uses POST", "POST", (shared, parts)));
    }
    check_login(shared, peer, &parts.headers).await?;
    shared.logins.log_out(&parts.headers, Instant::now());
    let cookie = shared.logins.clear_cookie(asked.origin.is_secure);
    let mut headers = headers::common();
    headers.insert(SET_COOKIE, HeaderValue::try_from(cookie).map_err(|_| failed())?);
    Ok(Answer { status: StatusCode::NO_CONTENT, headers, source: Source::Empty, cancel: None })
}

/// Checks whether a request may pass that needs a login. One with a wrong token waits, the others do not.
async fn check_login(shared: &Shared, peer: &Peer, headers: &HeaderMap) -> Result<(), Refusal> {
    match shared.logins.judge(headers, Instant::now()) {
        Verdict::HasToken => return Ok(()),
        Verdict::HasCookie if peer.may_use_cookies() => return Ok(()),
        Verdict::HasCookie => {
            let reason = "this login belongs to a browser of another user; use a token";
            return Err(Refusal { status: StatusCode::UNAUTHORIZED, reason });
        }
        Verdict::Unknown => {}
        Verdict::Wrong => pause(shared).await,
    }
    Err(Refusal { status: StatusCode::UNAUTHORIZED, reason: "log in first" })
}

/// Holds back the answer to a wrong token.
async fn pause(shared: &Shared) {
    sleep(login_pause(&shared.limits, shared.logins.count_wrong(Instant::now()))).await;
}

/// Reads a body, up to its limit.
async fn read_body(incoming: &mut Incoming, bytes_max: usize) -> Result<Vec<u8>, Refusal> {
    let mut body = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut *incoming).poll_frame(context)).await {
        let broken = Refusal { status: StatusCode::BAD_REQUEST, reason: "the body is broken" };
        if let Ok(data) = frame.map_err(|_| broken)?.into_data() {
            if data.len() > bytes_max.saturating_sub(body.len()) {
                return Err(allowed::too_large());
            }
            body.extend_from_slice(&data);
        }
    }
    Ok(body)
}

/// Lets the application answer, on one of its threads. If the client goes away meanwhile, this future is
/// dropped, and the request's `cancel` is set.
async fn ask_application(shared: &Arc<Shared>, request: Request) -> Result<Answer, Refusal> {
    let cancel = CancelAtEnd(request.cancel.clone());
    let turn = Arc::clone(&shared.turns).acquire_owned();
    let Ok(Ok(turn)) = timeout(shared.limits.answer_wait, turn).await else {
        return Err(busy());
    };
    let application = Arc::clone(&shared.application);
    let answered = tokio::task::spawn_blocking(move || {
        // The turn lasts until the application is done, even if nobody waits for it.
        let _turn = turn;
        (!request.cancel.is_cancelled()).then(|| application.answer(&request))
    });
    let response = answered.await.ok().flatten().ok_or_else(failed)?;
    if response.status.is_informational() {
        return Err(failed());
    }
    let mut headers = headers::of(&response).ok_or_else(failed)?;
    let source = match response.body {
        Body::Bytes(bytes) if bytes.is_empty() => Source::Empty,
        Body::Bytes(bytes) => Source::Bytes(Bytes::from(bytes)),
        Body::Stream { reader, length } => {
            Source::Read(Reading::new(reader, Arc::clone(&shared.reads)), length)
        }
        Body::Events(stream) => {
            let permit = Arc::clone(&shared.event_streams).try_acquire_owned().map_err(|_| busy())?;
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            Source::Events(Box::new(Events::new(stream, shared.limits.ping_interval_min, permit)))
        }
    };
    Ok(Answer { status: response.status, headers, source, cancel: Some(cancel) })
}

fn busy() -> Refusal {
    Refusal { status: StatusCode::SERVICE_UNAVAILABLE, reason: "too much to do; try again" }
}

fn failed() -> Refusal {
    Refusal { status: StatusCode::INTERNAL_SERVER_ERROR, reason: "the server failed" }
}

/// Returns the answer to a request with another method than a path has.
fn not_allowed(reason: &'static str, allow: &'static str, (shared, parts): (&Shared, &Parts)) -> Answer {
    let refusal = Refusal { status: StatusCode::METHOD_NOT_ALLOWED, reason };
    let mut answer = refused(&refusal, shared, parts);
    answer.headers.insert(ALLOW, HeaderValue::from_static(allow));
    answer
}

/// Returns the answer to a request that did not pass.
fn refused(refusal: &Refusal, shared: &Shared, request: &Parts) -> Answer {
    let (status, reason) = (refusal.status, refusal.reason);
    let ask = AssertUnwindSafe(|| shared.application.refusal(request.uri.path(), status, reason));
    let (content_type, body) = catch_unwind(ask)
        .ok()
        .flatten()
        .unwrap_or_else(|| ("text/plain; charset=utf-8", format!("{reason}\n").into_bytes()));
    let mut headers = headers::common();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    match refusal.status {
        StatusCode::METHOD_NOT_ALLOWED => {
            headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD, POST"));
        }
        StatusCode::SERVICE_UNAVAILABLE => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        StatusCode::UNAUTHORIZED => {
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"pneu\""));
            // A browser would ask for a password, which users of a page do not have.
            if !allowed::is_browser(&request.headers) {
                headers.append(WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"pneu\""));
            }
        }
        _ => {}
    }
    Answer { status, headers, source: Source::Bytes(Bytes::from(body)), cancel: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allowed::Names;
    use crate::application::{Application, Rule};
    use crate::limits::Limits;
    use crate::listen::Address;
    use crate::login::Logins;
    use crate::response::Response;
    use hyper::header::{AUTHORIZATION, COOKIE};
    use tokio::sync::Semaphore;

    struct Nothing;

    impl Application for Nothing {
        fn rule(&self, _: Method, _: &str) -> Rule {
            Rule { access: Access::LoggedIn, body_bytes_max: 0, content_types: &[] }
        }

        fn answer(&self, _: &Request) -> Response {
            Response::new(StatusCode::OK, "", Body::Bytes(Vec::new()))
        }
    }

    #[test]
    fn a_cookie_is_for_programs_of_the_user_and_a_token_for_all() {
        let token = Secret::random().unwrap();
        let address = ([127, 0, 0, 1], 7).into();
        let semaphore = || Arc::new(Semaphore::new(1));
        let shared = Shared {
            limits: Limits::default(),
            names: Names::new(&Address::Tcp(address), None),
            logins: Arc::new(Logins::new(&token, 7)),
            application: Arc::new(Nothing),
            turns: semaphore(),
            reads: semaphore(),
            event_streams: semaphore(),
        };
        let now = Instant::now();
        let link = shared.logins.new_link(now).unwrap().text();
        let session = shared.logins.log_in(&link, now).unwrap().unwrap().text();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let passes = |may_use_cookies: bool, name: HeaderName, value: String| {
            let ends = [address, address];
            let peer = Peer::Local { ends, user: 1, may_use_cookies: may_use_cookies.into() };
            let headers = HeaderMap::from_iter([(name, HeaderValue::try_from(value).unwrap())]);
            runtime.block_on(check_login(&shared, &peer, &headers)).is_ok()
        };
        assert!(passes(true, COOKIE, format!("pneu-7={session}")));
        assert!(!passes(false, COOKIE, format!("pneu-7={session}")));
        assert!(!passes(true, COOKIE, "pneu-7=x".to_owned()));
        assert!(passes(false, AUTHORIZATION, format!("Bearer {}", token.text())));
    }
}
