//! Conversion of members to display data.

use super::experiments;
use super::protocol::{AutomatonView, ExportView, Format, GatesView, MemberState, MemberView, Picture, PopulationView};
use learn::Learner;
use learn::logic::circuit::Circuit;
use learn::logic::experiment::Task;
use learn::logic::population::{Member, Population};

pub fn automaton(population: &Population) -> AutomatonView {
    let experiment = population.experiment();
    let shape = &experiment.architecture;
    let counts = |layers: &[usize]| layers.iter().map(|&gates| gates as u32).collect::<Vec<u32>>();
    let perception: Vec<usize> = shape.perception.iter().map(|gates| gates * shape.kernels).collect();
    let first = &population.members()[0].trainer.automaton().params;
    AutomatonView {
        channels: shape.channels as u32,
        kernels: shape.kernels as u32,
        perception: counts(&shape.perception),
        update: counts(&shape.update),
        gates: shape.gates() as u32,
        gates_per_cell: shape.gates_per_cell() as u32,
        parameters: first.len() as u32,
        layers: [counts(&perception), counts(&shape.update)].concat(),
        target: match &experiment.task {
            Task::Rule(_) => None,
            Task::Pattern { target, .. } => {
                Some(Picture { width: target.width as u32, height: target.height as u32, values: target.values(target.channels) })
            }
        },
        steps: experiment.rollout.steps as u32,
        shows: experiments::shows(experiment),
    }
}

pub fn members(population: &Population, best: usize) -> PopulationView {
    let rollout = &population.experiment().rollout;
    let is_rule = population.config().preset.is_rule();
    let (width, height) = if is_rule { (32, 16) } else { (rollout.width, rollout.height) };
    let member = |member: &Member| MemberView {
        seed: member.seed,
        updates: member.trainer.updates() as u32,
        loss: member.loss,
        hard_loss: member.checked.wrong,
        state: if member.perfect { MemberState::Perfect } else { MemberState::Learning },
        picture: Picture { width: width as u32, height: height as u32, values: member.checked.picture.clone() },
    };
    let progress = population.progress();
    PopulationView {
        members: population.members().iter().map(member).collect(),
        perfect: progress.perfect_runs as u32,
        ended: progress.ended as u32,
        best: best as u32,
    }
}

pub fn gates(population: &Population, member: usize) -> GatesView {
    let automaton = population.members()[member].trainer.automaton();
    GatesView { ops: automaton.ops(), certainty: automaton.certainty() }
}

pub fn export(circuit: &Circuit, format: Format) -> ExportView {
    let (text, ending) = match format {
        Format::Svg => (circuit.to_svg(), "svg"),
        Format::Json => (circuit.to_json(), "json"),
        Format::Verilog => (circuit.to_verilog(), "v"),
        Format::Rust => (circuit.to_rust(), "rs"),
    };
    ExportView { name: format!("{}.{ending}", circuit.name), text }
}
