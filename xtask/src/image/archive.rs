//! An OCI image archive, byte for byte the same for the same content (OCI image format specification 1.1).

use anyhow::Context;
use flate2::{Compression, GzBuilder};
use object::read::elf::{FileHeader, ProgramHeader};
use oci_spec::image::{
    Arch, ConfigBuilder, DescriptorBuilder, Digest, ImageConfigurationBuilder, ImageIndexBuilder,
    ImageManifestBuilder, MediaType, Os, RootFsBuilder,
};
use serde::Serialize;
use serde_json::json;

use super::Platform;
use crate::sources::hash as sha256;

/// User that the chart runs the operator as, too.
const USER: &str = "65532:65532";
const REFERENCE: &str = "org.opencontainers.image.ref.name";

/// What goes into the image.
pub struct Content {
    /// The static binary.
    pub binary: Vec<u8>,
    /// Names of its functions, where they are known.
    pub symbols: Option<Vec<u8>>,
    /// Certificate authorities in PEM.
    pub authorities: Vec<u8>,
}

/// Refuses a binary that needs a dynamic loader: an image from scratch has none.
///
/// # Errors
/// Says what the binary needs.
pub fn check_static(binary: &[u8]) -> anyhow::Result<()> {
    let header = object::elf::FileHeader64::<object::Endianness>::parse(binary)
        .context("expected a 64-bit ELF file")?;
    let endian = header.endian()?;
    for segment in header.program_headers(endian, binary)? {
        if let Some(loader) = segment.interpreter(endian, binary)? {
            anyhow::bail!(
                "it needs the loader {}; expected a static binary, as targets of musl make them",
                String::from_utf8_lossy(loader)
            );
        }
    }
    Ok(())
}

