//! What holds for a protocol of another room: our door, our secrets, our closing time.

use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::common::House;

#[tokio::test]
async fn it_is_shown_no_secrets() {
    let house = House::new([]).await;
    let asked = house.ask("POST", "/mcp").header("cookie", "a=b").header("x-mine", "1");
    let (status, mut names) = asked.json(&json!({})).send().await.json();
    names.as_array_mut().unwrap().sort_by_key(ToString::to_string);
    let expected = json!(["connection", "content-length", "content-type", "host", "x-mine"]);
    assert_eq!((status, names), (200, expected));
}

#[tokio::test]
async fn its_streams_end_when_the_house_closes() {
    let mut house = House::new([]).await;
    let mut stream = TcpStream::connect(house.address()).await.unwrap();
    let (address, bearer) = (house.address(), house.bearer());
    let ask = format!(
        "GET /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: {bearer}\r\naccept: text/event-stream\r\n\r\n"
    );
    stream.write_all(ask.as_bytes()).await.unwrap();
    let mut heard = Vec::new();
    while !heard.ends_with(b"begun\r\n") {
        assert!(stream.read_buf(&mut heard).await.unwrap() > 0);
    }
    house.stop().await;
    stream.read_to_end(&mut heard).await.unwrap();
    assert!(heard.ends_with(b"begun\r\n0\r\n\r\n"), "{}", String::from_utf8_lossy(&heard));
}
