//! Queries whose answers come later (`UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY)`,
//! `devx_async_cmd_event_read`).

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use mlx5_devx::Errno;
use mlx5_prm::{Opcode, QueryCqOut};
use mlx5_sim::{Refusals, syndrome};

use crate::program::{Arg, Left, Program, is_readable, on_cq, read_raw, without_waiting};

fn file(program: &Program) -> OwnedFd {
    program.call(0x1004, 0x1000, &[Arg::Number(0x1000, 0)]).file()
}

fn ask(program: &Program, handle: i64, input: &[u8], len: u64, id: u64, fd: i64) -> Left {
    let args = [
        Arg::Number(0x1000, handle),
        Arg::In(0x1001, input.to_vec()),
        Arg::In(0x1004, len.to_ne_bytes().to_vec()),
        Arg::In(0x1003, id.to_ne_bytes().to_vec()),
        Arg::Number(0x1002, fd),
    ];
    program.call(0x1001, 0x1004, &args)
}

fn number(file: &OwnedFd) -> i64 {
    file.as_raw_fd().into()
}

#[test]
fn an_answer_comes_behind_its_id() {
    let program = Program::with_devx();
    let ((cq, cqn), file) = (program.cq(), file(&program));
    assert!(!is_readable(&file));
    ask(&program, cq, &on_cq(Opcode::QUERY_CQ, cqn), 272, 0x1234, number(&file)).ok();
    assert!(is_readable(&file));
    let mut buffer = [0xee; 300];
    assert_eq!(program.uverbs.read(file.as_fd(), &mut buffer), Ok(280));
    assert_eq!(buffer[..8], 0x1234u64.to_ne_bytes());
    let (out, _) = QueryCqOut::view_prefix(&buffer[8..]).expect("long enough");
    assert_eq!(out.cq_context().log_cq_size(), 4);
    assert_eq!(buffer[280], 0xee);
    assert!(!is_readable(&file));
}

#[test]
fn refusals_of_the_firmware_are_answers() {
    let program = Program::with_devx();
    let ((cq, cqn), file) = (program.cq(), file(&program));
    let mut query = on_cq(Opcode::QUERY_CQ, cqn);
    query[7] = 9;
    // Before Linux 5.18, too.
    program.adapter.set_refusals(Refusals::Errno);
    ask(&program, cq, &query, 16, 1, number(&file)).ok();
    let mut buffer = [0; 24];
    assert_eq!(program.uverbs.read(file.as_fd(), &mut buffer), Ok(24));
    assert_eq!((buffer[8], &buffer[12..16]), (3, &syndrome::UNKNOWN_OP_MOD.to_be_bytes()[..]));
}

#[test]
fn what_the_kernel_refuses() {
    let program = Program::with_devx();
    let ((cq, cqn), file) = (program.cq(), file(&program));
    let query = on_cq(Opcode::QUERY_CQ, cqn);
    let refused = |handle, input: &[u8], len, fd| ask(&program, handle, input, len, 0, fd).errno();
    assert_eq!(refused(99, &query, 272, number(&file)), Errno::NOENT);
    assert_eq!(refused(cq, &on_cq(Opcode::QUERY_CQ, cqn + 1), 272, number(&file)), Errno::INVAL);
    assert_eq!(refused(cq, &on_cq(Opcode::MODIFY_CQ, cqn), 272, number(&file)), Errno::INVAL);
    assert_eq!(refused(cq, &query, 0x1_0000, number(&file)), Errno::INVAL, "uverbs_get_const");
    // `lookup_get_fd_uobject`
    assert_eq!(refused(cq, &query, 272, 0), Errno::BADF);
    assert_eq!(refused(cq, &query, 272, 1 << 32), Errno::INVAL);
    let events = [Arg::Number(0x1000, 0), Arg::In(0x1001, vec![0; 4])];
    let events = program.call(0x1005, 0x1000, &events).file();
    assert_eq!(refused(cq, &query, 272, number(&events)), Errno::BADF, "a file of events");
    assert!(!is_readable(&file));
}

/// `MAX_ASYNC_BYTES_IN_USE`: 1 MiB of answers, until they are read.
#[test]
fn answers_on_their_way_have_a_limit() {
    let program = Program::with_devx();
    let ((cq, cqn), file) = (program.cq(), file(&program));
    let query = on_cq(Opcode::QUERY_CQ, cqn);
    let ask = |len, id| ask(&program, cq, &query, len, id, number(&file));
    for id in 0..32 {
        ask(0x8000, id).ok();
    }
    assert_eq!(ask(272, 99).errno(), Errno::AGAIN);
    ask(0, 32).ok();
    let mut buffer = vec![0; 0x8008];
    let mut read = |expected: usize| {
        assert_eq!(program.uverbs.read(file.as_fd(), &mut buffer), Ok(expected));
        u64::from_ne_bytes(buffer[..8].try_into().expect("8 bytes"))
    };
    assert_eq!(read(0x8008), 0);
    ask(0x8000, 33).ok();
    assert_eq!(ask(272, 99).errno(), Errno::AGAIN);
    // One that is read without the simulated kernel is seen, too.
    assert_eq!(read_raw(&file, 0x8008)[..8], 1u64.to_ne_bytes());
    ask(0x8000, 34).ok();
    let ids: Vec<u64> = (0..33).map(|at| read(if at == 30 { 8 } else { 0x8008 })).collect();
    assert_eq!(ids, (2..35).collect::<Vec<u64>>(), "none is lost, and their order stays");
}

#[test]
fn reads_are_those_of_the_kernel() {
    let program = Program::with_devx();
    let ((cq, cqn), file) = (program.cq(), file(&program));
    let read = |len: usize| program.uverbs.read(file.as_fd(), &mut vec![0; len]);
    without_waiting(&file);
    assert_eq!(read(1024), Err(Errno::AGAIN));
    for id in [1, 2] {
        ask(&program, cq, &on_cq(Opcode::QUERY_CQ, cqn), 272, id, number(&file)).ok();
    }
    assert_eq!((read(279), read(0)), (Err(Errno::NOSPC), Err(Errno::NOSPC)));
    assert_eq!(read(280), Ok(280), "it is there still");
    assert_eq!(read_raw(&file, 1024).len(), 280, "one at a time");
    assert_eq!(read(1024), Err(Errno::AGAIN));
    let other = std::fs::File::open("/dev/null").expect("every system has it");
    assert_eq!(program.uverbs.read(other.as_fd(), &mut [0; 8]), Err(Errno::BADF));
}

#[test]
fn reads_wait() {
    let program = Program::with_devx();
    let ((cq, cqn), file) = (program.cq(), file(&program));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| program.uverbs.read(file.as_fd(), &mut [0; 512]));
        std::thread::sleep(Duration::from_millis(20));
        assert!(!reader.is_finished());
        ask(&program, cq, &on_cq(Opcode::QUERY_CQ, cqn), 272, 1, number(&file)).ok();
        assert_eq!(reader.join().expect("it ends"), Ok(280));
    });
}

#[test]
fn a_number_that_comes_again_is_the_new_file() {
    let program = Program::with_devx();
    let (cq, cqn) = program.cq();
    let query = on_cq(Opcode::QUERY_CQ, cqn);
    for _ in 0..8 {
        let file = file(&program);
        ask(&program, cq, &query, 272, 7, number(&file)).ok();
        assert_eq!(read_raw(&file, 512).len(), 280);
    }
}
