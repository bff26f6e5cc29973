//! A mailbox in a temporary directory, and a server for it.

use jmap::{Limits, Request};
use jmap_mail::{Account, CAPABILITIES, Cache, Session, UPLOADS_BYTES_MAX, Uploads, Urls};
use pneu::setup::account::Account as MailAccount;
use pneu::{Host, Root, Settings, Silent, TagChange, UpdateOptions};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::TempDir;

pub(crate) struct Fixture {
    directory: TempDir,
    pub(crate) host: Host,
    cache: Cache,
    roots: Vec<Root>,
    uploads: Uploads,
    uploaded: RefCell<BTreeMap<String, String>>,
}

impl Fixture {
    /// Begins with roots without mail and an index of nothing.
    pub(crate) fn new(roots: &[&str]) -> Fixture {
        Fixture::with(roots, &|_, _| {})
    }

    /// Does so with accounts, by the names of roots.
    pub(crate) fn with_accounts(roots: &[&str], accounts: BTreeMap<String, MailAccount>) -> Fixture {
        Fixture::with(roots, &|settings, _| settings.configuration.accounts = accounts.clone())
    }

    /// Does so with a configuration. `configure` gets the directory, too.
    pub(crate) fn with(roots: &[&str], configure: &dyn Fn(&mut Settings, &Path)) -> Fixture {
        let directory = tempfile::tempdir().expect("a directory");
        let mut settings = Settings::new(directory.path().join("data"));
        settings.configuration.headers = vec!["X-Project".to_owned()];
        let root = |name: &&str| Root { name: (*name).to_owned(), path: directory.path().join(name) };
        let roots: Vec<Root> = roots.iter().map(root).collect();
        configure(&mut settings, directory.path());
        let uploads = directory.path().join("uploads");
        let uploads = Uploads::new(uploads, &Limits::default(), UPLOADS_BYTES_MAX);
        let (host, cache) = (Host::new(settings), Cache::default());
        Fixture { host, cache, roots, uploads, uploaded: RefCell::default(), directory }
    }

    /// Uploads a blob. In calls, `name` stands for its id.
    pub(crate) fn upload(&self, name: &str, bytes: &[u8]) {
        let told = self.uploads.put(bytes, "application/octet-stream", SystemTime::now()).expect("room");
        self.uploaded.borrow_mut().insert(name.to_owned(), text(&told["blobId"]));
    }

    /// Writes a message into `cur` of a folder: `name` has its flags.
    pub(crate) fn put(&self, folder: &str, name: &str, text: &(impl AsRef<[u8]> + ?Sized)) -> PathBuf {
        let folder = self.directory.path().join(folder);
        for place in ["cur", "new", "tmp"] {
            fs::create_dir_all(folder.join(place)).expect("a Maildir");
        }
        let path = folder.join("cur").join(name);
        fs::write(&path, text).expect("the fixture works");
        path
    }

    pub(crate) fn rename(&self, from: &Path, to: &str) {
        fs::rename(from, self.directory.path().join(to)).expect("the fixture works");
    }

    /// Returns the files of a folder, in order, as `cur/NAME`.
    pub(crate) fn files(&self, folder: &str) -> Vec<String> {
        let of = |part: &'static str| {
            let entries = fs::read_dir(self.directory.path().join(folder).join(part)).expect("a folder");
            let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
            entries.map(move |entry| format!("{part}/{}", name(entry).to_string_lossy())).collect::<Vec<_>>()
        };
        let mut files: Vec<String> = ["cur", "new"].into_iter().flat_map(of).collect();
        files.sort();
        files
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Undoes the last action. Returns what it was.
    pub(crate) fn undo(&self) -> String {
        let undone = self.host.undo(&Silent).expect("the fixture works");
        undone.map_or_else(String::new, |undone| {
            assert_eq!(undone.left, []);
            format!("{:?} {}", undone.action.kind, undone.restored_count)
        })
    }

    pub(crate) fn update(&self) {
        self.host.update(&self.roots, &UpdateOptions::default(), &Silent).expect("the fixture works");
    }

    pub(crate) fn tag(&self, query: &str, tag: &str) {
        let query = self.host.view().expect("the fixture works").query(query).expect("a query");
        let change = TagChange { add: [tag.to_owned()].into(), ..TagChange::default() };
        self.host.tag(&query, &change).expect("the fixture works");
    }

