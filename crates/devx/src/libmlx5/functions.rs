//! The functions of libibverbs and libmlx5, loaded once, and the structures that they take.

use std::ffi::{c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::sync::OnceLock;

use libloading::os::unix::Library;

use super::LoadError;
use super::number::InitObj;

#[cfg(not(target_pointer_width = "64"))]
compile_error!(
    "the structures of libmlx5 are known here for 64-bit systems: leave the feature libmlx5 off"
);

/// Any structure of libibverbs or libmlx5, by its address.
pub(super) type Address = *mut c_void;
/// A call on an object: the object, the input, the output.
pub(super) type Call =
    unsafe extern "C" fn(Address, *const c_void, usize, *mut c_void, usize) -> c_int;

/// `MLX5DV_CONTEXT_FLAGS_DEVX` (`mlx5dv.h`).
pub(super) const CONTEXT_FLAGS_DEVX: u32 = 1;

/// `struct mlx5dv_context_attr` (`mlx5dv.h`).
#[repr(C)]
pub(super) struct ContextAttr {
    pub(super) flags: u32,
    pub(super) comp_mask: u64,
    /// Newer versions have fields here, which `comp_mask` says are there.
    pub(super) more: [u64; 4],
}

/// `struct mlx5dv_devx_umem` (`mlx5dv.h`).
#[repr(C)]
pub(super) struct CUmem {
    pub(super) umem_id: u32,
}

/// `MLX5DV_UMEM_MASK_DMABUF` (`mlx5dv.h`).
pub(super) const UMEM_MASK_DMABUF: u64 = 1;

/// `struct mlx5dv_devx_umem_in` (`mlx5dv.h`).
#[repr(C)]
pub(super) struct CUmemIn {
    pub(super) addr: *mut c_void,
    pub(super) size: usize,
    pub(super) access: u32,
    pub(super) pgsz_bitmap: u64,
    pub(super) comp_mask: u64,
    pub(super) dmabuf_fd: c_int,
    /// Newer versions may have fields here, which `comp_mask` says are there.
    pub(super) more: [u64; 4],
}

/// `struct mlx5dv_devx_uar` (`mlx5dv.h`).
#[repr(C)]
pub(super) struct CUar {
    pub(super) reg_addr: *mut c_void,
    pub(super) base_addr: *mut c_void,
    pub(super) page_id: u32,
    pub(super) mmap_off: i64,
    pub(super) comp_mask: u64,
}

/// `struct mlx5dv_devx_cmd_comp` and `struct mlx5dv_devx_event_channel` (`mlx5dv.h`), which are the
/// same.
#[repr(C)]
pub(super) struct CFile {
    pub(super) fd: c_int,
}

/// `struct mlx5dv_export_sizes` (`mlx5dv.h`).
#[repr(C)]
#[derive(Default)]
pub(super) struct CExportSizes {
    pub(super) var_attrs_size: u32,
    pub(super) devx_umem_attrs_size: u32,
    pub(super) devx_obj_attrs_size: u32,
}

/// A function that only newer versions have: it is asked for when it is needed.
pub(super) type Newer<F> = Result<F, LoadError>;

macro_rules! functions {
    ($( $soname:literal {
        $( $name:ident = $symbol:literal since $since:literal: $type:ty; )*
        $( [ $( $newer:ident = $newer_symbol:literal since $newer_since:literal: $newer_type:ty; )* ] )?
    } )*) => {
        /// The functions that are called.
        #[derive(Clone)]
        pub(super) struct Functions {
            $( $( pub(super) $name: $type, )* )*
            $( $( $( pub(super) $newer: Newer<$newer_type>, )* )? )*
        }

        impl Functions {
            fn load() -> Result<Self, LoadError> {
                $(
                    // It stays loaded, also when it is too old: libmlx5 gives libibverbs addresses of
                    // itself as soon as it is loaded, and objects may live as long as the program.
                    let library = ManuallyDrop::new(load($soname)?);
                    let missing = |symbol, since| LoadError::Symbol { soname: $soname, symbol, since };
                    $(
                        // SAFETY: the type is that of the declaration in verbs.h or mlx5dv.h, and
                        // the library stays loaded, so that the address stays good.
                        let found = unsafe { library.get::<$type>($symbol.as_bytes()) };
                        let $name = *found.map_err(|_| missing($symbol, $since))?;
                    )*
                    $( $(
                        // SAFETY: as above.
                        let found = unsafe { library.get::<$newer_type>($newer_symbol.as_bytes()) };
                        let $newer = found.map(|f| *f).map_err(|_| missing($newer_symbol, $newer_since));
                    )* )?
                )*
                Ok(Functions { $( $( $name, )* )* $( $( $( $newer, )* )? )* })
            }
        }
    };
}

// The versions are those of debian/ibverbs-providers.symbols in rdma-core.
functions! {
    "libibverbs.so.1" {
        get_device_list = "ibv_get_device_list" since 1: unsafe extern "C" fn(*mut c_int) -> *mut Address;
        free_device_list = "ibv_free_device_list" since 1: unsafe extern "C" fn(*mut Address);
        get_device_name = "ibv_get_device_name" since 1: unsafe extern "C" fn(Address) -> *const c_char;
        close_device = "ibv_close_device" since 1: unsafe extern "C" fn(Address) -> c_int;
    }
    "libmlx5.so.1" {
        open_device = "mlx5dv_open_device" since 21: unsafe extern "C" fn(Address, *mut ContextAttr) -> Address;
        init_obj = "mlx5dv_init_obj" since 15: InitObj;
        obj_create = "mlx5dv_devx_obj_create" since 21: unsafe extern "C" fn(Address, *const c_void, usize, *mut c_void, usize) -> Address;
        obj_destroy = "mlx5dv_devx_obj_destroy" since 21: unsafe extern "C" fn(Address) -> c_int;
        obj_modify = "mlx5dv_devx_obj_modify" since 21: Call;
        obj_query = "mlx5dv_devx_obj_query" since 21: Call;
        general_cmd = "mlx5dv_devx_general_cmd" since 21: Call;
        qp_modify = "mlx5dv_devx_qp_modify" since 22: Call;
        qp_query = "mlx5dv_devx_qp_query" since 22: Call;
        cq_modify = "mlx5dv_devx_cq_modify" since 22: Call;
        cq_query = "mlx5dv_devx_cq_query" since 22: Call;
        srq_modify = "mlx5dv_devx_srq_modify" since 22: Call;
        srq_query = "mlx5dv_devx_srq_query" since 22: Call;
        wq_modify = "mlx5dv_devx_wq_modify" since 22: Call;
        wq_query = "mlx5dv_devx_wq_query" since 22: Call;
        ind_tbl_modify = "mlx5dv_devx_ind_tbl_modify" since 22: Call;
        ind_tbl_query = "mlx5dv_devx_ind_tbl_query" since 22: Call;
        query_eqn = "mlx5dv_devx_query_eqn" since 21: unsafe extern "C" fn(Address, u32, *mut u32) -> c_int;
        umem_reg = "mlx5dv_devx_umem_reg" since 21: unsafe extern "C" fn(Address, *mut c_void, usize, u32) -> *mut CUmem;
        umem_dereg = "mlx5dv_devx_umem_dereg" since 21: unsafe extern "C" fn(*mut CUmem) -> c_int;
        alloc_uar = "mlx5dv_devx_alloc_uar" since 21: unsafe extern "C" fn(Address, u32) -> *mut CUar;
        free_uar = "mlx5dv_devx_free_uar" since 21: unsafe extern "C" fn(*mut CUar);
        create_cmd_comp = "mlx5dv_devx_create_cmd_comp" since 23: unsafe extern "C" fn(Address) -> *mut CFile;
        destroy_cmd_comp = "mlx5dv_devx_destroy_cmd_comp" since 23: unsafe extern "C" fn(*mut CFile);
        obj_query_async = "mlx5dv_devx_obj_query_async" since 23: unsafe extern "C" fn(Address, *const c_void, usize, usize, u64, *mut CFile) -> c_int;
        create_event_channel = "mlx5dv_devx_create_event_channel" since 25: unsafe extern "C" fn(Address, u32) -> *mut CFile;
        destroy_event_channel = "mlx5dv_devx_destroy_event_channel" since 25: unsafe extern "C" fn(*mut CFile);
        subscribe_event = "mlx5dv_devx_subscribe_devx_event" since 25: unsafe extern "C" fn(*mut CFile, Address, u16, *const u16, u64) -> c_int;
        subscribe_event_fd = "mlx5dv_devx_subscribe_devx_event_fd" since 25: unsafe extern "C" fn(*mut CFile, c_int, Address, u16) -> c_int;
        // Not in every version that is in use.
        [
            umem_reg_ex = "mlx5dv_devx_umem_reg_ex" since 35: unsafe extern "C" fn(Address, *mut CUmemIn) -> *mut CUmem;
            export_sizes = "_mlx5dv_get_export_sizes" since 63: unsafe extern "C" fn(*mut CExportSizes, usize);
            obj_export = "mlx5dv_devx_obj_export" since 63: unsafe extern "C" fn(Address, *mut c_void) -> c_int;
            obj_import = "mlx5dv_devx_obj_import" since 63: unsafe extern "C" fn(Address, *mut c_void) -> Address;
            obj_unimport = "mlx5dv_devx_obj_unimport" since 63: unsafe extern "C" fn(Address);
            umem_export = "mlx5dv_devx_umem_export" since 63: unsafe extern "C" fn(*mut CUmem, *mut c_void) -> c_int;
            umem_import = "mlx5dv_devx_umem_import" since 63: unsafe extern "C" fn(Address, *mut c_void) -> *mut CUmem;
            umem_unimport = "mlx5dv_devx_umem_unimport" since 63: unsafe extern "C" fn(*mut CUmem);
        ]
    }
}

fn load(soname: &'static str) -> Result<Library, LoadError> {
    // SAFETY: the initializers of these libraries may run at any time: they are made to be loaded
    // by programs.
    unsafe { Library::new(soname) }
        .map_err(|e| LoadError::Library { soname, reason: e.to_string() })
}

/// The functions, loaded once.
pub(super) fn functions() -> Result<&'static Functions, LoadError> {
    static FUNCTIONS: OnceLock<Result<Functions, LoadError>> = OnceLock::new();
    FUNCTIONS.get_or_init(Functions::load).as_ref().map_err(Clone::clone)
}

