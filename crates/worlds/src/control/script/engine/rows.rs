//! Operations on lists, masked stores, the count of loop passes, and random words.

use super::super::program::{BLOCK, ENV, EPISODE, Instruction, MOST_PASSES, NONE, Op, PASSES, STEP, WORDS};
use super::run::Run;
use math::{PANEL, Simd, rng};

/// Converts an index, which can be negative, to a position from the start of a list of `n` elements. The result is `n` or more if the index
/// is out of range.
#[inline(always)]
fn from_start(index: u32, n: u32) -> u32 {
    if (index as i32) < 0 { index.wrapping_add(n) } else { index }
}

impl Run<'_> {
    /// Returns the position of a program's row in [`Run::rows`].
    #[inline(always)]
    pub fn row(&self, row: u32) -> usize {
        let row = row as usize;
        if row >= self.code.state_at { row.wrapping_add(self.shift) } else { row }
    }

    /// Returns true if a lane is in the mask of an instruction.
    #[inline(always)]
    fn is_active(&self, mask: u32, lane: usize) -> bool {
        mask == NONE || self.rows[self.row(mask)][lane] != 0
    }

    /// Returns the positions that the numbers in the row `i.a` select in a list. A negative number counts from the end of the list. A
    /// position out of range becomes 0; it is reported if its lane is in the mask of `i`.
    #[inline(always)]
    fn indices(&mut self, at: usize, i: &Instruction) -> [u32; BLOCK] {
        let (given, n) = (&self.rows[self.row(i.a)], i.n);
        let active = if i.mask == NONE { &[u32::MAX; BLOCK] } else { &self.rows[self.row(i.mask)] };
        let (mut found, mut wrong) = ([0; BLOCK], 0);
        let len = if i.op == Op::Table { self.code.tables[n as usize].len() as u32 } else { n };
        for (panel, found) in found.as_chunks_mut::<PANEL>().0.iter_mut().enumerate().take(self.panels) {
            for (k, found) in found.iter_mut().enumerate() {
                let lane = panel * PANEL + k;
                let index = from_start(given[lane], len);
                wrong |= active[lane] & u32::from(index >= len);
                *found = if index < len { index } else { 0 };
            }
        }
        if wrong != 0 {
            self.report_indices(at, i, len);
        }
        found
    }

    #[cold]
    fn report_indices(&mut self, at: usize, i: &Instruction, len: u32) {
        for lane in 0..self.lanes() {
            let given = self.rows[self.row(i.a)][lane];
            if from_start(given, len) >= len && self.is_active(i.mask, lane) {
                self.faults.report(lane, at, given);
            }
        }
    }

    #[inline(always)]
    pub fn index(&mut self, at: usize, i: &Instruction) {
        let (found, d) = (self.indices(at, i), self.row(i.d));
        self.rows[d] = found;
    }

    #[inline(always)]
    pub fn gather(&mut self, at: usize, i: &Instruction) {
        let (mut found, d, base) = (self.indices(at, i), self.row(i.d), self.row(i.b));
        let list = self.rows[base..base + i.n as usize].as_flattened();
        for (panel, found) in found.as_chunks_mut::<PANEL>().0.iter_mut().enumerate().take(self.panels) {
            for (k, found) in found.iter_mut().enumerate() {
                *found = list[*found as usize * BLOCK + panel * PANEL + k];
            }
        }
        self.rows[d] = found;
    }

    #[inline(always)]
    pub fn table(&mut self, at: usize, i: &Instruction) {
        let (found, d) = (self.indices(at, i), self.row(i.d));
        let (lanes, table) = (self.lanes(), &self.code.tables[i.n as usize][..]);
        let row = &mut self.rows[d];
        for lane in 0..lanes {
            row[lane] = table[found[lane] as usize];
        }
    }

    #[inline(always)]
    pub fn scatter(&mut self, at: usize, i: &Instruction) {
        let (found, base, value) = (self.indices(at, i), self.row(i.b), self.row(i.c));
        if i.mask == NONE {
            for lane in 0..self.lanes() {
                self.rows[base + found[lane] as usize][lane] = self.rows[value][lane];
            }
            return;
        }
        let mask = self.row(i.mask);
        for lane in 0..self.lanes() {
            if self.rows[mask][lane] != 0 {
                self.rows[base + found[lane] as usize][lane] = self.rows[value][lane];
            }
        }
    }

    /// Writes the row `from` to the row `to` in the lanes of the mask.
    #[inline(always)]
    pub fn store<S: Simd>(&mut self, s: S, from: usize, to: usize, mask: u32) {
        if mask == NONE {
            self.rows[to] = self.rows[from];
            return;
        }
        let mask = self.row(mask);
        for l in (0..self.lanes()).step_by(S::LANES) {
            let (x, y, m) = (s.load_u(&self.rows[from][l..]), s.load_u(&self.rows[to][l..]), s.load_u(&self.rows[mask][l..]));
            s.store_u(s.xor_u(y, s.and_u(s.xor_u(x, y), m)), &mut self.rows[to][l..]);
        }
    }

    /// Counts the passes of each lane in a loop's mask; see [`Op::Pass`].
    #[inline(always)]
    pub fn pass(&mut self, at: usize, i: &Instruction) {
        let (mask, passes) = (self.row(i.d), PASSES as usize);
        let mut most = 0;
        for lane in 0..self.lanes() {
            let count = self.rows[passes][lane] + (self.rows[mask][lane] & 1) * i.n;
            self.rows[passes][lane] = count;
            most = most.max(count);
        }
        if most > MOST_PASSES {
            for lane in 0..self.lanes() {
                if self.rows[passes][lane] > MOST_PASSES && self.rows[mask][lane] != 0 {
                    self.rows[mask][lane] = 0;
                    self.faults.report(lane, at, 0);
                }
            }
        }
    }

    #[inline(always)]
    pub fn is_constant(&self, row: u32) -> bool {
        (self.code.constants_at..self.code.state_at).contains(&(row as usize))
    }

    /// Writes to the row `d` the random words whose numbers are in the row `a`. Four consecutive words form a random block. `block` is the
    /// number of the random block in the rows [`WORDS`].
    #[inline(always)]
    pub fn word<S: Simd>(&mut self, s: S, i: &Instruction, block: &mut u32) {
        let (number, d) = (self.row(i.a), self.row(i.d));
        if self.is_constant(i.a) {
            let number = self.rows[number][0];
            if *block != number / 4 {
                *block = number / 4;
                self.words(s, *block);
            }
            self.rows[d] = self.rows[(WORDS + number % 4) as usize];
            return;
        }
        for l in (0..self.lanes()).step_by(S::LANES) {
            let number = s.load_u(&self.rows[number][l..]);
            let words = rng::threefry(s, self.key, self.counter(s, l, s.shr_u(number, 2)));
            let k = s.and_u(number, s.splat_u(3));
            let mut word = words[0];
            for w in 1..4 {
                word = s.select_u(s.eq_u(k, s.splat_u(w as u32)), words[w], word);
            }
            s.store_u(word, &mut self.rows[d][l..]);
        }
    }

    #[inline(always)]
    fn counter<S: Simd>(&self, s: S, l: usize, block: S::U) -> [S::U; 4] {
        let [env, episode, step] = [ENV, EPISODE, STEP].map(|row| s.load_u(&self.rows[row as usize][l..]));
        [env, episode, step, block]
    }

    #[inline(always)]
    fn words<S: Simd>(&mut self, s: S, block: u32) {
        for l in (0..self.lanes()).step_by(S::LANES) {
            let words = rng::threefry(s, self.key, self.counter(s, l, s.splat_u(block)));
            for w in 0..4 {
                s.store_u(words[w], &mut self.rows[WORDS as usize + w][l..]);
            }
        }
    }
}
