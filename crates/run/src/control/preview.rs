//! Preview of the environment in an editor: random actions in real time. It does not affect the run.

use super::file::Opens;
use super::protocol::Preview as View;
use super::shown::Shown;
use super::stage::{Player, REST_S, gap_s};
use math::rng::{Rng, Sequence};
use worlds::control::{Actions, Kind};

/// Random stream of the actions and of the seeds of the episodes.
const STREAM: u32 = 0x5072_6576;

/// Preview of the last text without an error.
pub(super) struct Preview {
    /// Text of the latest question.
    text: String,
    /// True if `scene` shows `text`.
    current: bool,
    scene: Option<Scene>,
    random: Sequence,
}

/// An environment and the time in it.
struct Scene {
    kind: Kind,
    player: Player,
    step_s: f64,
    owed_s: f64,
    /// Remaining display time of a finished episode, in seconds.
    rest_s: f64,
}

impl Scene {
    fn new(kind: Kind, seed: u32) -> Scene {
        let player = Player::new((kind.twin)(), seed, None);
        Scene { player, step_s: Shown::of(&kind.spec).step_s, kind, owed_s: 0.0, rest_s: REST_S }
    }
}

impl Preview {
    pub fn new() -> Preview {
        Preview { text: String::new(), current: false, scene: None, random: Rng::new(0, STREAM).sequence(0) }
    }

    /// Shows `text`, and advances its environment by the time `dt_s`.
    pub fn advance<F: Opens>(&mut self, text: String, dt_s: f64) -> View {
        if text != self.text {
            let kind = F::kind(&text);
            self.text = text;
            self.current = kind.is_some();
            if let Some(kind) = kind {
                self.scene = Some(Scene::new(kind, self.random.word()));
            }
        }
        let Some(scene) = &mut self.scene else {
            return View { current: self.current, size: None, shapes: Vec::new(), fault: None };
        };
        scene.pass(gap_s(dt_s), &mut self.random);
        let body = &scene.player.body;
        let size = scene.kind.size.map(|size| size.map(f64::from));
        View { current: self.current, size, shapes: body.shapes.clone(), fault: body.fault.clone() }
    }
}

impl Scene {
    fn pass(&mut self, dt_s: f64, random: &mut Sequence) {
        if self.player.body.over {
            self.rest_s -= dt_s;
            if self.rest_s <= 0.0 {
                *self = Scene::new(self.kind.clone(), random.word());
            }
            return;
        }
        self.owed_s += dt_s;
        while self.owed_s >= self.step_s && !self.player.body.over {
            self.owed_s -= self.step_s;
            let action = self.random_action(random);
            self.player.step(action, [0.0; 2]);
        }
    }

    /// Draws a permitted choice, or numbers within the range of the actions.
    fn random_action(&self, random: &mut Sequence) -> Vec<f64> {
        match self.kind.spec.actions {
            Actions::Choices(count) => {
                let mask = self.player.permitted();
                let permitted: Vec<u32> = (0..count).filter(|&choice| mask.get(choice as usize).copied().unwrap_or(true)).collect();
                vec![permitted.get(random.below(permitted.len().max(1) as u32) as usize).copied().unwrap_or(0).into()]
            }
            Actions::Box { count, low, high } => (0..count).map(|_| low + (high - low) * f64::from(random.uniform())).collect(),
        }
    }
}
