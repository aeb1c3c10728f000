//! A GPU as the browser lends it. It belongs to the thread that opened it, which is the lab's worker.

use crate::{refusal, to_js};
use gpu::{Gpu, OpenOptions};
use serde::Serialize;
use std::cell::RefCell;
use wasm_bindgen::prelude::*;

thread_local! {
    /// Whom to call when the GPU has answered.
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
    /// Asks the browser for its fastest GPU; `woken` is called whenever that has answered or has failed. It is
    /// called `name` where the browser gives no better one; with `largest_buffer`, no more bytes a buffer are used
    /// than those.
    pub async fn open(
        woken: js_sys::Function,
        name: String,
        largest_buffer: Option<f64>,
    ) -> Result<Graphics, JsValue> {
        WOKEN.set(Some(woken));
        let options = OpenOptions { largest_buffer: largest_buffer.map(|bytes| bytes as u64), name };
        let gpu = Gpu::open(options).await.map_err(refusal)?;
        gpu.on_answer(answered);
        Ok(Graphics { gpu })
    }

    /// `{ name, backend, software }`
    pub fn about(&self) -> Result<JsValue, JsValue> {
        #[derive(Serialize)]
        struct About<'a> {
            name: &'a str,
            backend: &'a str,
            software: bool,
        }
        let about = self.gpu.about();
        to_js(&About { name: &about.name, backend: about.backend, software: about.software })
    }

    /// Gives the GPU up in the middle of whatever it does: the way to test what follows.
    pub fn lose_for_test(&self) {
        self.gpu.destroy();
    }
}
