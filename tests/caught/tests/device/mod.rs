//! The device that is not there, and programs that are run as if it were.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `class/infiniband_verbs` and `class/infiniband` of a ConnectX-5 whose device file is /dev/zero.
pub(crate) fn sysfs(root: &Path) {
    let files = [
        ("infiniband_verbs/abi_version", "6"),
        ("infiniband_verbs/uverbs0/ibdev", "mlx5_0"),
        ("infiniband_verbs/uverbs0/dev", "1:5"),
        ("infiniband_verbs/uverbs0/abi_version", "1"),
        ("infiniband/mlx5_0/node_type", "1: CA"),
        (
            "infiniband/mlx5_0/device/modalias",
            "pci:v000015B3d00001017sv000015B3sd00000007bc02sc00i00",
        ),
        ("infiniband/mlx5_0/device/vendor", "0x15b3"),
        ("infiniband/mlx5_0/device/device", "0x1017"),
    ];
    for (path, text) in files {
        let path = root.join("class").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }
}

/// A command that runs with what catches ioctls preloaded.
pub(crate) fn caught(program: &str, root: &Path) -> Command {
    // Cargo puts it next to this test. Programs with AddressSanitizer take one without: `tests/asan` names it.
    let preloaded = std::env::var_os("MLX5_CAUGHT_LIBRARY").map_or_else(
        || std::env::current_exe().unwrap().with_file_name("libmlx5_caught.so"),
        PathBuf::from,
    );
    assert!(preloaded.exists(), "{} was not built", preloaded.display());
    // A name without spaces and colons, which part the names of LD_PRELOAD.
    let link = root.join("preloaded.so");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(&preloaded, &link).unwrap();
    let preloaded = link;
    let mut command = Command::new(program);
    command
        .env("SYSFS_PATH", root)
        .env("LD_PRELOAD", preloaded)
        .env("MLX5_CAUGHT_TRACE", root.join("trace"))
        .env("MLX5_CAUGHT_ANSWERS", root.join("answers"))
        .env_remove("MLX5_CAUGHT_OLD_UAR")
        .env_remove("MLX5_CAUGHT_RAW");
    command
}
