//! The files of the page. Input: a path. Output: a file, as it is sent. They have no secrets. Knows no mail.
//!
//! The program has them as `build.rs` makes them: scripts without comments, those that the page begins with
//! in one of them, and all of them compressed, which takes a quarter of the room. All but the page itself are
//! in a folder with another name in each version of the program that changes one of them, so that a browser
//! keeps them, and asks for none twice.

use flate2::read::GzDecoder;
use server::{Body, Cache, Response, StatusCode};
use std::io::Read;

/// What the page may do: load its own files, ask this server, and show pictures that are in its style. A text
/// never becomes markup: browsers that know trusted types refuse it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; frame-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; \
                      require-trusted-types-for 'script'";

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// The address of the folder in which all files are but the page itself.
const FOLDER: &str = env!("PAGE_FOLDER");

/// A file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// Its address below the folder.
    path: &'static str,
    content_type: &'static str,
    packed: &'static [u8],
}

/// Makes the table of files from their names in the folder `page`, below which they have the same addresses.
macro_rules! files {
    ($($content_type:ident $name:literal,)*) => {
        [$(File {
            path: concat!("/", $name),
            content_type: $content_type,
            packed: include_bytes!(concat!(env!("OUT_DIR"), "/page/", $name, ".gz")),
        },)*]
    };
}

/// The page itself.
static INDEX: File = File {
    path: "/",
    content_type: HTML,
    packed: include_bytes!(concat!(env!("OUT_DIR"), "/page/index.html.gz")),
};

/// All other files. Libraries bring their licences.
static FILES: &[File] = &files![
    STYLE "acting.css",
    SCRIPT "actions.js",
    SCRIPT "ahead.js",
    SCRIPT "app.js",
    SCRIPT "ask.js",
    SCRIPT "compose-model.js",
    STYLE "compose.css",
    SCRIPT "compose.js",
    SCRIPT "conversation.js",
    SCRIPT "dates.js",
    SCRIPT "dialog.js",
    SCRIPT "draft.js",
    SCRIPT "elsewhere-parts.js",
    STYLE "elsewhere.css",
    SCRIPT "elsewhere.js",
    SCRIPT "frame.js",
    SCRIPT "geometry.js",
    SCRIPT "history.js",
    SCRIPT "html.js",
    SCRIPT "i18n-de.js",
    SCRIPT "i18n-search.js",
    SCRIPT "i18n.js",
    SCRIPT "icons.js",
    SCRIPT "jmap.js",
    SCRIPT "keys.js",
    SCRIPT "lasting.js",
    SCRIPT "later.js",
    SCRIPT "list.js",
    SCRIPT "mailboxes.js",
    SCRIPT "members.js",
    SCRIPT "message.js",
    SCRIPT "moment.js",
    SCRIPT "people.js",
    SCRIPT "phrases-elsewhere.js",
    SCRIPT "plots.js",
    SCRIPT "queries.js",
    SCRIPT "query-problem.js",
    SCRIPT "receivers.js",
    STYLE "reading.css",
    SCRIPT "restore.js",
    SCRIPT "rows.js",
    SCRIPT "saved-dialog.js",
    SCRIPT "saved-side.js",
    SCRIPT "saved.js",
    SCRIPT "search-panel.js",
    STYLE "search.css",
    SCRIPT "search.js",
    SCRIPT "statistics.js",
    SCRIPT "store.js",
    STYLE "style.css",
    SCRIPT "text.js",
    SCRIPT "tree.js",
    SCRIPT "undo.js",
    SCRIPT "writing.js",
    TEXT "vendor/LICENSE-preact",
    TEXT "vendor/LICENSE-signals-core",
    SCRIPT "vendor/preact.mjs",
    SCRIPT "vendor/signals-core.mjs",
];

/// Returns the file at a path.
pub(crate) fn find(path: &str) -> Option<&'static File> {
    if path == INDEX.path {
        return Some(&INDEX);
    }
    let path = path.strip_prefix(FOLDER)?;
    FILES.iter().find(|file| file.path == path)
}

