//! A GPU of the browser. It belongs to the thread that opened it, which is the thread of the run.

use gpu::{Fault, Gpu, OpenOptions};
use std::cell::RefCell;
use wasm_bindgen::prelude::*;

thread_local! {
    /// Callback that is called after each GPU result or failure.
    static WOKEN: RefCell<Option<js_sys::Function>> = const { RefCell::new(None) };
}

fn answered() {
    let woken = WOKEN.with_borrow(Clone::clone);
    if let Some(woken) = woken {
        let _ = woken.call0(&JsValue::NULL);
    }
}

/// An open GPU.
#[wasm_bindgen]
pub struct Graphics {
    pub(crate) gpu: Gpu,
}

#[wasm_bindgen]
impl Graphics {
    /// Opens the browser's fastest GPU, or returns the reason why there is none. `woken` is called after each result or failure. `name` is
    /// used if the browser does not report a better name. `largest_buffer` is the largest permitted size of a buffer in bytes.
    pub async fn open(woken: js_sys::Function, name: String, largest_buffer: Option<f64>) -> Result<Graphics, JsValue> {
        WOKEN.set(Some(woken));
        let largest_buffer = largest_buffer.map(|bytes| bytes as u64);
        let options = OpenOptions { largest_buffer, name, ..OpenOptions::default() };
        let gpu = Gpu::open(options).await.map_err(|fault| match fault {
            Fault::NoAdapter { why } => JsValue::from(why),
            other => JsValue::from(other.to_string()),
        })?;
        let works = gpu.tune_once(&crate::clock::now_s).await;
        works.map_err(|fault| JsValue::from(fault.to_string()))?;
        gpu.on_answer(answered);
        Ok(Graphics { gpu })
    }

    /// Returns true while no error has occurred.
    pub fn works(&self) -> bool {
        self.gpu.check().is_ok()
    }

    /// For tests: destroys the GPU during its work, or makes it run out of memory.
    pub fn fail_for_test(&self, out_of_memory: bool) {
        if out_of_memory {
            self.gpu.fail(Fault::OutOfMemory);
        } else {
            self.gpu.destroy();
        }
    }
}