/// The archive.
///
/// # Errors
/// A document of the format cannot be composed; a defect of this module.
pub fn build(content: &Content, platform: Platform, tag: &str) -> anyhow::Result<Vec<u8>> {
    let mut blobs = Blobs::default();
    let layer = layer(content)?;
    let uncompressed = sha256(&layer);
    let layer = blobs.add(MediaType::ImageLayerGzip, gzip(&layer)?)?;
    let architecture = match platform {
        Platform::Amd64 => Arch::Amd64,
        Platform::Arm64 => Arch::ARM64,
    };
    let configuration = ImageConfigurationBuilder::default()
        .architecture(architecture)
        .os(Os::Linux)
        .config(
            ConfigBuilder::default()
                .user(USER)
                .entrypoint(vec!["/armature".to_owned()])
                .cmd(vec!["run".to_owned()])
                .build()?,
        )
        .rootfs(
            RootFsBuilder::default()
                .typ("layers")
                .diff_ids(vec![format!("sha256:{uncompressed}")])
                .build()?,
        )
        .history(Vec::new())
        .build()?;
    let configuration = blobs.add_json(MediaType::ImageConfig, &configuration)?;
    let for_docker = json!([{
        "Config": path(configuration.digest()),
        "RepoTags": [tag],
        "Layers": [path(layer.digest())],
    }]);
    let manifest = ImageManifestBuilder::default()
        .schema_version(2_u32)
        .media_type(MediaType::ImageManifest)
        .config(configuration)
        .layers(vec![layer])
        .build()?;
    let mut manifest = blobs.add_json(MediaType::ImageManifest, &manifest)?;
    let name = [(REFERENCE.to_owned(), tag.to_owned())];
    manifest.set_annotations(Some(name.into()));
    let index = ImageIndexBuilder::default()
        .schema_version(2_u32)
        .media_type(MediaType::ImageIndex)
        .manifests(vec![manifest])
        .build()?;

    let mut archive = Archive::new();
    archive.file("oci-layout", 0o644, br#"{"imageLayoutVersion":"1.0.0"}"#)?;
    archive.file("index.json", 0o644, &serde_json::to_vec(&index)?)?;
    // Docker before 25 reads this instead.
    archive.file("manifest.json", 0o644, &serde_json::to_vec(&for_docker)?)?;
    for (digest, blob) in &blobs.0 {
        archive.file(&path(digest), 0o644, blob)?;
    }
    archive.finish()
}

/// The files of the image.
fn layer(content: &Content) -> anyhow::Result<Vec<u8>> {
    let mut layer = Archive::new();
    layer.file("armature", 0o755, &content.binary)?;
    if let Some(symbols) = &content.symbols {
        layer.file("armature.symbols", 0o644, symbols)?;
    }
    for folder in ["etc/", "etc/ssl/", "etc/ssl/certs/"] {
        layer.folder(folder)?;
    }
    layer.file(
        "etc/ssl/certs/ca-certificates.crt",
        0o644,
        &content.authorities,
    )?;
    layer.finish()
}

/// Blobs of the image, in the order in which they were added.
#[derive(Default)]
struct Blobs(Vec<(Digest, Vec<u8>)>);

impl Blobs {
    fn add(
        &mut self,
        media_type: MediaType,
        blob: Vec<u8>,
    ) -> anyhow::Result<oci_spec::image::Descriptor> {
        let digest: Digest = format!("sha256:{}", sha256(&blob)).parse()?;
        let descriptor = DescriptorBuilder::default()
            .media_type(media_type)
            .size(blob.len() as u64)
            .digest(digest.clone())
            .build()?;
        self.0.push((digest, blob));
        Ok(descriptor)
    }

    fn add_json(
        &mut self,
        media_type: MediaType,
        document: &impl Serialize,
    ) -> anyhow::Result<oci_spec::image::Descriptor> {
        self.add(media_type, serde_json::to_vec(document)?)
    }
}

/// Place of a blob in the archive.
fn path(digest: &Digest) -> String {
    format!("blobs/sha256/{}", digest.digest())
}

fn gzip(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut writer = GzBuilder::new().write(Vec::new(), Compression::best());
    std::io::Write::write_all(&mut writer, bytes)?;
    Ok(writer.finish()?)
}

/// A tar file whose entries have no times and no owners.
struct Archive(tar::Builder<Vec<u8>>);

impl Archive {
    fn new() -> Self {
        Self(tar::Builder::new(Vec::new()))
    }

    fn file(&mut self, path: &str, mode: u32, content: &[u8]) -> anyhow::Result<()> {
        self.entry(path, tar::EntryType::Regular, mode, content)
    }

    fn folder(&mut self, path: &str) -> anyhow::Result<()> {
        self.entry(path, tar::EntryType::Directory, 0o755, &[])
    }

    fn entry(
        &mut self,
        path: &str,
        kind: tar::EntryType,
        mode: u32,
        content: &[u8],
    ) -> anyhow::Result<()> {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_size(content.len() as u64);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        Ok(self.0.append_data(&mut header, path, content)?)
    }

    fn finish(self) -> anyhow::Result<Vec<u8>> {
        Ok(self.0.into_inner()?)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read;

    use serde_json::Value;

    use super::*;

    type Files = BTreeMap<String, (u32, Vec<u8>)>;

    fn unpack(bytes: &[u8]) -> Files {
        let mut archive = tar::Archive::new(bytes);
        let mut files = Files::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().display().to_string();
            let mode = entry.header().mode().unwrap();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            files.insert(path, (mode, content));
        }
        files
    }

    fn content() -> Content {
        Content {
            binary: b"the binary".to_vec(),
            symbols: Some(b"the symbols".to_vec()),
            authorities: b"the authorities".to_vec(),
        }
    }

    /// The blob that a descriptor names; its size and digest are right.
    fn blob<'f>(files: &'f Files, descriptor: &Value) -> &'f [u8] {
        let digest = descriptor["digest"].as_str().unwrap();
        let (_, blob) = &files[&format!("blobs/{}", digest.replace(':', "/"))];
        assert_eq!(descriptor["size"], blob.len());
        assert_eq!(digest, format!("sha256:{}", sha256(blob)));
        blob
    }

    fn json(bytes: &[u8]) -> Value {
        serde_json::from_slice(bytes).unwrap()
    }

    #[test]
    fn an_image_leads_from_its_index_to_its_files() {
        let archive = build(&content(), Platform::Arm64, "example.com/armature:1.2.3").unwrap();
        let files = unpack(&archive);
        let index = json(&files["index.json"].1);
        let entry = &index["manifests"][0];
        assert_eq!(
            entry["annotations"][REFERENCE],
            "example.com/armature:1.2.3"
        );
        let manifest = json(blob(&files, entry));
        let configuration = json(blob(&files, &manifest["config"]));
        assert_eq!(configuration["architecture"], "arm64");
        assert_eq!(configuration["config"]["User"], USER);
        assert_eq!(configuration["config"]["Entrypoint"], json!(["/armature"]));

        let mut layer = Vec::new();
        flate2::read::GzDecoder::new(blob(&files, &manifest["layers"][0]))
            .read_to_end(&mut layer)
            .unwrap();
        let told = &configuration["rootfs"]["diff_ids"][0];
        assert_eq!(*told, format!("sha256:{}", sha256(&layer)));
        let inside = unpack(&layer);
        assert_eq!(inside["armature"], (0o755, b"the binary".to_vec()));
        let symbols = &inside["armature.symbols"];
        assert_eq!(*symbols, (0o644, b"the symbols".to_vec()));
        let authorities = &inside["etc/ssl/certs/ca-certificates.crt"];
        assert_eq!(*authorities, (0o644, b"the authorities".to_vec()));

        let docker = json(&files["manifest.json"].1);
        assert_eq!(docker[0]["RepoTags"], json!(["example.com/armature:1.2.3"]));
        for named in [&docker[0]["Config"], &docker[0]["Layers"][0]] {
            assert!(files.contains_key(named.as_str().unwrap()), "{named}");
        }
    }

    #[test]
    fn the_same_content_gives_the_same_bytes() {
        let build = || build(&content(), Platform::Amd64, "a:1").unwrap();
        assert_eq!(build(), build());
    }

    #[test]
    fn a_binary_that_needs_a_loader_is_refused() {
        // Tests are built for the machine's own C library.
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let error = check_static(&program).unwrap_err().to_string();
        assert!(error.starts_with("it needs the loader /lib"), "{error}");
        let error = check_static(b"#!/bin/sh").unwrap_err().to_string();
        assert_eq!(error, "expected a 64-bit ELF file");
    }
}
