//! wasm-bindgen interface to runs of all rooms (learning tasks of Hothouse). Inputs and outputs are plain data.
//!
//! The crate contains no logic, and only `rooms.rs` names rooms. The calling worker (`www/run/worker.ts`) provides the clock, the pace and
//! the messages. `run::protocol` and the rooms define the types of all data. An error is returned as the notice that the page shows.

#[cfg(feature = "bench")]
mod bench;
mod clock;
mod graphics;
mod panic;
mod rooms;

use clock::now_s;
use gpu::Fault;
use math::Isa;
use run::monitor::{self, Cursor, Writer};
use run::protocol::{Config, Digest, Event, Level, SweepSpec};
use run::room::Answer;
use run::{AnyRun, Host, RunError, permalink};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use wasm_bindgen::prelude::*;

pub use graphics::Graphics;
#[cfg(feature = "threads")]
pub use wasm_bindgen_rayon::init_thread_pool;

/// Memory limit of a run in bytes. The module has at most 1 GiB; the remainder is for threads, saves and query results.
const RUN_BYTES: u64 = 900 << 20;

fn host() -> Host {
    Host { memory_bytes: RUN_BYTES, ..Host::new(Isa::best()) }
}

/// Sends the text of any panic, on any thread, to the page's broadcast channel with the name `channel`.
#[wasm_bindgen]
pub fn forward_panics(channel: String) {
    panic::forward_to(channel);
}

/// Returns the descriptions of all rooms.
#[wasm_bindgen]
pub fn rooms() -> Result<JsValue, JsValue> {
    to_js(&run::rooms().iter().map(|room| room.info()).collect::<Vec<_>>())
}

/// Parses a link. Returns its config and the digest that the run should reach, as `{ config, content, digest }`. `content` has the bytes of
/// the user data, or is null if the link does not contain them.
#[wasm_bindgen]
pub fn decode(link: &str) -> Result<JsValue, JsValue> {
    #[derive(Serialize)]
    struct Decoded<'a> {
        config: &'a Config,
        content: Option<&'a Bytes>,
        digest: Option<Digest>,
    }
    let permalink::Link { config, digest } = &permalink::decode(link, host()).map_err(refusal)?;
    let content = config.data.as_ref().and_then(|data| data.content.as_ref()).map(|content| Bytes::new(content));
    to_js(&Decoded { config, content, digest: digest.clone() })
}

/// Returns the default config of the room that a link names, or of the first room if this module does not have the named room. Ignores the
/// other parts of the link.
#[wasm_bindgen]
pub fn default_config(link: &str) -> Result<JsValue, JsValue> {
    let name = link.trim_start_matches('#').trim_start_matches('/').split(['?', '/']).next().unwrap_or_default();
    to_js(&run::room(name).map_or_else(|_| run::default_config(), run::config_of))
}

/// Returns the room and the variant of a saved run, as `{ room, variant }`.
#[wasm_bindgen]
pub fn origin(bytes: &[u8]) -> Result<JsValue, JsValue> {
    to_js(&run::origin(bytes).map_err(refusal)?)
}

/// Returns an error if a file would not fit into memory twice, once packed and once unpacked. The page calls this function before it loads
/// the file, because the module cannot recover from a failed allocation.
#[wasm_bindgen]
pub fn has_room(name: &str, bytes: f64) -> Result<(), JsValue> {
    let twice = 2.0 * bytes;
    if twice <= RUN_BYTES as f64 && Vec::<u8>::new().try_reserve_exact(twice as usize).is_ok() {
        return Ok(());
    }
    Err(refusal(RunError::FileTooLarge { name: name.into(), mb: (bytes * 1e-6).ceil() as u64 }))
}

/// Returns the errors in a text that a run of the room learns from, each with its place. Only modules with a compiler of such texts have
/// this function, because the compiler makes a module larger.
#[cfg(feature = "own")]
#[wasm_bindgen]
pub fn problems(room: &str, text: &str) -> Result<JsValue, JsValue> {
    to_js(&run::room(room).map_err(refusal)?.problems(text))
}

/// Describes the user data that a saved run requires in addition to its file. Returns undefined if the run requires no such data.
#[wasm_bindgen]
pub fn data_wanted(bytes: &[u8]) -> Result<JsValue, JsValue> {
    let wanted = run::data_wanted(bytes).map_err(refusal)?;
    wanted.map_or(Ok(JsValue::UNDEFINED), |wanted| to_js(&wanted))
}

