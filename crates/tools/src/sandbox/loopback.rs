//! Wakes the loopback of a new network, so that what runs inside can talk to itself.

use rustix::{
    io,
    net::{
        AddressFamily, SendFlags, SocketFlags, SocketType, netlink::SocketAddrNetlink, sendto,
        socket_with,
    },
};

const NEW_LINK: u16 = 16;
const REQUEST: u16 = 1;
const LOOPBACK: u32 = 1;
const UP: u32 = 1;

pub fn wake() -> io::Result<()> {
    let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
    // The first of its protocols, which has no number but none, is about interfaces.
    let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    sendto(socket, &message(), SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    Ok(())
}

/// A header of five fields, then which interface is to become what.
fn message() -> Vec<u8> {
    let header = [NEW_LINK.to_ne_bytes(), REQUEST.to_ne_bytes()].concat();
    let numbers = |numbers: &[u32]| numbers.iter().flat_map(|it| it.to_ne_bytes()).collect();
    let rest: Vec<u8> = numbers(&[0, 0, 0, LOOPBACK, UP, UP]);
    let length = u32::try_from(4 + header.len() + rest.len()).unwrap_or_default();
    [length.to_ne_bytes().to_vec(), header, rest].concat()
}
