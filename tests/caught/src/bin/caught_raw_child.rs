//! Sends one ioctl by the bare system call, and prints what it gave, the errno, and the first bytes
//! of the output. An argument names what is wrong with it.
#![deny(missing_docs)]
#![allow(
    unsafe_code,
    reason = "it makes a system call, which takes addresses; the block says why it is sound"
)]

use std::fs::File;
use std::io::Error;
use std::os::fd::AsRawFd;

/// An ioctl with room for three attributes (`rdma/rdma_user_ioctl_cmds.h`).
#[repr(C)]
struct Ioctl {
    /// Length, object, method, number of attributes.
    header: [u16; 4],
    reserved: u64,
    /// The driver, and a reserved word.
    driver: [u32; 2],
    attrs: [Attr; 3],
}

#[repr(C)]
struct Attr {
    /// Id, length, flags, and a reserved half word.
    halves: [u16; 4],
    data: u64,
}

fn main() {
    let device = File::open("/dev/infiniband/uverbs0").expect("what stands for the device");
    let input = [1u8, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let mut output = [0xeeu8; 16];
    let mut ioctl = Ioctl {
        header: [24 + 2 * 16, 0x1000, 0x1000, 2],
        reserved: 0,
        driver: [1, 0],
        attrs: [
            Attr { halves: [0x1000, 16, 1, 0], data: input.as_ptr() as u64 },
            Attr { halves: [0x1001, 16, 1, 0], data: output.as_mut_ptr() as u64 },
            Attr { halves: [0x1234, 0, 1, 0], data: 0 },
        ],
    };
    for wrong in std::env::args().skip(1) {
        match &wrong[..] {
            "length" => ioctl.header[0] -= 16,
            "object" => ioctl.header[1] = 0x1fff,
            "method" => ioctl.header[2] = 0x1fff,
            "missing" => (ioctl.header[0], ioctl.header[3]) = (24 + 16, 1),
            "reserved" => ioctl.reserved = 1,
            "driver" => ioctl.driver[0] = 0,
            "twice" => ioctl.attrs[1].halves[0] = 0x1000,
            "short" => ioctl.attrs[1].halves[1] = 15,
            "data" => ioctl.attrs[1].halves[3] = 1,
            "third" => (ioctl.header[0], ioctl.header[3]) = (24 + 3 * 16, 3),
            "optional" => ioctl.attrs[2].halves[2] = 0,
            _ => panic!("{wrong}?"),
        }
    }
    let (fd, request) = (device.as_raw_fd(), 0xc018_1b01_u64);
    // SAFETY: the argument of this request, whose attributes point to buffers of their lengths.
    let result = unsafe { libc::syscall(libc::SYS_ioctl, fd, request, &raw mut ioctl) };
    println!("{result} {}", Error::last_os_error().raw_os_error().unwrap_or(0));
    let start = &output[..8];
    println!("{}", start.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}")));
}
