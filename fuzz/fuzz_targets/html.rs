//! Any text can be cleaned as HTML of a message, and nothing is left of it that runs, or that loads anything
//! but pictures: those of the message, those within it, and those of the network only if they are wanted.
//! Styles that are cleaned again stay as they are. HTML itself may not: a parser moves elements that lie in
//! one another wrongly, and the next one may move them again; so what was cleaned twice is looked at, too.
#![no_main]

use fuzz::page::{Allowed, faults};
use harmless::formatted;
use harmless::styled::{Pictures, Styled, clean};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use work::Cancel;

/// Where the picture of the message is.
const FOLDER: &str = "/mail/M1/image/";

/// Pieces of which HTML and styles are made that try to run or to load something. `~` stands for a space, and
/// those of [`SPACES`] are pieces, too.
const PIECES: &str = r##"
    < > </ /> = " ' ` <!-- --> <! <? <![CDATA[ ]]> &lt; &#x3c; &quot; &amp; x <a~ <a~href= </a> <b> </b> <p>
    </p> <p~style=' <p~style=" <div> </div> <font~ <table> <tr> <td~ </td> </table> <caption> <form~ <input~
    <select> <option> </select> <script> </script> <style> </style> <svg> </svg> <math> </math> <mtext>
    <mglyph> <malignmark> <annotation-xml~encoding=text/html> <foreignObject> <desc> <title> </title>
    <textarea> </textarea> <noscript> </noscript> <xmp> </xmp> <template> </template> <iframe~ <object~
    <body~ <body~style=' <html~ <base~ <link~ <meta~ <img~ <img~src= <image~ <picture> <source~ <plaintext>
    <frameset> onerror=x() ~src= ~href= ~srcset= ~background= ~style= ~xlink:href= ~class= http://e.example/
    https:\\e.example //e.example http://127.0.0.1/ javascript:x() java&#9;script:x() data:image/png,
    data:image/svg+xml, data:text/html, cid:a a.png url( URL( u\72l( image-set( src( @import~ @media~
    @font-face { } ( ) [ ] ; : , /* */ \ color: rgb( calc( --x: 10vh !important"##;
/// Pieces that are spaces, or count as none.
const SPACES: [&str; 6] = [" ", "\n", "\r", "\t", "\u{c}", "\0"];

/// Returns all pieces.
fn pieces() -> &'static [String] {
    static ALL: OnceLock<Vec<String>> = OnceLock::new();
    ALL.get_or_init(|| {
        let spaces = SPACES.iter().map(|&space| space.to_owned());
        PIECES.split_whitespace().map(|piece| piece.replace('~', " ")).chain(spaces).collect()
    })
}

fuzz_target!(|input: &[u8]| {
    let Some((kind, rest)) = input.split_first() else { return };
    let html = match kind & 1 {
        0 => String::from_utf8_lossy(rest).into_owned(),
        _ => rest.iter().map(|byte| &*pieces()[usize::from(*byte) % pieces().len()]).collect(),
    };
    let are_loaded = kind & 2 != 0;
    if let Some(once) = cleaned(&html, are_loaded) {
        let page = page(&once);
        look(&html, &page, &once.origins, are_loaded);
        if let Some(twice) = cleaned(&page, are_loaded) {
            assert_eq!((&twice.style, &twice.body), (&once.style, &once.body), "styles of {html:?}");
            look(&html, &self::page(&twice), &twice.origins, are_loaded);
        }
    }
    if let Some(text) = formatted(&html, &Cancel::new()) {
        look(&html, &text, &[], false);
    }
});

fn cleaned(html: &str, are_loaded: bool) -> Option<Styled> {
    let inside = ["a", "a.png"].map(|name| (name.to_owned(), format!("{FOLDER}1")));
    let styled = clean(html, Pictures { inside: inside.into(), are_loaded }, &Cancel::new())?;
    assert!(!styled.style.contains('<'), "{:?} of {html:?}", styled.style);
    Some(styled)
}

/// Returns the page that shows what is left.
fn page(styled: &Styled) -> String {
    let Styled { html, style, body, .. } = styled;
    format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<style>{style}</style>\n</head>\n<body{body}>\n<div>{html}</div>\n\
         </body>\n</html>\n"
    )
}

fn look(html: &str, page: &str, origins: &[String], are_loaded: bool) {
    let origins = if are_loaded { origins } else { &[] };
    let found = faults(page, Allowed { folder: FOLDER, origins });
    assert!(found.is_empty(), "{found:?} in {page:?} of {html:?}");
}
