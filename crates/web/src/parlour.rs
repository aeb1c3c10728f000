//! The room of backgammon behind wasm-bindgen, as `Lab` is for control: plain data in and out. The worker that calls it is
//! `www/run/backgammon/worker.ts`; the types of all that passes are `run::backgammon::protocol`.

use crate::{Graphics, from_js, now_s, refusal, to_js};
use gpu::Fault;
use math::Isa;
use run::{RunError, backgammon, permalink};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
pub fn default_parlour() -> Result<JsValue, JsValue> {
    to_js(&backgammon::default_config())
}

/// Every learner that can be chosen.
#[wasm_bindgen]
pub fn learners() -> Result<JsValue, JsValue> {
    to_js(&backgammon::learners())
}

#[wasm_bindgen]
pub struct Parlour {
    parlour: backgammon::Parlour,
}

#[wasm_bindgen]
impl Parlour {
    pub fn start(config: JsValue) -> Result<Parlour, JsValue> {
        Parlour::of(backgammon::Parlour::new(from_js(config)?, Isa::best()))
    }

    pub fn restore(bytes: &[u8]) -> Result<Parlour, JsValue> {
        Parlour::of(backgammon::Parlour::restore(bytes, Isa::best()))
    }

    fn of(parlour: Result<backgammon::Parlour, RunError>) -> Result<Parlour, JsValue> {
        let mut parlour = parlour.map_err(refusal)?;
        parlour.lend_clock(now_s);
        Ok(Parlour { parlour })
    }

    /// The digest this run should reach, where a link told.
    pub fn expect(&mut self, digest: JsValue) -> Result<(), JsValue> {
        self.parlour.expect(from_js(digest)?);
        Ok(())
    }

    pub fn command(&mut self, command: JsValue) -> Result<(), JsValue> {
        self.parlour.command(from_js(command)?).map_err(refusal)
    }

    /// One slice of work; false when there is nothing to do.
    pub fn advance(&mut self, now_s: f64) -> bool {
        self.parlour.advance(now_s)
    }

    /// Whether the last slice found nothing to do until the GPU has answered, which it then tells.
    pub fn waiting(&self) -> bool {
        self.parlour.waiting()
    }

    /// Whether a GPU should be opened and offered.
    pub fn wants_gpu(&self) -> bool {
        self.parlour.wants_machine()
    }

    pub fn offer(&mut self, graphics: &Graphics) {
        self.parlour.offer(Ok(Box::new(graphics.gpu.clone())));
    }

    /// There is no GPU to offer.
    pub fn offer_none(&mut self, why: String) {
        self.parlour.offer(Err(Fault::NoAdapter { why }));
    }

    /// What happened since the last call; undefined where there is nothing.
    pub fn events(&mut self) -> Result<JsValue, JsValue> {
        let events = self.parlour.events();
        if events.is_empty() { Ok(JsValue::UNDEFINED) } else { to_js(&events) }
    }

    pub fn knobs(&self) -> Result<JsValue, JsValue> {
        to_js(&self.parlour.knobs())
    }

    pub fn backend(&self) -> Result<JsValue, JsValue> {
        to_js(&self.parlour.backend())
    }

    /// The link to this run, with the digest of its weights where `digest` has one.
    pub fn permalink(&self, digest: JsValue) -> Result<String, JsValue> {
        let digest: Option<run::protocol::Digest> = from_js(digest)?;
        Ok(permalink::encode(&self.parlour.config_now(), digest.as_ref()))
    }

    pub fn native_command(&self) -> String {
        permalink::native_command(&self.parlour.config_now())
    }

    /// Null where nobody has sat down.
    pub fn table(&self) -> Result<JsValue, JsValue> {
        to_js(&self.parlour.table())
    }

    pub fn sit(&mut self, setup: JsValue) -> Result<JsValue, JsValue> {
        to_js(&self.parlour.sit(from_js(setup)?).map_err(refusal)?)
    }

    pub fn act(&mut self, act: JsValue) -> Result<JsValue, JsValue> {
        to_js(&self.parlour.act(&from_js(act)?).map_err(refusal)?)
    }

    pub fn analyse(&mut self, inquiry: JsValue) -> Result<JsValue, JsValue> {
        to_js(&self.parlour.analyse(&from_js(inquiry)?).map_err(refusal)?)
    }

    pub fn unfold(&mut self, asked: JsValue) -> Result<JsValue, JsValue> {
        to_js(&self.parlour.unfold(&from_js(asked)?).map_err(refusal)?)
    }

    pub fn hint(&mut self, engine: JsValue) -> Result<JsValue, JsValue> {
        to_js(&self.parlour.hint(from_js(engine)?).map_err(refusal)?)
    }

    pub fn review(&mut self, engine: JsValue) -> Result<JsValue, JsValue> {
        to_js(&self.parlour.review(from_js(engine)?).map_err(refusal)?)
    }

    /// The match so far in words that other programs read.
    pub fn transcript(&self) -> Result<String, JsValue> {
        self.parlour.transcript().map_err(refusal)
    }
}
