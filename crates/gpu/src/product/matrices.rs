//! Cooperative matrices: a product of two squares of 16-bit numbers that a subgroup computes at once, summed in 32 bits.
//!
//! wgpu calls them experimental, and nobody here has had an adapter that has them. So they are asked for only where
//! `OpenOptions::matrices` says so, serve only products of `Precision::Half`, and have to prove themselves at their first
//! use on every adapter: some products of odd sizes by them against the same products by the plain kernel. An adapter
//! whose answers are further off than [`TOLERANCE`] of the largest number, or whose driver refuses the kernel, is named
//! with the reason and does without.

use super::{Tile, tile};
use std::fmt::Write;

/// A subgroup's own product: squares of so many rows, by a subgroup of so many threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Matrices {
    pub size: usize,
    pub subgroup: usize,
}

/// Whether an adapter's products of 16-bit factors go by cooperative matrices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cooperation {
    /// It offers none that fit, or nobody asked for them.
    None,
    /// They do: what they computed first was right.
    Used(Matrices),
    /// They do not, and why.
    LeftOff(String),
}

/// The tile of all of them: four subgroups of 32 threads each have a quarter of it.
pub(super) const TILE: Tile = tile((64, 64), 32, (8, 4), 1);

/// From one k to the next in a tile of halves, and from one row to the next in the sums: what is beside each other in
/// memory of workgroups then begins at multiples of 16 bytes, and not all in the same bank.
const A_STEP: usize = TILE.rows + 8;
const B_STEP: usize = TILE.columns + 8;
const C_STEP: usize = TILE.columns + 4;

/// All threads of a workgroup go the same way, which naga does not see where a loop's end is a variable; the rule by which it
/// would refuse them bears the name of another.
pub(super) const DIRECTIVES: &str =
    "enable f16;\nenable wgpu_cooperative_matrix;\ndiagnostic(off, derivative_uniformity);";

#[cfg(not(target_family = "wasm"))]
/// Bytes of workgroup memory that such a product takes, sums of rows included.
pub(crate) const WORKGROUP_BYTES: u32 =
    (2 * TILE.depth * (A_STEP + B_STEP) + 4 * TILE.rows * C_STEP + TILE.rows * TILE.depth) as u32;

impl Matrices {
    /// Products so small that a tile is mostly empty go the plain way.
    pub(super) fn suit(self, m: usize, n: usize, k: usize) -> bool {
        m >= TILE.rows / 2 && n >= TILE.columns / 2 && k >= self.size
    }

    /// Subgroups of a workgroup, down and across the tile.
    fn workers(self) -> (usize, usize) {
        let all = TILE.threads() / self.subgroup;
        (2, all / 2)
    }

    /// Squares of a subgroup, down and across.
    fn squares(self) -> (usize, usize) {
        let (down, across) = self.workers();
        (TILE.rows / down / self.size, TILE.columns / across / self.size)
    }

    /// Whether tiles and subgroups come out even.
    #[cfg(not(target_family = "wasm"))]
    fn fits(self) -> bool {
        let threads = TILE.threads();
        [8, 16].contains(&self.size)
            && self.subgroup.is_power_of_two()
            && self.subgroup <= threads / 2
            && self.subgroup >= threads / 2 * self.size / TILE.columns
    }

    pub(super) fn declarations(self) -> String {
        format!(
            "var<workgroup> a_tile: array<f16, {}>;
var<workgroup> b_tile: array<f16, {}>;
var<workgroup> c_tile: array<f32, {}>;
",
            A_STEP * TILE.depth,
            B_STEP * TILE.depth,
            C_STEP * TILE.rows
        )
    }

    /// Which part of the tile a subgroup has, and its sums.
    pub(super) fn begin(self) -> String {
        let ((down, _), (rows, columns)) = (self.workers(), self.squares());
        let size = self.size;
        let mut text = format!(
            "let worker_row = subgroup % {down}u * {}u;\nlet worker_column = subgroup / {down}u * {}u;\n",
            rows * size,
            columns * size
        );
        for i in 0..rows {
            for j in 0..columns {
                let _ = writeln!(text, "var s{i}_{j} = coop_mat{size}x{size}<f32, C>();");
            }
        }
        text
    }

