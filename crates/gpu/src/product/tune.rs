//! Which tile is fastest on this adapter, measured: a few products of each kind by each candidate. What was found
//! holds for programs built from then on; without it a rule decides. Candidates differ in speed, and in results by
//! no more than rounding.

use super::{Class, Matrices, Precision, Product, Side, Tile, class, product, product_by};
use crate::device::{Gpu, lock};
use crate::program::{Memory, Program, Readback, Region, Space, groups};
use learn::Fault;
use math::Act;
use std::ops::Range;

/// The tiles found fastest.
#[derive(Debug, Default)]
pub(crate) struct Tuned(Vec<(Class, Tile)>);

impl Tuned {
    pub fn get(&self, class: Class) -> Option<Tile> {
        self.0.iter().find(|(of, _)| *of == class).map(|(_, tile)| *tile)
    }
}

/// One product by one tile, timed.
#[derive(Clone, Debug)]
pub struct Timing {
    /// m, n, k
    pub shape: [usize; 3],
    pub tile: Tile,
    pub product_s: f64,
    /// It is the one that is used from now on.
    pub chosen: bool,
}

/// A product of each class that has a choice; a smaller one for software.
const SHAPES: [([usize; 3], [usize; 3]); 4] = [
    ([2048, 2048, 1024], [2048, 1536, 32]),
    ([4096, 256, 256], [512, 64, 64]),
    ([65_536, 32, 32], [2048, 32, 32]),
    ([64, 64, 65_536], [64, 64, 2048]),
];

impl Gpu {
    /// Times the tiles that products can be computed by and keeps the fastest, for programs built from now on. `now`
    /// gives seconds. It takes a fraction of a second, most of it for compiling, and blocks nobody in a browser.
    pub async fn tune(&self, now: &dyn Fn() -> f64) -> Result<Vec<Timing>, Fault> {
        let mut timings = Vec::new();
        for (shape, small) in SHAPES {
            let [m, n, k] = if self.about().software { small } else { shape };
            let class = class(m, n, k);
            let mut best: Option<Timing> = None;
            let begin = timings.len();
            for tile in class.candidates() {
                let product_s =
                    product_s(self, [m, n, k], Some(tile), (Precision::Single, None), now).await?;
                let timing = Timing { shape: [m, n, k], tile, product_s, chosen: false };
                if best.as_ref().is_none_or(|best| product_s < best.product_s) {
                    best = Some(timing.clone());
                }
                timings.push(timing);
            }
            if let Some(best) = best {
                timings[begin..].iter_mut().for_each(|timing| timing.chosen = timing.tile == best.tile);
                let tuned = &mut lock(&self.shared.tuned).0;
                tuned.retain(|(of, _)| *of != class);
                tuned.push((class, best.tile));
            }
        }
        Ok(timings)
    }
}

/// Seconds that a row-major product takes (a gradient's factors lie across), of the best of some stretches.
pub(crate) async fn product_s(
    gpu: &Gpu,
    [m, n, k]: [usize; 3],
    tile: Option<Tile>,
    (precision, by): (Precision, Option<Matrices>),
    now: &dyn Fn() -> f64,
) -> Result<f64, Fault> {
    let (mut space, mut program) = (Space::default(), Program::new(gpu));
    program.set_precision_by(precision, by);
    let (a, b, c) = (space.floats(m * k), space.floats(k * n), space.floats(m * n));
    let across = class(m, n, k) == Class::Gradient;
    let (a_outer, a_inner) = if across { (1, m) } else { (k, 1) };
    let (b_outer, b_inner) = if across { (1, n) } else { (k, 1) };
    let side = |at, outer: usize, inner: usize| Side { at, outer: outer as u32, inner: inner as u32 };
    noise(&mut program, &[a, b]);
    let begin = program.len();
    let p = Product {
        m,
        n,
        k,
        a: side(a.at, a_outer, a_inner),
        b: side(b.at, b_outer, b_inner),
        c: c.at,
        bias: None,
        residual: None,
        act: Act::None,
        adds: false,
    };
    match tile {
        Some(tile) => product_by(&mut program, &mut space, &p, &tile),
        None => product(&mut program, &mut space, &p),
    }
    let memory = space.allocate(gpu)?;
    program.bind(&memory);
    replay_s(&program, &memory, 0..begin, 1, now).await?;
    best_s(&program, &memory, begin..program.len(), now).await
}

/// Numbers between -1 and 1 without a pattern: a GPU that multiplies zeros runs cooler and faster than one that works.
pub(crate) fn noise(program: &mut Program, regions: &[Region]) {
    const TEXT: &str = "\
struct Args { at: u32, len: u32 }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let i = group_index(group, many) * 256u + local;
    if (i >= args.len) { return; }
    var x = i * 747796405u + 2891336453u;
    x = ((x >> ((x >> 28u) + 4u)) ^ x) * 277803737u;
    mem[args.at + i] = f32((x >> 8u) ^ (x >> 30u)) / 8388608.0 - 1.0;
}
";
    let kernel = program.kernel("noise", TEXT);
    for region in regions {
        program.dispatch(&kernel, &[region.at, region.len], groups(region.len as usize, 256));
    }
}

/// Seconds that some dispatches take: the best of a few stretches, each long enough for the clock of a page and for what
/// a submit costs to vanish.
pub(crate) async fn best_s(
    program: &Program,
    memory: &Memory,
    range: Range<usize>,
    now: &dyn Fn() -> f64,
) -> Result<f64, Fault> {
    const STRETCH_S: f64 = 0.02;
    const STRETCHES: usize = 5;
    /// Dispatches of one submit: a driver may give up on one that takes seconds.
    const MOST: usize = 4096;
    let mut repeats = 1;
    replay_s(program, memory, range.clone(), repeats, now).await?;
    let mut took_s = replay_s(program, memory, range.clone(), repeats, now).await?;
    while took_s < STRETCH_S && repeats * range.len() < MOST {
        // No more than eightfold at once: the first stretches are slow.
        repeats = (repeats as f64 * (1.5 * STRETCH_S / took_s).clamp(2.0, 8.0)) as usize;
        took_s = replay_s(program, memory, range.clone(), repeats, now).await?;
    }
    for _ in 1..STRETCHES {
        took_s = took_s.min(replay_s(program, memory, range.clone(), repeats, now).await?);
    }
    Ok(took_s / repeats as f64)
}

/// Seconds from handing over so many replays until their end is known.
pub(crate) async fn replay_s(
    program: &Program,
    memory: &Memory,
    range: Range<usize>,
    repeats: usize,
    now: &dyn Fn() -> f64,
) -> Result<f64, Fault> {
    let gpu = program.gpu();
    let end = Readback::new(memory, &[Region { at: 0, len: 1 }], &[]);
    let began_s = now();
    let mut encoder = gpu.encoder();
    (0..repeats).for_each(|_| program.encode(&mut encoder, range.clone()));
    gpu.submit(encoder);
    end.fetch().await?;
    Ok(now() - began_s)
}
