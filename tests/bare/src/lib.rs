//! Uses the codec where there is no std and no allocator.
#![no_std]

use mlx5_prm::{Cqn, ModifyCqIn};

/// With std in the build there would be two handlers, which is an error.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// Writes a MODIFY_CQ, and gives back its period.
#[unsafe(no_mangle)]
pub extern "C" fn encode(mailbox: &mut [u8; 272], cqn: u32) -> u16 {
    match (ModifyCqIn::view_mut(mailbox), Cqn::try_from(cqn)) {
        (Ok(modify), Ok(cqn)) => {
            *modify = ModifyCqIn::new().with_cqn(cqn).changing_cq_period(16);
            modify.cq_context().cq_period()
        }
        _ => 0,
    }
}
