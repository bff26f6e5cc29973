//! Blobs: messages, uploads and their parts.

use crate::support::{Fixture, text};
use jmap::{CORE, Id, Limits, Request};
use jmap_mail::{Account, Blob, BlobError, MailError, UPLOADS_BYTES_MAX, Uploads};
use serde_json::{Value, json};
use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::time::SystemTime;

/// A message in a message, which is encoded, and a text in latin1.
const MESSAGE: &str = "Subject: one\nContent-Type: multipart/mixed; boundary=a\n\n\
    --a\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n\
    caf=E9=\n.\n\
    --a\nContent-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n\
    U3ViamVjdDogaW5uZXIKQ29udGVudC1UcmFuc2Zlci1FbmNvZGluZzogYmFzZTY0CgpRVUpE\n--a--\n";

fn fixture() -> Fixture {
    let fixture = Fixture::new(&["mail"]);
    fixture.put("mail", "1.x:2,S", MESSAGE);
    fixture.update();
    fixture
}

fn blob(fixture: &Fixture, id: &str) -> Result<Blob, BlobError> {
    fixture.account().blob(&Id::new(id).expect("an id"))
}

fn bytes(fixture: &Fixture, id: &str) -> Vec<u8> {
    let found = blob(fixture, id).expect("a blob");
    let (mut bytes, size_bytes) = (Vec::new(), found.size_bytes);
    let read = found.each_block::<MailError>(&mut |block| {
        bytes.extend_from_slice(block);
        Ok(())
    });
    read.expect("the bytes");
    assert_eq!(found.into_bytes().expect("the bytes"), bytes);
    assert_eq!(bytes.len() as u64, size_bytes);
    bytes
}

#[test]
fn a_blob_is_a_message_or_a_decoded_part() {
    let fixture = fixture();
    let email = fixture.email(json!(["blobId", "bodyStructure"]), json!({}));
    let whole = text(&email["blobId"]);
    assert_eq!(bytes(&fixture, &whole), MESSAGE.as_bytes());
    let parts = &email["bodyStructure"]["subParts"];
    let part = |number: usize| {
        let bytes = bytes(&fixture, &text(&parts[number]["blobId"]));
        assert_eq!(parts[number]["size"], bytes.len());
        bytes
    };
    assert_eq!(part(0), b"caf\xe9.");
    assert_eq!(part(1), b"Subject: inner\nContent-Transfer-Encoding: base64\n\nQUJD");
    // A part of the message in the message.
    assert_eq!(bytes(&fixture, &format!("{}-1", text(&parts[1]["blobId"]))), b"ABC");
    for unknown in ["-0", "-3", "-9", "-1-2", "-2-1-2", "-18446744073709551615"] {
        assert_eq!(
            blob(&fixture, &format!("{whole}{unknown}")).unwrap_err(),
            BlobError::NotFound,
            "{unknown}"
        );
    }
    for unknown in ["Bx".to_owned(), whole.replace('B', "M"), whole.replace('B', "U"), "B".repeat(65)] {
        assert_eq!(blob(&fixture, &unknown).unwrap_err(), BlobError::NotFound, "{unknown}");
    }
    assert_eq!(parts[0]["subParts"], Value::Null);
}

#[test]
fn a_blob_whose_files_are_gone_is_not_found() {
    let fixture = Fixture::new(&["mail"]);
    let path = fixture.put("mail", "1.x:2,S", MESSAGE);
    fixture.update();
    let whole = text(&fixture.email(json!(["blobId"]), json!({}))["blobId"]);
    fs::remove_file(path).expect("a file");
    for id in [whole.clone(), format!("{whole}-1")] {
        assert_eq!(blob(&fixture, &id).expect_err("no file"), BlobError::NotFound);
    }
}

/// A message with this many bytes is read in pieces.
#[test]
fn a_message_that_is_too_large_to_be_held_has_a_body_and_blobs() {
    const SIZE_BYTES: u64 = 101 << 20;
    let fixture = Fixture::new(&["mail"]);
    let head = "Subject: large\nContent-Type: multipart/mixed; boundary=a\n\n--a\n\nfirst\n\
        --a\nContent-Type: message/rfc822\n\nSubject: x\n\ninner\n\
        --a\nContent-Type: text/x\nContent-Disposition: attachment\n\n";
    let path = fixture.put("mail", "1.x:2,S", head);
    // The rest is a hole.
    fs::File::options().write(true).open(path).and_then(|file| file.set_len(SIZE_BYTES)).expect("a file");
    fixture.update();
    let wanted = json!({"fetchAllBodyValues": true, "bodyProperties": ["blobId", "size"]});
    let email = fixture.email(json!(["blobId", "bodyValues", "textBody", "attachments", "headers"]), wanted);
    assert_eq!(email["headers"][0]["value"], " large");
    let values = &email["bodyValues"];
    assert_eq!((&values["1"]["value"], &values["1"]["isTruncated"]), (&json!("first"), &json!(false)));
    assert_eq!(values["4"]["isTruncated"], json!(true));
    let first = text(&email["textBody"][0]["blobId"]);
    let (message, last) = (&email["attachments"][0]["blobId"], &email["attachments"][1]["blobId"]);
    let (message, last) = (text(message), text(last));
    assert_eq!(bytes(&fixture, &format!("{message}-1")), b"inner");
    let size_bytes = |id: &str| {
        let blob = blob(&fixture, id).expect("a blob");
        let mut size_bytes = 0;
        let read = blob.each_block::<MailError>(&mut |block| {
            size_bytes += block.len() as u64;
            Ok(())
        });
        read.expect("the bytes");
        assert_eq!(size_bytes, blob.size_bytes);
        assert!(blob.into_bytes().is_err());
        size_bytes
    };
    assert_eq!(size_bytes(&text(&email["blobId"])), SIZE_BYTES);
    assert_eq!(size_bytes(&first), 5);
    assert_eq!(size_bytes(&last), SIZE_BYTES - head.len() as u64);
    assert_eq!(email["attachments"][1]["size"], SIZE_BYTES - head.len() as u64);
    let error = |id: &str| blob(&fixture, &format!("{id}-9")).expect_err("no part");
    assert_eq!((error(&first), error(&last)), (BlobError::NotFound, BlobError::Unreadable));
}

