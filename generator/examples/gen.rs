//! Generates all groups into a workspace: `gen WORKSPACE SPEC_TREE [GROUP...]`. `cargo xtask gen` is the command
//! for people; this one needs nothing but the library.

use std::error::Error;

use armature_generator::curate::GroupConfig;
use armature_generator::load::SpecRoot;
use armature_generator::pipeline::{NoProgress, generate};
use camino::Utf8PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let workspace = Utf8PathBuf::from(arguments.next().ok_or("no workspace given")?);
    let specs = SpecRoot::new(arguments.next().ok_or("no spec tree given")?);
    let groups = arguments.collect::<Vec<_>>();
    let mut configs = Vec::new();
    for entry in workspace.join("specs").read_dir_utf8()? {
        let path = entry?.into_path();
        let name = path.file_name().unwrap_or_default();
        let is_wanted =
            groups.is_empty() || groups.iter().any(|group| name == format!("{group}.toml"));
        if name.ends_with(".toml") && name != "specs.lock.toml" && is_wanted {
            let text = std::fs::read_to_string(&path)?;
            configs.push(GroupConfig::parse(format!("specs/{name}"), text)?);
        }
    }
    let generated = generate(&specs, &configs, &NoProgress)?;
    for (path, text) in &generated.files {
        let path = workspace.join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        if std::fs::read_to_string(&path).ok().as_ref() != Some(text) {
            std::fs::write(path, text)?;
        }
    }
    for group in &generated.groups {
        println!("{group:?}");
    }
    Ok(())
}
