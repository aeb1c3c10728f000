//! One adapter and its device: name, capabilities and faults.

use crate::reduce::Reduce;
use crate::tile::Tuned;
use learn::Fault;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// Maximum time that [`Gpu::pause`] and [`Gpu::pause_for`] wait.
const PAUSE: Duration = Duration::from_millis(4);

/// Description of an adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Name of the adapter, for example `NVIDIA H200`.
    pub name: String,
    /// Graphics API: `Vulkan`, `Metal`, `Dx12`, `WebGPU` or `other`.
    pub backend: &'static str,
    /// True if the adapter is a software adapter, which is correct but never faster than the CPU.
    pub software: bool,
    /// True if kernels use subgroups. There are three conditions: [`OpenOptions::subgroups`] permits subgroups, the adapter has subgroups
    /// of suitable width, and the subgroups passed a test.
    pub subgroups: bool,
    /// True if kernels may round the factors of products to f16.
    pub half: bool,
}

/// Options for opening an adapter.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Maximum buffer size in bytes; `None` for the adapter's own limit.
    pub largest_buffer: Option<u64>,
    /// Name to report for the adapter if the system gives none, as in most browsers.
    pub name: String,
    /// True if kernels may use subgroups. `None` allows subgroups on hardware adapters only, because a software adapter needs more time to
    /// compile subgroup operations than the operations save. Results do not depend on this option.
    pub subgroups: Option<bool>,
    /// True to disable f16 even if the adapter has f16.
    pub without_half: bool,
}

/// An open device. Clones refer to the same device.
#[derive(Clone)]
pub struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) shared: Arc<Shared>,
}

/// Handle of one submit, for [`Gpu::wait_for`].
#[derive(Clone, Debug)]
pub struct Submitted(wgpu::SubmissionIndex);

/// Pending submits. Their number is limited: at the limit, the next submit waits until the oldest submit is done, if the platform can wait.
pub(crate) struct InFlight {
    most: usize,
    under_way: VecDeque<Submitted>,
}

impl InFlight {
    pub fn new(most: usize) -> InFlight {
        InFlight { most, under_way: VecDeque::with_capacity(most + 1) }
    }

    pub fn submit(&mut self, gpu: &Gpu, encoder: wgpu::CommandEncoder) -> Submitted {
        let submitted = gpu.submit(encoder);
        self.under_way.push_back(submitted.clone());
        if self.under_way.len() > self.most
            && let Some(oldest) = self.under_way.pop_front()
        {
            gpu.wait_for(&oldest);
        }
        submitted
    }
}

pub(crate) struct Shared {
    pub about: About,
    /// Maximum size of a buffer for kernels, in bytes.
    pub largest_buffer: u64,
    pub news: Arc<News>,
    /// Compiled pipelines, by their WGSL text. A pipeline is compiled outside of the lock, so threads can compile different pipelines at
    /// the same time.
    pub pipelines: Mutex<HashMap<String, Arc<OnceLock<wgpu::ComputePipeline>>>>,
    pub reduce: Reduce,
    pub layout: wgpu::BindGroupLayout,
    pub pipeline_layout: wgpu::PipelineLayout,
    pub submits: AtomicU64,
    pub readbacks: AtomicU64,
    pub tuned: Mutex<Tuned>,
}

/// State that the device's callbacks change. Callbacks may run on another thread. In a browser, the GPU handles in [`Shared`] cannot move
/// to another thread, so this type is separate from [`Shared`].
#[derive(Default)]
pub(crate) struct News {
    /// First fault; `None` while there is none.
    fault: Mutex<Option<Fault>>,
    /// Function that is called when a readback has arrived, and when the device fails.
    on_answer: Mutex<Option<fn()>>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gpu {
    /// Opens the fastest adapter and reads its capabilities.
    pub(crate) async fn open_as(options: OpenOptions) -> Result<Gpu, Fault> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let wanted = wgpu::RequestAdapterOptions { power_preference: wgpu::PowerPreference::HighPerformance, ..Default::default() };
        let none = |error: wgpu::RequestAdapterError| Fault::NoAdapter { why: error.to_string() };
        let adapter = instance.request_adapter(&wanted).await.map_err(none)?;
        Gpu::on(&adapter, options).await
    }

