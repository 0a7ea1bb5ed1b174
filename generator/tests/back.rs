//! Golden and fault tests of passes 4 to 7 and of the pipeline, on small models of our own.
//!
//! One binary for the four passes: each test names the pass it is about.

#[path = "back/curate.rs"]
mod curate;
#[path = "back/curation_page.rs"]
mod curation_page;
#[path = "back/emit.rs"]
mod emit;
#[path = "back/explain.rs"]
mod explain;
#[path = "back/findings.rs"]
mod findings;
#[path = "back/hub.rs"]
mod hub;
#[path = "back/models.rs"]
mod models;
#[path = "back/pipeline.rs"]
mod pipeline;
#[path = "back/propose.rs"]
mod propose;
#[path = "back/render.rs"]
mod render;
#[path = "back/rules.rs"]
mod rules;
