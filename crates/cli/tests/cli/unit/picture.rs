//! Tests of the picture of the training environments.

use cli::internals::control::{Clip, Environments, Stretch};
use ratatui::Frame;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use run::protocol::Knobs;
use std::time::Duration;
use std::time::Instant;

#[test]
fn clip_plays_in_real_time() {
    let mut clip = Clip::default();
    let start = Instant::now();
    assert!(clip.seek(start), "nothing to play yet");
    let observations = (0..192).map(|i| (i / 64) as f32).collect();
    clip.load(Stretch { steps: 3, shown: 1, features: 2, observations }, 0.02, start);
    let at = |clip: &mut Clip, ms| {
        let over = clip.seek(start + Duration::from_millis(ms));
        (clip.now().next().unwrap()[0], over)
    };
    assert_eq!([0, 19, 21, 59, 61].map(|ms| at(&mut clip, ms)), [(0.0, false), (0.0, false), (1.0, false), (2.0, false), (2.0, true)]);
    clip.load(Stretch { steps: 9, shown: 1, features: 2, ..Stretch::default() }, 0.02, start);
    assert_eq!(clip.now().next().unwrap()[0], 2.0, "a stretch without observations is ignored");
}

#[test]
fn every_environment_is_drawn_from_its_run() {
    let room = run::room("control").unwrap();
    for variant in room.variants() {
        let host = run::Host::new(math::Isa::best());
        let config = run::protocol::Config { variant: variant.id.to_string(), ..run::config_of(room) };
        let knobs = [("envs".to_string(), 64.0.into()), ("rollout_steps".to_string(), 16.0.into())];
        let config = run::protocol::Config { knobs: knobs.into(), ..config };
        let mut run = run::begin(config, host).unwrap();
        // The run records observations only after the first question.
        run.ask(serde_json::json!({ "ask": "frame" })).unwrap();
        run.command(run::protocol::Command::Step).unwrap();
        while run.advance(0.0) {}
        let mut picture = Environments::picture(&variant).unwrap();
        let now = Instant::now();
        let answer = run.ask(picture.question(now).unwrap()).unwrap();
        picture.answer(&serde_json::to_vec(&*answer).unwrap(), now);
        let mut terminal = Terminal::new(TestBackend::new(40, 12)).unwrap();
        let draw = |frame: &mut Frame| picture.draw(frame, frame.area(), &Knobs::new());
        terminal.draw(draw).unwrap();
        let cells = terminal.backend().buffer().content();
        let dots = cells.iter().filter(|c| ('\u{2801}'..='\u{28ff}').contains(&c.symbol().chars().next().unwrap()));
        assert!(dots.count() > 5, "{}", variant.id);
    }
}
