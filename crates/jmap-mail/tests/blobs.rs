//! Blobs: messages, uploads and their parts.

use crate::support::{Fixture, text};
use jmap::{Id, Limits};
use jmap_mail::{Account, Blob, BlobError, MailError, UPLOADS_BYTES_MAX, Uploads};
use serde_json::{Value, json};
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
