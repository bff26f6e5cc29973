//! One HTTP request to an object store, and its outcome.
//!
//! Input: a signed request. Output: the server's answer, or [`Trouble`] that says whether it may pass. Does
//! not read the environment, so it uses no proxies.

use super::super::address::Scheme;
use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use http_body_util::{BodyExt, StreamBody};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};
use reqwest::header::{CONTENT_LENGTH, HeaderValue};
use rustls_platform_verifier::BuilderVerifierExt;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::timeout;

/// How long a connection may take to be made.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// Most bytes read of an error response; servers send less.
const REFUSAL_BYTES_MAX: usize = 64 * 1024;
/// What every list begins with, and within how many bytes.
const LIST_ELEMENT: &[u8] = b"<ListBucketResult";
const LIST_ELEMENT_WITHIN_BYTES: usize = 1024;
/// What one page of a list may have: a thousand names, each of a thousand bytes at most, and some more of
/// each.
const LIST_BYTES_MAX: usize = 16 << 20;
/// Most characters shown of a server's own message.
const MESSAGE_LETTERS_MAX: usize = 200;

/// Why there is no usable response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Trouble {
    /// The request did not get through, or the answer did not.
    #[error("{0}")]
    Broken(String),
    /// Nothing more came, or could be sent.
    #[error("the server did not respond for {0:?}")]
    Stalled(Duration),
    /// The response cannot come from such a server: something in between sent it.
    #[error("the server sent an invalid response: {0}")]
    Senseless(&'static str),
    /// The server's certificate does not prove its identity.
    #[error("the server's certificate is not trusted: {0}")]
    Untrusted(String),
    /// The server refused.
    #[error("the server answers {answer}")]
    Refused {
        /// The number of the answer.
        status: u16,
        /// The server's word for it: `NoSuchBucket`; may be empty.
        code: String,
        /// Number, word and message, for people.
        answer: String,
    },
}

impl Trouble {
    /// Returns whether the same request may succeed later.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Trouble::Broken(_) | Trouble::Stalled(_) | Trouble::Senseless(_) => true,
            Trouble::Untrusted(_) => false,
            Trouble::Refused { status, code, .. } => {
                let is_busy = matches!(code.as_str(), "RequestTimeout" | "OperationAborted" | "SlowDown");
                // 501: the server will never know how.
                is_busy || matches!(status, 408 | 429) || (*status >= 500 && *status != 501)
            }
        }
    }

    /// Returns the trouble that is somewhere below `error`.
    pub(super) fn below<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Trouble> {
        causes(error).find_map(|cause| cause.downcast_ref())
    }

    fn of_request(error: reqwest::Error) -> Trouble {
        // The caller adds the address; a signed URL may hold keys.
        let error = error.without_url();
        let cause = causes(&error).last().map_or_else(String::new, ToString::to_string);
        if causes(&error).any(|cause| cause.downcast_ref().is_some_and(is_about_certificates)) {
            return Trouble::Untrusted(cause);
        }
        if error.is_timeout() {
            return Trouble::Broken(format!("no connection within {} s", CONNECT_MAX.as_secs()));
        }
        let what = if error.is_connect() { "the server cannot be reached" } else { "the connection broke" };
        Trouble::Broken(format!("{what}: {cause}"))
    }
}

impl From<Trouble> for HttpError {
    fn from(trouble: Trouble) -> HttpError {
        // Of a kind that the library never tries again: that is `Retry`'s to do.
        HttpError::new(HttpErrorKind::Unknown, trouble)
    }
}

/// Returns an error and what caused it, outermost first.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| {
        let error: &'a (dyn Error + 'static) = *error;
        // The error reports the cause of its inner error as its own, and so hides the inner error.
        let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        wrapped.map(|wrapped| wrapped as &(dyn Error + 'static)).or_else(|| error.source())
    })
}

fn is_about_certificates(error: &rustls::Error) -> bool {
    use rustls::Error::{InvalidCertRevocationList, InvalidCertificate, NoCertificatesPresented};
    matches!(error, InvalidCertificate(_) | InvalidCertRevocationList(_) | NoCertificatesPresented)
}

/// Sends requests to one server. A clone shares its connections.
#[derive(Clone)]
pub(super) struct Http {
    client: reqwest::Client,
    /// For how long nothing may happen.
    idle_max: Duration,
    /// What must not be in any sentence.
    secrets: Arc<[String]>,
}

