//! Appends products to a program: chooses the tile, puts pairs of products in one dispatch, and splits products over k.

use super::codegen;
use super::shape::Product;
use crate::device::lock;
use crate::program::{Program, Space, groups};
use crate::tile::{Tile, class};

/// Appends products. Two successive products that differ only in their offsets share a dispatch. No product in `all` may read the result of
/// another one.
pub fn products(program: &mut Program, space: &mut Space, all: &[Product]) {
    let mut rest = all;
    while let [first, others @ ..] = rest {
        let together = if others.first().is_some_and(|second| are_alike(first, second)) { 2 } else { 1 };
        let (now, later) = rest.split_at(together);
        let class = class(first.m, first.n, first.k);
        let tuned = lock(&program.gpu().shared.tuned).get(class);
        append(program, space, now, [tuned.unwrap_or(class.rule()), class.rule()]);
        rest = later;
    }
}

/// Appends one product with a tile of the caller's choice.
pub fn product_by(program: &mut Program, space: &mut Space, p: &Product, tile: &Tile) {
    append(program, space, std::slice::from_ref(p), [*tile; 2]);
}

/// Returns the offsets in `mem` that the kernels of a product use: a, b, c, bias, residual, input of the slope, row sums, saved input of
/// the activation.
fn places(p: &Product) -> [Option<u32>; 8] {
    let (slope, sums) = (p.slope.map(|slope| slope.1), p.row_sums.map(|sums| sums.0));
    [Some(p.a.at), Some(p.b.at), Some(p.c), p.bias, p.residual, slope, sums, p.save]
}

/// Returns true if one kernel text fits both products.
fn are_alike(one: &Product, other: &Product) -> bool {
    let shape = |p: &Product| {
        let strides = [p.a.outer, p.a.inner, p.b.outer, p.b.inner];
        let fused = (p.slope.map(|slope| slope.0), p.row_sums.map(|sums| sums.1));
        ([p.m, p.n, p.k], strides, p.act, p.adds, p.half, fused)
    };
    let aligned = |of| places(of).map(|at| at.map(|at| at % 4));
    shape(one) == shape(other) && aligned(one) == aligned(other)
}

/// Appends one product, or two products that share a kernel text. `tile` computes the products. `splitting` is the tile from which the
/// split over k is computed. Without a split, one dispatch is appended; with a split, two.
pub fn append(program: &mut Program, space: &mut Space, all: &[Product], [tile, splitting]: [Tile; 2]) {
    let p = &all[0];
    assert!(p.m > 0 && p.n > 0 && p.k > 0, "a product has an empty side: {p:?}");
    // If k is smaller than the tile's depth, the depth is reduced, so that k needs little padding.
    let depth = if tile.slices > 1 { tile.depth } else { tile.depth.min(p.k.next_multiple_of(4)) };
    let tile = Tile { depth, ..tile };
    let (splits, chunk) = split(p, &splitting, all.len());
    // Rows of partial sums are padded to a multiple of four floats, because kernels write four floats at once.
    let padded = p.n.next_multiple_of(4) + if p.row_sums.is_some() { 4 } else { 0 };
    let len = if splits > 1 { splits * p.m * padded } else { 0 };
    let partial = space.scratch(all.len() * len).at;
    let partial: Vec<u32> = (0..all.len()).map(|i| partial + (i * len) as u32).collect();
    let made = codegen::product(p, &tile, splits > 1, all.len() > 1);
    let label = format!("product {}", tile.name());
    let kernel = program.kernel_with(&label, made.directives, made.vectors, &made.text);
    let mut at: Vec<[u32; 8]> = all.iter().map(|one| places(one).map(Option::unwrap_or_default)).collect();
    // For two products: the distance from each offset of the first product to the same offset of the second product, modulo 2^32.
    let steps =
        |at: &[[u32; 8]]| -> Vec<u32> { at.get(1).map_or(Vec::new(), |second| (0..8).map(|i| second[i].wrapping_sub(at[0][i])).collect()) };
    let (ends, sums_step) = (at.clone(), partial.last().zip(partial.first()));
    if splits > 1 {
        at.iter_mut().zip(&partial).for_each(|(at, &partial)| at[2] = partial);
    }
    let tiles = tile.count(p.m, p.n);
    let [a, b, c, bias, residual, slope, row_sums, save] = at[0];
    let c_row = if splits > 1 { padded } else { p.n };
    let (tiles_across, partial_len) = (p.n.div_ceil(tile.columns), p.m * padded);
    let mut args = [p.m, p.n, p.k].map(|x| x as u32).to_vec();
    args.extend([a, p.a.outer, p.a.inner, b, p.b.outer, p.b.inner, c, bias, residual]);
    args.extend([tiles_across, tiles, chunk, c_row, partial_len].map(|x| x as u32));
    args.extend([slope, row_sums, save]);
    args.extend(steps(&at));
    let [x, y, _] = groups(tiles * splits, 1);
    program.dispatch(&kernel, &args, [x, y, all.len() as u32]);
    if splits > 1 {
        let kernel = program.kernel("sum of products", &codegen::sum(p, splits, all.len() > 1));
        let [_, _, c, bias, residual, slope, row_sums, save] = ends[0];
        let mut args = vec![p.m as u32, p.n as u32, splits as u32, padded as u32];
        args.extend([partial[0], c, bias, residual, slope, row_sums, save]);
        if all.len() > 1 {
            args.extend(sums_step.map(|(last, first)| last.wrapping_sub(*first)));
            args.extend(&steps(&ends)[2..]);
        }
        let columns = p.n + usize::from(p.row_sums.is_some());
        let [x, y, _] = groups(p.m * columns, codegen::outputs_a_group(splits));
        program.dispatch(&kernel, &args, [x, y, all.len() as u32]);
    }
}

/// Returns the number and the length of the ranges into which k is split. The split creates enough workgroups for a large GPU, but leaves
/// enough work for each workgroup.
fn split(p: &Product, tile: &Tile, products: usize) -> (usize, usize) {
    const WORKGROUPS: usize = 512;
    const LEAST_K: usize = 256;
    /// Maximum number of floats of partial sums. They take 16 MiB.
    const MOST_SUMS: usize = 1 << 22;
    let tiles = tile.count(p.m, p.n) * products;
    if tiles > WORKGROUPS / 4 || p.k < 2 * LEAST_K {
        return (1, p.k.next_multiple_of(tile.depth));
    }
    let wanted = WORKGROUPS / tiles;
    let room = MOST_SUMS / (p.m * (p.n.next_multiple_of(4) + 4));
    let splits = wanted.min(p.k / LEAST_K).min(room).max(1);
    let chunk = p.k.div_ceil(splits).next_multiple_of(tile.depth);
    (p.k.div_ceil(chunk), chunk)
}
