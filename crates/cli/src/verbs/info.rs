//! `hothouse info`: describes the machine and the features that this program can use.

use crate::args::MachineArgs;
use crate::host::{Machine, processor};
use anyhow::Result;
use gpu::{Gpu, OpenOptions};
use serde::Serialize;
use std::borrow::Cow;
use std::io::Write;

#[derive(Serialize)]
struct Info {
    version: &'static str,
    /// Operating system and architecture, such as `linux x86_64`.
    system: String,
    /// CPU name according to the operating system; `None` if unknown.
    processor: Option<String>,
    /// Number of logical CPUs that this process may use.
    processors: usize,
    /// Number of threads of a run with the given options.
    threads: usize,
    /// Available memory in bytes; `None` if unknown.
    memory_bytes: Option<u64>,
    /// Instruction sets that the CPU supports and for which this program has kernels.
    instruction_sets: Vec<Set>,
    gpu: GpuInfo,
    rooms: Vec<Room>,
    /// Optional parts of the program, which a build can omit.
    features: Vec<Feature>,
}

#[derive(Serialize)]
struct Set {
    name: &'static str,
    /// Name of the arithmetic. Digests are comparable between instruction sets with the same arithmetic.
    arithmetic: &'static str,
    /// True for the instruction set of a run with the given options.
    chosen: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum GpuInfo {
    Found { name: String, backend: &'static str, software: bool, subgroups: bool, f16: bool },
    None { none: String },
}

#[derive(Serialize)]
struct Room {
    id: &'static str,
    variants: Vec<Cow<'static, str>>,
}

#[derive(Serialize)]
struct Feature {
    name: &'static str,
    here: bool,
}

pub fn run(json: bool, args: &MachineArgs) -> Result<()> {
    let machine = Machine::new(args)?;
    let info = Info {
        version: env!("CARGO_PKG_VERSION"),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        processor: processor(),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        threads: machine.threads(),
        memory_bytes: Some(machine.host.memory_bytes).filter(|&bytes| bytes < u64::MAX),
        instruction_sets: sets(machine.host.isa),
        gpu: gpu(),
        rooms: run::rooms()
            .iter()
            .map(|room| Room { id: room.schema().id, variants: room.variants().iter().map(|variant| variant.id.clone()).collect() })
            .collect(),
        features: vec![Feature { name: "rivals", here: cfg!(feature = "rivals") }, Feature { name: "faer", here: cfg!(feature = "faer") }],
    };
    let mut out = crate::plain::stdout();
    if json {
        writeln!(out, "{}", serde_json::to_string(&info)?)?;
    } else {
        out.write_all(words(&info).as_bytes())?;
    }
    Ok(out.flush()?)
}

/// Lists the available instruction sets. A run uses bf16 or AMX only if a knob (setting) of its learner selects bf16 or AMX.
fn sets(chosen: math::Isa) -> Vec<Set> {
    let optional = [math::Isa::Bf16, math::Isa::Amx].into_iter().filter(|isa| isa.is_available());
    let set = |isa: math::Isa| Set {
        name: isa.name(),
        arithmetic: match isa {
            math::Isa::Bf16 | math::Isa::Amx => isa.name(),
            isa if isa.fused() => "fused",
            _ => "unfused",
        },
        chosen: isa == chosen,
    };
    math::Isa::available().into_iter().chain(optional).map(set).collect()
}

fn gpu() -> GpuInfo {
    match Gpu::open_blocking(OpenOptions::default()) {
        Ok(gpu) => {
            let about = gpu.about();
            GpuInfo::Found {
                name: about.name.clone(),
                backend: about.backend,
                software: about.software,
                subgroups: about.subgroups,
                f16: about.half,
            }
        }
        Err(fault) => GpuInfo::None { none: fault.to_string() },
    }
}

fn words(info: &Info) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| text += &format!("{name:<18}{value}\n");
    line("hothouse", format!("{} on {}", info.version, info.system));
    line("processor", info.processor.clone().unwrap_or("unknown".into()));
    line("processors", format!("{}; a run uses {} threads", info.processors, info.threads));
    line("memory", info.memory_bytes.map_or("unknown".into(), |bytes| format!("{} MB free", bytes >> 20)));
    let sets = info.instruction_sets.iter().map(|set| {
        let chosen = if set.chosen { ", chosen" } else { "" };
        format!("{} ({}{chosen})", set.name, set.arithmetic)
    });
    line("instruction sets", sets.collect::<Vec<_>>().join(", "));
    line(
        "gpu",
        match &info.gpu {
            GpuInfo::Found { name, backend, software, subgroups, f16 } => {
                let has = [("software", *software), ("subgroups", *subgroups), ("f16", *f16)];
                let has = has.iter().filter(|(_, has)| *has).map(|(name, _)| format!(", {name}"));
                format!("{name} ({backend}{})", has.collect::<String>())
            }
            GpuInfo::None { none } => none.clone(),
        },
    );
    for room in &info.rooms {
        line(room.id, room.variants.join(", "));
    }
    let has = |here: bool| {
        let names: Vec<_> = info.features.iter().filter(|feature| feature.here == here).map(|feature| feature.name).collect();
        if names.is_empty() { "none".into() } else { names.join(", ") }
    };
    line("built with", format!("{}; without {}", has(true), has(false)));
    text
}
