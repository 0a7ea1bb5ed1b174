//! Memory for one text whose longest size is known, given back whole.
//!
//! A long text has pages of its own: from the allocator, texts that come and go on several threads stay resident many
//! times over, and the memory for conversion would hold for what is counted and not for the process.

use std::io;

use bytes::Bytes;
use memmap2::MmapMut;

/// Up to this length, in bytes, the allocator is asked.
const SHORT: usize = 64 << 10;

/// A text on its way in.
pub(super) struct Buffer {
    memory: Memory,
    /// Bytes that are there.
    length: usize,
}

enum Memory {
    Short(Box<[u8]>),
    Pages(MmapMut),
}

impl Buffer {
    /// Room for `most` bytes. Pages take memory once they are written.
    ///
    /// # Errors
    /// When the system has no such pages.
    pub fn of(most: usize) -> io::Result<Self> {
        let memory = match most {
            0..=SHORT => Memory::Short(vec![0; most].into()),
            _ => Memory::Pages(MmapMut::map_anon(most)?),
        };
        Ok(Self { memory, length: 0 })
    }

    /// Adds a piece; `false`, and nothing is added, when there is no room for it.
    pub fn take(&mut self, piece: &[u8]) -> bool {
        let end = self.length + piece.len();
        let memory: &mut [u8] = match &mut self.memory {
            Memory::Short(memory) => memory,
            Memory::Pages(memory) => memory,
        };
        let Some(room) = memory.get_mut(self.length..end) else {
            return false;
        };
        room.copy_from_slice(piece);
        self.length = end;
        true
    }

    /// What was taken.
    pub fn into_bytes(self) -> Bytes {
        let all = match self.memory {
            Memory::Short(memory) => Bytes::from(memory),
            Memory::Pages(memory) => Bytes::from_owner(memory),
        };
        all.slice(..self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_what_was_taken_and_no_longer_than_allowed() {
        for most in [0, 10, SHORT, SHORT + 1, 3 * SHORT] {
            let text: Vec<u8> = (0..most).map(|index| (index % 251) as u8).collect();
            let mut buffer = Buffer::of(most).unwrap();
            for piece in text.chunks(7_000) {
                assert!(buffer.take(piece));
            }
            assert!(!buffer.take(b"x"), "{most}");
            assert_eq!(buffer.into_bytes(), text);
        }
    }
}