    /// Puts four numbers of one k into a tile.
    pub(super) fn store(self, name: char, slot: usize, k: usize, value: &str) -> String {
        let step = if name == 'a' { A_STEP } else { B_STEP };
        let mut text = format!("{{ let four = vec4<f16>({value}); ");
        for (e, part) in "xyzw".chars().enumerate() {
            let _ = write!(
                text,
                "{name}_tile[(deep{slot} + {k}u) * {step}u + four{slot} * 4u + {e}u] = four.{part};"
            );
        }
        text + "}\n"
    }

    /// Multiplies what is in the tiles: a's lie k by k, as columns; b's row by row.
    pub(super) fn multiply(self) -> String {
        let ((rows, columns), size) = (self.squares(), self.size);
        let kind = format!("coop_mat{size}x{size}<f16, ");
        let mut text = String::new();
        for k in (0..TILE.depth).step_by(size) {
            text += "{\n";
            for i in 0..rows {
                let at = format!("{}u + worker_row", k * A_STEP + i * size);
                let _ = writeln!(text, "let a{i} = coopLoad<{kind}A>>(&a_tile[{at}], {A_STEP}u);");
            }
            for j in 0..columns {
                let at = format!("{}u + worker_column", k * B_STEP + j * size);
                let _ = writeln!(text, "let b{j} = coopLoadT<{kind}B>>(&b_tile[{at}], {B_STEP}u);");
            }
            for i in 0..rows {
                for j in 0..columns {
                    let _ = writeln!(text, "s{i}_{j} = coopMultiplyAdd(a{i}, b{j}, s{i}_{j});");
                }
            }
            text += "}\n";
        }
        text
    }

    /// Hands the sums to the threads that finish them: `c{row}_{four}` of the thread at `a_four`, `b_four`.
    pub(super) fn hand_over(self, a_step: usize, b_step: usize) -> String {
        let ((rows, columns), size) = (self.squares(), self.size);
        let mut text = String::new();
        for i in 0..rows {
            for j in 0..columns {
                let at = format!("(worker_row + {}u) * {C_STEP}u + worker_column + {}u", i * size, j * size);
                let _ = writeln!(text, "coopStoreT(s{i}_{j}, &c_tile[{at}], {C_STEP}u);");
            }
        }
        text += "workgroupBarrier();\n";
        for row in 0..TILE.thread_rows {
            for four in 0..TILE.thread_columns / 4 {
                let at = format!(
                    "((a_four + {}u) * 4u + {}u) * {C_STEP}u + (b_four + {}u) * 4u",
                    row / 4 * a_step,
                    row % 4,
                    four * b_step
                );
                let _ = writeln!(
                    text,
                    "{{ let at = {at}; c{row}_{four} = vec4<f32>(c_tile[at], c_tile[at + 1u], c_tile[at + 2u], c_tile[at + 3u]); }}"
                );
            }
        }
        text
    }
}

#[cfg(not(target_family = "wasm"))]
pub(crate) use at_hand::{experimental, listed, proven};

/// What concerns an adapter; browsers offer none of it.
#[cfg(not(target_family = "wasm"))]
mod at_hand {
    use super::{Cooperation, Matrices, WORKGROUP_BYTES};
    use crate::product::{Passing, Precision, Product, Side, noise, product_passing};
    use crate::program::{Program, Readback, Space};
    use crate::{Gpu, OpenOptions};
    use learn::Fault;
    use math::Act;
    use wgpu::CooperativeScalarType::{F16, F32};

    /// How far what they compute may be from the plain kernel's, in parts of the largest number: both round their factors
    /// alike, and sums of 32 bits in another order, or cut off in place of rounded, differ by less.
    const TOLERANCE: f32 = 1e-3;

