//! An experiment behind wasm-bindgen: plain data in and out, and nothing of its own.
//!
//! It refuses to hold any logic. The worker that calls it (`www/run/worker.ts`) has the clock, the
//! pace and the messages; the types of all that passes are `run::protocol`, and of what is refused
//! too: a refusal is the notice that the page shows.

mod graphics;
mod panic;
mod parlour;

use gpu::Fault;
use math::Isa;
use run::monitor::{self, Cursor, Writer};
use run::protocol::{Event, Level};
use run::{Experiment, RunError, permalink};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use wasm_bindgen::prelude::*;

pub use graphics::Graphics;
#[cfg(feature = "threads")]
pub use wasm_bindgen_rayon::init_thread_pool;

/// Sends the text of any panic, on any thread, to the page's channel of this name.
#[wasm_bindgen]
pub fn forward_panics(channel: String) {
    panic::forward_to(channel);
}

/// The config and expected digest that a link carries: `{ config, digest }`.
#[wasm_bindgen]
pub fn decode(link: &str) -> Result<JsValue, JsValue> {
    #[derive(Serialize)]
    struct Decoded {
        config: run::protocol::Config,
        digest: Option<run::protocol::Digest>,
    }
    let link = permalink::decode(link).map_err(refusal)?;
    to_js(&Decoded { config: link.config, digest: link.digest })
}

/// How the monitor is laid out.
#[wasm_bindgen]
pub fn layout() -> Result<JsValue, JsValue> {
    to_js(&monitor::layout())
}

#[wasm_bindgen]
pub fn default_config() -> Result<JsValue, JsValue> {
    to_js(&run::default_config())
}

/// Every environment that one can train in, each with what a page needs to draw and drive it.
#[wasm_bindgen]
pub fn environments() -> Result<JsValue, JsValue> {
    to_js(&run::environments())
}

/// The figures of control or backgammon in this module, or of the compute core; `now` gives seconds.
#[wasm_bindgen]
pub fn bench(suite: &str, now: &js_sys::Function, give: &js_sys::Function) {
    let clock = || now.call0(&JsValue::NULL).ok().and_then(|t| t.as_f64()).unwrap_or(0.0);
    let mut sink = |figure: run::bench::Figure| {
        if let Ok(figure) = to_js(&figure) {
            let _ = give.call1(&JsValue::NULL, &figure);
        }
    };
    match suite {
        "control" => {
            let mut attach = || Writer::new(Box::new(monitor::heap()), "").ok();
            run::bench::control(Isa::best(), &clock, &mut attach, &mut sink);
        }
        "backgammon" => run::bench::backgammon(Isa::best(), math::par::threads(), now_s, &mut sink),
        _ => run::bench::core(Isa::best(), &clock, &[], &mut sink),
    }
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn now_ms() -> f64;
}

/// The worker's clock, on any of its threads.
fn now_s() -> f64 {
    1e-3 * now_ms()
}

/// Panics on purpose, on the calling thread or on one of the pool: the way to test what follows.
#[wasm_bindgen]
pub fn panic_for_test(in_pool: bool) {
    if in_pool {
        let mut items = [0u8; 64];
        math::par::each_mut(&mut items, |_, _| panic!("a test asked a thread of the pool to panic"));
    }
    panic!("a test asked the worker to panic");
}

#[wasm_bindgen]
pub struct Lab {
    experiment: Experiment,
    monitor: Writer,
    memory: Arc<[AtomicU64]>,
    /// Behind the newest run's beginning.
    cursor: Cursor,
}

#[wasm_bindgen]
impl Lab {
    pub fn start(config: JsValue) -> Result<Lab, JsValue> {
        Lab::of(Experiment::new(from_js(config)?, Isa::best()))
    }

    pub fn restore(bytes: &[u8]) -> Result<Lab, JsValue> {
        Lab::of(Experiment::restore(bytes, Isa::best()))
    }

    fn of(experiment: Result<Experiment, RunError>) -> Result<Lab, JsValue> {
        let mut experiment = experiment.map_err(refusal)?;
        experiment.lend_clock(now_s);
        let memory = monitor::heap();
        let monitor = Writer::new(Box::new(memory.clone()), "").map_err(refusal)?;
        Ok(Lab { experiment, monitor, memory, cursor: Cursor::default() })
    }

    /// Where in this module's memory the monitor is, in bytes.
    pub fn monitor(&self) -> usize {
        self.memory.as_ptr() as usize
    }

    /// What of the monitor belongs to the run whose beginning was told last.
    pub fn cursor(&self) -> Result<JsValue, JsValue> {
        to_js(&self.cursor)
    }

    /// The digest this run should reach, where a link told.
    pub fn expect(&mut self, digest: JsValue) -> Result<(), JsValue> {
        self.experiment.expect(from_js(digest)?);
        Ok(())
    }

    pub fn command(&mut self, command: JsValue) -> Result<(), JsValue> {
        self.experiment.command(from_js(command)?).map_err(refusal)
    }

    /// One slice of work; false when there is nothing to do.
    pub fn advance(&mut self, now_s: f64) -> bool {
        let worked = self.experiment.advance(now_s);
        self.monitor.beat(&self.experiment.progress());
        worked
    }

