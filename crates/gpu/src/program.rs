//! Memory that all kernels share, and programs. A program is a list of dispatches, which is built once and replayed.
//!
//! Regions are reserved before a buffer exists; [`Space::allocate`] then creates the two buffers. Every kernel has the same three bindings:
//! floats, integers and arguments. One bind group is therefore enough for a whole program. Only the offset of the arguments changes between
//! dispatches.

use crate::device::{Gpu, Submitted, lock};
use learn::Fault;
use std::future::poll_fn;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

/// Text that precedes every kernel's own text. A kernel's own text contains `struct Args` and `main`.
pub const PRELUDE: &str = "\
@group(0) @binding(0) var<storage, read_write> mem: array<f32>;
@group(0) @binding(1) var<storage, read_write> words: array<u32>;
@group(0) @binding(2) var<uniform> args: Args;
/// Index of a workgroup in a dispatch whose workgroups are spread over x and y.
fn group_index(group: vec3<u32>, groups: vec3<u32>) -> u32 { return group.x + group.y * groups.x; }
";

/// Usual first lines of `main`.
pub(crate) const MAIN: &str = "fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32)";

/// Type of `mem` in [`PRELUDE`]. [`VECTORS`] replaces this type in kernels that read four floats at a time.
const FLOATS: &str = "array<f32>";
/// Type of `mem` in kernels that read four floats at a time.
const VECTORS: &str = "array<vec4<f32>>";

/// Alignment of regions, in elements of 4 bytes. 64 elements are 256 bytes.
const UNIT: u64 = 64;
/// Size of one dispatch's arguments in bytes.
const ARGS: u64 = 256;
/// Maximum number of workgroups in one dimension.
const MOST_GROUPS: u32 = 65_535;

/// Elements `at..at + len` of the buffer of floats or of the buffer of integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    pub at: u32,
    pub len: u32,
}

impl Region {
    /// Returns the part of the region with `len` elements from `from` on.
    #[track_caller]
    pub fn part(self, from: usize, len: usize) -> Region {
        assert!(from + len <= self.len as usize, "{from} + {len} of {} elements", self.len);
        Region { at: self.at + from as u32, len: len as u32 }
    }

    fn bytes(self) -> Range<u64> {
        4 * u64::from(self.at)..4 * (u64::from(self.at) + u64::from(self.len))
    }
}

/// Plan of the memory: numbers of reserved elements in buffers that do not exist yet.
#[derive(Clone, Debug, Default)]
pub struct Space {
    floats: u64,
    words: u64,
    scratch: Region,
}

impl Space {
    /// Reserves floats in `mem`, initially 0.
    pub fn floats(&mut self, len: usize) -> Region {
        hand_out(&mut self.floats, len)
    }

    /// Reserves integers in `words`, initially 0.
    pub fn words(&mut self, len: usize) -> Region {
        hand_out(&mut self.words, len)
    }

    /// Reserves floats for results that only the next dispatch reads. The regions of different calls may overlap.
    pub fn scratch(&mut self, len: usize) -> Region {
        if (self.scratch.len as usize) < len {
            self.scratch = self.floats(len);
        }
        self.scratch.part(0, len)
    }

    /// Returns the size of the floats reserved so far, in bytes.
    pub fn float_bytes(&self) -> u64 {
        4 * self.floats
    }

    /// Creates the buffers. Returns an error if a buffer exceeds the adapter's limit.
    pub fn allocate(&self, gpu: &Gpu) -> Result<Memory, Fault> {
        let buffer = |label, len: u64| {
            let size = 4 * len.max(UNIT);
            if size > gpu.largest_buffer() {
                return Err(Fault::TooSmall { needs: size, has: gpu.largest_buffer() });
            }
            Ok(gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }))
        };
        Ok(Memory { gpu: gpu.clone(), floats: buffer("floats", self.floats)?, words: buffer("integers", self.words)? })
    }
}

fn hand_out(used: &mut u64, len: usize) -> Region {
    let at = *used;
    *used += (len as u64).next_multiple_of(UNIT);
    // An offset above the range of u32 is clamped here, because [`Space::allocate`] later rejects the memory as too large.
    Region { at: at.min(u64::from(u32::MAX)) as u32, len: len as u32 }
}

/// The buffer of floats and the buffer of integers.
#[derive(Clone)]
pub struct Memory {
    gpu: Gpu,
    floats: wgpu::Buffer,
    words: wgpu::Buffer,
}

impl Memory {
    /// Writes floats to a region; takes effect with the next submit.
    pub fn write_floats(&self, region: Region, values: &[f32]) {
        assert!(values.len() <= region.len as usize, "{} values for {region:?}", values.len());
        self.write(&self.floats, region, values.iter().map(|x| x.to_ne_bytes()).collect());
    }