    async fn on(adapter: &wgpu::Adapter, options: OpenOptions) -> Result<Gpu, Fault> {
        let (info, offered, has) = (adapter.get_info(), adapter.limits(), adapter.features());
        let half = if options.without_half { wgpu::Features::empty() } else { wgpu::Features::SHADER_F16 };
        let features = has & (wgpu::Features::SUBGROUP | half);
        let room = offered.max_storage_buffer_binding_size.min(offered.max_buffer_size);
        let limits =
            wgpu::Limits { max_storage_buffer_binding_size: room, max_buffer_size: offered.max_buffer_size, ..wgpu::Limits::default() };
        let description =
            wgpu::DeviceDescriptor { label: Some("hothouse"), required_features: features, required_limits: limits, ..Default::default() };
        let (device, queue) = adapter.request_device(&description).await.map_err(|error| Fault::NoAdapter { why: error.to_string() })?;
        let mut about = about(&info, options.name);
        let wanted = options.subgroups.unwrap_or(!about.software);
        let reduce = if wanted && features.contains(wgpu::Features::SUBGROUP) {
            let in_browser = info.backend == wgpu::Backend::BrowserWebGpu;
            Reduce::by_subgroups(info.subgroup_min_size, info.subgroup_max_size, in_browser)
        } else {
            Reduce::PLAIN
        };
        about.subgroups = reduce.has_subgroups();
        about.half = features.contains(wgpu::Features::SHADER_F16);
        let layout = bindings(&device);
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("hothouse"),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let shared = Arc::new(Shared {
            about,
            reduce,
            // Kernels address elements of four bytes with 32-bit offsets.
            largest_buffer: room.min(options.largest_buffer.unwrap_or(u64::MAX)).min(4 * u64::from(u32::MAX)),
            news: Arc::default(),
            pipelines: Mutex::default(),
            layout,
            pipeline_layout,
            submits: AtomicU64::new(0),
            readbacks: AtomicU64::new(0),
            tuned: Mutex::default(),
        });
        let gpu = Gpu { device, queue, shared };
        let news = gpu.shared.news.clone();
        gpu.device.set_device_lost_callback(move |_, why| news.note(Fault::Lost { why }));
        let news = gpu.shared.news.clone();
        gpu.device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            news.note(match error {
                wgpu::Error::OutOfMemory { .. } => Fault::OutOfMemory,
                other => Fault::Refused { why: other.to_string() },
            });
        }));
        Ok(gpu)
    }

    pub fn about(&self) -> &About {
        &self.shared.about
    }

    /// Returns the maximum buffer size in bytes.
    pub fn largest_buffer(&self) -> u64 {
        self.shared.largest_buffer
    }

    /// Returns the number of submits and the number of readbacks so far.
    pub fn counts(&self) -> [u64; 2] {
        [self.shared.submits.load(Relaxed), self.shared.readbacks.load(Relaxed)]
    }

    /// Returns the device's first fault as an error, if there is one.
    pub fn check(&self) -> Result<(), Fault> {
        lock(&self.shared.news.fault).clone().map_or(Ok(()), Err)
    }

    /// Submits the work that `encoder` holds.
    pub fn submit(&self, encoder: wgpu::CommandEncoder) -> Submitted {
        self.shared.submits.fetch_add(1, Relaxed);
        Submitted(self.queue.submit([encoder.finish()]))
    }

    pub fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: None })
    }

    /// Waits until the device is idle. If the platform cannot wait (a browser), polls once.
    pub fn wait(&self) {
        self.poll(wgpu::PollType::wait_indefinitely());
    }

    /// Waits until all submitted work is done, but at most 4 ms. If the platform cannot wait, polls once.
    pub fn pause(&self) {
        self.poll(wgpu::PollType::Wait { submission_index: None, timeout: Some(PAUSE) });
    }

    /// Waits like [`Gpu::pause`], but only for one submit.
    pub fn pause_for(&self, submitted: &Submitted) {
        self.poll(wgpu::PollType::Wait { submission_index: Some(submitted.0.clone()), timeout: Some(PAUSE) });
    }

    /// Waits until one submit is done. If the platform cannot wait, polls once.
    pub fn wait_for(&self, submitted: &Submitted) {
        self.poll(wgpu::PollType::Wait { submission_index: Some(submitted.0.clone()), timeout: None });
    }

    fn poll(&self, how: wgpu::PollType) {
        // The result is not needed: `check` reports a lost device, and the caller tests whether its readback has arrived.
        let _ = self.device.poll(how);
    }

    /// Sets the function that is called when a readback has arrived, and when the device fails. In a browser, the arrival and the failure
    /// are events, so the caller does not need to poll.
    pub fn on_answer(&self, callback: fn()) {
        *lock(&self.shared.news.on_answer) = Some(callback);
    }

    /// Destroys the device. All later uses report [`Fault::Lost`].
    pub fn destroy(&self) {
        self.fail(Fault::Lost { why: "it was given up".into() });
        self.device.destroy();
    }

    /// Marks the device as failed. If there is no earlier fault, [`Gpu::check`] then reports `fault`.
    pub fn fail(&self, fault: Fault) {
        self.shared.news.note(fault);
    }
}

impl News {
    fn note(&self, fault: Fault) {
        lock(&self.fault).get_or_insert(fault);
        self.answer();
    }

    pub fn answer(&self) {
        let callback = *lock(&self.on_answer);
        if let Some(callback) = callback {
            callback();
        }
    }
}

/// Creates the layout of the bindings, which is the same for every kernel: the buffer of floats, the buffer of integers, and the arguments
/// of one dispatch.
fn bindings(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let entry = |binding, ty, has_dynamic_offset| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
        count: None,
    };
    let storage = wgpu::BufferBindingType::Storage { read_only: false };
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("hothouse"),
        entries: &[entry(0, storage, false), entry(1, storage, false), entry(2, wgpu::BufferBindingType::Uniform, true)],
    })
}

fn about(info: &wgpu::AdapterInfo, called: String) -> About {
    let backend = match info.backend {
        wgpu::Backend::Vulkan => "Vulkan",
        wgpu::Backend::Metal => "Metal",
        wgpu::Backend::Dx12 => "Dx12",
        wgpu::Backend::BrowserWebGpu => "WebGPU",
        _ => "other",
    };
    // Some browsers do not report that their adapter is software, so the name is also checked.
    let name = [info.name.clone(), called, "unnamed GPU".into()].into_iter().find(|name| !name.is_empty());
    let name = name.unwrap_or_default();
    let known = ["swiftshader", "llvmpipe", "lavapipe", "basic render"];
    let known = known.iter().any(|pretender| name.to_lowercase().contains(pretender));
    let software = known || info.device_type == wgpu::DeviceType::Cpu;
    About { name, backend, software, subgroups: false, half: false }
}