    /// The largest squares that an adapter lists and that fit, if they were asked for.
    pub(crate) fn listed(adapter: &wgpu::Adapter, options: &OpenOptions) -> Option<Matrices> {
        let (has, info) = (adapter.features(), adapter.get_info());
        let needed = wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX
            | wgpu::Features::SHADER_F16
            | wgpu::Features::SUBGROUP;
        let room = adapter.limits().max_compute_workgroup_storage_size >= WORKGROUP_BYTES;
        // Where its width may change, nobody knows how many subgroups there are.
        let steady = info.subgroup_min_size == info.subgroup_max_size;
        if !options.matrices || !has.contains(needed) || !room || !steady {
            return None;
        }
        let listed = adapter.cooperative_matrix_properties().into_iter();
        let squares = listed.filter(|p| (p.ab_type, p.cr_type) == (F16, F32));
        let squares = squares.filter(|p| p.m_size == p.n_size && p.n_size == p.k_size);
        squares
            .map(|p| Matrices { size: p.m_size as usize, subgroup: info.subgroup_min_size as usize })
            .filter(|by| by.fits())
            .max_by_key(|by| by.size)
    }

    /// wgpu's way to have agreed to what it calls experimental.
    #[allow(unsafe_code)]
    pub(crate) fn experimental() -> wgpu::ExperimentalFeatures {
        // SAFETY: what is agreed to is that wgpu may have faults in what bears that name. Of it one kernel is used, whose
        // text does not depend on what comes from outside, where somebody asked for it.
        unsafe { wgpu::ExperimentalFeatures::enabled() }
    }

    /// Tries them against the plain kernel.
    pub(crate) fn proven(gpu: &Gpu, by: Matrices) -> Cooperation {
        // What the driver refuses here must not count as the device's fault.
        let scopes = [wgpu::ErrorFilter::Validation, wgpu::ErrorFilter::Internal];
        let scopes = scopes.map(|filter| gpu.device.push_error_scope(filter));
        let apart = apart(gpu, by);
        let refused = scopes.into_iter().rev().filter_map(|scope| pollster::block_on(scope.pop())).last();
        match (refused, apart) {
            (Some(error), _) => Cooperation::LeftOff(error.to_string()),
            (_, Err(fault)) => Cooperation::LeftOff(fault.to_string()),
            (_, Ok(apart)) if apart <= TOLERANCE => Cooperation::Used(by),
            (_, Ok(apart)) => {
                Cooperation::LeftOff(format!("what they compute is {apart:.1e} of the largest number off"))
            }
        }
    }

    /// How far what they compute is from the plain kernel's, in parts of the largest number.
    fn apart(gpu: &Gpu, by: Matrices) -> Result<f32, Fault> {
        let tried = |by| tried(&mut Program::new(gpu), by, &CASES);
        Ok(farthest(&tried(None)?, &tried(Some(by))?))
    }

    fn farthest(plain: &[Vec<f32>], theirs: &[Vec<f32>]) -> f32 {
        let apart = plain.iter().zip(theirs).map(|(plain, theirs)| {
            let largest = plain.iter().fold(0f32, |most, x| most.max(x.abs()));
            // What is not a number is as far off as can be.
            let off = |(x, y): (&f32, &f32)| if (x - y).is_finite() { (x - y).abs() } else { f32::INFINITY };
            plain.iter().zip(theirs).map(off).fold(0.0, f32::max) / largest
        });
        apart.fold(0.0, f32::max)
    }

    /// m, n and k, and whether factors lie across k.
    type Case = ([usize; 3], bool);

    /// Odd sizes, factors along k and across, and one that is split.
    const CASES: [Case; 4] =
        [([77, 93, 61], false), ([68, 132, 40], true), ([33, 65, 16], true), ([64, 100, 1100], true)];

