//! `docs/from-c.md`: its C is compiled, and it leaves out nothing that `mlx5dv.h` has.
//!
//! Its Rust is compiled by the documentation tests. What is needed here is gcc, rdma-core's headers and
//! `mlx5_ifc.h` of a kernel's headers; without them nothing is checked, and that is an error in CI.

#[path = "common/skipped.rs"]
mod skipped;

use std::path::{Path, PathBuf};
use std::process::Command;

use skipped::skipped;

const PAGE: &str = include_str!("../../../docs/from-c.md");
const MLX5DV: &str = "/usr/include/infiniband/mlx5dv.h";
/// Each after those whose layouts it uses.
const HEADERS: [&str; 2] = ["mlx5_ifc_fpga.h", "mlx5_ifc.h"];
/// What those need of the headers that they include, and what the examples need.
const BEFORE: &str = "\
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))
#define DECLARE_FLEX_ARRAY(TYPE, NAME) TYPE NAME[0]
";

/// What the examples need of `mlx5dv.h` of rdma-core 63, where an older one is installed.
const SINCE_63: &str = "\
struct mlx5dv_export_sizes {
\tuint32_t var_attrs_size, devx_umem_attrs_size, devx_obj_attrs_size;
};
void mlx5dv_get_export_sizes(struct mlx5dv_export_sizes *sizes);
int mlx5dv_devx_obj_export(struct mlx5dv_devx_obj *obj, void *data);
struct mlx5dv_devx_obj *mlx5dv_devx_obj_import(struct ibv_context *context, void *data);
void mlx5dv_devx_obj_unimport(struct mlx5dv_devx_obj *obj);
";

/// The folder with the headers of a kernel.
fn kernel_headers() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("MLX5_HEADERS") {
        return Some(folder.into());
    }
    let folders = std::fs::read_dir("/usr/src").ok()?.flatten();
    let mut folders = folders.map(|entry| entry.path().join("include/linux/mlx5"));
    folders.find(|folder| HEADERS.iter().all(|header| folder.join(header).is_file()))
}

fn skip(missing: &str) {
    assert!(std::env::var_os("CI").is_none(), "no {missing}; see tests/run");
    skipped(&format!("the C of docs/from-c.md, no {missing}; see tests/run"));
}

/// The blocks of C, and the line of the page on which each begins.
fn blocks() -> Vec<(usize, &'static str)> {
    let starts = PAGE.match_indices("```c\n").map(|(at, fence)| at + fence.len());
    starts
        .map(|start| {
            let block = PAGE[start..].split("```").next().unwrap_or_default();
            (PAGE[..start].lines().count() + 1, block)
        })
        .collect()
}

/// The headers and the C of the page as one text.
fn source(headers: &Path) -> String {
    let mut text = BEFORE.to_owned();
    for header in HEADERS {
        let path = headers.join(header);
        let header = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        for line in header.lines().filter(|line| !line.starts_with("#include")) {
            text += line;
            text.push('\n');
        }
    }
    text += "#include <infiniband/mlx5dv.h>\n";
    let mlx5dv = std::fs::read_to_string(MLX5DV).unwrap_or_else(|e| panic!("{MLX5DV}: {e}"));
    if !mlx5dv.contains("mlx5dv_devx_obj_export") {
        text += SINCE_63;
    }
    for (line, block) in blocks() {
        text += &format!("#line {line} \"docs/from-c.md\"\n{block}");
    }
    text
}

#[test]
fn the_c_compiles() {
    let Some(headers) = kernel_headers() else { return skip("headers of a kernel") };
    if !Path::new(MLX5DV).is_file() {
        return skip(MLX5DV);
    }
    if Command::new("gcc").arg("--version").output().is_err() {
        return skip("gcc");
    }
    assert!(blocks().len() >= 9);
    let scratch = tempfile::tempdir().expect("room for a temporary folder");
    let file = scratch.path().join("from_c.c");
    std::fs::write(&file, source(&headers)).expect("room for a file");
    let gcc = Command::new("gcc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O2", "-c", "-o"])
        .args([&scratch.path().join("from_c.o"), &file])
        .output()
        .expect("gcc runs");
    assert!(gcc.status.success(), "{}", String::from_utf8_lossy(&gcc.stderr));
}

#[test]
fn every_function_and_macro_is_named() {
    let Ok(header) = std::fs::read_to_string(MLX5DV) else { return skip(MLX5DV) };
    let functions = header.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
    let functions = functions.filter(|word| word.starts_with("mlx5dv_devx_"));
    // What is followed by `(`: the others are types.
    let functions = functions.filter(|word| header.contains(&format!("{word}(")));
    let macros = header.lines().filter_map(|line| line.strip_prefix("#define "));
    let macros = macros.filter_map(|line| line.split('(').next());
    let macros = macros.filter(|name| name.starts_with("DEVX_"));
    let names: Vec<&str> = functions.chain(macros).collect();
    assert!(names.len() > 40, "{names:?}");
    let table: Vec<&str> = PAGE.lines().filter(|line| line.starts_with('|')).collect();
    let is_named = |name: &str| {
        let (closed, called) = (format!("`{name}`"), format!("`{name}("));
        table.iter().any(|row| row.contains(&closed) || row.contains(&called))
    };
    let missing: Vec<&str> = names.into_iter().filter(|name| !is_named(name)).collect();
    assert!(missing.is_empty(), "docs/from-c.md has no row for {missing:?}");
}
