//! Steps of vectorized environments do not allocate. Backgammon games that enumerate all results of each roll do not allocate either.

use math::{Isa, Rng};
use testkit::allocations;
use worlds::backgammon::{Board, Game, GameState, Results, Roll, Stakes};
use worlds::control::{Actions, kinds};

#[test]
fn environment_steps_do_not_allocate() {
    const COUNT: usize = 96;
    for kind in kinds() {
        let mut many = (kind.many)(Isa::best(), 1, 0, COUNT);
        let (mut reached, mut rewards) = (vec![0.0; many.observations().len()], vec![0.0; COUNT]);
        let (mut actions, mut ended) = (vec![0.0; COUNT], vec![0; COUNT]);
        let rng = Rng::new(1, 2);
        let mut ends = 0;
        let taken = allocations(|| {
            for t in 0..3000 {
                rng.fill_uniform(Isa::best(), t, &mut actions);
                for action in &mut actions {
                    *action = match kind.spec.actions {
                        Actions::Choices(count) => (*action * count as f32).floor(),
                        Actions::Box { low, high, .. } => (low + (high - low) * f64::from(*action)) as f32,
                    };
                }
                many.step(&actions, &mut reached, &mut rewards, &mut ended);
                ends += ended.iter().filter(|&&end| end != 0).count();
            }
        });
        assert_eq!(taken, 0, "{}", kind.spec.id);
        assert!(ends >= COUNT, "{}: some episodes ended", kind.spec.id);
    }
}

#[test]
fn backgammon_games_do_not_allocate() {
    let (mut numbers, mut buffer) = (Rng::new(1, 2).sequence(0), Results::new());
    let (mut ended, mut read) = (0, 0);
    let taken = allocations(|| {
        for _ in 0..500 {
            let mut game = Game::new(Stakes::Money);
            while !matches!(game.state(), GameState::Over(_)) {
                if let GameState::ToPlay(roll) = game.state() {
                    let results = game.board().results(roll, &mut buffer);
                    let after = results[numbers.below(results.len() as u32) as usize];
                    read += usize::from(Board::from_id(after.id().as_str()) == Ok(after));
                    game.play(after, &mut buffer).expect("one of the results");
                } else {
                    let roll = Roll::drawn_to_open(&mut numbers);
                    game.roll([roll.high(), roll.low()]).expect("the game waits for a roll");
                }
            }
            ended += 1;
        }
    });
    assert_eq!(taken, 0);
    assert!(ended == 500 && read > 10_000, "{read}");
}
