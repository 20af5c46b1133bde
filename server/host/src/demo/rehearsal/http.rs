//! Reads one HTTP/1.1 request whose body has a length (RFC 9112, sections 3 and 6.2), and no more of HTTP than that.

use std::io::{self, Read};

/// Bytes of the request line and the headers.
const HEAD_LIMIT: usize = 64 * 1024;
/// Bytes of a body; a long conversation about the sample has some tens of thousands.
const BODY_LIMIT: usize = 16 * 1024 * 1024;

pub(super) struct Request {
    /// The request line.
    pub line: String,
    pub body: Vec<u8>,
}

/// Reads a request. The inner error says what is wrong with it; the outer one is the connection's.
pub(super) fn read(stream: &mut dyn Read) -> io::Result<Result<Request, String>> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
            break at;
        }
        if bytes.len() > HEAD_LIMIT {
            return Ok(Err(format!(
                "the headers have more than {HEAD_LIMIT} bytes"
            )));
        }
        more(stream, &mut bytes)?;
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.split("\r\n");
    let line = lines.next().unwrap_or_default().to_owned();
    let mut n_body = 0;
    for (name, value) in lines.filter_map(|it| it.split_once(':')) {
        if name.eq_ignore_ascii_case("transfer-encoding") {
            return Ok(Err("a body must have a Content-Length".to_owned()));
        }
        if name.eq_ignore_ascii_case("content-length") {
            match value.trim().parse::<usize>() {
                Ok(length) if length <= BODY_LIMIT => n_body = length,
                Ok(_) | Err(_) => {
                    return Ok(Err(format!("the length {} cannot be served", value.trim())));
                }
            }
        }
    }
    let mut body = bytes.split_off(head + 4);
    while body.len() < n_body {
        more(stream, &mut body)?;
    }
    Ok(Ok(Request { line, body }))
}

fn more(stream: &mut dyn Read, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut buffer = [0; 16 * 1024];
    match stream.read(&mut buffer)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        n => {
            bytes.extend_from_slice(&buffer[..n]);
            Ok(())
        }
    }
}
