//! The tables as files: TOML in `prm-spec/`.

mod folder;
mod read;
mod toml_walk;
mod write;

pub use folder::Folder;
pub use read::{read_families, read_layout_file, read_semantics_file, read_sources, read_spec};
pub use write::{layout_file, write_import};
