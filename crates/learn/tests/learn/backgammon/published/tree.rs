//! Search trees of the published learner.

use learn::backgammon::published::Decision;
use learn::internals::published::{Chance, Leaf, NONE, ROOT, Rule, State, Tree, legal, place_of, play};
use math::{Isa, Rng};
use std::collections::HashMap;
use worlds::backgammon::{BAR, Board, Results, Roll};

const RULE: Rule = Rule { exploration: 1.5, doubt: 0.2, loss: 1.0 };

fn board(mine: &[(usize, u8)], theirs: &[(usize, u8)]) -> Board {
    let side = |places: &[(usize, u8)]| {
        let mut all = [0; BAR];
        places.iter().for_each(|&(place, count)| all[place - 1] = count);
        all
    };
    Board::new(side(mine), side(theirs)).unwrap()
}

/// Returns a pseudorandom number in place of a network output for an action.
fn pseudorandom(decision: &Decision, action: u16) -> f32 {
    let hash = decision.board.hash64() as u32 ^ u32::from(decision.roll) << 8 ^ u32::from(decision.second);
    math::rng::uniform_from_word(math::rng::hash_1([1, 2], [hash, action.into()])[0])
}

fn value_of(decision: &Decision) -> f32 {
    2.0 * pseudorandom(decision, 999) - 1.0
}

