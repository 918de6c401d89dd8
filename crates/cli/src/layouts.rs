//! The list of layouts.

use mlx5_prm::LayoutDesc;
use serde_json::{Value, json};

use crate::error::Error;
use crate::names;

/// The layouts whose name contains `part`, by name.
pub(crate) fn text(part: &str, json: bool) -> Result<String, Error> {
    let lower = part.to_ascii_lowercase();
    let mut found: Vec<_> = names::all().filter(|(l, _)| l.name.contains(&lower)).collect();
    if found.is_empty() {
        return Err(Error::NoMatch { part: part.to_owned(), near: names::nearest(part) });
    }
    found.sort_unstable_by_key(|(layout, _)| layout.name);
    Ok(if json { as_json(&found) } else { table(&found) })
}

fn table(found: &[(&LayoutDesc, &str)]) -> String {
    let width = found.iter().map(|(layout, _)| layout.name.len()).max().unwrap_or(0);
    let line = |(layout, family): &(&LayoutDesc, &str)| {
        let list = if layout.has_list() { "+ list" } else { "" };
        format!("{:width$}  {:>6} bytes {list:6}  {family}\n", layout.name, layout.size)
    };
    found.iter().map(line).collect()
}

fn as_json(found: &[(&LayoutDesc, &str)]) -> String {
    let one = |(layout, family): &(&LayoutDesc, &str)| {
        json!({
            "name": layout.name,
            "bytes": layout.size,
            "list": layout.has_list(),
            "family": family,
        })
    };
    format!("{:#}\n", found.iter().map(one).collect::<Value>())
}
