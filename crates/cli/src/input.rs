//! The mailbox from a file or standard input.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use mlx5_prm::LayoutDesc;

use crate::error::Error;
use mlx5_prm_cli::read_hex;

/// Reads a mailbox that is at least as long as its layout.
pub(crate) fn mailbox(layout: &LayoutDesc, file: Option<&Path>) -> Result<Vec<u8>, Error> {
    let file = file.filter(|path| path.as_os_str() != "-");
    let name = file.map_or("standard input".to_owned(), |path| path.display().to_string());
    let raw = content(file).map_err(|source| Error::Open { file: name.clone(), source })?;
    let bytes = read_hex::read(&name, &raw)?;
    if bytes.len() < layout.size {
        let (needed, given) = (layout.size, bytes.len());
        return Err(Error::Short { layout: layout.name, needed, file: name, given });
    }
    Ok(bytes)
}

fn content(file: Option<&Path>) -> io::Result<Vec<u8>> {
    match file {
        Some(path) => fs::read(path),
        None => {
            let mut raw = Vec::new();
            io::stdin().lock().read_to_end(&mut raw)?;
            Ok(raw)
        }
    }
}