    pub fn write_words(&self, region: Region, values: &[u32]) {
        assert!(values.len() <= region.len as usize, "{} values for {region:?}", values.len());
        self.write(&self.words, region, values.iter().map(|x| x.to_ne_bytes()).collect());
    }

    /// Returns the size of both buffers together, in bytes.
    pub fn bytes(&self) -> u64 {
        self.floats.size() + self.words.size()
    }

    fn write(&self, buffer: &wgpu::Buffer, region: Region, values: Vec<[u8; 4]>) {
        if !values.is_empty() {
            self.gpu.queue.write_buffer(buffer, region.bytes().start, values.as_flattened());
        }
    }
}

/// A compiled kernel.
#[derive(Clone)]
pub struct Kernel(wgpu::ComputePipeline);

#[derive(Clone)]
struct Dispatch {
    kernel: Kernel,
    groups: [u32; 3],
}

/// List of dispatches in execution order. Each dispatch can read the results of the dispatches before it.
pub struct Program {
    gpu: Gpu,
    dispatches: Vec<Dispatch>,
    args: Vec<u8>,
    bound: Option<wgpu::BindGroup>,
}

impl Program {
    pub fn new(gpu: &Gpu) -> Program {
        Program { gpu: gpu.clone(), dispatches: Vec::new(), args: Vec::new(), bound: None }
    }

    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Compiles a kernel, or returns the existing kernel with the same text.
    pub fn kernel(&self, label: &str, text: &str) -> Kernel {
        self.kernel_with(label, "", false, text)
    }

    /// Compiles a kernel like [`Program::kernel`]. `directives`, such as `enable f16;`, precede all other text. With `of_vectors`, `mem` is
    /// an array of vectors of four floats.
    pub fn kernel_with(&self, label: &str, directives: &str, of_vectors: bool, text: &str) -> Kernel {
        let text = whole(directives, of_vectors, text);
        let pipeline = lock(&self.gpu.shared.pipelines).entry(text.clone()).or_default().clone();
        Kernel(pipeline.get_or_init(|| self.compiled(label, &text)).clone())
    }

    fn compiled(&self, label: &str, text: &str) -> wgpu::ComputePipeline {
        let Gpu { device, shared, .. } = &self.gpu;
        let module =
            device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(label), source: wgpu::ShaderSource::Wgsl(text.into()) });
        device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(label),
            layout: Some(&shared.pipeline_layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                // WebGPU would set workgroup memory to zero. This is unnecessary, because every kernel writes workgroup memory before it
                // reads it.
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        })
    }

    /// Appends a kernel that executes the WGSL text `body` for each `i` below `len`. `body` reads the arguments `args` by their names.
    pub fn for_each(&mut self, label: &str, of_vectors: bool, args: &[(&str, u32)], len: usize, body: &str) {
        const SIZE: usize = 256;
        let fields: String = args.iter().map(|(name, _)| format!("{name}: u32, ")).collect();
        let text = format!(
            "struct Args {{ {fields}len: u32 }}
@compute @workgroup_size({SIZE})
{MAIN} {{
    let i = group_index(group, many) * {SIZE}u + local;
    if (i >= args.len) {{ return; }}
    {body}
}}
"
        );
        let kernel = self.kernel_with(label, "", of_vectors, &text);
        let args: Vec<u32> = args.iter().map(|arg| arg.1).chain([len as u32]).collect();
        self.dispatch(&kernel, &args, groups(len, SIZE));
    }

    /// Appends a dispatch. Appends nothing if a component of `groups` is 0. A float argument must be passed as its bits.
    #[track_caller]
    pub fn dispatch(&mut self, kernel: &Kernel, args: &[u32], groups: [u32; 3]) {
        assert!(self.bound.is_none(), "this program is bound already");
        assert!(4 * args.len() as u64 <= ARGS, "{} arguments", args.len());
        assert!(groups.iter().all(|&n| n <= MOST_GROUPS), "{groups:?} workgroups");
        if groups.contains(&0) {
            return;
        }
        self.args.extend(args.iter().flat_map(|x| x.to_ne_bytes()));
        self.dispatches.push(Dispatch { kernel: kernel.clone(), groups });
        self.args.resize(ARGS as usize * self.dispatches.len(), 0);
    }

    /// Returns the number of dispatches so far; the next dispatch has this index.
    pub fn len(&self) -> usize {
        self.dispatches.len()
    }

    pub fn is_empty(&self) -> bool {
        self.dispatches.is_empty()
    }

    /// Binds the program to a memory. The caller must do this before the first replay.
    pub fn bind(&mut self, memory: &Memory) {
        let Gpu { device, queue, shared, .. } = &self.gpu;
        let args = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("arguments"),
            size: (self.args.len() as u64).max(ARGS),
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        if !self.args.is_empty() {
            queue.write_buffer(&args, 0, &self.args);
        }
        let whole = |binding, buffer| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset: 0, size: None }),
        };
        let one = wgpu::BindGroupEntry {
            binding: 2,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: &args, offset: 0, size: wgpu::BufferSize::new(ARGS) }),
        };
        self.bound = Some(device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &shared.layout,
            entries: &[whole(0, &memory.floats), whole(1, &memory.words), one],
        }));
    }

    /// Appends a replay of the dispatches in `range` to `encoder`, as one pass.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder, range: Range<usize>) {
        self.encode_lists(encoder, &[range]);
    }

    /// Appends a replay of several lists in succession to `encoder`, as one pass.
    pub fn encode_lists(&self, encoder: &mut wgpu::CommandEncoder, lists: &[Range<usize>]) {
        let bound = self.bound.as_ref().expect("bound to a memory before it is replayed");
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for i in lists.iter().flat_map(Range::clone) {
            let Dispatch { kernel, groups: [x, y, z] } = &self.dispatches[i];
            pass.set_pipeline(&kernel.0);
            pass.set_bind_group(0, bound, &[i as u32 * ARGS as u32]);
            pass.dispatch_workgroups(*x, *y, *z);
        }
    }
}

