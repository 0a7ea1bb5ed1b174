//! The body of a review on its way in.
//!
//! Nobody is asked who he is: the API server has no certificate for a conversion. So a client that says nothing costs its
//! connection and nothing else, however much it claims to send.

use std::time::Duration;

use axum::Error;
use axum::body::BodyDataStream;
use bytes::Bytes;
use futures::StreamExt;
use tokio::time::{Instant, timeout, timeout_at};

use crate::serving::admission::{Admission, LIST_EXTRA, Lane, Place, Refusal, SINGLE};
use crate::serving::buffer::Buffer;

/// How long a list that has the turn may be silent while others wait for it.
const TURN: Duration = Duration::from_millis(50);

/// How long a client may keep others waiting for each [`SINGLE`] bytes that have arrived while it has the turn: whoever sends a little
/// all the time is never silent.
const PACE: Duration = Duration::from_millis(100);

/// How long a client may be silent in the middle of its review.
const SILENCE: Duration = Duration::from_secs(5);

/// Why a review was not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotRead {
    /// There is no room for it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The client has stopped sending.
    #[error("the rest of the review did not come within {} s", SILENCE.as_secs())]
    Silent,
    /// The time is over in which somebody waits for the answer.
    #[error("the review did not arrive in the time that it has")]
    Late,
    /// It is longer than it was said to be, or than any that fits.
    #[error("the review is longer than {bytes} bytes")]
    TooLong {
        /// Bytes that were expected at most.
        bytes: u64,
    },
    /// The connection broke.
    #[error("the review did not arrive: {0}")]
    Broken(#[from] Error),
    /// The system has no memory for it.
    #[error("there is no memory for the review: {0}")]
    Memory(#[from] std::io::Error),
}

/// Reads a review of the size that its client claims, if any, and has a place for it.
pub(super) async fn read(
    pieces: &mut BodyDataStream,
    claimed: Option<u64>,
    admission: &Admission,
    deadline: Instant,
) -> Result<(Bytes, Place), NotRead> {
    if let Some(bytes) = claimed {
        admission.check(bytes)?;
    }
    // What may be a single object is short, and read before it has a place.
    let mut first = Vec::new();
    while first.len() as u64 <= SINGLE {
        let piece = in_time(next(pieces, SILENCE), deadline).await?;
        match piece.ok_or(NotRead::Silent)? {
            Piece::Data(piece) => first.extend_from_slice(&piece),
            Piece::End => {
                let place = admission.single(first.len() as u64, deadline).await?;
                return Ok((first.into(), place));
            }
        }
    }
    let lane = admission.lane(claimed);
    let most = claimed.unwrap_or(lane.longest());
    rest(pieces, &first, most, lane, deadline).await
}

/// Reads the rest of a review that is longer than most single objects.
async fn rest(
    pieces: &mut BodyDataStream,
    first: &[u8],
    most: u64,
    lane: &Lane,
    deadline: Instant,
) -> Result<(Bytes, Place), NotRead> {
    let too_long = || NotRead::TooLong { bytes: most };
    let mut text = Buffer::of(usize::try_from(most).unwrap_or(usize::MAX))?;
    let mut patience = Patience::default();
    let mut turn = Some(lane.turn(deadline).await?);
    let mut place = lane.place(first.len() as u64, deadline).await?;
    if !text.take(first) {
        return Err(too_long());
    }
    loop {
        let piece = match turn.is_some() {
            true => in_time(patience.next(pieces), deadline).await?,
            false => in_time(next(pieces, SILENCE), deadline).await?,
        };
        let piece = match piece {
            Some(Piece::Data(piece)) => piece,
            Some(Piece::End) => {
                if turn.is_none() {
                    turn = Some(lane.turn_again(LIST_EXTRA, deadline).await?);
                }
                lane.grow(&mut place, LIST_EXTRA, deadline).await?;
                drop(turn);
                return Ok((text.into_bytes(), place));
            }
            // Others go on meanwhile.
            None if turn.take().is_some() => continue,
            None => return Err(NotRead::Silent),
        };
        let more = piece.len() as u64;
        if turn.is_none() {
            turn = Some(lane.turn_again(more, deadline).await?);
        }
        lane.grow(&mut place, more, deadline).await?;
        if !text.take(&piece) {
            return Err(too_long());
        }
    }
}

/// The patience with a client that has the turn.
#[derive(Default)]
struct Patience {
    waited: Duration,
    arrived: u64,
}

impl Patience {
    /// How long its next piece may take.
    fn left(&self) -> Duration {
        let pieces = u32::try_from(self.arrived / SINGLE).unwrap_or(u32::MAX);
        let most = TURN.saturating_add(PACE.saturating_mul(pieces));
        most.saturating_sub(self.waited).min(TURN)
    }

    /// The next piece; `None` when it is too slow.
    async fn next(&mut self, pieces: &mut BodyDataStream) -> Result<Option<Piece>, Error> {
        let began = Instant::now();
        let piece = next(pieces, self.left()).await?;
        self.waited += began.elapsed();
        if let Some(Piece::Data(piece)) = &piece {
            self.arrived += piece.len() as u64;
        }
        Ok(piece)
    }
}

enum Piece {
    Data(Bytes),
    End,
}

/// The next piece; `None` when there was none for so long.
async fn next(pieces: &mut BodyDataStream, patience: Duration) -> Result<Option<Piece>, Error> {
    match timeout(patience, pieces.next()).await {
        Err(_) => Ok(None),
        Ok(None) => Ok(Some(Piece::End)),
        Ok(Some(piece)) => Ok(Some(Piece::Data(piece?))),
    }
}

/// The piece, as long as somebody waits for the answer: a review that arrives slowly holds its place no longer.
async fn in_time(
    piece: impl Future<Output = Result<Option<Piece>, Error>>,
    deadline: Instant,
) -> Result<Option<Piece>, NotRead> {
    let piece = timeout_at(deadline, piece).await;
    Ok(piece.map_err(|_| NotRead::Late)??)
}

/// Reads what a client still sends of a review that is not taken: it would not see the answer otherwise.
pub(super) async fn throw_away(pieces: &mut BodyDataStream) {
    let all = async { while let Ok(Some(Piece::Data(_))) = next(pieces, TURN).await {} };
    timeout(SILENCE, all).await.ok();
}