    /// Some products and the sums of their first factors' rows.
    fn tried(program: &mut Program, by: Option<Matrices>, cases: &[Case]) -> Result<Vec<Vec<f32>>, Fault> {
        let (gpu, mut space) = (program.gpu().clone(), Space::default());
        program.set_precision_by(Precision::Half, by);
        let mut results = Vec::new();
        for &([m, n, k], across) in cases {
            let [a, b, bias] = [m * k, k * n, n].map(|len| space.floats(len));
            noise(program, &[a, b, bias]);
            let [c, sums] = [m * n, m].map(|len| space.floats(len));
            let side = |at, count: usize| {
                let (outer, inner) = if across { (1, count) } else { (k, 1) };
                Side { at, outer: outer as u32, inner: inner as u32 }
            };
            let p = Product {
                m,
                n,
                k,
                a: side(a.at, m),
                b: side(b.at, n),
                c: c.at,
                bias: Some(bias.at),
                residual: None,
                act: Act::None,
                adds: false,
            };
            let passing = Passing { row_sums: Some((sums.at, false)), ..Passing::default() };
            product_passing(program, &mut space, &p, &passing);
            results.extend([c, sums]);
        }
        let memory = space.allocate(&gpu)?;
        program.bind(&memory);
        let mut encoder = gpu.encoder();
        program.encode(&mut encoder, 0..program.len());
        gpu.submit(encoder);
        Ok(Readback::new(&memory, &results, &[]).now()?.0)
    }

    #[cfg(test)]
    mod tests {
        use super::super::{A_STEP, B_STEP, C_STEP};
        use super::*;
        use crate::product::text::product;
        use math::Unary;
        use wgpu::naga::{back::spv, front::wgsl, valid};

        const ALL: [Matrices; 5] = [
            Matrices { size: 8, subgroup: 8 },
            Matrices { size: 8, subgroup: 16 },
            Matrices { size: 8, subgroup: 32 },
            Matrices { size: 16, subgroup: 32 },
            Matrices { size: 16, subgroup: 64 },
        ];

        /// No adapter at hand compiles them, so what would be handed to one is made here: the text is read, checked and
        /// written out.
        #[test]
        fn their_kernels_are_valid() {
            let side = |outer, inner| Side { at: 0, outer, inner };
            for by in ALL {
                assert!(by.fits(), "{by:?}");
                for (a, b) in
                    [(side(64, 1), side(64, 1)), (side(1, 64), side(1, 64)), (side(3, 2), side(5, 1))]
                {
                    for (split, twins) in [(false, false), (true, true)] {
                        let p = Product {
                            m: 64,
                            n: 64,
                            k: 64,
                            a,
                            b,
                            c: 0,
                            bias: Some(0),
                            residual: Some(0),
                            act: Act::Tanh,
                            adds: false,
                        };
                        let passing = Passing {
                            slope: Some((Unary::Relu, 0)),
                            row_sums: Some((0, true)),
                            ..Passing::default()
                        };
                        let tile = &super::super::TILE;
                        let made = product(&p, &passing, tile, split, Precision::Half, Some(by), twins);
                        let text = crate::program::whole(made.directives, made.vectors, &made.text);
                        let module = wgsl::parse_str(&text)
                            .unwrap_or_else(|error| panic!("{}", error.emit_to_string(&text)));
                        let capabilities = valid::Capabilities::COOPERATIVE_MATRIX
                            | valid::Capabilities::SHADER_FLOAT16
                            | valid::Capabilities::SUBGROUP;
                        let info = valid::Validator::new(valid::ValidationFlags::all(), capabilities)
                            .subgroup_stages(valid::ShaderStages::COMPUTE)
                            .subgroup_operations(valid::SubgroupOperationSet::all())
                            .validate(&module)
                            .unwrap_or_else(|error| panic!("{}", error.emit_to_string(&text)));
                        let words = spv::write_vec(&module, &info, &spv::Options::default(), None).unwrap();
                        // Opcodes 4458 and 4459 load and multiply.
                        for (op, least) in [(4457, 2), (4459, 8)] {
                            let found = words.iter().filter(|&&word| word & 0xffff == op).count();
                            assert!(found >= least, "{by:?}: {found} of {op}");
                        }
                    }
                }
            }
        }

