//! The costs of the ways to the kernel, by the test that counts them.

use std::path::Path;
use std::process::Command;

/// Instructions of a typed MODIFY_CQ by the backend `ioctl`, and of the same by libmlx5: what the test
/// `overhead` of `tests/caught` prints.
///
/// # Errors
/// It fails, or skips: why.
pub fn ioctl_and_libmlx5() -> Result<(u64, u64), String> {
    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline", "-p", "mlx5-caught", "--test", "overhead", "--", "--nocapture"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .map_err(|e| format!("cargo does not run: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        return Err(format!("the test `overhead` fails ({})", output.status));
    }
    let mut lines = text.lines();
    let complained = String::from_utf8_lossy(&output.stderr);
    let skipped = complained.lines().find(|line| line.contains("SKIPPED"));
    let found = lines.find(|line| line.contains("ours, libmlx5, ratio")).and_then(|_| lines.next());
    let numbers: Vec<u64> =
        found.unwrap_or_default().split_whitespace().filter_map(|n| n.parse().ok()).collect();
    match (&numbers[..], skipped) {
        ([ours, libmlx5], _) => Ok((*ours, *libmlx5)),
        (_, Some(why)) => Err(why.to_owned()),
        _ => Err("the test `overhead` prints no counts".to_owned()),
    }
}
