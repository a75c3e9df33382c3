//! Taking connections: how many, how patient, and how they end.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, extract::Request};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;

use crate::Tls;

const HEADER_TIME: Duration = Duration::from_secs(15);
const HEADER_BYTES: usize = 64 * 1024;
const HEADERS: usize = 100;
/// How long open requests may take to end once everything else has.
const FAREWELL: Duration = Duration::from_secs(5);

/// How a request came here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As it was, where nothing is encrypted by us, or from this machine.
    Plain,
    Encrypted,
    /// In plain words from another machine, where words are to be encrypted.
    Exposed,
}

/// Who is at the other end, and the place they take up.
#[derive(Clone)]
pub struct Peer {
    pub address: SocketAddr,
    pub way: Way,
    /// Kept by whatever outlives the request, such as a socket.
    _place: Arc<OwnedSemaphorePermit>,
}

/// Accepts until `shutdown`, and then lets `finish` end what is going on.
pub async fn run(
    listener: TcpListener,
    router: Router,
    capacity: u32,
    tls: Option<Tls>,
    shutdown: impl Future<Output = ()>,
    finish: impl Future<Output = ()>,
) -> io::Result<()> {
    let places = Arc::new(Semaphore::new(capacity as usize));
    let ending = watch::Sender::new(false);
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut shutdown => break,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Most often too many open files: waiting is all that helps.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        match places.clone().try_acquire_owned() {
            Ok(place) => {
                let peer = Peer { address, way: Way::Plain, _place: Arc::new(place) };
                welcome(stream, peer, router.clone(), tls.clone(), ending.subscribe());
            }
            Err(_) => drop(tokio::spawn(turn_away(stream))),
        }
    }
    drop(listener);
    finish.await;
    ending.send_replace(true);
    // Every place empty is everybody gone.
    if timeout(FAREWELL, places.acquire_many(capacity)).await.is_err() {
        tracing::info!("some connections were cut");
    }
    Ok(())
}

fn welcome(
    stream: TcpStream,
    mut peer: Peer,
    router: Router,
    tls: Option<Tls>,
    ending: watch::Receiver<bool>,
) {
    // Small frames must not wait for each other; an error here only means slower.
    stream.set_nodelay(true).ok();
    tokio::spawn(async move {
        let Some(tls) = tls else { return serve(stream, peer, router, ending).await };
        if !matches!(timeout(HEADER_TIME, is_tls(&stream)).await, Ok(Ok(true))) {
            peer.way = unencrypted(peer.address, tls.strict);
            return serve(stream, peer, router, ending).await;
        }
        peer.way = Way::Encrypted;
        match timeout(HEADER_TIME, TlsAcceptor::from(tls.config).accept(stream)).await {
            Ok(Ok(stream)) => serve(stream, peer, router, ending).await,
            // Most often somebody who does not trust the certificate.
            Ok(Err(error)) => tracing::debug!(%error, "a connection could not be encrypted"),
            Err(_) => tracing::debug!("a connection was not encrypted in time"),
        }
    });
}

/// What goes from one program to another on this machine needs no cover.
fn unencrypted(address: SocketAddr, strict: bool) -> Way {
    let near = address.ip().to_canonical().is_loopback();
    if near && !strict { Way::Plain } else { Way::Exposed }
}

/// By its first byte, which is left to be read.
async fn is_tls(stream: &TcpStream) -> io::Result<bool> {
    const HANDSHAKE: u8 = 0x16;
    let mut first = [0];
    Ok(stream.peek(&mut first).await? == 1 && first == [HANDSHAKE])
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    peer: Peer,
    router: Router,
    mut ending: watch::Receiver<bool>,
) {
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(peer.clone());
        router.clone().oneshot(request.map(axum::body::Body::new) as Request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(HEADER_BYTES)
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        _ = ending.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended badly");
    }
}

async fn turn_away(mut stream: TcpStream) {
    metrics::counter!("megaron_refused_total", "status" => "503").increment(1);
    let body = r#"{"error":"too many connections","code":"TOO_MANY_CONNECTIONS"}"#;
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json; charset=utf-8\r\n\
         content-length: {length}\r\nretry-after: 5\r\nconnection: close\r\n\r\n{body}"
    );
    // They are being shown the door; whether they hear it is their affair.
    timeout(Duration::from_secs(1), stream.write_all(answer.as_bytes())).await.ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_are_for_this_machine_alone() {
        for (address, way) in [
            ("127.0.0.1:1", Way::Plain),
            ("[::1]:1", Way::Plain),
            ("[::ffff:127.0.0.1]:1", Way::Plain),
            ("192.168.1.20:1", Way::Exposed),
            ("[fe80::1]:1", Way::Exposed),
        ] {
            let address = address.parse().unwrap();
            assert_eq!(unencrypted(address, false), way, "{address}");
            assert_eq!(unencrypted(address, true), Way::Exposed, "{address}");
        }
    }
}
