//! Registered memory (`devx_umem_get`, `devx_umem_reg_cmd_alloc`).

use mlx5_devx::Errno;

use crate::program::{Arg, Program};

#[test]
fn memory_has_a_handle_and_a_number() {
    let program = Program::with_devx();
    let first = program.umem(0x7f00_0000_1000, 0x2000, 7, Some(!0xfff)).ok();
    let second = program.umem(0x7f00_0000_1000, 0x2000, 1, None).ok();
    assert_eq!((first.handle(), second.handle()), (1, 2));
    assert_ne!(first.u32(0x1004), second.u32(0x1004));
    let dereg = |handle| program.call(0x1002, 0x1001, &[Arg::Number(0x1000, handle)]);
    dereg(1).ok();
    assert_eq!(dereg(1).errno(), Errno::NOENT);
    dereg(2).ok();
}

#[test]
fn what_the_kernel_refuses() {
    let program = Program::with_devx();
    let refused = |address, length, access, sizes| {
        let left = program.umem(address, length, access, sizes);
        assert_eq!(left.handle(), 1, "the handle is given before");
        assert!(left.outputs.is_empty());
        left.errno()
    };
    assert_eq!(refused(0x1000, 0, 1, None), Errno::INVAL, "no length (ib_umem_get)");
    assert_eq!(refused(u64::MAX, 2, 1, None), Errno::INVAL, "it wraps around");
    assert_eq!(refused(0x1000, 0x1000, 2, None), Errno::INVAL, "ib_check_mr_access");
    assert_eq!(refused(0x1000, 0x1000, 1 << 3, None), Errno::INVAL, "uverbs_get_flags32");
    assert_eq!(refused(0x1000, 0x1000, 1, Some(0)), Errno::INVAL, "devx_umem_find_best_pgsize");
    assert_eq!(refused(0x1000, 0x1000, 1, Some(1 << 13)), Errno::INVAL, "longer than the whole");
    let nowhere = [
        Arg::In(0x1001, 0u64.to_ne_bytes().to_vec()),
        Arg::In(0x1002, 4096u64.to_ne_bytes().to_vec()),
        Arg::Nowhere(0x1004, 4),
        Arg::Number(0x1000, 0),
    ];
    assert_eq!(program.call(0x1002, 0x1000, &nowhere).errno(), Errno::FAULT);
    let dereg = program.call(0x1002, 0x1001, &[Arg::Number(0x1000, 1)]);
    assert_eq!(dereg.errno(), Errno::NOENT, "nothing is left");
}

#[test]
fn a_dmabuf_is_named_by_its_file() {
    let program = Program::with_devx();
    let with = |fd: i64| {
        let args = [
            Arg::In(0x1001, 0x1000u64.to_ne_bytes().to_vec()),
            Arg::In(0x1002, 0x1000u64.to_ne_bytes().to_vec()),
            Arg::In(0x1003, 1u64.to_ne_bytes().to_vec()),
            Arg::Number(0x1006, fd),
            Arg::Out(0x1004, 4),
            Arg::Number(0x1000, 0),
        ];
        program.call(0x1002, 0x1000, &args)
    };
    with(5).ok();
    assert_eq!(with(-1).errno(), Errno::BADF);
    assert_eq!(with(1 << 32).errno(), Errno::INVAL);
}
