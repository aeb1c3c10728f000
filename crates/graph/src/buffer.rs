//! Float buffers whose start is aligned to a cache line, so that no vector load straddles two lines. Large buffers use large pages.

use math::memory;
use std::ops::{Deref, DerefMut};

/// Number of floats in a cache line. Offsets of tensors are multiples of it.
pub(crate) const LINE: usize = 16;

/// Buffer of a fixed number of floats.
#[derive(Debug, Default)]
pub struct Buffer {
    /// Never grows, because a new address would make `start` wrong.
    memory: Vec<f32>,
    start: usize,
    len: usize,
}

impl Buffer {
    pub fn zeros(len: usize) -> Buffer {
        // A large page is used only for long buffers, for which the alignment to a page costs little.
        let page = memory::LARGE_PAGE.filter(|page| len >= 8 * page);
        let align = page.unwrap_or(LINE);
        let mut memory = vec![0.0; len + align];
        let start = memory.as_ptr().align_offset(align * size_of::<f32>()).min(align);
        if page.is_some() {
            memory::ask_for_large_pages(&mut memory[start..start + len]);
        }
        Buffer { memory, start, len }
    }
}

impl Clone for Buffer {
    fn clone(&self) -> Buffer {
        let mut copy = Buffer::zeros(self.len);
        copy.copy_from_slice(self);
        copy
    }
}

impl Deref for Buffer {
    type Target = [f32];
    fn deref(&self) -> &[f32] {
        &self.memory[self.start..self.start + self.len]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.memory[self.start..self.start + self.len]
    }
}
