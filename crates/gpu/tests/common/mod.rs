//! How a test of the GPU runs natively and in the browser from one text.
//!
//! A test is an `async fn` that takes an open [`Gpu`] and never blocks: it reads back with
//! `Readback::fetch().await`, since in a browser an answer arrives only while nothing waits for it. Its file
//! ends with the list of its tests, and so has one form:
//!
//! ```text
//! async fn what_holds(gpu: Gpu) { ... }
//!
//! crate::common::tests!(what_holds);
//! ```
//!
//! `npm test -- --only native,wasm` runs them in both places; what is listed behind `; natively:` in the first alone.

use gpu::{Gpu, OpenOptions};

#[cfg(target_family = "wasm")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

pub async fn open() -> Gpu {
    Gpu::open(OpenOptions::default()).await.expect("an adapter; a software one will do (mesa-vulkan-drivers)")
}

/// Tests of both places; and behind `natively:` those that say nothing new of a browser and whose kernels take its
/// software adapter minutes to compile.
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