/// Returns the text to compile: directives, then the prelude with the type of `mem`, then the kernel's own text.
pub(crate) fn whole(directives: &str, of_vectors: bool, text: &str) -> String {
    let prelude = if of_vectors { PRELUDE.replacen(FLOATS, VECTORS, 1) } else { PRELUDE.into() };
    format!("{directives}\n{prelude}{text}")
}

/// Returns the number of workgroups in x, y and z for `items` items, if a workgroup processes `a_group` items. The kernel computes the
/// index of its workgroup with `group_index`.
pub fn groups(items: usize, a_group: usize) -> [u32; 3] {
    let groups = items.div_ceil(a_group) as u32;
    if groups <= MOST_GROUPS {
        return [groups, 1, 1];
    }
    let y = groups.div_ceil(MOST_GROUPS);
    [groups.div_ceil(y), y, 1]
}

const IDLE: u8 = 0;
const UNDER_WAY: u8 = 1;
const HERE: u8 = 2;
const FAILED: u8 = 3;

/// Contents of a readback: one list per region of floats, and one list per region of integers.
pub type Contents = (Vec<Vec<f32>>, Vec<Vec<u32>>);

/// Contents of one region that was read back.
#[derive(Clone, Copy)]
pub struct Arrived<'a>(&'a [[u8; 4]]);

impl<'a> Arrived<'a> {
    pub fn floats(self) -> impl ExactSizeIterator<Item = f32> + 'a {
        self.0.iter().map(|bytes| f32::from_ne_bytes(*bytes))
    }

    pub fn words(self) -> impl ExactSizeIterator<Item = u32> + 'a {
        self.0.iter().map(|bytes| u32::from_ne_bytes(*bytes))
    }

    /// Copies the contents to `floats`, whose previous contents are removed.
    pub fn replace(self, floats: &mut Vec<f32>) {
        floats.clear();
        floats.extend(self.floats());
    }

    /// Divides the contents into `count` equal consecutive parts.
    pub fn parts(self, count: usize) -> impl Iterator<Item = Arrived<'a>> {
        self.0.chunks_exact(self.0.len().checked_div(count).unwrap_or(0).max(1)).map(Arrived)
    }
}

/// Reads regions back to the CPU. A submit copies the regions to a staging buffer; their contents arrive at the CPU later.
pub struct Readback {
    gpu: Gpu,
    memory: Memory,
    floats: Vec<Region>,
    words: Vec<Region>,
    staging: wgpu::Buffer,
    way: Arc<Way>,
}

/// State of a readback, and the waker of the task that waits for the readback.
struct Way {
    state: AtomicU8,
    waits: Mutex<Option<Waker>>,
}

impl Readback {
    pub fn new(memory: &Memory, floats: &[Region], words: &[Region]) -> Readback {
        let len: u64 = floats.iter().chain(words).map(|region| u64::from(region.len)).sum();
        let staging = memory.gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("readback"),
            size: 4 * len.max(1),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Readback {
            gpu: memory.gpu.clone(),
            memory: memory.clone(),
            floats: floats.to_vec(),
            words: words.to_vec(),
            staging,
            way: Arc::new(Way { state: AtomicU8::new(IDLE), waits: Mutex::new(None) }),
        }
    }

