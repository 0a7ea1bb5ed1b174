//! Pass 1: spec files of three formats, and what is wrong with them.

mod bicep;
mod convert;
mod faults;
mod findings;
mod formats;
mod mutations;
mod openapi3;
