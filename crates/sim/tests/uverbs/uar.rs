//! Pages of doorbells (`UVERBS_HANDLER(MLX5_IB_METHOD_UAR_OBJ_ALLOC)` in `main.c`).

use std::os::unix::fs::FileExt;

use mlx5_devx::Errno;
use mlx5_sim::Uverbs;

use crate::program::{Arg, Program};

#[test]
fn a_page_can_be_mapped_where_it_says() {
    let program = Program::with_devx();
    let (first, second) = (program.uar(0).ok(), program.uar(1).ok());
    assert_eq!((first.u64(0x1002), second.u64(0x1002)), (0x90_0000, 0x90_1000));
    assert_eq!((first.u32(0x1003), second.u32(0x1003)), (4096, 4096));
    assert_ne!(first.u32(0x1004), second.u32(0x1004));
    let pages = program.uverbs.file().try_clone_to_owned().expect("a duplicate");
    let pages = std::fs::File::from(pages);
    for left in [&first, &second] {
        pages.write_all_at(&[1], left.u64(0x1002)).expect("it can be written");
    }
    assert!(pages.metadata().expect("its length").len() >= second.u64(0x1002) + 4096);

    // The lowest page that is free.
    let destroy = |handle| program.call(0x1008, 0x1001, &[Arg::Number(0x1000, handle)]);
    destroy(first.handle()).ok();
    assert_eq!(destroy(first.handle()).errno(), Errno::NOENT);
    assert_eq!(program.uar(0).ok().u64(0x1002), 0x90_0000);
}

#[test]
fn pages_are_of_their_file() {
    let program = Program::with_devx();
    let uverbs = Uverbs::open(&program.adapter);
    let other = Program { adapter: program.adapter.clone(), uverbs };
    other.get_context(1).ok();
    let page = program.uar(0).ok().handle();
    let of_other = other.uar(0).ok().u64(0x1002);
    let destroy = |of: &Program| of.call(0x1008, 0x1001, &[Arg::Number(0x1000, page)]);
    assert_eq!(destroy(&other).errno(), Errno::NOENT);
    assert_ne!(other.uar(0).ok().u64(0x1002), of_other, "the first is there still");
    destroy(&program).ok();
}

#[test]
fn offsets_go_on_behind_256_pages() {
    let program = Program::with_devx();
    let all: Vec<u64> = (0..257).map(|_| program.uar(0).ok().u64(0x1002)).collect();
    assert_eq!((all[255], all[256]), (0x9ff_000, 0x1090_0000));
}

#[test]
fn there_are_two_kinds() {
    let program = Program::with_devx();
    assert_eq!(program.uar(2).errno(), Errno::OPNOTSUPP);
    assert_eq!(program.uar(u32::MAX.into()).errno(), Errno::OPNOTSUPP);
    assert_eq!(program.uar(1 << 32).errno(), Errno::INVAL);
    let nowhere = [
        Arg::Number(0x1000, 0),
        Arg::In(0x1001, vec![0; 8]),
        Arg::Nowhere(0x1002, 8),
        Arg::Out(0x1003, 4),
        Arg::Out(0x1004, 4),
    ];
    assert_eq!(program.call(0x1008, 0x1000, &nowhere).errno(), Errno::FAULT);
    assert_eq!(program.uar(0).ok().u64(0x1002), 0x90_0000, "it is free still");
}