/// A text before the long content, one after it, and another long content. These are holes.
#[test]
fn all_parts_of_a_message_that_is_too_large_are_there_with_their_sizes() {
    const SIZE_BYTES: u64 = 70 << 20;
    let fixture = Fixture::new(&["mail"]);
    let head = "Subject: large\nContent-Type: multipart/mixed; boundary=a\n\n--a\n\nfirst\n\
        --a\nContent-Type: application/x; name=one\n\n";
    let middle = "\n--a\nContent-Type: text/html\nContent-Disposition: inline\n\n<b>second</b>\n\
        --a\nContent-Type: message/rfc822\n\nContent-Type: application/y\n\n";
    let end = "\n--a\nContent-Type: image/png; name=last\n\nPNG\n--a--\n";
    let path = fixture.put("mail", "1.x:2,S", head);
    let mut file = fs::File::options().write(true).open(path).expect("a file");
    for text in [middle, end] {
        file.seek(SeekFrom::End(0)).and_then(|at| file.set_len(at + SIZE_BYTES)).expect("room");
        file.seek(SeekFrom::End(0)).and_then(|_| file.write_all(text.as_bytes())).expect("room");
    }
    fixture.update();
    let wanted = json!({"fetchAllBodyValues": true, "bodyProperties": ["partId", "size", "type", "name"]});
    let email = fixture.email(json!(["bodyValues", "bodyStructure", "textBody", "attachments"]), wanted);
    let part = |id: &str, size: u64, mime: &str, name: Option<&str>| -> Value {
        json!({"partId": id, "size": size, "type": mime, "name": name})
    };
    let inner = SIZE_BYTES + "Content-Type: application/y\n\n".len() as u64;
    let expected = json!([
        part("1", 5, "text/plain", None),
        part("2", SIZE_BYTES, "application/x", Some("one")),
        part("3", 13, "text/html", None),
        part("4", inner, "message/rfc822", None),
        part("6", 3, "image/png", Some("last")),
    ]);
    assert_eq!(email["bodyStructure"]["subParts"], expected);
    let values = &email["bodyValues"];
    assert_eq!((&values["1"]["value"], &values["3"]["value"]), (&json!("first"), &json!("<b>second</b>")));
    assert_eq!((&values["1"]["isTruncated"], &values["3"]["isTruncated"]), (&json!(false), &json!(false)));
    let ids = |list: &str| -> Vec<String> {
        email[list].as_array().expect("a list").iter().map(|part| text(&part["partId"])).collect()
    };
    assert_eq!(ids("textBody"), ["1", "3", "6"]);
    assert_eq!(ids("attachments"), ["2", "4"]);
}

#[test]
fn an_upload_is_a_blob_and_so_are_its_parts() {
    let fixture = fixture();
    let directory = tempfile::tempdir().expect("a directory");
    let uploads = Uploads::new(directory.path(), &Limits::default(), UPLOADS_BYTES_MAX);
    let told = uploads.put(MESSAGE.as_bytes(), "message/rfc822", SystemTime::now()).expect("room");
    let id = text(&told["blobId"]);
    let blob = |id: &str, account: Account<'_>| {
        account.blob(&Id::new(id).expect("an id")).map(|blob| blob.into_bytes().expect("the bytes"))
    };
    let with = || fixture.account().with_uploads(&uploads);
    assert_eq!(blob(&id, with()).as_deref(), Ok(MESSAGE.as_bytes()));
    assert_eq!(blob(&format!("{id}-2-1"), with()).as_deref(), Ok(&b"ABC"[..]));
    assert_eq!(blob(&format!("{id}-9"), with()), Err(BlobError::NotFound));
    assert_eq!(blob(&id, fixture.account()), Err(BlobError::NotFound));
    assert_eq!(blob(&id.replace(['1', 'a'], "0"), with()), Err(BlobError::NotFound));
}

/// There is one account.
#[test]
fn blobs_are_copied_to_no_account() {
    let fixture = fixture();
    let error = |arguments: Value| {
        let calls = json!([["Blob/copy", arguments, "c"]]);
        let mut account = fixture.account();
        let request = json!({"using": [CORE], "methodCalls": calls}).to_string();
        let limits = Limits::default();
        let request = Request::read(request.as_bytes(), &limits, &[CORE]).expect("a request");
        let response = jmap::run(request, &limits, &mut account).into_json();
        text(&response["methodResponses"][0][1]["type"])
    };
    let both = |from: &str, to: &str| json!({"fromAccountId": from, "accountId": to, "blobIds": ["Bx"]});
    assert_eq!(error(both("mail", "mail")), "invalidArguments");
    assert_eq!(error(both("other", "mail")), "fromAccountNotFound");
    assert_eq!(error(both("mail", "other")), "accountNotFound");
    assert_eq!(error(json!({"fromAccountId": "other", "accountId": "mail"})), "invalidArguments");
}
