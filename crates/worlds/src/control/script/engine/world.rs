//! Compiled form of an environment that a user wrote.

use super::super::meta::{Choice, Meta};
use super::super::program::{Attribute, Code, Type};
use crate::control::world::Text;
use std::sync::Arc;

/// An environment from a compiled file, which the engine can run.
#[derive(Clone, Debug)]
pub struct World {
    /// Name of the environment in errors and lists.
    pub id: Text,
    pub meta: Meta,
    /// Attributes of `self`, in the order of their names.
    pub attributes: Vec<Attribute>,
    pub(super) code: Arc<Code>,
}

impl World {
    pub fn new(meta: Meta, attributes: Vec<Attribute>, code: Code) -> World {
        World { id: "this file".into(), meta, attributes, code: Arc::new(code) }
    }

    /// Returns the number of values in an observation.
    pub fn observation_len(&self) -> usize {
        self.code.show.observation.len()
    }

    /// Returns the number of values in a mask, one for each choice; 0 if the file has no method `mask`.
    pub fn mask_len(&self) -> usize {
        self.code.show.permitted.len()
    }

    /// Returns the number of values in an action; 1 for a choice.
    pub fn action_len(&self) -> usize {
        self.meta.actions.len()
    }

    /// Returns the number of choices, or `None` if an action consists of numbers.
    pub fn choices(&self) -> Option<u32> {
        match self.meta.actions {
            Choice::Choices(count) => Some(count),
            Choice::Box { .. } => None,
        }
    }

    /// Returns the number of values in a saved state. An integer takes two values, its upper 16 bits and its lower 16 bits, because an f32
    /// cannot represent all integers of 32 bits exactly.
    pub fn state_len(&self) -> usize {
        self.attributes.iter().map(|attribute| attribute.len * (1 + usize::from(attribute.ty == Type::Int))).sum()
    }

    /// Returns the number of instructions of a step.
    pub fn instructions(&self) -> usize {
        self.code.step.code.len()
    }

    /// Returns the number of rows that all blocks share. A row has 512 bytes.
    pub fn rows(&self) -> usize {
        self.code.state_at
    }
}