fn priors_of(decision: &Decision, actions: &[u16]) -> Vec<f32> {
    let weights: Vec<f32> = actions.iter().map(|&a| 0.1 + pseudorandom(decision, a)).collect();
    let sum: f32 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Runs `count` simulations, of which up to `concurrent` are pending at once.
fn search(tree: &mut Tree, count: u32, concurrent: usize, value: &dyn Fn(&Decision) -> f32) {
    let (mut scratch, mut actions, mut left) = (Results::new(), Vec::new(), count);
    while left > 0 {
        let (mut path, mut waiting) = (Vec::new(), Vec::new());
        while waiting.len() < concurrent.min(left as usize) {
            let first = path.len();
            match tree.descend(&RULE, &mut path) {
                Leaf::New(node) => waiting.push((node, first..path.len())),
                Leaf::Ended(points) => {
                    tree.back_up(&path[first..], points);
                    path.truncate(first);
                    left -= 1;
                }
                Leaf::Busy => {
                    tree.cancel(&path[first..]);
                    path.truncate(first);
                    break;
                }
                Leaf::Full => panic!("full"),
            }
        }
        for (node, range) in waiting {
            tree.list(node, &mut scratch);
            tree.actions(node, &mut actions);
            let decision = *tree.decision(node);
            tree.open(node, value(&decision), &priors_of(&decision, &actions));
            tree.back_up(&path[range], value(&decision));
            left -= 1;
        }
    }
}

fn searched_tree(decision: Decision, count: u32, concurrent: usize) -> Tree {
    let mut tree = Tree::new(count as usize);
    tree.begin(decision, 0);
    search(&mut tree, count, concurrent, &value_of);
    tree
}

/// Number of visits of an action, and sum of the action's points.
type Tried = (u32, f32);

/// Reference implementation of the search. It uses hash maps, compares all actions and runs one simulation at a time.
#[derive(Default)]
struct Plain {
    /// Edges of each decision. The key of a decision is the board, the roll, and true for a second half. The key of an edge is the
    /// action.
    known: HashMap<(Board, u8, bool), HashMap<u16, Tried>>,
    dice: HashMap<Board, u32>,
}

impl Plain {
    fn visit(&mut self, decision: Decision) -> f32 {
        let key = (decision.board, decision.roll, decision.second);
        let Some(known) = self.known.get(&key).cloned() else {
            self.known.insert(key, HashMap::new());
            return value_of(&decision);
        };
        let mut scratch = Results::new();
        let actions: Vec<u16> = legal(&decision, &mut scratch).collect();
        let all: u32 = known.values().map(|edge| edge.0).sum();
        let score = |i: usize, prior: f32| {
            let (n, sum) = known.get(&actions[i]).copied().unwrap_or((0, 0.0));
            let q = if n > 0 { sum / n as f32 } else { value_of(&decision) - RULE.doubt };
            q + RULE.exploration * (all.max(1) as f32).sqrt() * prior / (1.0 + n as f32)
        };
        let scores: Vec<f32> = priors_of(&decision, &actions).into_iter().enumerate().map(|(i, p)| score(i, p)).collect();
        let best = (0..actions.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
        let roll = decision.roll();
        let after = decision.board.moved(roll, play(actions[best]));
        let points = if roll.is_double() && !decision.second && after.can_move(roll.high()) {
            self.visit(Decision { board: after, second: true, ..decision })
        } else if after.points() != 0 {
            after.points() as f32
        } else {
            // The reference takes the order of the dice from the tree, but nothing else.
            let mut tree = Tree::new(2);
            tree.begin(decision, 0);
            let chance = tree.chance(after.turned());
            let Chance { start, stride, .. } = tree.chances[usize::from(chance)];
            let n = self.dice.entry(after.turned()).or_default();
            let combination = (u32::from(start) + *n % 36 * u32::from(stride)) % 36;
            *n += 1;
            let roll = Roll::new(1 + combination as u8 / 6, 1 + combination as u8 % 6).unwrap();
            -self.visit(Decision::new(after.turned(), roll))
        };
        let edge = self.known.entry(key).or_default().entry(actions[best]).or_default();
        edge.0 += 1;
        edge.1 += points;
        points
    }
}

fn visits(tree: &Tree, node: u16) -> Vec<(u16, u16, f32)> {
    let mut all: Vec<_> = tree.edges(node).iter().map(|e| (e.action, e.visits, e.sum)).collect();
    all.sort_by_key(|edge| edge.0);
    all
}

#[test]
fn visits_match_the_reference_search() {
    let close = board(&[(1, 2), (2, 1), (6, 1)], &[(1, 1), (3, 2)]);
    let on_bar = board(&[(25, 1), (8, 2), (6, 3)], &[(1, 2), (2, 2), (24, 1)]);
    for board in [Board::START, close, on_bar] {
        for roll in [Roll::ALL[1], Roll::ALL[8], Roll::ALL[2], Roll::ALL[20]] {
            let tree = searched_tree(Decision::new(board, roll), 150, 1);
            let mut plain = Plain::default();
            (0..150).for_each(|_| {
                plain.visit(Decision::new(board, roll));
            });
            let known = &plain.known[&(board, place_of(roll), false)];
            for (action, n, sum) in visits(&tree, ROOT) {
                let (plain_n, plain_sum) = known.get(&action).copied().unwrap_or_default();
                assert_eq!(u32::from(n), plain_n, "{board:?} {roll:?}: {action}");
                assert!((sum - plain_sum).abs() < 1e-3, "{board:?} {roll:?}: {sum} {plain_sum}");
            }
        }
    }
}

/// Tests a position with a single action. The value depends only on the pips and the roll, so the exact expectation over the opponent's
/// rolls is known.
#[test]
fn chance_nodes_back_up_the_expectation() {
    let board = board(&[(4, 1)], &[(20, 1), (13, 1)]);
    let worth = |pips: u32| 0.1 * pips as f32 - 0.5;
    let value = |decision: &Decision| match decision.board.mine().pips() {
        33 => worth(u32::from(decision.roll().high() + decision.roll().low())),
        _ => -worth(33 - decision.board.theirs().pips()),
    };
    let mut tree = Tree::new(100);
    tree.begin(Decision::new(board, Roll::ALL[1]), 0);
    // The first simulation opens the root. The root's only action is then tried 36 times.
    search(&mut tree, 37, 1, &value);
    let &[edge] = tree.edges(ROOT) else { panic!("one action") };
    assert_eq!(edge.visits, 36);
    let sum: f32 = (0..36).map(|combination| worth(2 + combination / 6 + combination % 6)).sum();
    assert!(sum > 5.0 && (edge.sum + sum).abs() < 1e-4, "{} {sum}", edge.sum);
}

#[test]
fn each_dice_combination_occurs_once_in_36_visits() {
    for salt in 0..200 {
        let mut tree = Tree::new(100);
        tree.begin(Decision::new(Board::START, Roll::ALL[1]), salt);
        let chance = tree.chance(Board::START);
        let mut counts = [0; 21];
        for _ in 0..36 {
            let node = tree.next_roll(chance);
            counts[usize::from(tree.decision(node).roll)] += 1;
        }
        assert_eq!(counts.map(|n: u32| n), Roll::ALL.map(Roll::ways));
    }
}

#[test]
fn nothing_is_pending_after_a_search() {
    for concurrent in [1, 4, 16] {
        for seed in 0..20 {
            let roll = Roll::drawn(&mut Rng::new(seed, 1).sequence(0));
            let tree = searched_tree(Decision::new(Board::START, roll), 200, concurrent);
            assert!(tree.edges.iter().all(|edge| edge.pending == 0));
            assert!(tree.nodes.iter().all(|node| node.pending == 0 && node.state != State::Pending));
            // The first simulation opened the root without trying an action.
            assert_eq!(tree.nodes[0].visits, 199);
            assert_eq!(tree.edges(ROOT).iter().map(|e| u32::from(e.visits)).sum::<u32>(), 199);
            for node in tree.nodes.iter().filter(|node| node.state == State::Open) {
                let edges = &tree.edges[node.first as usize..][..usize::from(node.count)];
                assert!(edges.iter().skip(node.tried.into()).all(|edge| edge.visits == 0));
                assert!(edges.iter().all(|edge| edge.sum.abs() <= 3.0 * f32::from(edge.visits) + 1e-3));
            }
        }
    }
}

#[test]
fn pending_simulations_divert_others() {
    // If pending simulations did not count, all simulations would begin with the action that has the largest prior.
    let mut tree = Tree::new(100);
    tree.begin(Decision::new(Board::START, Roll::ALL[1]), 0);
    search(&mut tree, 1, 1, &value_of);
    let mut path = Vec::new();
    let mut firsts = Vec::new();
    for _ in 0..8 {
        let first = path.len();
        assert!(matches!(tree.descend(&RULE, &mut path), Leaf::New(_)));
        firsts.push(path[first].edge);
    }
    firsts.sort_unstable();
    firsts.dedup();
    assert!(firsts.len() >= 4, "{firsts:?}");
}

#[test]
fn finished_games_count_one_two_or_three_points() {
    let last = |theirs: &[(usize, u8)]| board(&[(1, 2)], theirs);
    for (theirs, points) in [(&[(6, 14)][..], 1.0), (&[(6, 15)][..], 2.0), (&[(6, 14), (20, 1)][..], 3.0), (&[(25, 1), (6, 14)], 3.0)] {
        let tree = searched_tree(Decision::new(last(theirs), Roll::ALL[2]), 10, 1);
        for edge in tree.edges(ROOT) {
            assert_eq!(edge.sum, points * f32::from(edge.visits));
        }
        // In the position one decision earlier, the opponent decides and cannot prevent the loss.
        let tree = searched_tree(Decision::new(last(theirs).turned(), Roll::ALL[1]), 200, 1);
        let total: f32 = tree.edges(ROOT).iter().map(|edge| edge.sum).sum();
        assert!(total < 0.0, "{total}");
    }
}

#[test]
fn reusing_a_subtree_keeps_its_results() {
    let mut done = 0;
    for seed in 0..30 {
        let mut numbers = Rng::new(seed, 2).sequence(0);
        let roll = Roll::drawn(&mut numbers);
        let mut tree = searched_tree(Decision::new(Board::START, roll), 400, 4);
        let mut spare = Tree::new(400);
        let best = (0..tree.edges(ROOT).len()).max_by_key(|&i| tree.edges(ROOT)[i].visits).unwrap();
        let action = tree.edges(ROOT)[best].action;
        let after = Board::START.moved(roll, play(action));
        let reached = if roll.is_double() {
            Decision { board: after, roll: place_of(roll), second: true }
        } else {
            Decision::new(after.turned(), Roll::drawn(&mut numbers))
        };
        let at = tree.nodes.iter().position(|node| node.decision == reached && node.state == State::Open);
        let before = at.map(|at| (visits(&tree, at as u16), tree.nodes[at].value));
        let known = tree.reuse_subtree(best, reached, 7, &mut spare, 400);
        assert_eq!(known, before.is_some());
        assert_eq!(*tree.decision(ROOT), reached);
        if let Some((edges, value)) = before {
            done += 1;
            assert_eq!(visits(&tree, ROOT), edges);
            assert_eq!(tree.nodes[0].value, value);
            // Unreachable nodes were dropped, and all indices point to the copies.
            assert!(tree.nodes.len() < spare.nodes.len());
            for chance in &tree.chances {
                for (roll, &node) in chance.rolls.iter().enumerate().filter(|(_, node)| **node != NONE) {
                    let decision = tree.nodes[usize::from(node)].decision;
                    assert!(decision.board == chance.board && usize::from(decision.roll) == roll);
                }
            }
        }
        let before = tree.nodes[0].visits;
        search(&mut tree, 300, 4, &value_of);
        assert_eq!(tree.nodes[0].visits, before + 300);
    }
    assert!(done > 10, "{done}");
}

#[test]
fn noise_covers_all_actions_and_priors_sum_to_one() {
    let mut tree = searched_tree(Decision::new(Board::START, Roll::ALL[4]), 1, 1);
    let before: Vec<f32> = tree.edges(ROOT).iter().map(|edge| edge.prior).collect();
    let mut numbers = Rng::new(1, 1).sequence(0);
    let mut means = vec![0.0; before.len()];
    for _ in 0..4000 {
        let mut noisy = searched_tree(Decision::new(Board::START, Roll::ALL[4]), 1, 1);
        noisy.add_noise(Isa::best(), &mut numbers, 1.0, 0.3);
        let sum: f32 = noisy.edges(ROOT).iter().map(|edge| edge.prior).sum();
        assert!((sum - 1.0).abs() < 1e-4, "{sum}");
        let most = noisy.edges(ROOT).iter().fold(0.0f32, |most, edge| most.max(edge.prior));
        assert_eq!(noisy.edges(ROOT)[0].prior, most, "the largest comes first");
        noisy.edges(ROOT).iter().for_each(|edge| {
            let at = tree.edges(ROOT).iter().position(|other| other.action == edge.action).unwrap();
            means[at] += edge.prior / 4000.0;
        });
    }
    // Dirichlet distribution with α = 0.3: mean 1/n, variance (n - 1)/(n²(0.3·n + 1)).
    let n = before.len() as f32;
    let error = ((n - 1.0) / (n * n * (0.3 * n + 1.0)) / 4000.0).sqrt();
    assert!(means.iter().all(|mean| (mean - 1.0 / n).abs() < 4.5 * error), "{means:?}");
    tree.add_noise(Isa::best(), &mut numbers, 0.0, 0.3);
    let mut after: Vec<f32> = tree.edges(ROOT).iter().map(|edge| edge.prior).collect();
    let mut sorted = before.clone();
    sorted.sort_by(f32::total_cmp);
    after.sort_by(f32::total_cmp);
    assert_eq!(after, sorted);
}
