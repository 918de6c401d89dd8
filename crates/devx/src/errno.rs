//! Names of errnos, for people.

use crate::Errno;

macro_rules! names {
    ($($name:ident)*) => {
        const NAMES: &[(Errno, &str)] = &[$( (Errno::$name, concat!("E", stringify!($name))) ),*];
    };
}

// What the kernel's uverbs, mlx5 and fwctl code give, and the replayer's own.
names! {
    ACCESS AGAIN BADE BADF BADMSG BUSY CANCELED CONNRESET DEADLK EXIST FAULT FBIG INTR INVAL IO
    MFILE MSGSIZE NFILE NODATA NODEV NOENT NOMEM NOSPC NOSYS NOTTY NXIO OPNOTSUPP OVERFLOW PERM
    PIPE PROTO PROTONOSUPPORT RANGE REMOTEIO ROFS TIMEDOUT
}

/// The name, such as `EINVAL`, of an errno that a transport is likely to give.
pub(crate) fn name(errno: Errno) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| *known == errno).map(|(_, name)| *name)
}