impl File {
    /// Returns it as an answer. Nobody keeps the page itself: the next version of the program may have
    /// another one.
    pub(crate) fn response(&self) -> Response {
        let content_security_policy = Some(POLICY.to_owned());
        let response = Response::new(StatusCode::OK, self.content_type, Body::Bytes(self.bytes()));
        let cache = if *self == INDEX { response.cache } else { Cache::Immutable };
        Response { content_security_policy, cache, ..response }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        GzDecoder::new(self.packed).read_to_end(&mut bytes).expect("the build has packed it");
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::{Scripts, bundle, without_preloads};
    use crate::script::without_comments;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    /// Returns the names of the files in a folder of the page that a browser may load.
    fn names(folder: &str) -> BTreeSet<String> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("page").join(folder);
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
        let names = entries.map(|name| name.into_string().unwrap());
        let is_served = |name: &String| {
            let end = name.rsplit('.').next().unwrap();
            ["css", "js", "mjs"].contains(&end) || name.starts_with("LICENSE")
        };
        names.filter(is_served).map(|name| format!("/{folder}{name}")).collect()
    }

    #[test]
    fn each_file_of_the_page_is_served_and_no_other() {
        let served: BTreeSet<String> = FILES.iter().map(|file| file.path.to_owned()).collect();
        let there: BTreeSet<String> = names("").into_iter().chain(names("vendor/")).collect();
        assert_eq!(served, there);
        assert_eq!(FILES.len(), served.len());
        for path in [
            "/index.html",
            "/package.json",
            "/tests/mail.js",
            "/app.js/",
            "/vendor/",
            "/vendor/README.md",
            "/",
            "",
        ] {
            assert_eq!(find(&format!("{FOLDER}{path}")), None, "{path}");
        }
        for path in ["/app.js", "/page-0/app.js", "/index.html", FOLDER] {
            assert_eq!(find(path), None, "{path}");
        }
    }

    /// Returns the page with the addresses of the files that it names.
    fn with_folder(index: &[u8]) -> Vec<u8> {
        let mut index = str::from_utf8(index).unwrap().to_owned();
        let mut is_found = false;
        for file in FILES {
            let name = format!("\"{}\"", file.path);
            is_found |= index.contains(&name);
            index = index.replace(&name, &format!("\"{FOLDER}{}\"", file.path));
        }
        assert!(is_found && FOLDER.len() == "/page-".len() + 16);
        index.into_bytes()
    }

    /// Returns a file of the page as it is written.
    fn source(path: &str) -> Vec<u8> {
        let name = if path == "/" { "index.html" } else { &path[1..] };
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("page").join(name)).unwrap()
    }

    /// Returns the scripts that are others because the page begins with one of them.
    fn bundled() -> Scripts {
        let scripts = FILES.iter().filter(|file| file.content_type == SCRIPT);
        let scripts =
            scripts.map(|file| (file.path[1..].to_owned(), String::from_utf8(source(file.path)).unwrap()));
        bundle(&scripts.collect(), "app.js").unwrap()
    }

    #[test]
    fn files_are_those_of_the_page_and_scripts_have_no_comments() {
        let bundled = bundled();
        assert!(bundled.contains_key("vendor/preact.mjs") && !bundled.contains_key("compose.js"));
        for file in FILES.iter().chain([&INDEX]) {
            let Body::Bytes(sent) = file.response().body else { panic!("{} is not sent whole", file.path) };
            let is_own_script = file.content_type == SCRIPT && file.path.ends_with(".js");
            let found = bundled.get(&file.path[1..]).map(|script| script.clone().into_bytes());
            let expected = found.unwrap_or_else(|| source(file.path));
            let expected = if is_own_script { without_comments(&expected) } else { expected };
            let expected = if file.path == "/" {
                let index = without_preloads(str::from_utf8(&expected).unwrap(), &bundled);
                assert!(!index.contains("modulepreload"));
                with_folder(index.as_bytes())
            } else {
                expected
            };
            assert!(sent == expected, "{}", file.path);
            assert!(!is_own_script || !sent.starts_with(b"//"), "{}", file.path);
        }
    }

    #[test]
    fn each_file_has_the_type_of_its_name_and_the_policy() {
        for file in FILES.iter().chain([&INDEX]) {
            let end = file.path.rsplit('.').next().unwrap();
            let expected = match end {
                "css" => STYLE,
                "js" | "mjs" => SCRIPT,
                "/" => HTML,
                _ => TEXT,
            };
            assert_eq!(file.content_type, expected, "{}", file.path);
            let address = if file.path == "/" { "/".to_owned() } else { format!("{FOLDER}{}", file.path) };
            assert_eq!(find(&address), Some(file));
            let is_kept = file.response().cache == Cache::Immutable;
            assert_eq!(is_kept, file.path != "/", "{}", file.path);
            assert_eq!(file.response().content_security_policy.as_deref(), Some(POLICY));
        }
        assert!(POLICY.starts_with("default-src 'none'; ") && !POLICY.contains("unsafe"));
    }
}
