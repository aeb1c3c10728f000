//! Benchmarks of a GPU: its memory bandwidth, its peak arithmetic rate, and matrix products. The speed of a product is also given as a
//! share of the peak in the same round. The benchmarks of the environments express speeds as shares of the bandwidth.
//!
//! Software adapters (GPUs emulated on the CPU) get less work. The names or units of their figures then state the smaller sizes.

use crate::measure::{Bench, Clock, rates};
use gpu::{Gpu, Memory, Program, Readback, Region, Space, noise, product_rounds_s, rounds_s};
use learn::Fault;
use math::rounds::{FEW, ROUND_S, sustained_s};
use std::fmt::Write as _;
use std::ops::Range;

/// A GPU with its measured bandwidth.
pub struct Device<'a> {
    pub gpu: &'a Gpu,
    /// Number of bytes read and written per second, in each round.
    pub bytes_per_s: Vec<f64>,
}

impl<'a> Device<'a> {
    /// Measures the bandwidth, the peak and matrix products of the GPU.
    pub fn measured(gpu: &'a Gpu, bench: &mut Bench) -> Result<Device<'a>, Fault> {
        let (about, now) = (gpu.about(), bench.now);
        let software = f64::from(u8::from(about.software));
        bench.count("gpu.adapter.software", software, format!("{} over {}", about.name, about.backend));
        let bytes_per_s = bandwidth(gpu, bench)?;
        pollster::block_on(gpu.tune(&now))?;
        products(gpu, bench)?;
        Ok(Device { gpu, bytes_per_s })
    }

    pub fn is_software(&self) -> bool {
        self.gpu.about().software
    }
}

pub fn refused(error: impl std::fmt::Display) -> Fault {
    Fault::Refused { why: error.to_string() }
}

/// Returns the seconds per call, in each round. The first call is a warm-up. Returns an error if a call fails.
pub fn calls_s(now: Clock, mut call: impl FnMut() -> Result<(), Fault>) -> Result<Vec<f64>, Fault> {
    let mut done = call();
    let mut unless_failed = || {
        if done.is_ok() {
            done = call();
        }
    };
    let rounds_s = (0..FEW).map(|_| sustained_s(ROUND_S, &now, &mut unless_failed)).collect();
    done.map(|()| rounds_s)
}

/// Runs a warm-up iteration, then one iteration per round. Stops when there are at least three rounds and at least one second has passed.
/// Returns the result of each round.
pub fn iterations(now: Clock, mut iteration: impl FnMut() -> Result<f64, Fault>) -> Result<Vec<f64>, Fault> {
    const LEAST: usize = 3;
    const FILL_S: f64 = 1.0;
    iteration()?;
    let (began_s, mut rounds) = (now(), Vec::new());
    while rounds.len() < LEAST || now() - began_s < FILL_S {
        rounds.push(iteration()?);
    }
    Ok(rounds)
}

/// Measures matrix products. The peak is measured in the same rounds as each product.
fn products(gpu: &Gpu, bench: &mut Bench) -> Result<(), Fault> {
    let (software, now) = (gpu.about().software, bench.now);
    let rounds = if software { 1 } else { FEW };
    let shapes = match software {
        true => [[512, 512, 512], [1024, 1024, 256], [2048, 256, 256]],
        false => [[1024, 1024, 1024], [4096, 4096, 4096], [4096, 256, 256]],
    };
    let peak = Peak::new(gpu)?;
    let mut peaks = Vec::new();
    for [m, n, k] in shapes {
        let gflop = 2e-9 * (m * n * k) as f64;
        let (mut speeds, mut shares) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let peak = peak.gflops(now)?;
            let speed = gflop / product_rounds_s(gpu, [m, n, k], false, 1, &now)?[0];
            speeds.push(speed);
            shares.push(speed / peak);
            peaks.push(peak);
        }
        let less = if software { ", smaller for a software adapter" } else { "" };
        let name = format!("gpu.product.{m}x{n}x{k}");
        bench.give(format!("{name}.gflops"), &speeds, format!("GFLOP/s{less}"));
        bench.give(format!("{name}.share"), &shares, "of peak");
        if gpu.about().half {
            let rounds_s = product_rounds_s(gpu, [m, n, k], true, rounds, &now)?;
            let unit = format!("GFLOP/s of factors rounded to f16{less}");
            bench.give(format!("{name}.f16.gflops"), &rates(gflop, &rounds_s), unit);
        }
    }
    bench.give("gpu.peak_gflops", &peaks, "GFLOP/s of multiply-adds in registers");
    Ok(())
}