#[cfg(test)]
#[path = "../../tests/common/mod.rs"]
#[allow(dead_code, unused_imports, unused_macros, reason = "other tests use the rest")]
pub(super) mod common;

#[cfg(test)]
mod tests {
    use super::common::{Claims, beginning, compiles, skipped, structure};
    use super::*;

    const INCLUDES: &str = "#include <stddef.h>\n#include <infiniband/mlx5dv.h>\n";
    const NO_FOLDERS: [&str; 0] = [];

    #[test]
    fn structures_are_those_of_mlx5dv_h() {
        let Some(mut claims) = Claims::of_installed(INCLUDES) else { return };
        beginning! { claims: ContextAttr "mlx5dv_context_attr": flags comp_mask }
        structure! { claims: CUmem "mlx5dv_devx_umem": umem_id }
        beginning! { claims: CUmemIn "mlx5dv_devx_umem_in":
            addr size access pgsz_bitmap comp_mask dmabuf_fd
        }
        structure! { claims: CUar "mlx5dv_devx_uar":
            reg_addr base_addr page_id mmap_off comp_mask
        }
        structure! { claims: CFile "mlx5dv_devx_cmd_comp": fd }
        structure! { claims: CFile "mlx5dv_devx_event_channel": fd }
        claims.equal("MLX5DV_CONTEXT_FLAGS_DEVX", CONTEXT_FLAGS_DEVX);
        claims.equal("MLX5DV_UMEM_MASK_DMABUF", UMEM_MASK_DMABUF);
        let newer = format!("{INCLUDES}struct mlx5dv_export_sizes sizes;\n");
        if matches!(compiles(&newer, &NO_FOLDERS), Some((true, _))) {
            structure! { claims: CExportSizes "mlx5dv_export_sizes":
                var_attrs_size devx_umem_attrs_size devx_obj_attrs_size
            }
        } else {
            skipped("NOT COMPARED: mlx5dv_export_sizes, which came with rdma-core 63");
        }
        claims.hold(&NO_FOLDERS);
    }

    #[test]
    fn what_is_missing_is_told() {
        let missing = load("libnothing-of-the-kind.so.1").expect_err("there is none");
        let text = missing.to_string();
        assert!(text.starts_with("libnothing-of-the-kind.so.1 can't be loaded ("), "{text}");
        assert!(text.ends_with("install rdma-core's libibverbs and its mlx5 provider"), "{text}");
        let (soname, symbol) = ("libmlx5.so.1", "mlx5dv_devx_qp_modify");
        assert_eq!(
            LoadError::Symbol { soname, symbol, since: 22 }.to_string(),
            "libmlx5.so.1 has no mlx5dv_devx_qp_modify, which came with rdma-core 22: update rdma-core"
        );
    }
}
