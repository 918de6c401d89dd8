//! Nothing of rdma-core is linked: a program with the backends `ioctl` and `libmlx5` is built, and starts, where it is
//! not installed.
#![cfg(target_os = "linux")]

use std::process::Command;

/// A program that has both backends.
const PROGRAM: &str = env!("CARGO_BIN_EXE_caught-backend");

fn readelf(what: &str) -> String {
    let output = Command::new("readelf").env("LC_ALL", "C").args(["-W", what, PROGRAM]).output();
    let output = output.expect("readelf, which comes with gcc");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn no_library_of_rdma_core() {
    let dynamic = readelf("--dynamic");
    let needed: Vec<&str> = dynamic.lines().filter(|line| line.contains("(NEEDED)")).collect();
    assert!(needed.iter().any(|line| line.contains("[libc.so")), "{dynamic}");
    for library in ["libibverbs", "libmlx5", "librdmacm"] {
        assert!(!needed.iter().any(|line| line.contains(library)), "{needed:?}");
    }
    println!("{}", needed.join("\n"));
}

#[test]
fn no_symbol_of_rdma_core() {
    let symbols = readelf("--dyn-syms");
    assert!(symbols.contains(" UND dlopen") || symbols.contains(" UND open"), "{symbols}");
    let of_rdma_core = |line: &&str| {
        let name = line.split_whitespace().nth(7).unwrap_or_default();
        ["ibv_", "mlx5dv_", "mlx5_"].iter().any(|begins| name.starts_with(begins))
    };
    assert_eq!(symbols.lines().find(of_rdma_core), None);
}
