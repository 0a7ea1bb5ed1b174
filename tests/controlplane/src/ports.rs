//! Ports for servers that are started a moment later.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::process;
use std::sync::atomic::{AtomicU16, Ordering};

/// Ports that Linux does not give to outgoing connections by itself (`ip_local_port_range` begins at 32768): such a
/// connection could take the port before the server does.
const FIRST: u16 = 12_000;
const COUNT: u16 = 20_000;

/// A port of this machine on which nothing listens. No two calls of a process get the same one, and those of processes
/// that run beside each other are far apart.
///
/// # Errors
/// When no port is free.
pub fn free_port() -> io::Result<u16> {
    // Of the process and not of a caller: tests that run at the same time must not meet.
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    // Neighbouring process numbers are far apart: the step is prime to the count.
    let begin = u64::from(process::id()) * 7_919;
    loop {
        let taken = TAKEN.fetch_add(1, Ordering::Relaxed);
        let offset = (begin + u64::from(taken)) % u64::from(COUNT);
        let offset = u16::try_from(offset).expect("it is less than a count of 16 bits");
        match TcpListener::bind((Ipv4Addr::LOCALHOST, FIRST + offset)) {
            Ok(_) => return Ok(FIRST + offset),
            Err(error) if error.kind() != io::ErrorKind::AddrInUse || taken >= COUNT => {
                return Err(error);
            }
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_a_process_are_free_and_differ() {
        let ports: Vec<u16> = (0..100).map(|_| free_port().unwrap()).collect();
        let servers = ports
            .iter()
            .map(|port| TcpListener::bind(("127.0.0.1", *port)));
        let servers: Vec<TcpListener> = servers.collect::<Result<_, _>>().unwrap();
        assert_eq!(servers.len(), 100);
    }
}
