//! Detection of AMX tiles.

use super::x86::has_bf16;
use std::arch::asm;
use std::arch::x86_64::{__cpuid_count, _xgetbv};
use std::sync::OnceLock;

/// Returns true if the processor and the operating system provide bf16 products and tiles. The first call requests the permission to use
/// tiles, for all threads.
pub fn is_available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| has_bf16() && has_tiles() && is_permitted())
}

fn has_tiles() -> bool {
    const AMX_BF16: u32 = 1 << 22;
    const AMX_TILE: u32 = 1 << 24;
    /// Bits of the register XCR0 for the two parts of the tile state: configuration and data.
    const STATE: u64 = 0b11 << 17;
    #[target_feature(enable = "xsave")]
    fn saved() -> u64 {
        // SAFETY: AVX-512 was detected, so the processor has `xsave` and the system has enabled it.
        unsafe { _xgetbv(0) }
    }
    let edx = __cpuid_count(7, 0).edx;
    // SAFETY: AVX-512 was detected, and its state requires `xsave`.
    edx & AMX_BF16 != 0 && edx & AMX_TILE != 0 && unsafe { saved() } & STATE == STATE
}

/// Requests permission to use tiles; returns true if granted. Linux provides the 8 KiB of tile state only to programs that request it.
#[cfg(target_os = "linux")]
fn is_permitted() -> bool {
    const ARCH_PRCTL: usize = 158;
    const REQUEST: usize = 0x1023;
    const TILE_DATA: usize = 18;
    let refused: isize;
    // SAFETY: the call changes only the permissions of this process.
    unsafe {
        asm!("syscall", inlateout("rax") ARCH_PRCTL => refused, in("rdi") REQUEST, in("rsi") TILE_DATA,
             lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    refused == 0
}

#[cfg(not(target_os = "linux"))]
fn is_permitted() -> bool {
    false
}