        /// What the kernels say, where there are no cooperative matrices: the threads of a subgroup share the numbers of
        /// each square and compute them one after the other. So what lies where, and who does what, is held to the plain
        /// kernel.
        #[test]
        fn their_kernels_mean_the_product() {
            let gpu = Gpu::open_blocking(OpenOptions::default()).unwrap();
            if !gpu.about().f16 {
                assert_eq!(gpu.cooperation(), Cooperation::None);
                return;
            }
            let by = Matrices { size: 16, subgroup: 32 };
            let plain = tried(&mut Program::new(&gpu), None, &CASES[..1]).unwrap();
            let mut program = Program::new(&gpu);
            program.rewrite = Some(acted::<16, 32>);
            let theirs = tried(&mut program, Some(by), &CASES[..1]).unwrap();
            gpu.check().unwrap();
            let apart = farthest(&plain, &theirs);
            assert!(apart < 1e-5, "{apart} of the largest off");
            assert!(plain != theirs, "another order of sums, for another kernel");
        }

        /// Loops end where their compiler cannot know it, which would write them out for minutes.
        fn acted<const SIZE: usize, const SUBGROUP: usize>(text: String) -> String {
            if !text.contains("coop_mat") {
                return text;
            }
            let kind = |rest: &str| format!("coop_mat{SIZE}x{SIZE}<{rest}>");
            let text = text
                .replace("enable wgpu_cooperative_matrix;", "")
                .replace(
                    ", @builtin(subgroup_id) subgroup: u32) {",
                    &format!(") {{ let subgroup = local / {SUBGROUP}u; lane = local % {SUBGROUP}u;"),
                )
                .replace(&format!("coopLoad<{}>(&a_tile[", kind("f16, A")), "load_a([")
                .replace(&format!("coopLoadT<{}>(&b_tile[", kind("f16, B")), "load_b([")
                .replace(&kind("f32, C"), "Square")
                .replace("coopMultiplyAdd", "multiply_add")
                .replace("&c_tile[", "[")
                .replace("coopStoreT", "store_c");
            let plain = text.replace("([", "((").replace(", [", ", (");
            let steps = [A_STEP, B_STEP, C_STEP];
            let closed = |text: String, step| text.replace(&format!("], {step}u)"), &format!("), {step}u)"));
            let plain = steps.into_iter().fold(plain, closed);
            format!(
                "{plain}
var<private> lane: u32;
struct Place {{ at: u32, step: u32 }}
struct Square {{ x: array<f32, {held}> }}
fn load_a(at: u32, step: u32) -> Place {{ return Place(at, step); }}
fn load_b(at: u32, step: u32) -> Place {{ return Place(at, step); }}
fn multiply_add(a: Place, b: Place, c: Square) -> Square {{
    var square = c;
    for (var i = 0u; i < min({held}u, args.m); i++) {{
        let row = (lane + i * {SUBGROUP}u) / {SIZE}u;
        let column = (lane + i * {SUBGROUP}u) % {SIZE}u;
        for (var k = 0u; k < min({SIZE}u, args.m); k++) {{
            let x = f32(a_tile[a.at + k * a.step + row]);
            square.x[i] = fma(x, f32(b_tile[b.at + k * b.step + column]), square.x[i]);
        }}
    }}
    return square;
}}
fn store_c(c: Square, at: u32, step: u32) {{
    var square = c;
    for (var i = 0u; i < min({held}u, args.m); i++) {{
        let row = (lane + i * {SUBGROUP}u) / {SIZE}u;
        c_tile[at + row * step + (lane + i * {SUBGROUP}u) % {SIZE}u] = square.x[i];
    }}
}}
",
                held = SIZE * SIZE / SUBGROUP
            )
        }
    }
}