/// Returns the model of a saved run in a format (`onnx`, `c` or `js`) and the model card, as `{ model, card }`. Each file is `{ name, bytes
/// }`. `data` has the bytes of the run's user data, which are required if the saved run does not contain them.
#[cfg(feature = "export")]
#[wasm_bindgen]
pub fn export_model(saved: &[u8], data: Option<Vec<u8>>, format: &str) -> Result<JsValue, JsValue> {
    let exported = || {
        let wanted = run::data_wanted(saved)?;
        let data = wanted.zip(data).map(|(wanted, data)| run::protocol::Dataset::new(wanted.name, data));
        run::restore_with(saved, host(), data.as_ref())?.export(run::export::Format::named(format)?)
    };
    to_js(&exported().map_err(refusal)?)
}

/// Panics on the calling thread or, if `in_pool` is true, on a thread of the pool. Only tests call this function.
#[wasm_bindgen]
pub fn panic_for_test(in_pool: bool) {
    if in_pool {
        let mut items = [0u8; 64];
        math::par::each_mut(&mut items, |_, _| panic!("test panic in a pool thread"));
    }
    panic!("test panic in the worker");
}

/// A run of any room.
#[wasm_bindgen]
pub struct Run {
    run: Box<dyn AnyRun>,
    monitor: Writer,
    memory: Arc<[AtomicU64]>,
    /// Monitor position directly after the latest `Began` event. [`Run::events`] sets this position.
    cursor: Cursor,
}

#[wasm_bindgen]
impl Run {
    pub fn begin(config: JsValue) -> Result<Run, JsValue> {
        Run::of(run::begin(from_js(config)?, host()))
    }

    pub fn restore(bytes: &[u8]) -> Result<Run, JsValue> {
        Run::of(run::restore(bytes, host()))
    }

    fn of(run: Result<Box<dyn AnyRun>, RunError>) -> Result<Run, JsValue> {
        let mut run = run.map_err(refusal)?;
        run.set_clock(now_s);
        let memory = monitor::heap(run.schema());
        let monitor = Writer::new(Box::new(memory.clone()), run.schema(), "").map_err(refusal)?;
        Ok(Run { run, monitor, memory, cursor: Cursor::default() })
    }

    /// Returns the variant of the current run.
    pub fn variant(&self) -> Result<JsValue, JsValue> {
        to_js(self.run.variant())
    }

    /// Returns the byte address of the monitor in the module's memory. The monitor is shared memory to which the run publishes its events.
    pub fn monitor(&self) -> usize {
        self.memory.as_ptr() as usize
    }

    /// Returns the memory layout of the monitor's data.
    pub fn layout(&self) -> Result<JsValue, JsValue> {
        to_js(&monitor::layout(self.run.schema()))
    }

    /// Returns the monitor position directly after the latest `Began` event, as [`Run::events`] has set it.
    pub fn cursor(&self) -> Result<JsValue, JsValue> {
        to_js(&self.cursor)
    }

    /// Sets the digest (a hash of the weights) of the link that opened the run. At the iteration of this digest, the run compares it with
    /// the digest of its own weights.
    pub fn expect(&mut self, digest: JsValue) -> Result<(), JsValue> {
        self.run.expect(from_js(digest)?);
        Ok(())
    }

    pub fn command(&mut self, command: JsValue) -> Result<(), JsValue> {
        self.run.command(from_js(command)?).map_err(refusal)
    }

    /// Runs one slice of work. Returns false if there is nothing to do. `now_s` is the time of the worker's clock in seconds.
    pub fn advance(&mut self, now_s: f64) -> bool {
        let worked = self.run.advance(now_s);
        self.monitor.beat(&self.run.progress());
        worked
    }

    /// Returns true if the last slice only waited for the GPU. When the result of the GPU arrives, the callback `woken` of `Graphics::open`
    /// is called.
    pub fn waiting(&self) -> bool {
        self.run.waiting()
    }

    /// Returns true while the run is being prepared, for example while it reads a text.
    pub fn preparing(&self) -> bool {
        self.run.is_preparing()
    }

    /// Returns true if the caller should open a GPU and offer it to the run.
    pub fn wants_gpu(&mut self) -> bool {
        self.run.wants_machine()
    }

    pub fn offer(&mut self, graphics: &Graphics) {
        self.run.offer(Ok(Box::new(graphics.gpu.clone())));
    }

    /// Reports that no GPU is available, for the reason `why`.
    pub fn offer_none(&mut self, why: String) {
        self.run.offer(Err(Fault::NoAdapter { why }));
    }

    /// Returns the events since the last call; undefined if there are none. Rows of metrics and tests are omitted, because the page reads
    /// them from the monitor.
    pub fn events(&mut self) -> Result<JsValue, JsValue> {
        let mut events = self.run.events();
        for event in &events {
            self.monitor.event(event);
            if matches!(event, Event::Began(_)) {
                self.cursor = self.monitor.cursor();
            }
        }
        events.retain(|event| !matches!(event, Event::Metrics(_) | Event::Test(_)));
        if events.is_empty() { Ok(JsValue::UNDEFINED) } else { to_js(&events) }
    }