impl Http {
    /// Makes ready. For https, the system's certificates are read.
    pub(super) fn new(
        scheme: Scheme,
        idle_max: Duration,
        secrets: Vec<String>,
    ) -> Result<Http, Box<dyn Error>> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls =
            rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let tls = match scheme {
            Scheme::Https => tls.with_platform_verifier()?,
            // No certificate is checked, so this works on a machine without any.
            Scheme::Http => tls.with_root_certificates(rustls::RootCertStore::empty()),
        };
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls.with_no_client_auth())
            .connect_timeout(CONNECT_MAX)
            // A signature is for one host.
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .http1_only()
            .build()?;
        Ok(Http { client, idle_max, secrets: secrets.into() })
    }

    /// Puts `body` at an address that carries its own signature.
    pub(super) async fn put(&self, url: &str, body: String) -> object_store::Result<()> {
        let mut request = HttpRequest::new(body.into());
        *request.method_mut() = reqwest::Method::PUT;
        *request.uri_mut() = url.parse().map_err(generic)?;
        self.call(request).await.map_err(generic)?;
        Ok(())
    }

    /// Sends a request and returns the answer, whose body is still to be read. There is no time limit as long
    /// as any part of the request's body is being sent.
    async fn send(&self, request: HttpRequest) -> Result<reqwest::Response, Trouble> {
        let (parts, body) = request.into_parts();
        let invalid = |_| Trouble::Broken("the address is not valid".to_owned());
        let url = parts.uri.to_string().parse().map_err(invalid)?;
        let mut request = reqwest::Request::new(parts.method, url);
        *request.headers_mut() = parts.headers;
        // Set for an empty body, too, and for one that is sent in pieces: some servers refuse a request
        // without it.
        if request.method() == reqwest::Method::PUT {
            let length = request.headers_mut().entry(CONTENT_LENGTH);
            length.or_insert(HeaderValue::from(body.content_length()));
        }
        let sent_count = Arc::new(AtomicU64::new(0));
        if body.content_length() > 0 {
            let counter = Arc::clone(&sent_count);
            let pieces = body.into_data_stream().inspect(move |_| {
                counter.fetch_add(1, Ordering::Relaxed);
            });
            *request.body_mut() = Some(reqwest::Body::wrap_stream(pieces));
        }
        let mut answer = std::pin::pin!(self.client.execute(request));
        loop {
            let before = sent_count.load(Ordering::Relaxed);
            match timeout(self.idle_max, &mut answer).await {
                Ok(answer) => return answer.map_err(Trouble::of_request),
                Err(_) if sent_count.load(Ordering::Relaxed) > before => {}
                Err(_) => return Err(Trouble::Stalled(self.idle_max)),
            }
        }
    }

    /// Returns why the server refused: its own word and message, if it gives any.
    async fn refusal(&self, answer: HttpResponse) -> Trouble {
        let status = answer.status();
        let mut body = answer.into_body().bytes_stream();
        let mut bytes = Vec::new();
        // If its reasons do not arrive, its number has.
        while let Some(Ok(piece)) = body.next().await {
            bytes.extend_from_slice(&piece);
            if bytes.len() > REFUSAL_BYTES_MAX {
                break;
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let (code, message) = (self.element(&text, "Code"), self.element(&text, "Message"));
        let words =
            [&code, &message].into_iter().filter(|word| !word.is_empty()).cloned().collect::<Vec<_>>();
        let words = if words.is_empty() { String::new() } else { format!(" ({})", words.join(": ")) };
        Trouble::Refused { status: status.as_u16(), code, answer: format!("{status}{words}") }
    }

    /// Returns the text of the first element of that name, cleaned for people; empty if there is none.
    fn element(&self, xml: &str, name: &str) -> String {
        let text = xml.split_once(&format!("<{name}>")).and_then(|(_, rest)| rest.split_once('<'));
        let text = text.map_or("", |(text, _)| text);
        if self.secrets.iter().any(|secret| text.contains(secret)) {
            return String::new();
        }
        text.chars().filter(|letter| !letter.is_control()).take(MESSAGE_LETTERS_MAX).collect()
    }
}

/// Returns an error as the library has it.
pub(super) fn generic(error: impl Error + Send + Sync + 'static) -> object_store::Error {
    object_store::Error::Generic { store: "S3", source: Box::new(error) }
}

/// Returns an answer whose pieces each come within `idle_max`, or are [`Trouble`].
fn watched(answer: reqwest::Response, idle_max: Duration) -> HttpResponse {
    let (status, headers) = (answer.status(), answer.headers().clone());
    let body = reqwest::Body::from(answer);
    let pieces = stream::unfold(Some(body), move |body| async move {
        let mut body: reqwest::Body = body?;
        match timeout(idle_max, body.frame()).await {
            Ok(Some(Ok(frame))) => Some((Ok(frame), Some(body))),
            Ok(Some(Err(error))) => Some((Err(Trouble::of_request(error).into()), None)),
            Ok(None) => None,
            Err(_) => Some((Err(Trouble::Stalled(idle_max).into()), None)),
        }
    });
    let mut answer = HttpResponse::new(HttpResponseBody::new(StreamBody::new(pieces)));
    *answer.status_mut() = status;
    *answer.headers_mut() = headers;
    answer
}

#[async_trait]
impl HttpService for Http {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let is_list = request.uri().query().is_some_and(|query| query.contains("list-type="));
        let answer = watched(self.send(request).await?, self.idle_max);
        match answer.status().is_success() {
            true if is_list => checked_list(answer).await,
            true => Ok(answer),
            false => Err(self.refusal(answer).await.into()),
        }
    }
}

/// Returns an answer that is a list. The library reads any HTML page as an empty list, which would make a
/// repository look lost.
async fn checked_list(answer: HttpResponse) -> Result<HttpResponse, HttpError> {
    let (parts, body) = answer.into_parts();
    let mut pieces = body.bytes_stream();
    let mut bytes = Vec::new();
    while let Some(piece) = pieces.next().await {
        bytes.extend_from_slice(&piece?);
        if bytes.len() > LIST_BYTES_MAX {
            return Err(Trouble::Senseless("a page of the list is too long").into());
        }
    }
    if !bytes.windows(LIST_ELEMENT.len()).take(LIST_ELEMENT_WITHIN_BYTES).any(|window| window == LIST_ELEMENT)
    {
        return Err(Trouble::Senseless("it is not a list").into());
    }
    Ok(HttpResponse::from_parts(parts, bytes.into()))
}

impl HttpConnector for Http {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

impl std::fmt::Debug for Http {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Http")
    }
}