/// Kernel that computes only multiply-adds, in 32 independent chains per thread. Each thread stores the sum of its chains, because a
/// driver removes computations whose results are not used.
struct Peak {
    program: Program,
    memory: Memory,
    sums: Region,
    gflop: f64,
}

impl Peak {
    fn new(gpu: &Gpu) -> Result<Peak, Fault> {
        const THREADS: usize = 256;
        const CHAINS: usize = 8;
        const LINKS: usize = 16;
        const FACTOR: f32 = 0.75;
        const ADD: f32 = 0.25;
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
        let _ = writeln!(text, "}}\nmem[args.out + id.x] = dot({}, vec4<f32>(1.0));\n}}", sum.join(" + "));
        let (mut space, mut program) = (Space::default(), Program::new(gpu));
        let sums = space.floats(workgroups * THREADS);
        let kernel = program.kernel("peak", &text);
        let args = [sums.at, rounds, FACTOR.to_bits(), ADD.to_bits()];
        program.dispatch(&kernel, &args, [workgroups as u32, 1, 1]);
        let memory = space.allocate(gpu)?;
        program.bind(&memory);
        let chained = CHAINS * 4 * LINKS * rounds as usize;
        let peak = Peak { program, memory, sums, gflop: 2e-9 * (workgroups * THREADS * chained) as f64 };
        // Each chain is one component of a vector. Component k of every vector converges to (k + 1) * ADD / (1 - FACTOR).
        peak.check(CHAINS as f32 * 10.0 * ADD / (1.0 - FACTOR))?;
        Ok(peak)
    }

    /// Runs the kernel once. Returns an error if the sum of a thread is not approximately `expected`.
    fn check(&self, expected: f32) -> Result<(), Fault> {
        run_once(&self.program, 0..1);
        let (sums, _) = pollster::block_on(Readback::new(&self.memory, &[self.sums], &[]).fetch())?;
        match sums[0].iter().find(|sum| sum.is_nan() || (*sum - expected).abs() > 1e-3 * expected) {
            Some(wrong) => Err(Fault::Refused { why: format!("the GPU computed {wrong} instead of {expected} in the kernel of its peak") }),
            None => Ok(()),
        }
    }

    fn gflops(&self, now: Clock) -> Result<f64, Fault> {
        Ok(self.gflop / rounds_s(&self.program, &self.memory, 0..1, 1, &now)?[0])
    }
}

/// Returns the number of bytes that a copy reads and writes per second, in each round. On a hardware adapter, the copied data are larger
/// than all caches.
fn bandwidth(gpu: &Gpu, bench: &mut Bench) -> Result<Vec<f64>, Fault> {
    const THREADS: usize = 256;
    /// Number of vectors of four floats that each thread copies.
    const A_THREAD: usize = 4;
    /// Maximum number of bytes to copy. With this number, the workgroups fit into one dimension of a dispatch.
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
    let kernel = program.kernel_with("copy", "", true, TEXT);
    program.dispatch(&kernel, &[x.at / 4, y.at / 4], [workgroups as u32, 1, 1]);
    let memory = space.allocate(gpu)?;
    program.bind(&memory);
    run_once(&program, 0..begin);
    let copies_s = rounds_s(&program, &memory, begin..begin + 1, FEW, &bench.now)?;
    let bytes = 4 * floats;
    let bytes_per_s = rates(2.0 * bytes as f64, &copies_s);
    let gigabytes: Vec<f64> = bytes_per_s.iter().map(|rate| 1e-9 * rate).collect();
    let unit = format!("GB/s, read and written, in a copy of {} MB", bytes / 1_000_000);
    bench.give("gpu.bandwidth_gb_per_s", &gigabytes, unit);
    Ok(bytes_per_s)
}

/// Runs a range of the program's dispatches once, without timing, to prepare the memory.
pub fn run_once(program: &Program, range: Range<usize>) {
    let mut encoder = program.gpu().encoder();
    program.encode(&mut encoder, range);
    program.gpu().submit(encoder);
}
