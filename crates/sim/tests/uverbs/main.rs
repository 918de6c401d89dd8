//! The simulated kernel by its `RDMA_VERBS_IOCTL`: each rule with its errno.

mod arbitrary;
mod completions;
mod context;
mod events;
mod form;
mod hooks;
mod objects;
mod program;
mod requests;
mod uar;
mod umem;
