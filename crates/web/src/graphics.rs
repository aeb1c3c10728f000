//! A GPU of the browser. Only the thread that opened the GPU may use it. The run works on the same thread.

use gpu::{Fault, Gpu, OpenOptions};
use std::cell::RefCell;
use wasm_bindgen::prelude::*;

thread_local! {
    /// Callback that is called when a GPU result has arrived, and when the GPU fails.
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
    /// Opens the browser's fastest GPU. If there is none, returns the reason as an error. `woken` is called when a result has arrived, and
    /// when the GPU fails. `name` is the GPU's name if the browser does not report a better one. `largest_buffer` limits the size of a
    /// buffer, in bytes.
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

    /// Returns true while the GPU has not failed.
    pub fn works(&self) -> bool {
        self.gpu.check().is_ok()
    }

    /// Destroys the GPU or, if `out_of_memory` is true, makes it report exhausted memory. Only tests call this function.
    pub fn fail_for_test(&self, out_of_memory: bool) {
        if out_of_memory {
            self.gpu.fail(Fault::OutOfMemory);
        } else {
            self.gpu.destroy();
        }
    }
}