    /// Answers a question of the form `{ ask: "name", … }`.
    pub fn ask(&mut self, question: JsValue) -> Result<JsValue, JsValue> {
        let answer: Answer = self.run.ask(from_js(question)?).map_err(refusal)?;
        to_js(&answer)
    }

    /// Returns the operations of the plan that computes the gradients, with their total times since the recording began; null if the
    /// learner has no plan. `look` switches the recording on or off.
    pub fn operations(&mut self, look: bool) -> Result<JsValue, JsValue> {
        to_js(&self.run.operations(look))
    }

    /// Tests the current weights for at most `for_s` seconds. Returns the test's row, or undefined if the next call must continue the test.
    pub fn test(&mut self, for_s: f64) -> Result<JsValue, JsValue> {
        let began_s = now_s();
        let row = self.run.test_while(&mut || now_s() - began_s < for_s).map_err(refusal)?;
        row.map_or(Ok(JsValue::UNDEFINED), |row| to_js(&row))
    }

    /// Returns an error if a run of `config` would not fit into memory in addition to this run.
    pub fn check_beside(&self, config: JsValue) -> Result<(), JsValue> {
        let host = host();
        let taken = run::bytes(self.run.config(), host).map_err(refusal)?;
        let left = Host { memory_bytes: host.memory_bytes.saturating_sub(taken), ..host };
        run::validate(&from_js(config)?, left).map_err(refusal)
    }

    /// Returns the indices of the marks (changes of knobs) before which the run kept a checkpoint. `save_before` returns the checkpoint of
    /// one mark.
    pub fn kept_before(&self) -> Vec<usize> {
        self.run.kept_before()
    }

    pub fn save_before(&self, mark: usize) -> Result<Vec<u8>, JsValue> {
        self.run.save_before(mark).map_err(refusal)
    }

    /// Returns the value of the room's first counter.
    pub fn count(&self) -> f64 {
        self.run.progress().counts.first().copied().unwrap_or_default()
    }

    pub fn config(&self) -> Result<JsValue, JsValue> {
        to_js(self.run.config())
    }

    /// Returns the bytes of the user data. Returns undefined if the run has no user data.
    pub fn data(&self) -> Option<Vec<u8>> {
        Some(self.run.config().data.as_ref()?.content.as_ref()?.to_vec())
    }

    pub fn knobs(&self) -> Result<JsValue, JsValue> {
        to_js(&self.run.knobs())
    }

    pub fn backend(&self) -> Result<JsValue, JsValue> {
        to_js(&self.run.backend())
    }

    /// Returns a link and a command line, each of which starts the same run.
    pub fn shared(&self) -> Result<JsValue, JsValue> {
        to_js(&self.run.shared())
    }
}

/// A small sweep: several learners in one module, separate from the run of the page.
#[wasm_bindgen]
pub struct Sweep {
    learners: run::Sweep,
}

#[wasm_bindgen]
impl Sweep {
    /// Starts a sweep. If the config in `spec` requires user data, the sweep uses the data of `run`.
    pub fn start(spec: JsValue, run: &Run) -> Result<Sweep, JsValue> {
        let mut spec: SweepSpec = from_js(spec)?;
        spec.config.data.iter_mut().for_each(|data| data.fill(run.run.config().data.as_ref()));
        let learners = run::Sweep::new(spec, host()).map_err(refusal)?;
        Ok(Sweep { learners })
    }

    /// Runs one slice of each unfinished learner at the time `now_s` in seconds. Returns false when all learners are done.
    pub fn advance(&mut self, now_s: f64) -> bool {
        self.learners.advance(now_s)
    }

    pub fn cells(&self) -> Result<JsValue, JsValue> {
        to_js(&self.learners.cells())
    }
}

/// Converts a value to plain objects, with null for missing values and typed arrays for bytes.
fn to_js<T: Serialize + ?Sized>(value: &T) -> Result<JsValue, JsValue> {
    let style = serde_wasm_bindgen::Serializer::new().serialize_missing_as_null(true).serialize_maps_as_objects(true);
    Ok(value.serialize(&style)?)
}

fn from_js<T: DeserializeOwned>(value: JsValue) -> Result<T, JsValue> {
    Ok(serde_wasm_bindgen::from_value(value)?)
}

/// Converts an error to the notice that the page shows.
fn refusal(error: RunError) -> JsValue {
    let (text, next_step) = (error.what(), error.next_step());
    let notice = Event::Notice { level: Level::Error, text, next_step };
    to_js(&notice).unwrap_or_else(|unlikely| unlikely)
}
