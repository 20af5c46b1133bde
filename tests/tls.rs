//! Models behind TLS: a real handshake on loopback with a certificate authority of our own.

use crate::support::editor::{Editor, RpcError, Setup};
use crate::support::workspace::Workspace;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A certificate authority that nobody knows but who is told.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Self {
            pem,
            issuer: Issuer::new(params, key),
        }
    }

    /// A file that holds it, for `SSL_CERT_FILE`.
    fn file(&self, workspace: &Workspace) -> String {
        let path = workspace.outside("authority.pem");
        fs::write(&path, &self.pem).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

/// A server that answers every request with one streamed word, and keeps its connections.
struct Server {
    port: u16,
    /// Handshakes that were completed, and requests that were answered.
    counts: Arc<(AtomicUsize, AtomicUsize)>,
}

impl Server {
    /// `host` is whom its certificate is for; `change` spoils the certificate.
    fn start(authority: &Authority, host: &str, change: impl Fn(&mut CertificateParams)) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        change(&mut params);
        let certificate = params.signed_by(&key, &authority.issuer).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let counts: Arc<(AtomicUsize, AtomicUsize)> = Arc::default();
        let counted = counts.clone();
        // It ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, counted) = (config.clone(), counted.clone());
                std::thread::spawn(move || {
                    // A client that does not trust us hangs up.
                    let _ = serve(stream, config, &counted);
                });
            }
        });
        Self { port, counts }
    }

    fn counted(&self) -> (usize, usize) {
        let of = |it: &AtomicUsize| it.load(Ordering::Acquire);
        (of(&self.counts.0), of(&self.counts.1))
    }
}

const ANSWER: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"sealed\"}}]}\n\n\
     data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn serve(
    stream: TcpStream,
    config: Arc<ServerConfig>,
    counts: &(AtomicUsize, AtomicUsize),
) -> std::io::Result<()> {
    let connection = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut stream = StreamOwned::new(connection, stream);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock)?;
    }
    counts.0.fetch_add(1, Ordering::AcqRel);
    let mut reader = BufReader::new(stream);
    loop {
        let mut n_bytes = 0;
        let mut line = String::new();
        while reader.read_line(&mut line)? > 2 {
            let lower = line.to_ascii_lowercase();
            if let Some(length) = lower.strip_prefix("content-length:") {
                n_bytes = length.trim().parse().map_err(std::io::Error::other)?;
            }
            line.clear();
        }
        if n_bytes == 0 {
            return Ok(());
        }
        reader.read_exact(&mut vec![0; n_bytes])?;
        counts.1.fetch_add(1, Ordering::AcqRel);
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n",
            ANSWER.len()
        );
        reader
            .get_mut()
            .write_all(format!("{head}{ANSWER}").as_bytes())?;
        reader.get_mut().flush()?;
    }
}

/// What two prompts come to, in one server.
fn prompts(port: u16, certificates: &str) -> [Result<String, RpcError>; 2] {
    let workspace = Workspace::new("");
    workspace.configure(&format!(
        "[default_model]\nprovider = \"office\"\nname = \"m\"\n\
         [providers.office]\nbase_url = \"https://localhost:{port}/v1\"\n"
    ));
    let setup = Setup {
        environment: vec![("SSL_CERT_FILE", certificates.to_owned())],
        ..Setup::agent()
    };
    let editor = Editor::start(&setup, &workspace);
    let session = editor.new_session();
    [(), ()].map(|()| {
        let turn = editor.end(&editor.prompt(&session, "hello"));
        let text = turn.text();
        turn.end.map(|_| text)
    })
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_whose_authority_is_trusted_is_asked_on_one_connection() {
    let (authority, workspace) = (Authority::new("office"), Workspace::new(""));
    let server = Server::start(&authority, "localhost", |_| {});
    let said = prompts(server.port, &authority.file(&workspace));
    assert_eq!(said, [Ok("sealed".to_owned()), Ok("sealed".to_owned())]);
    assert_eq!(server.counted(), (1, 2), "handshakes and requests");
}

#[cfg(target_os = "linux")]
#[test]
fn a_certificate_that_cannot_be_trusted_is_one_sentence_with_what_to_do() {
    let (trusted, other) = (Authority::new("office"), Authority::new("other"));
    let workspace = Workspace::new("");
    let file = trusted.file(&workspace);
    let told = |server: &Server| {
        let errors = prompts(server.port, &file).map(Result::unwrap_err);
        for error in &errors {
            assert_eq!(error.data, json!({"kind": "unreachable"}));
        }
        assert_eq!(server.counted().1, 0, "nothing was sent");
        let port = format!("localhost:{}", server.port);
        errors[1].message.replace(&port, "localhost:PORT")
    };
    let unknown = told(&Server::start(&other, "localhost", |_| {}));
    let expired = told(&Server::start(&trusted, "localhost", |it| {
        it.not_before = rcgen::date_time_ymd(2020, 1, 1);
        it.not_after = rcgen::date_time_ymd(2021, 1, 1);
    }));
    let future = told(&Server::start(&trusted, "localhost", |it| {
        it.not_before = rcgen::date_time_ymd(2090, 1, 1);
        it.not_after = rcgen::date_time_ymd(2091, 1, 1);
    }));
    let foreign = told(&Server::start(&trusted, "models.test", |_| {}));
    expect_test::expect![[r#"
        The certificate of the model's server at https://localhost:PORT/v1/chat/completions comes from an authority that is not trusted here; if you trust it, add its authority's certificate to the system's trusted ones, or name a file of all to be trusted in the environment variable SSL_CERT_FILE, and start the editor anew.
        The certificate of the model's server at https://localhost:PORT/v1/chat/completions has expired; have it renewed, or set this machine's clock.
        The certificate of the model's server at https://localhost:PORT/v1/chat/completions is not valid yet; set this machine's clock.
        The certificate of the model's server at https://localhost:PORT/v1/chat/completions is for another host; check that base_url has the right name."#]].assert_eq(&[unknown, expired, future, foreign].join("\n"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_system_without_certificates_is_said_with_what_to_do() {
    let errors = prompts(9, "/nowhere/certificates.pem").map(Result::unwrap_err);
    let said = &errors[0].message;
    assert!(
        said.contains("SSL_CERT_FILE") && said.contains("ca-certificates"),
        "{said}"
    );
}

#[test]
fn a_model_on_this_machine_needs_no_certificates() {
    let mut setup = Setup::agent();
    setup
        .environment
        .push(("SSL_CERT_FILE", "/nowhere/certificates.pem".to_owned()));
    let stage = crate::support::stage::Stage::with(setup, "", "");
    let (_, prompt, mut asked) = stage.ask("hello");
    asked.say("hi");
    asked.end();
    assert_eq!(stage.editor.end(&prompt).text(), "hi");
}
