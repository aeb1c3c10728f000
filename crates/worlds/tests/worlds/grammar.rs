//! Tests of the graph of the stories: each text has one derivation, and no entry is recalled before it is drawn.

use std::collections::HashSet;
use testkit::test;
use worlds::internals::{Exit, LISTS, Node, Source, leave};
use worlds::words::Grammar;

/// Position in a story: a node, an entry of the node, and the number of characters of the entry's text that have been read.
type Place = (usize, usize, usize);

const OVER: Place = (usize::MAX, 0, 0);

/// Returns the possible next characters, each with the position after the character. The end of a story counts as a character.
fn after(grammar: &Grammar, place: Place) -> Vec<(u8, Place)> {
    let (at, entry, read) = place;
    if place == OVER {
        return Vec::new();
    }
    let Node::Say { texts, .. } = &grammar.nodes[at] else { unreachable!() };
    if let Some(&c) = texts[entry].as_bytes().get(read) {
        return vec![(c, (at, entry, read + 1))];
    }
    let next = |exit: &Exit| if exit.ended { vec![(0, OVER)] } else { begun(grammar, exit.to) };
    grammar.exits[at].iter().flat_map(next).collect()
}

fn begun(grammar: &Grammar, at: usize) -> Vec<(u8, Place)> {
    let Node::Say { texts, .. } = &grammar.nodes[at] else { unreachable!() };
    texts.iter().enumerate().map(|(entry, text)| (text.as_bytes()[0], (at, entry, 1))).collect()
}

fn recalls(grammar: &Grammar, at: usize) -> bool {
    matches!(grammar.nodes[at], Node::Say { source: Source::Recall(_), .. })
}

/// Returns a text with two derivations that separate and meet again; `None` if there is no such text. The search treats recalled
/// entries as arbitrary. The search can therefore report a text wrongly, but never misses a text.
fn ambiguous(grammar: &Grammar) -> Option<String> {
    let mut seen = HashSet::new();
    let mut todo: Vec<(Place, Place, String)> = Vec::new();
    let mut pairs = |p: &[(u8, Place)], q: &[(u8, Place)], said: &str, todo: &mut Vec<_>| {
        let all = p.iter().flat_map(|p| q.iter().map(move |q| (p, q)));
        for (&(c, p), &(_, q)) in all.filter(|((a, p), (b, q))| a == b && p != q) {
            if seen.insert((p, q)) {
                todo.push((p, q, format!("{said}{}", char::from(c))));
            }
        }
    };
    let mut exits = Vec::new();
    leave(&grammar.nodes, grammar.root, Exit { to: grammar.root, probability: 1.0, ended: false }, &mut exits);
    let first: Vec<_> = exits.iter().flat_map(|exit| begun(grammar, exit.to)).collect();
    pairs(&first, &first, "", &mut todo);
    for (at, node) in grammar.nodes.iter().enumerate() {
        let Node::Say { texts, source, .. } = node else { continue };
        let next = after(grammar, (at, 0, texts[0].len()));
        pairs(&next, &next, "", &mut todo);
        if texts.iter().collect::<HashSet<_>>().len() < texts.len() && !matches!(source, Source::Recall(_)) {
            return Some(format!("duplicate entry in {texts:?}"));
        }
    }
    // Two positions that differ only in the recalled entry do not count as two derivations.
    todo.retain(|(p, q, _)| p.0 != q.0 || !recalls(grammar, p.0));
    while let Some((p, q, said)) = todo.pop() {
        let (next, other) = (after(grammar, p), after(grammar, q));
        for (a, p) in &next {
            let met = |(b, q): &&(u8, Place)| a == b && (p == q || p.0 == q.0 && p.2 == q.2 && recalls(grammar, p.0));
            if other.iter().any(|q| met(&q)) {
                return Some(format!("{said}{}", char::from(*a)));
            }
        }
        pairs(&next, &other, &said, &mut todo);
    }
    None
}

#[test]
fn every_text_has_one_derivation() {
    assert_eq!(ambiguous(&Grammar::new()), None);
    let of = |ways: &[&str]| ambiguous(&Grammar::compile(LISTS, &[("story", ways)]));
    assert!(of(&["a fox.", "a f(o|i)x."]).is_some());
    assert!(of(&["{kind=} and (no |){kind}.", "{kind=} and no {kind}."]).is_some());
    assert!(of(&["a fox ran.", "a {kind=} ran."]).is_some());
    assert_eq!(of(&["a fox ran.", "a {kind=} sat."]), None);
}

#[test]
fn entries_are_drawn_before_they_are_recalled() {
    let grammar = Grammar::new();
    // Mask of the slots that are drawn on every path to each node. The successors of a node have smaller indices.
    let mut drawn = vec![u32::MAX; grammar.nodes.len()];
    drawn[grammar.root] = 0;
    for at in (0..=grammar.root).rev() {
        let (ways, has) = match &grammar.nodes[at] {
            Node::Say { source, next, texts } => {
                if let Source::Recall(which) = source {
                    assert!(drawn[at] >> which & 1 == 1, "{texts:?} is not drawn on every path");
                }
                let bit = if let Source::Draw(which) = source { 1 << which } else { 0 };
                (vec![*next], drawn[at] | bit)
            }
            Node::Choose(ways) => (ways.clone(), drawn[at]),
            Node::End => (vec![], 0),
        };
        ways.iter().for_each(|&way| drawn[way] &= has);
    }
}
