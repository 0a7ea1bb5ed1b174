//! Names of functions, taken out of the binary and put beside it.
//!
//! They are a third of the binary and are needed by profiles alone (`armature run --profiling-metrics`), so the image has them
//! compressed: a line with the build id, then `START SIZE NAME` for each function, the first two in hexadecimal.

use std::io::Write;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use flate2::Compression;
use flate2::write::GzEncoder;
use object::{Object, ObjectSymbol, SymbolKind};
use tokio::process::Command;

/// The table of a binary; nothing where it has no symbols.
///
/// # Errors
/// The binary is no ELF file, or has symbols and no build id by which the table would be known.
pub fn table(binary: &[u8]) -> anyhow::Result<Option<Vec<u8>>> {
    let file = object::read::elf::ElfFile64::<object::Endianness>::parse(binary)
        .context("expected a 64-bit ELF file")?;
    let functions = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0);
    let mut lines: Vec<(u64, u64, String)> = Vec::new();
    for symbol in functions {
        let name = format!("{:#}", rustc_demangle::demangle(symbol.name()?));
        lines.push((symbol.address(), symbol.size(), name));
    }
    if lines.is_empty() {
        return Ok(None);
    }
    let id = file.build_id()?.context(
        "it has no build id, by which its symbols would be known; link it with --build-id",
    )?;
    lines.sort();
    // Aliases of one function.
    lines.dedup_by_key(|(start, _, _)| *start);
    let mut table = GzEncoder::new(Vec::new(), Compression::best());
    for byte in id {
        write!(table, "{byte:02x}")?;
    }
    writeln!(table)?;
    for (start, size, name) in lines {
        writeln!(table, "{start:x} {size:x} {name}")?;
    }
    Ok(Some(table.finish()?))
}

/// The binary without symbols.
///
/// # Errors
/// Rust's objcopy, which is a part of the toolchain, is not there or fails.
pub async fn stripped(binary: &Utf8Path) -> anyhow::Result<Vec<u8>> {
    let program = objcopy().await?;
    let folder = tempfile::tempdir()?;
    let output = folder.path().join("armature");
    let status = Command::new(&program)
        .args(["--strip-all", binary.as_str()])
        .arg(&output)
        .status()
        .await
        .with_context(|| {
            format!("cannot start {program}; toolchains of rustup have it since Rust 1.84")
        })?;
    anyhow::ensure!(status.success(), "{program} --strip-all {binary} failed");
    Ok(std::fs::read(output)?)
}

async fn objcopy() -> anyhow::Result<Utf8PathBuf> {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let printed = Command::new(&rustc)
        .args(["--print", "target-libdir"])
        .output()
        .await
        .with_context(|| format!("cannot start {rustc}"))?;
    let folder = String::from_utf8(printed.stdout)?;
    // …/rustlib/HOST/lib
    let host = Utf8Path::new(folder.trim()).parent();
    Ok(host
        .context("rustc names no folder of its libraries")?
        .join("bin/rust-objcopy"))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    #[tokio::test]
    async fn names_go_from_the_binary_into_the_table() {
        let own = std::env::current_exe().unwrap();
        let own = Utf8PathBuf::from_path_buf(own).unwrap();
        let table = table(&std::fs::read(&own).unwrap()).unwrap().unwrap();
        let mut text = String::new();
        GzDecoder::new(table.as_slice())
            .read_to_string(&mut text)
            .unwrap();
        let mut lines = text.lines();
        let id = lines.next().unwrap();
        assert!(
            id.len() >= 16 && id.chars().all(|digit| digit.is_ascii_hexdigit()),
            "{id}"
        );
        let is_here = |line: &str| line.ends_with(" xtask::image::symbols::stripped");
        assert!(lines.any(is_here), "this function has a name");
        let stripped = stripped(&own).await.unwrap();
        assert!(stripped.len() < std::fs::metadata(&own).unwrap().len() as usize);
        assert_eq!(super::table(&stripped).unwrap(), None);
    }
}
