//! Keys as list actions answer them: random to look at, and the same for the same resource.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::store::stable_bytes;

/// Base64 of as many bytes as real keys have: 16 for each part.
pub(super) fn base64(seed: &str, parts: usize) -> String {
    STANDARD.encode(bytes(seed, parts))
}

/// Letters and digits, 32 for each part.
pub(super) fn hexadecimal(seed: &str, parts: usize) -> String {
    let bytes = bytes(seed, parts);
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

fn bytes(seed: &str, parts: usize) -> Vec<u8> {
    (0..parts)
        .flat_map(|part| stable_bytes(&format!("{seed}/{part}")))
        .collect()
}
