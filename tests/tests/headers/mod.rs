//! The public headers: where they are, and gcc on them.

#![allow(dead_code, reason = "not every test needs all of it")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the packages with headers of the kernel put them.
pub(crate) const INSTALLED: &str = "/usr/src";
/// What to do when something is missing.
pub(crate) const INSTALL: &str = "run: apt-get install gcc libibverbs-dev linux-headers-amd64 (on other architectures \
                       linux-headers-arm64 and so on; the package linux-headers-*-common that comes with it \
                       is the one that counts)";

/// One version of the headers.
pub(crate) struct Headers {
    pub(crate) dir: PathBuf,
    /// The kernel series, such as 6.1, if it is known.
    pub(crate) series: Option<String>,
}

/// The installed headers, and those of `MLX5_HEADERS`, whose series is `MLX5_HEADERS_SERIES`.
pub(crate) fn headers() -> Vec<Headers> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(INSTALLED).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(version) =
            name.strip_prefix("linux-headers-").and_then(|rest| rest.strip_suffix("-common"))
        else {
            continue;
        };
        let dir = entry.path().join("include/linux/mlx5");
        if dir.is_dir() {
            let series: Vec<&str> = version.split('.').take(2).collect();
            found.push(Headers { dir, series: Some(series.join(".")) });
        }
    }
    if let Some(dir) = std::env::var_os("MLX5_HEADERS") {
        found.push(Headers { dir: dir.into(), series: std::env::var("MLX5_HEADERS_SERIES").ok() });
    }
    found.sort_by(|a, b| a.dir.cmp(&b.dir));
    assert!(
        !found.is_empty(),
        "no {INSTALLED}/linux-headers-*-common/include/linux/mlx5; {INSTALL}"
    );
    found
}

/// C text that includes the three headers with layouts. The definitions before them stand in for
/// the kernel's own; a flexible array is declared as an array of no elements, which GNU C allows
/// in a union too, and which has the same place.
pub(crate) const PRELUDE: &str = r#"
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))
#define DECLARE_FLEX_ARRAY(TYPE, NAME) TYPE NAME[0]
#include "mlx5_ifc_fpga.h"
#include "mlx5_ifc.h"
#include "mlx5_ifc_vdpa.h"
"#;

/// A gcc command that finds the headers; the caller adds what to do. An error if a header is
/// missing.
pub(crate) fn gcc(header_dir: &Path) -> Result<Command, String> {
    for name in ["mlx5_ifc_fpga.h", "mlx5_ifc.h", "mlx5_ifc_vdpa.h"] {
        if !header_dir.join(name).is_file() {
            return Err(format!(
                "{}: no {name} there; give the include/linux/mlx5 folder of a kernel header \
                 package (Debian: linux-headers-*-common)",
                header_dir.display()
            ));
        }
    }
    let mut command = Command::new("gcc");
    command.arg("-I").arg(header_dir);
    Ok(command)
}

/// Waits for a gcc that was started by `spawn`; its messages are the error.
pub(crate) fn finish(
    what: &str,
    child: std::io::Result<std::process::Child>,
) -> Result<(), String> {
    let output = child
        .and_then(|child| child.wait_with_output())
        .map_err(|e| format!("gcc does not run ({e}); install gcc"))?;
    if output.status.success() {
        return Ok(());
    }
    let messages = String::from_utf8_lossy(&output.stderr);
    let first: Vec<&str> = messages.lines().take(20).collect();
    Err(format!("gcc does not compile {what} ({}):\n{}", output.status, first.join("\n")))
}