    /// Whether the last slice found nothing to do until the GPU has answered, which it then tells.
    pub fn waiting(&self) -> bool {
        self.experiment.waiting()
    }

    /// Whether a GPU should be opened and offered.
    pub fn wants_gpu(&self) -> bool {
        self.experiment.wants_machine()
    }

    pub fn offer(&mut self, graphics: &Graphics) {
        self.experiment.offer(Ok(Box::new(graphics.gpu.clone())));
    }

    /// There is no GPU to offer.
    pub fn offer_none(&mut self, why: String) {
        self.experiment.offer(Err(Fault::NoAdapter { why }));
    }

    /// What happened since the last call, but for what the page reads in the monitor; undefined where
    /// there is nothing.
    pub fn events(&mut self) -> Result<JsValue, JsValue> {
        let mut events = self.experiment.events();
        for event in &events {
            self.monitor.event(event);
            if matches!(event, Event::Began { .. }) {
                self.cursor = self.monitor.cursor();
            }
        }
        events.retain(|event| !matches!(event, Event::Metrics(_) | Event::Evaluation(_)));
        if events.is_empty() { Ok(JsValue::UNDEFINED) } else { to_js(&events) }
    }

    /// Undefined when nothing happened since the last call.
    pub fn frame(&mut self) -> Result<JsValue, JsValue> {
        let mut frame = self.experiment.frame();
        if frame.steps == 0 {
            return Ok(JsValue::UNDEFINED);
        }
        let observations = std::mem::take(&mut frame.observations);
        let object = to_js(&frame)?;
        put_floats(&object, "observations", &observations)?;
        Ok(object)
    }

    /// What the policy would do and the critic expects, at so many points of the environment's plane.
    pub fn picture(&mut self, width: u32, height: u32) -> Result<JsValue, JsValue> {
        let mut picture = self.experiment.picture(width, height);
        let (policy, values) = (std::mem::take(&mut picture.policy), std::mem::take(&mut picture.values));
        let object = to_js(&picture)?;
        put_floats(&object, "policy", &policy)?;
        put_floats(&object, "values", &values)?;
        Ok(object)
    }

    pub fn touch(&mut self, touch: JsValue) -> Result<JsValue, JsValue> {
        to_js(&self.experiment.touch(from_js(touch)?))
    }

    /// Steps of all environments together.
    pub fn env_steps(&self) -> f64 {
        self.experiment.progress().env_steps as f64
    }

    pub fn knobs(&self) -> Result<JsValue, JsValue> {
        to_js(&self.experiment.knobs())
    }

    pub fn plan(&self) -> Result<JsValue, JsValue> {
        to_js(&self.experiment.plan())
    }

    pub fn backend(&self) -> Result<JsValue, JsValue> {
        to_js(&self.experiment.backend())
    }

    pub fn evaluate(&mut self, episodes: u32, seed: u32) -> Result<JsValue, JsValue> {
        to_js(&self.experiment.evaluate(episodes, seed))
    }

    /// The link to this run, with the digest of its weights where `digest` has one.
    pub fn permalink(&self, digest: JsValue) -> Result<String, JsValue> {
        let digest: Option<run::protocol::Digest> = from_js(digest)?;
        Ok(permalink::encode(&self.experiment.config_now(), digest.as_ref()))
    }

    pub fn native_command(&self) -> String {
        permalink::native_command(&self.experiment.config_now())
    }
}

/// A small sweep: several learners in one module, apart from the lab's own run.
#[wasm_bindgen]
pub struct Sweep {
    learners: run::Sweep,
}

#[wasm_bindgen]
impl Sweep {
    pub fn start(spec: JsValue) -> Result<Sweep, JsValue> {
        let learners = run::Sweep::new(from_js(spec)?, Isa::best()).map_err(refusal)?;
        Ok(Sweep { learners })
    }

    /// A slice or a few of each learner; false once all are done.
    pub fn advance(&mut self, now_s: f64) -> bool {
        self.learners.advance(now_s)
    }

    pub fn cells(&self) -> Result<JsValue, JsValue> {
        to_js(&self.learners.cells())
    }
}

/// Floats cross as one typed array, not as numbers one by one.
fn put_floats(object: &JsValue, name: &str, floats: &[f32]) -> Result<(), JsValue> {
    js_sys::Reflect::set(object, &name.into(), &js_sys::Float32Array::from(floats))?;
    Ok(())
}

/// Plain objects, null for what is missing, and typed arrays for bytes.
fn to_js<T: Serialize>(value: &T) -> Result<JsValue, JsValue> {
    let style =
        serde_wasm_bindgen::Serializer::new().serialize_missing_as_null(true).serialize_maps_as_objects(true);
    Ok(value.serialize(&style)?)
}

fn from_js<T: DeserializeOwned>(value: JsValue) -> Result<T, JsValue> {
    Ok(serde_wasm_bindgen::from_value(value)?)
}

/// What the page shows: a text of `RunError` ends with the next step, mostly as its last sentence.
fn refusal(error: RunError) -> JsValue {
    let all = error.to_string();
    let (text, next_step) = all.rsplit_once(". ").unwrap_or((&all, ""));
    let notice = Event::Notice { level: Level::Error, text: format!("{text}."), next_step: next_step.into() };
    to_js(&notice).unwrap_or_else(|unlikely| unlikely)
}
