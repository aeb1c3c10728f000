//! A compiled environment.

use super::super::meta::{Choice, Meta};
use super::super::program::{Attribute, Code, Type};
use std::sync::Arc;

/// An environment of a file, ready to run.
#[derive(Clone, Debug)]
pub struct World {
    pub meta: Meta,
    /// Attributes of the class, in the order of their names.
    pub attributes: Vec<Attribute>,
    pub(super) code: Arc<Code>,
}

/// A shape of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Name of the function that draws it.
    pub kind: &'static str,
    /// Arguments that are numbers; the corners of a polygon.
    pub numbers: Vec<f32>,
    /// Text of `text`.
    pub text: Option<String>,
    pub colour: String,
}

impl World {
    pub fn new(meta: Meta, attributes: Vec<Attribute>, code: Code) -> World {
        World { meta, attributes, code: Arc::new(code) }
    }

    /// Length of an observation.
    pub fn observation_len(&self) -> usize {
        self.code.show.observation.len()
    }

    /// Number of choices that a mask permits or forbids; 0 without a mask.
    pub fn mask_len(&self) -> usize {
        self.code.show.permitted.len()
    }

    /// Number of numbers in an action.
    pub fn action_len(&self) -> usize {
        self.meta.actions.len()
    }

    /// Number of choices, or `None` if an action has numbers.
    pub fn choices(&self) -> Option<u32> {
        match self.meta.actions {
            Choice::Choices(count) => Some(count),
            Choice::Box { .. } => None,
        }
    }

    /// Number of numbers in a saved state. An integer has two, its upper and its lower 16 bits, so that each is exact in an f32.
    pub fn state_len(&self) -> usize {
        self.attributes.iter().map(|attribute| attribute.len * (1 + usize::from(attribute.ty == Type::Int))).sum()
    }

    /// Number of instructions of a step.
    pub fn instructions(&self) -> usize {
        self.code.step.code.len()
    }

    /// Number of rows that the blocks share. A row has 512 bytes.
    pub fn rows(&self) -> usize {
        self.code.state_at
    }
}
