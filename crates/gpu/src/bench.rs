//! What an adapter can do and what is got out of it: peak and bandwidth first, then matrix products and worlds, each
//! against them or against the processor beside it, all measured in the same run.
//!
//! It refuses to rate what it finds and to know clocks: `now` gives seconds. A software adapter gets smaller work, and the names or units
//! say so.

pub(crate) mod report;

use crate::device::Gpu;
use crate::product::{noise, product_rounds_s, replay_s, rounds_s};
use crate::program::{Memory, Program, Space, groups};
use crate::rooms;
use learn::Fault;
use math::Isa;
use math::rounds::FEW;
pub use report::Measured;
use report::{Sink, count, give, rates};
use std::fmt::Write as _;

/// Measures everything there is.
pub async fn bench(gpu: &Gpu, isa: Isa, now: &dyn Fn() -> f64, sink: Sink<'_>) -> Result<(), Fault> {
    let about = gpu.about();
    let software = f64::from(u8::from(about.software));
    count(sink, "gpu.adapter.software", software, format!("{} over {}", about.name, about.backend));
    let bandwidth = Bandwidth::new(gpu)?;
    let bytes_per_s = bandwidth.bytes_per_s(now).await?;
    let gigabytes: Vec<f64> = bytes_per_s.iter().map(|rate| 1e-9 * rate).collect();
    let unit = format!("GB/s, read and written, by a copy of {} MB", bandwidth.bytes() / 1_000_000);
    give(sink, "gpu.bandwidth_gb_per_s", &gigabytes, unit);
    drop(bandwidth);
    gpu.tune(now).await?;
    products(gpu, now, sink).await?;
    rooms::bench(gpu, isa, &bytes_per_s, now, sink).await
}

/// [`bench`], and learners, for those that can wait.
#[cfg(not(target_family = "wasm"))]
pub fn bench_blocking(gpu: &Gpu, isa: Isa, now: &dyn Fn() -> f64, sink: Sink<'_>) -> Result<(), Fault> {
    pollster::block_on(bench(gpu, isa, now, sink))?;
    rooms::LEARNERS.iter().try_for_each(|all| all(gpu, isa, now, sink))
}

/// The products of the figures, each beside the peak of the moment.
async fn products(gpu: &Gpu, now: &dyn Fn() -> f64, sink: Sink<'_>) -> Result<(), Fault> {
    let software = gpu.about().software;
    let rounds = if software { 1 } else { FEW };
    let shapes = match software {
        true => [[512, 512, 512], [1024, 1024, 256], [2048, 256, 256]],
        false => [[1024, 1024, 1024], [4096, 4096, 4096], [4096, 256, 256]],
    };
    let peak = Peak::new(gpu)?;
    let mut peaks = Vec::new();
    for [m, n, k] in shapes {
        let (mut rates, mut shares) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let peak = peak.flop_per_s(now).await?;
            let product_s = product_rounds_s(gpu, [m, n, k], false, 1, now).await?[0];
            let rate = 2.0 * (m * n * k) as f64 / product_s;
            rates.push(1e-9 * rate);
            shares.push(rate / peak);
            peaks.push(1e-9 * peak);
        }
        let less = if software { ", a smaller one for a software adapter" } else { "" };
        let name = format!("gpu.product.{m}x{n}x{k}");
        give(sink, format!("{name}.gflops"), &rates, format!("GFLOP/s{less}"));
        give(sink, format!("{name}.share"), &shares, "of peak");
        if gpu.about().half {
            let rounds_s = product_rounds_s(gpu, [m, n, k], true, rounds, now).await?;
            let unit = format!("GFLOP/s of factors rounded to f16{less}");
            give(sink, format!("{name}.f16.gflops"), &report::rates(2e-9 * (m * n * k) as f64, &rounds_s), unit);
        }
    }
    give(sink, "gpu.peak_gflops", &peaks, "GFLOP/s of multiply-adds in registers");
    Ok(())
}

/// Multiply-adds and nothing else: 32 chains a thread, that none waits for the one before.
struct Peak {
    program: Program,
    memory: Memory,
    flop: f64,
}

