//! Benchmarks. `npm run bench` builds its own modules, and only these modules contain the benchmarks.

use crate::clock::now_s;
use crate::to_js;
use ::bench::Figure;
use ::bench::measure::Bench;
use math::Isa;
use run::monitor::{self, Writer};
use run::room::Schema;
use wasm_bindgen::prelude::*;

/// Runs the benchmark suite of a room in this module, or of the compute core (`core`). Passes each figure (a measured number with its name)
/// to `give`. If `profile` is true, measures the time per operation of a training step instead.
#[wasm_bindgen]
pub fn bench(suite: &str, profile: bool, give: &js_sys::Function) {
    let mut sink = |figure: Figure| {
        if let Ok(figure) = to_js(&figure) {
            let _ = give.call1(&JsValue::NULL, &figure);
        }
    };
    let mut attach = |schema: &Schema| Writer::new(Box::new(monitor::heap(schema)), schema, "").ok();
    let mut bench = Bench { isa: Isa::best(), now: now_s, attach: &mut attach, sink: &mut sink, report_missing: &mut |_| {} };
    if let Some(measure) = ::bench::suite(suite).and_then(|suite| if profile { suite.profile } else { Some(suite.measure) }) {
        measure(&mut bench);
    }
}