    /// Appends the copies of the regions to a submit.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut to = 0;
        for (regions, buffer) in [(&self.floats, &self.memory.floats), (&self.words, &self.memory.words)] {
            for region in regions.iter().filter(|region| region.len > 0) {
                let bytes = region.bytes();
                let len = bytes.end - bytes.start;
                encoder.copy_buffer_to_buffer(buffer, bytes.start, &self.staging, to, Some(len));
                to += len;
            }
        }
    }

    /// Requests the contents of the staging buffer. The caller must submit the copies before this call.
    pub fn ask(&self) {
        self.gpu.shared.readbacks.fetch_add(1, Ordering::Relaxed);
        self.way.state.store(UNDER_WAY, Ordering::Release);
        let way = self.way.clone();
        let news = self.gpu.shared.news.clone();
        self.staging.map_async(wgpu::MapMode::Read, .., move |result| {
            way.state.store(if result.is_ok() { HERE } else { FAILED }, Ordering::Release);
            if let Some(waker) = lock(&way.waits).take() {
                waker.wake();
            }
            news.answer();
        });
    }

    /// Passes the contents of each region to `floats` or to `words`. The first argument is the region's index among the regions of the same
    /// type. Returns false if the contents have not arrived yet.
    pub fn take(&self, floats: &mut dyn FnMut(usize, Arrived), words: &mut dyn FnMut(usize, Arrived)) -> Result<bool, Fault> {
        self.gpu.check()?;
        match self.way.state.load(Ordering::Acquire) {
            HERE => {}
            FAILED => return Err(Fault::Lost { why: "what it computed could not be read".into() }),
            _ => return Ok(false),
        }
        let view = self.staging.get_mapped_range(..).map_err(|e| Fault::Lost { why: e.to_string() })?;
        let mut rest = view.as_chunks::<4>().0;
        for (i, region) in self.floats.iter().enumerate() {
            let (these, others) = rest.split_at(region.len as usize);
            floats(i, Arrived(these));
            rest = others;
        }
        for (i, region) in self.words.iter().enumerate() {
            let (these, others) = rest.split_at(region.len as usize);
            words(i, Arrived(these));
            rest = others;
        }
        drop(view);
        self.staging.unmap();
        self.way.state.store(IDLE, Ordering::Release);
        Ok(true)
    }

    /// Waits at most a few milliseconds for the submission `asked`, then does the same as [`Readback::take`]. Sets `asked` to `None` once
    /// the contents have arrived. Returns false if `asked` is `None`, because no request is pending.
    pub(crate) fn poll(
        &self,
        asked: &mut Option<Submitted>,
        floats: &mut dyn FnMut(usize, Arrived),
        words: &mut dyn FnMut(usize, Arrived),
    ) -> Result<bool, Fault> {
        let Some(submitted) = asked else { return Ok(false) };
        self.gpu.pause_for(submitted);
        let here = self.take(floats, words)?;
        if here {
            *asked = None;
        }
        Ok(here)
    }

    /// Submits the copies, waits for the contents and returns them. Works natively and in a browser.
    pub async fn fetch(&self) -> Result<Contents, Fault> {
        self.send();
        self.answer().await
    }

    /// Waits for the requested contents and returns them.
    pub async fn answer(&self) -> Result<Contents, Fault> {
        #[cfg(not(target_family = "wasm"))]
        self.gpu.wait();
        poll_fn(|context| {
            // The waker is registered before the check. Contents that arrive between the two therefore wake the task.
            *lock(&self.way.waits) = Some(context.waker().clone());
            if self.way.state.load(Ordering::Acquire) == UNDER_WAY { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        self.contents()
    }

    /// Does the same as [`Readback::fetch`], but blocks; for benches and native tests.
    #[cfg(not(target_family = "wasm"))]
    pub fn now(&self) -> Result<Contents, Fault> {
        self.send();
        self.gpu.wait();
        self.contents()
    }

    fn send(&self) {
        let mut encoder = self.gpu.encoder();
        self.encode(&mut encoder);
        self.gpu.submit(encoder);
        self.ask();
    }

    fn contents(&self) -> Result<Contents, Fault> {
        let (mut all_floats, mut all_words) = (Vec::new(), Vec::new());
        let here = self.take(&mut |_, x| all_floats.push(x.floats().collect()), &mut |_, x| all_words.push(x.words().collect()))?;
        if here { Ok((all_floats, all_words)) } else { Err(Fault::Lost { why: "it did not answer".into() }) }
    }
}
