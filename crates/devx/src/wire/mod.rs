//! The wire form of `RDMA_VERBS_IOCTL`, the system call that carries DEVX.
//!
//! One call is one [`Message`]: a header that names an object and a method of it, and attributes,
//! the method's arguments. The kernel reads inputs and writes outputs through addresses in the
//! attributes, and writes handles of new objects and flags into the message itself. All numbers
//! are in the machine's own byte order.
//!
//! * [`Request`] is a call from the side of the program: the arguments by type, and the buffers
//!   that the message points to.
//! * [`Call`] is a call from the side of the kernel, read from a message by the kernel's rules: for
//!   tests and for a simulated kernel.
//!
//! Nothing here opens a file or makes a system call.
//!
//! Sources: `rdma_user_ioctl_cmds.h` (header and attributes), `ib_user_ioctl_cmds.h`,
//! `mlx5_user_ioctl_cmds.h` and `mlx5-abi.h` (numbers and structures), and the kernel's
//! `drivers/infiniband/core/uverbs_ioctl.c` (what it refuses).
//!
//! ```
//! use mlx5_devx::wire::{Call, Message, Request, DRIVER_MLX5};
//!
//! let mut request = Request::obj_destroy(7);
//! let message = request.encode(DRIVER_MLX5)?;
//! assert_eq!(message.as_bytes().len(), 24 + 16);
//!
//! let message = Message::parse(message.as_bytes())?;
//! assert_eq!(Call::of(&message)?, Call::ObjDestroy { handle: 7 });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod call;
mod context;
mod memory;
mod message;
pub mod numbers;
mod request;

pub use call::{Call, Input, Output, Refused};
pub use context::{AllocUcontextReq, AllocUcontextResp};
pub use memory::Memory;
pub use message::{Attr, Header, Malformed, Message};
pub use numbers::DRIVER_MLX5;
#[cfg(test)]
pub(crate) use request::tests as handwritten;
pub use request::{Request, TooLong, UmemMemory};
