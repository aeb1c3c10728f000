//! Tests of GPU memory and programs on any adapter: writing, computing, reading back, and faults.

use gpu::{Fault, Gpu, OpenOptions, Program, Readback, Region, Space, groups};

const DOUBLE: &str = "\
struct Args { x: u32, y: u32, len: u32, add: f32, tally: u32 }
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let i = group_index(group, many) * 64u + local;
    if (i < args.len) {
        mem[args.y + i] = 2.0 * mem[args.x + i] + args.add;
        words[args.tally + i] += 1u;
    }
}
";

/// Applies x -> 2x + 1 twice to `len` numbers.
async fn doubling(gpu: &Gpu, len: usize) -> Result<(Vec<f32>, Vec<u32>), Fault> {
    let mut space = Space::default();
    let (x, y, tally) = (space.floats(len), space.floats(len), space.words(len));
    let mut program = Program::new(gpu);
    let kernel = program.kernel("double", DOUBLE);
    let one = 1f32.to_bits();
    for (from, to) in [(x, y), (y, x)] {
        program.dispatch(&kernel, &[from.at, to.at, len as u32, one, tally.at], groups(len, 64));
    }
    let memory = space.allocate(gpu)?;
    program.bind(&memory);
    memory.write_floats(x, &(0..len).map(|i| i as f32).collect::<Vec<_>>());
    let mut encoder = gpu.encoder();
    program.encode(&mut encoder, 0..2);
    gpu.submit(encoder);
    let (mut floats, mut words) = Readback::new(&memory, &[x], &[tally]).fetch().await?;
    Ok((floats.remove(0), words.remove(0)))
}

async fn program_computes_also_beyond_one_row_of_workgroups(gpu: Gpu) {
    for len in [1, 1000, 64 * 65_535 + 65] {
        let (floats, words) = doubling(&gpu, len).await.unwrap();
        assert!(floats.iter().enumerate().all(|(i, &x)| x == 4.0 * i as f32 + 3.0), "{len}");
        assert!(words.iter().all(|&n| n == 2), "{len}");
    }
}

async fn oversized_memory_is_rejected_with_both_sizes(_: Gpu) {
    let gpu = Gpu::open(OpenOptions { largest_buffer: Some(1 << 16), ..Default::default() }).await.unwrap();
    let rejected = doubling(&gpu, 1 << 14).await.unwrap_err();
    assert_eq!(rejected, Fault::TooSmall { needs: 1 << 17, has: 1 << 16 });
    assert!(doubling(&gpu, 1 << 10).await.is_ok(), "the device failed after the rejection");
    let mut space = Space::default();
    space.floats(usize::MAX / 8);
    assert!(matches!(space.allocate(&gpu), Err(Fault::TooSmall { .. })));
}

async fn lost_device_is_reported(_: Gpu) {
    let gpu = crate::common::open().await;
    let memory = {
        let mut space = Space::default();
        space.floats(64);
        space.allocate(&gpu).unwrap()
    };
    let readback = Readback::new(&memory, &[Region { at: 0, len: 64 }], &[]);
    assert!(readback.fetch().await.is_ok());
    gpu.destroy();
    assert!(matches!(readback.fetch().await, Err(Fault::Lost { .. })));
}

crate::common::tests!(
    program_computes_also_beyond_one_row_of_workgroups,
    oversized_memory_is_rejected_with_both_sizes,
    lost_device_is_reported,
);
