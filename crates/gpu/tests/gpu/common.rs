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
//! `npm test -- --only native,learnwasm` runs the tests in both places. Tests listed after `; natively:` run natively only.
//! `npm test` leaves out those of them with `#[ignore = "all: NAME"] fn`; the test `NAME` notices the same fault in most cases.

use gpu::{Gpu, OpenOptions};

#[cfg(target_family = "wasm")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// Opens a new device. A test that makes its device unusable needs a new one, so that later tests keep the compiled kernels.
pub async fn open() -> Gpu {
    Gpu::open(OpenOptions::default()).await.expect("no adapter; a software adapter suffices (mesa-vulkan-drivers)")
}

/// Open devices that no test currently uses. A device keeps its compiled kernels for later tests. Two tests never use a device at the same
/// time: they would wait for each other's work, because a software adapter compiles and computes one submit after the other.
#[cfg(not(target_family = "wasm"))]
static IDLE: std::sync::Mutex<Vec<Gpu>> = std::sync::Mutex::new(Vec::new());

/// Runs a test with an idle device, or with a new one if there is none. The device becomes idle again unless the test fails or the device
/// has a fault.
#[cfg(not(target_family = "wasm"))]
pub fn run<F: Future<Output = ()>>(test: impl FnOnce(Gpu) -> F) {
    let idle = IDLE.lock().unwrap().pop();
    pollster::block_on(async {
        let gpu = match idle {
            Some(gpu) => gpu,
            None => open().await,
        };
        test(gpu.clone()).await;
        if gpu.check().is_ok() {
            IDLE.lock().unwrap().push(gpu);
        }
    });
}

/// Defines tests that run natively and in the browser. Tests after `natively:` run only natively, because they would cover no additional
/// code in the browser. The browser's software adapter would also need minutes to compile their kernels.
macro_rules! tests {
    ($($name:ident),* $(,)? $(; natively: $($(#[$tier:meta] fn)? $long:ident),+ $(,)?)?) => {
        $(mod natively {$(
            #[cfg(not(target_family = "wasm"))]
            #[test]
            $(#[$tier])?
            fn $long() {
                crate::common::run(super::$long);
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
                crate::common::run(super::$name);
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
