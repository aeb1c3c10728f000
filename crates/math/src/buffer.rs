//! Buffers whose start is aligned to a cache line. A vector load at a multiple of the vector's length therefore reads one line only. Long
//! buffers use large pages, where the system provides them.

use crate::memory;
use std::ops::{Deref, DerefMut};

/// Number of 4-byte words in a cache line.
pub const LINE: usize = 16;

/// Type of the elements of a [`Buffer`].
pub trait Word: Copy + Default {}
impl Word for f32 {}
impl Word for u32 {}

/// Buffer of a fixed number of 4-byte words.
#[derive(Debug, Default)]
pub struct Buffer<T = f32> {
    /// Allocation that contains the buffer. The allocation never grows, because a new address would make `start` wrong.
    memory: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Word> Buffer<T> {
    pub fn zeros(len: usize) -> Buffer<T> {
        // Large pages are used only for long buffers, because the alignment takes the memory of one more page.
        let page = memory::LARGE_PAGE.filter(|page| len >= 8 * page);
        let align = page.unwrap_or(LINE);
        let mut memory = vec![T::default(); len + align];
        let start = memory.as_ptr().align_offset(align * size_of::<T>()).min(align);
        if page.is_some() {
            memory::ask_for_large_pages(&mut memory[start..start + len]);
        }
        Buffer { memory, start, len }
    }
}

impl<T: Word> Clone for Buffer<T> {
    fn clone(&self) -> Buffer<T> {
        let mut copy = Buffer::zeros(self.len);
        copy.copy_from_slice(self);
        copy
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.memory[self.start..self.start + self.len]
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.memory[self.start..self.start + self.len]
    }
}