    pub(crate) fn account(&self) -> Account<'_> {
        let url = || "https://mail.example.org/".to_owned();
        let urls = Urls { api: url(), download: url(), upload: url(), event_source: url() };
        let session = Session::new("ana", &urls, &Limits::default());
        let account = Account::new(&self.host, &self.cache, &session).expect("the fixture works");
        account.with_uploads(&self.uploads)
    }

    /// Answers the calls of one request.
    pub(crate) fn answers(&self, calls: &Value) -> Value {
        let mut calls = calls.to_string();
        for (name, id) in self.uploaded.borrow().iter() {
            calls = calls.replace(&format!("\"{name}\""), &format!("\"{id}\""));
        }
        let calls: Value = serde_json::from_str(&calls).expect("JSON");
        answers_of(&mut self.account(), &calls)
    }

    /// Returns the only email that there is, with these properties and by these further arguments.
    pub(crate) fn email(&self, properties: Value, mut arguments: Value) -> Value {
        let all = self.call("Email/query", json!({}));
        arguments["ids"] = all["ids"].clone();
        arguments["properties"] = properties;
        let mut got = self.call("Email/get", arguments);
        assert!(got["list"].is_array(), "{got}");
        got["list"][0].take()
    }

    /// Answers one call, and returns the arguments of its response; those of an error, too.
    pub(crate) fn call(&self, method: &str, mut arguments: Value) -> Value {
        arguments["accountId"] = "mail".into();
        self.answers(&json!([[method, arguments, "c"]]))[0][1].take()
    }

    /// Returns the type of the error of a call.
    pub(crate) fn error(&self, method: &str, arguments: Value) -> String {
        text(&self.call(method, arguments)["type"])
    }

    /// Returns the subjects of the emails that a query finds, in order.
    pub(crate) fn subjects(&self, query: Value) -> String {
        let found = self.call("Email/query", query);
        assert!(found["ids"].is_array(), "{found}");
        self.subjects_of(&found["ids"])
    }

    pub(crate) fn subjects_of(&self, ids: &Value) -> String {
        let emails = self.call("Email/get", json!({"ids": ids, "properties": ["subject"]}));
        let emails = emails["list"].as_array().expect("an array");
        emails.iter().map(|email| text(&email["subject"])).collect::<Vec<_>>().join(" ")
    }

    /// Returns the id of the email with a subject.
    pub(crate) fn id_of(&self, subject: &str) -> String {
        let found = self.call("Email/query", json!({"filter": {"subject": subject}}));
        text(&found["ids"][0])
    }

    /// Returns the id of the mailbox with a name.
    pub(crate) fn mailbox(&self, name: &str) -> String {
        let all = self.call("Mailbox/get", json!({"ids": null}));
        let list = all["list"].as_array().expect("an array");
        text(&list.iter().find(|mailbox| mailbox["name"] == name).expect("a mailbox")["id"])
    }

    pub(crate) fn state(&self) -> String {
        text(&self.call("Mailbox/get", json!({"ids": null}))["state"])
    }
}

/// Answers the calls of one request by an account.
pub(crate) fn answers_of(account: &mut Account<'_>, calls: &Value) -> Value {
    answers_within(account, calls, &Limits::default())
}

/// Does the same with other limits.
pub(crate) fn answers_within(account: &mut Account<'_>, calls: &Value, limits: &Limits) -> Value {
    let request = json!({"using": CAPABILITIES, "methodCalls": calls}).to_string();
    let request = Request::read(request.as_bytes(), limits, &CAPABILITIES).expect("the fixture works");
    let response = jmap::run(request, limits, account).into_bytes();
    let mut response: Value = serde_json::from_slice(&response).expect("the fixture works");
    response["methodResponses"].take()
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns a message whose subject and Message-ID are `name`, of a day of March.
pub(crate) fn message(name: &str, day: u32, more: &str, body: &str) -> String {
    format!(
        "From: Ana Ito <ana@example.org>\nTo: bo@example.org\nSubject: {name}\nMessage-ID: <{name}@x>\n\
         Date: {day} Mar 2025 10:00:00 +0000\n{more}\n{body}\n"
    )
}
