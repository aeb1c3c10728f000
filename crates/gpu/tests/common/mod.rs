//! GPU tests that run natively and in the browser from the same source.
//!
//! A test is an `async fn` that takes an open [`Gpu`] and never blocks. The test reads back with `Readback::fetch().await`, because a
//! browser delivers results only between tasks. Each file ends with the list of its tests:
//!
//! ```text
//! async fn kernel_computes_sums(gpu: Gpu) { ... }
//!
//! crate::common::tests!(kernel_computes_sums);
//! ```
//!
//! `npm test -- --only native,wasm` runs the tests in both places. Tests listed after `; natively:` run natively only.

use gpu::{Gpu, OpenOptions};

#[cfg(target_family = "wasm")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

pub async fn open() -> Gpu {
    Gpu::open(OpenOptions::default()).await.expect("no adapter; a software adapter suffices (mesa-vulkan-drivers)")
}

/// Defines tests that run natively and in the browser. Tests after `natively:` run only natively, because they would cover no additional
/// code in the browser. The browser's software adapter would also need minutes to compile their kernels.
macro_rules! tests {
    ($($name:ident),* $(,)? $(; natively: $($long:ident),+ $(,)?)?) => {
        $(mod natively {$(
            #[cfg(not(target_family = "wasm"))]
            #[test]
            fn $long() {
                pollster::block_on(async { super::$long(crate::common::open().await).await });
            }

            #[cfg(target_family = "wasm")]
            const _: () = {
                let _ = super::$long;
            };
        )+})?
        mod tests {$(
            #[cfg(not(target_family = "wasm"))]
            #[test]
            fn $name() {
                pollster::block_on(async { super::$name(crate::common::open().await).await });
            }

            #[cfg(target_family = "wasm")]
            #[wasm_bindgen_test::wasm_bindgen_test]
            async fn $name() {
                super::$name(crate::common::open().await).await;
            }
        )*}
    };
}
pub(crate) use tests;
