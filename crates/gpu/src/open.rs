//! Opens the fastest adapter and tests its subgroups before kernels rely on them.

use crate::device::{Gpu, OpenOptions};
use crate::program::{Program, Readback, Space};
use crate::reduce::THREADS;
use learn::Fault;

impl Gpu {
    /// Opens the fastest adapter. If a test of its subgroups fails, kernels do not use subgroups.
    pub async fn open(options: OpenOptions) -> Result<Gpu, Fault> {
        let gpu = Gpu::open_as(options.clone()).await?;
        if !gpu.about().subgroups || reduces_right(&gpu).await {
            return Ok(gpu);
        }
        // A new device is opened, because the test may have made the first device unusable.
        Gpu::open_as(OpenOptions { subgroups: Some(false), ..options }).await
    }

    /// Does the same as [`Gpu::open`], but blocks.
    #[cfg(not(target_family = "wasm"))]
    pub fn open_blocking(options: OpenOptions) -> Result<Gpu, Fault> {
        pollster::block_on(Gpu::open(options))
    }
}

/// Returns true if an adapter's subgroups are full (have a thread in every lane) and exchange numbers correctly. Compares the sums of some
/// workgroups on the GPU with the same sums on the CPU, bit by bit.
async fn reduces_right(gpu: &Gpu) -> bool {
    const WORKGROUPS: usize = 16;
    let reduce = gpu.shared.reduce;
    let (mut space, mut program) = (Space::default(), Program::new(gpu));
    let (x, y) = (space.floats(WORKGROUPS * THREADS), space.floats(WORKGROUPS * THREADS));
    let text = format!(
        "struct Args {{ x: u32, y: u32 }}
{}
@compute @workgroup_size({THREADS})
fn main(@builtin(workgroup_id) group: vec3<u32>, {}) {{
{}    let at = group.x * {THREADS}u + local;
    mem[args.y + at] = whole_sum(mem[args.x + at], local);
}}
",
        reduce.across(THREADS, &[("whole_sum", "+")]),
        reduce.builtins(),
        reduce.place(),
    );
    let kernel = program.kernel_with("a check of subgroups", reduce.directives(), false, &text);
    program.dispatch(&kernel, &[x.at, y.at], [WORKGROUPS as u32, 1, 1]);
    let Ok(memory) = space.allocate(gpu) else { return false };
    program.bind(&memory);
    let word = |i: usize| math::rng::hash_1([5, 6], [i as u32, 0])[0];
    let values: Vec<f32> = (0..WORKGROUPS * THREADS).map(|i| (word(i) >> 8) as f32 * 1e-6 + 1e-3).collect();
    memory.write_floats(x, &values);
    let mut encoder = gpu.encoder();
    program.encode(&mut encoder, 0..program.len());
    gpu.submit(encoder);
    let Ok((found, _)) = Readback::new(&memory, &[y], &[]).fetch().await else { return false };
    values.chunks(THREADS).zip(found[0].chunks(THREADS)).all(|(values, found)| {
        let sum = on_processor(values);
        found.iter().all(|y| y.to_bits() == sum.to_bits())
    })
}

fn on_processor(values: &[f32]) -> f32 {
    let mut sums = values.to_vec();
    while sums.len() > 1 {
        let (low, high) = sums.split_at(sums.len() / 2);
        sums = low.iter().zip(high).map(|(a, b)| a + b).collect();
    }
    sums[0]
}
