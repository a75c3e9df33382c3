//! A server that takes its time.

use std::sync::mpsc;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    task::spawn_blocking,
    time::sleep,
};

use super::*;

/// As long as this is kept, time that is paused is not moved on while a machine is slow.
fn standstill() -> mpsc::Sender<()> {
    let (hold, held) = mpsc::channel();
    spawn_blocking(move || held.recv().is_ok());
    hold
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_busy_is_there() {
    let still = standstill();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let (mut guest, _) = listener.accept().await.unwrap();
        assert!(guest.read(&mut [0; 1024]).await.unwrap() > 0);
        drop(still);
        sleep(Duration::from_secs(10)).await;
        let still = standstill();
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        guest.write_all(answer.as_bytes()).await.unwrap();
        still
    });
    let client = Client::new(url, None, None).unwrap();
    assert!(client.is_answered().await);
    drop(serving.await.unwrap());
}
