//! A message's own HTML, for a frame of the page. Input: the end of a path, and whether pictures of the
//! network are wanted. Output: a document of what is harmless of the HTML, under a policy of its own; the
//! pictures in it. Knows nothing of how HTML is cleaned.
//!
//! Three things keep the HTML of others from doing anything, each of them alone: it is cleaned, its policy
//! allows neither scripts nor anything of the network but pictures that the user wants, and the page shows
//! it in a sandbox. A document says in its head what the page tells the user: the hosts of pictures that
//! were not loaded, or that there is no document because the HTML is too large or too deep.

use crate::download;
use crate::mail::Mail;
use crate::problem::{no_index, not_found, problem};
use crate::route::MAIL;
use harmless::styled::{Pictures, Styled, clean};
use jmap::Id;
use jmap_mail::{BlobError, Piece, Shown};
use render::html::escaped;
use server::{Body, Cache, Disposition, Frames, Request, Response, StatusCode, percent_decoded};
use std::collections::{BTreeSet, HashMap};

/// What the document may do, besides loading pictures.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox \
                      allow-same-origin; img-src data:";
/// What a picture may do that is opened by itself: nothing.
const PICTURE_POLICY: &str = "sandbox; default-src 'none'; frame-ancestors 'none'";
/// How mail looks that says nothing, on a light sheet. A frame is as high as what is in it.
const STYLE: &str = include_str!("shown.css");

/// Answers a request for `emailId/html` or `emailId/image/number`.
pub(crate) fn answer(mail: &Mail, request: &Request, rest: &str) -> Response {
    let mut steps = rest.split('/');
    let id = steps.next().and_then(percent_decoded).and_then(Id::new);
    let (Some(id), Some(what)) = (id, steps.next()) else { return not_found() };
    let number = steps.next().map(str::parse::<usize>);
    let source = mail.source();
    let Ok(account) = source.account(mail, request) else { return no_index() };
    match (what, number, steps.next()) {
        ("html", None, None) => match account.shown(&id) {
            Ok(shown) => document(&id, &shown, request),
            // The frame shows what is wrong, if the message went while it was opened.
            Err(error) => Response { frames: Frames::SameOrigin, ..refused(error) },
        },
        ("image", Some(Ok(number)), None) => match account.picture(&id, number) {
            Ok((kind, blob)) => download::body(blob).map_or_else(
                |_| refused(BlobError::Unreadable),
                |body| Response {
                    cache: Cache::Immutable,
                    content_security_policy: Some(PICTURE_POLICY.to_owned()),
                    disposition: Disposition::Inline,
                    ..Response::new(StatusCode::OK, kind, body)
                },
            ),
            Err(error) => refused(error),
        },
        _ => not_found(),
    }
}

fn refused(error: BlobError) -> Response {
    match error {
        BlobError::NotFound => problem(StatusCode::NOT_FOUND, "there is no such message or picture"),
        BlobError::Unreadable => problem(StatusCode::SERVICE_UNAVAILABLE, "the message cannot be read now"),
        BlobError::Archived => {
            let what = "the message is only in the archive, which cannot be opened without its password";
            problem(StatusCode::SERVICE_UNAVAILABLE, what)
        }
    }
}

fn document(id: &Id, shown: &Shown, request: &Request) -> Response {
    let are_loaded = request.query.iter().any(|(name, _)| name == "images");
    let folder = format!("{MAIL}{id}/image/");
    let found = whole(shown, &folder, are_loaded, &request.cancel);
    let mut policy = format!("{POLICY} {}{folder}", request.origin);
    let mut origins = BTreeSet::new();
    if let Some(pieces) = &found {
        origins.extend(pieces.iter().flat_map(|piece| &piece.origins));
    }
    if are_loaded {
        origins.iter().for_each(|origin| policy.extend([" ", origin]));
    }
    let hosts: BTreeSet<&str> =
        origins.iter().filter_map(|origin| origin.split_once("://")).map(|(_, host)| host).collect();
    let hosts: Vec<&str> = hosts.into_iter().collect();
    let text = match &found {
        Some(pieces) => page(pieces, &hosts.join(" ")),
        None => page(&[], "").replace("name=\"hosts\"", "name=\"unclean\""),
    };
    Response {
        content_security_policy: Some(policy),
        frames: Frames::SameOrigin,
        ..Response::new(StatusCode::OK, "text/html; charset=utf-8", Body::Bytes(text.into_bytes()))
    }
}

/// Returns what is harmless of all pieces; `None` if one of them cannot be cleaned.
fn whole(shown: &Shown, folder: &str, are_loaded: bool, cancel: &pneu::Cancel) -> Option<Vec<Styled>> {
    let inside: HashMap<String, String> = shown
        .pictures
        .iter()
        .flat_map(|picture| {
            picture.names.iter().map(|name| (name.clone(), format!("{folder}{}", picture.number)))
        })
        .collect();
    let piece = |piece: &Piece| match piece {
        Piece::Html(html) => clean(html, Pictures { inside: inside.clone(), are_loaded }, cancel),
        Piece::Text(text) => {
            Some(Styled { html: format!("<pre>{}</pre>", escaped(text)), ..Styled::default() })
        }
        Piece::Picture(number) => {
            let html = format!("<p><img alt=\"\" src=\"{folder}{number}\"></p>");
            Some(Styled { html, ..Styled::default() })
        }
    };
    shown.pieces.iter().map(piece).collect()
}

/// Returns a document. Attributes of the body are those of the first piece that has some.
fn page(pieces: &[Styled], hosts: &str) -> String {
    let body = pieces.iter().map(|piece| piece.body.as_str()).find(|body| !body.is_empty());
    let mut out = format!(
        "<!DOCTYPE html>\n<html style=\"height:auto!important\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
         name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light only\">\n\
         <meta name=\"hosts\" content=\"{}\">\n<style>{STYLE}</style>\n",
        escaped(hosts)
    );
    for piece in pieces.iter().filter(|piece| !piece.style.is_empty()) {
        out.extend(["<style>", &piece.style, "</style>\n"]);
    }
    out.extend(["</head>\n<body", body.unwrap_or_default(), ">\n"]);
    for piece in pieces {
        out.extend(["<div>", &piece.html, "</div>\n"]);
    }
    out.push_str("</body>\n</html>\n");
    out
}