impl Peak {
    fn new(gpu: &Gpu) -> Result<Peak, Fault> {
        const THREADS: usize = 256;
        const CHAINS: usize = 8;
        const LINKS: usize = 16;
        let (workgroups, rounds) = if gpu.about().software { (64, 16) } else { (4096, 64) };
        let mut text = format!(
            "struct Args {{ out: u32, rounds: u32, factor: f32, add: f32 }}
@compute @workgroup_size({THREADS})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let a = vec4<f32>(args.factor);
    let b = vec4<f32>(args.add, 2.0 * args.add, 3.0 * args.add, 4.0 * args.add);
"
        );
        for i in 0..CHAINS {
            let _ = writeln!(text, "var x{i} = vec4<f32>(f32(id.x) + {i}.0);");
        }
        text += "for (var round = 0u; round < args.rounds; round++) {\n";
        for _ in 0..LINKS {
            (0..CHAINS).for_each(|i| _ = write!(text, "x{i} = fma(x{i}, a, b);"));
            text += "\n";
        }
        let sum: Vec<String> = (0..CHAINS).map(|i| format!("x{i}")).collect();
        let _ = writeln!(text, "}}\nlet sum = {};", sum.join(" + "));
        // Nobody else knows that it never is.
        text += "if (dot(sum, sum) == -1.0) { mem[args.out] = sum.x; }\n}\n";
        let (mut space, mut program) = (Space::default(), Program::new(gpu));
        let out = space.floats(1);
        let kernel = program.kernel("peak", &text);
        let args = [out.at, rounds, 0.75f32.to_bits(), 0.25f32.to_bits()];
        program.dispatch(&kernel, &args, groups(workgroups, 1));
        let memory = space.allocate(gpu)?;
        program.bind(&memory);
        let chained = CHAINS * 4 * LINKS * rounds as usize;
        Ok(Peak { program, memory, flop: 2.0 * (workgroups * THREADS * chained) as f64 })
    }

    async fn flop_per_s(&self, now: &dyn Fn() -> f64) -> Result<f64, Fault> {
        Ok(self.flop / rounds_s(&self.program, &self.memory, 0..1, 1, now).await?[0])
    }
}

/// A copy of more than any cache holds.
struct Bandwidth {
    program: Program,
    memory: Memory,
    begin: usize,
    floats: usize,
}

impl Bandwidth {
    fn new(gpu: &Gpu) -> Result<Bandwidth, Fault> {
        const THREADS: usize = 256;
        /// Each of four floats.
        const A_THREAD: usize = 4;
        /// Its workgroups fit one row.
        const MOST_BYTES: u64 = 512 << 20;
        const TEXT: &str = "\
struct Args { x: u32, y: u32 }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = group.x * 1024u + local;
    let a = mem[args.x + i];
    let b = mem[args.x + i + 256u];
    let c = mem[args.x + i + 512u];
    let d = mem[args.x + i + 768u];
    mem[args.y + i] = a;
    mem[args.y + i + 256u] = b;
    mem[args.y + i + 512u] = c;
    mem[args.y + i + 768u] = d;
}
";
        let wanted: u64 = if gpu.about().software { 32 << 20 } else { MOST_BYTES };
        let a_workgroup = 4 * THREADS * A_THREAD;
        let workgroups = (wanted.min(gpu.largest_buffer() / 2) / 4) as usize / a_workgroup;
        let floats = workgroups * a_workgroup;
        let (mut space, mut program) = (Space::default(), Program::new(gpu));
        let (x, y) = (space.floats(floats), space.floats(floats));
        noise(&mut program, &[x]);
        let begin = program.len();
        let kernel = program.kernel_of_vectors("copy", TEXT);
        program.dispatch(&kernel, &[x.at / 4, y.at / 4], [workgroups as u32, 1, 1]);
        let memory = space.allocate(gpu)?;
        program.bind(&memory);
        Ok(Bandwidth { program, memory, begin, floats })
    }

    /// Of the region that is copied.
    fn bytes(&self) -> usize {
        4 * self.floats
    }

    async fn bytes_per_s(&self, now: &dyn Fn() -> f64) -> Result<Vec<f64>, Fault> {
        replay_s(&self.program, &self.memory, 0..self.begin, 1, now).await?;
        let range = self.begin..self.begin + 1;
        let copies_s = rounds_s(&self.program, &self.memory, range, FEW, now).await?;
        Ok(rates(2.0 * self.bytes() as f64, &copies_s))
    }
}
