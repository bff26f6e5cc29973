//! An https server needs a certificate that this machine trusts.

use crate::server::answer_of;
use restic::address::{Address, Credentials};
use restic::{Error, FileName, Limits, ObjectStorage, Storage};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::thread;

/// A self-signed certificate for 127.0.0.1 that is valid for a hundred years, made with `openssl req -x509
/// -newkey ec -nodes -addext basicConstraints=critical,CA:FALSE ...`.
const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/self-signed.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/self-signed-key.pem");
/// Gives a child process the server's port.
const PORT: &str = "ARCHIVE_TEST_PORT";

/// Starts a server with that certificate, which answers "config" to every request, and returns its port.
fn serve() -> u16 {
    let certificate = CertificateDer::from_pem_file(CERTIFICATE).unwrap();
    let key = PrivateKeyDer::from_pem_file(KEY).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // A client that does not trust the certificate closes the connection.
            let _ = answer(stream, Arc::clone(&config));
        }
    });
    port
}

fn answer(mut stream: TcpStream, config: Arc<ServerConfig>) -> std::io::Result<()> {
    let mut connection = ServerConnection::new(config).unwrap();
    let mut tls = Stream::new(&mut connection, &mut stream);
    let mut lines = BufReader::new(&mut tls).lines();
    while !lines.next().unwrap_or(Ok(String::new()))?.is_empty() {}
    tls.write_all(&answer_of("200 OK", &[], "config"))?;
    tls.conn.send_close_notify();
    tls.flush()
}

fn storage(port: u16) -> ObjectStorage {
    let key = || Some("key".to_owned());
    let credentials =
        Credentials { access_key_id: key(), secret_access_key: key(), session_token: None, region: None };
    match Address::parse(&format!("s3:https://127.0.0.1:{port}/bucket")).unwrap() {
        Address::S3(place) => ObjectStorage::new(&place, &credentials, Limits::default()).unwrap(),
        Address::Local(_) => unreachable!("it begins with s3:"),
    }
}

#[test]
fn an_untrusted_server_is_refused() {
    let port = serve();
    let error = storage(port).read(FileName::CONFIG).unwrap_err();
    assert!(matches!(error, Error::Storage { .. }), "waiting does not help: {error}");
    let expected = format!(
        "cannot read config at s3:https://127.0.0.1:{port}/bucket: the server's certificate is not trusted: \
         invalid peer certificate: "
    );
    assert!(error.to_string().starts_with(&expected), "{error}");
}

#[test]
fn child_reads_over_https() {
    let Ok(port) = std::env::var(PORT) else { return };
    assert_eq!(storage(port.parse().unwrap()).read(FileName::CONFIG).unwrap(), b"config");
}

#[test]
fn a_trusted_server_is_read() {
    // The environment sets the trusted certificates, so the test needs a process of its own.
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "certificate::child_reads_over_https", "--nocapture"])
        .env(PORT, serve().to_string())
        .env("SSL_CERT_FILE", CERTIFICATE)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
}
