//! Texts that are nearly right: pure noise ends at the first byte that is looked at.

/// Words that parsers treat specially, put in at random places.
const WORDS: [&[u8]; 24] = [
    b"/",
    b"//",
    b"..",
    b"%2e%2e",
    b"%",
    b"%25",
    b"\\",
    b"?",
    b"#",
    b"=",
    b",",
    b"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b"null",
    b"-",
    b"18446744073709551616",
    b"\xc3\xa9",
    b"\xff",
    b"\0",
    b" ",
];

/// Changes of a text, the same for the same seed (splitmix64).
#[derive(Clone, Debug)]
pub struct Mutations(u64);

impl Mutations {
    /// Those of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap_or(0)
    }

    /// One of several.
    pub fn one<'t, T: ?Sized>(&mut self, of: &[&'t T]) -> &'t T {
        of[self.below(of.len())]
    }

    /// A seed with up to four changes: bytes taken out, put in, repeated or swapped for another seed's.
    pub fn bytes(&mut self, seeds: &[&str]) -> Vec<u8> {
        let mut text = self.one(seeds).as_bytes().to_vec();
        for _ in 0..self.below(5) {
            let at = self.below(text.len() + 1);
            let end = at + self.below(text.len() - at + 1);
            match self.below(6) {
                0 => text.truncate(at),
                1 => drop(text.drain(at..end)),
                2 => drop(text.splice(at..at, self.one(&WORDS).iter().copied())),
                3 => {
                    let part = text[at..end].repeat(1 + self.below(3));
                    drop(text.splice(at..at, part));
                }
                4 => {
                    let other = self.one(seeds).as_bytes();
                    let from = self.below(other.len() + 1);
                    drop(text.splice(at..end, other[from..].iter().copied()));
                }
                _ => {
                    let byte = u8::try_from(self.below(256)).unwrap_or(0);
                    text.get_mut(at).into_iter().for_each(|it| *it = byte);
                }
            }
        }
        text
    }

    /// The same as a text.
    pub fn text(&mut self, seeds: &[&str]) -> String {
        String::from_utf8_lossy(&self.bytes(seeds)).into_owned()
    }
}
