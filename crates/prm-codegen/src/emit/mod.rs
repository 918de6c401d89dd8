//! Emitters.
use std::path::Path;
use crate::fault::Faults;
use crate::model::Spec;
/// x
pub fn emit(_: &Spec) -> Result<Vec<(String, String)>, Faults> { Ok(vec![]) }
/// x
pub fn compare(_: &[(String, String)], _: &Path) -> Result<String, String> { Ok(String::new()) }
/// x
pub fn write(_: &[(String, String)], _: &Path) -> Result<String, String> { Ok(String::new()) }
