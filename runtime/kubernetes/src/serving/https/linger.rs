//! Closing a connection so that the client gets everything that was sent to it.
//!
//! A socket that is closed while there is something to read in it resets the connection, and the client's kernel throws
//! away what it has received and not read yet (RFC 9112 section 9.6; RFC 1122 section 4.2.2.13). HTTP/2 clients always
//! have something on the way: window updates, answers to pings, the next request. So the answer to a conversion that
//! ran when its pod was told to go would be lost. Here the server says that nothing follows, and reads until the client
//! has closed its side.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

/// How long a client may take to close its side.
const PATIENCE: Duration = Duration::from_secs(2);

/// A stream that a server may drop: whoever lent it gets it back.
pub struct Lent<S> {
    /// Gone only while it is dropped.
    lent: Option<(S, oneshot::Sender<S>)>,
}

/// Lends the stream to a server. The receiver has it when the server has dropped what it got.
pub fn lend<S>(stream: S) -> (Lent<S>, oneshot::Receiver<S>) {
    let (owner, returned) = oneshot::channel();
    let lent = Some((stream, owner));
    (Lent { lent }, returned)
}

/// Tells the client that nothing follows, and reads until it has closed its side, or for two seconds. What it sends
/// meanwhile is for nobody.
pub async fn close(stream: &mut TcpStream) {
    let closing = async {
        stream.shutdown().await.ok();
        let mut nobody = [0; 1024];
        while let Ok(1..) = stream.read(&mut nobody).await {}
    };
    tokio::time::timeout(PATIENCE, closing).await.ok();
}

impl<S> Drop for Lent<S> {
    fn drop(&mut self) {
        if let Some((stream, owner)) = self.lent.take() {
            // Nobody waits for it any more: it is dropped here.
            owner.send(stream).ok();
        }
    }
}

impl<S: Unpin> Lent<S> {
    fn stream(self: Pin<&mut Self>) -> io::Result<Pin<&mut S>> {
        let lent = self.get_mut().lent.as_mut();
        lent.map(|(stream, _)| Pin::new(stream))
            .ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lent<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.stream()?.poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Lent<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        let lent = self.lent.as_ref();
        lent.is_some_and(|(stream, _)| stream.is_write_vectored())
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_shutdown(context)
    }
}
