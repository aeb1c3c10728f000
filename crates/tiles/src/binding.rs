//! The class of a tile in JavaScript. The worker of the start page (`www/start/worker.ts`) uses it.

use crate::Tile;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
pub struct LiveTile(Box<dyn Tile>);

#[wasm_bindgen]
impl LiveTile {
    #[wasm_bindgen(constructor)]
    pub fn new(link: &str) -> Result<LiveTile, JsError> {
        crate::begin(link).map(LiveTile).map_err(|error| JsError::new(&error.to_string()))
    }

    pub fn advance(&mut self) {
        self.0.advance();
    }

    pub fn score(&self) -> Option<f64> {
        self.0.score()
    }

    pub fn picture(&mut self, seconds: f64) -> Vec<f32> {
        self.0.picture(seconds)
    }
}
