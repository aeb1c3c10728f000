//! A source of small stories in plain English with known entropy. The source has a finite number of states. A state consists of a position
//! in the templates and the remembered entries of lists (hero, home, lost thing and so on). The loss of the best possible predictor can
//! therefore be computed, also for predictors that read only a window of the text. The expected loss of a trained model is never lower than
//! this loss.

use super::stories::{LISTS, RULES};
use math::Rng;
use std::collections::HashMap;

/// Number of the random stream of the stories. The stream is separate from all other random streams of the same seed.
const STREAM: u32 = 0x576f_7264;

/// A compiled grammar, which generates an endless sequence of stories. The grammar is a graph of nodes. When a story passes a text node,
/// the node appends a text to the story.
pub struct Grammar {
    /// The successors of a node have smaller indices than the node. Descending order therefore leads from the beginning of a story to its
    /// end.
    #[doc(hidden)]
    pub nodes: Vec<Node>,
    #[doc(hidden)]
    pub root: usize,
    /// For each text node, the text nodes that can come next, with their probabilities. The list does not contain the choices and ends of
    /// stories between two text nodes. Empty for other nodes.
    #[doc(hidden)]
    pub exits: Vec<Vec<Exit>>,
    /// Mean number of times that a story passes each node.
    visits: Vec<f64>,
    /// Mean number of characters of a story.
    length: f64,
    /// Entropy of a story, in nats.
    entropy: f64,
    alphabet: Vec<u8>,
}

pub enum Node {
    /// Text node: appends the element of `texts` that `source` selects.
    Say {
        texts: Vec<String>,
        source: Source,
        next: usize,
    },
    Choose(Vec<usize>),
    /// End of a story. The next story does not use the remembered entries of this story.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    Fresh,
    /// Draws a text uniformly, and stores the text's index in this slot of the memory.
    Draw(usize),
    /// Selects the text whose index is stored in this slot of the memory.
    Recall(usize),
}

#[derive(Clone, Copy)]
pub struct Exit {
    pub to: usize,
    pub probability: f64,
    /// True if a story ends on the way to the node `to`.
    pub ended: bool,
}

/// Index of the remembered entry of each list that rules remember. [`UNKNOWN`] means that all entries of the list are equally likely.
type Memory = [u8; MEMORIES];
const MEMORIES: usize = 12;
const UNKNOWN: u8 = u8::MAX;
const NOTHING: Memory = [UNKNOWN; MEMORIES];

impl Default for Grammar {
    fn default() -> Self {
        Self::new()
    }
}

impl Grammar {
    /// Returns the grammar of the default training text of the words room.
    pub fn new() -> Grammar {
        Grammar::compile(LISTS, RULES)
    }

    #[doc(hidden)]
    pub fn compile(lists: &[(&str, &str)], rules: &[(&str, &[&str])]) -> Grammar {
        let mut compiler = Compiler::new(lists, rules);
        let end = compiler.add(Node::End);
        let root = compiler.rule(rules[0].0, end);
        let nodes = compiler.nodes;
        let mut visits = vec![0.0; nodes.len()];
        visits[root] = 1.0;
        let (mut length, mut entropy) = (0.0, 0.0);
        let mut exits = Vec::new();
        for (at, node) in nodes.iter().enumerate().rev() {
            match node {
                Node::Say { texts, source, next } => {
                    visits[*next] += visits[at];
                    length += visits[at] * texts.iter().map(String::len).sum::<usize>() as f64 / texts.len() as f64;
                    if !matches!(source, Source::Recall(_)) {
                        entropy += visits[at] * (texts.len() as f64).ln();
                    }
                }
                Node::Choose(ways) => {
                    ways.iter().for_each(|&way| visits[way] += visits[at] / ways.len() as f64);
                    entropy += visits[at] * (ways.len() as f64).ln();
                }
                Node::End => {}
            }
        }
        for node in &nodes {
            let mut all = Vec::new();
            if let Node::Say { next, .. } = node {
                leave(&nodes, root, Exit { to: *next, probability: 1.0, ended: false }, &mut all);
            }
            exits.push(all);
        }
        let mut alphabet: Vec<u8> = nodes
            .iter()
            .flat_map(|node| if let Node::Say { texts, .. } = node { &texts[..] } else { &[] })
            .flat_map(|text| text.bytes())
            .collect();
        alphabet.sort_unstable();
        alphabet.dedup();
        Grammar { nodes, root, exits, visits, length, entropy, alphabet }
    }

    /// Returns the first `chars` characters of the stories of a seed, in ASCII. A shorter text is a prefix of a longer text of the same
    /// seed.
    pub fn text(&self, seed: u32, chars: usize) -> String {
        let mut random = Rng::new(seed, STREAM).sequence(0);
        let mut below = |n: usize| random.below(n as u32) as usize;
        let mut memory = NOTHING;
        let mut text = String::with_capacity(chars + 32);
        let mut at = self.root;
        while text.len() < chars {
            at = match &self.nodes[at] {
                Node::Say { texts, source, next } => {
                    let entry = match *source {
                        Source::Recall(which) => usize::from(memory[which]),
                        Source::Fresh if texts.len() == 1 => 0,
                        _ => below(texts.len()),
                    };
                    if let Source::Draw(which) = *source {
                        memory[which] = entry as u8;
                    }
                    text.push_str(&texts[entry]);
                    *next
                }
                Node::Choose(ways) => ways[below(ways.len())],
                Node::End => self.root,
            };
        }
        text.truncate(chars);
        text
    }

    /// Returns the entropy in nats per character. The entropy is the lowest possible loss of a predictor that has read the whole text
    /// before each character.
    pub fn entropy_per_char(&self) -> f64 {
        self.entropy / self.length
    }

    /// Returns all characters that occur in stories, sorted.
    pub fn alphabet(&self) -> &[u8] {
        &self.alphabet
    }

    /// Returns the best predictor for a text that begins at the start of a story.
    pub fn from_start(&self) -> BestPredictor<'_> {
        // The predictor starts in the state after the last character of a story.
        let at = self.nodes.iter().position(|node| matches!(node, Node::Say { next: 0, .. }));
        let at = at.expect("a story ends with a text");
        let Node::Say { texts, .. } = &self.nodes[at] else { unreachable!() };
        let end = Guess { at: at as u32, entry: 0, read: texts[0].len() as u16, memory: NOTHING, weight: 1.0 };
        BestPredictor { grammar: self, guesses: vec![end], spare: Vec::new() }
    }

    /// Returns the best predictors for texts that begin anywhere in a story.
    pub fn window_predictors(&self) -> WindowPredictors<'_> {
        let mut after: Vec<Vec<Guess>> = vec![Vec::new(); 256];
        for (at, node) in self.nodes.iter().enumerate() {
            let Node::Say { texts, source, .. } = node else { continue };
            for (entry, text) in texts.iter().enumerate() {
                let mut memory = NOTHING;
                if let Source::Draw(which) | Source::Recall(which) = *source {
                    memory[which] = entry as u8;
                }
                let weight = self.visits[at] / texts.len() as f64 / self.length;
                for (i, character) in text.bytes().enumerate() {
                    after[usize::from(character)].push(Guess { at: at as u32, entry: entry as u8, read: i as u16 + 1, memory, weight });
                }
            }
        }
        let shares: Vec<f64> = after.iter().map(|guesses| guesses.iter().map(|guess| guess.weight).sum()).collect();
        for (guesses, share) in after.iter_mut().zip(&shares) {
            guesses.iter_mut().for_each(|guess| guess.weight /= share);
        }
        WindowPredictors { grammar: self, after, shares }
    }

    /// Returns the lowest possible mean loss, in nats per character, of a model that reads only the windows of a text. The first character
    /// of each window is given; the model predicts all others.
    pub fn floor<'a>(&self, windows: impl IntoIterator<Item = &'a [u8]>) -> f64 {
        let anywhere = self.window_predictors();
        let (mut nats, mut count) = (0.0, 0);
        for window in windows {
            let Some((&first, rest)) = window.split_first() else { continue };
            nats += anywhere.losses(first, rest).sum::<f64>();
            count += rest.len();
        }
        nats / count.max(1) as f64
    }
}

/// Adds to `all` the text nodes that can come next from the node `exit.to` on, each with its probability. The function follows choices and
/// ends of stories, but does not add them.
pub fn leave(nodes: &[Node], root: usize, exit: Exit, all: &mut Vec<Exit>) {
    match &nodes[exit.to] {
        Node::Say { .. } => all.push(exit),
        Node::Choose(ways) => {
            let probability = exit.probability / ways.len() as f64;
            ways.iter().for_each(|&to| leave(nodes, root, Exit { to, probability, ..exit }, all));
        }
        Node::End => leave(nodes, root, Exit { to: root, ended: true, ..exit }, all),
    }
}

/// Predictor that no other predictor can beat. It computes the probability of each state of the source, given the text so far, by the
/// forward algorithm for hidden Markov models. A guess is a possible state with its probability.
///
/// A text may begin in the middle of a story, after the source has drawn a word that the text does not show. All words that the source
/// could have drawn are then equally likely, and one guess represents them together until the word occurs in the text. This keeps the
/// number of guesses small.
#[derive(Clone)]
pub struct BestPredictor<'a> {
    grammar: &'a Grammar,
    /// Possible states, each with its probability as weight.
    guesses: Vec<Guess>,
    spare: Vec<Guess>,
}

#[derive(Clone, Copy)]
struct Guess {
    at: u32,
    entry: u8,
    /// Number of characters of the entry's text that the predictor has read.
    read: u16,
    memory: Memory,
    weight: f64,
}

impl Guess {
    fn key(&self) -> (u32, u8, u16, Memory) {
        (self.at, self.entry, self.read, self.memory)
    }
}

impl BestPredictor<'_> {
    /// Reads a character. Returns the probability that the predictor gave to this character. After a character of probability 0, no guesses
    /// are left.
    pub fn read(&mut self, character: u8) -> f64 {
        let grammar = self.grammar;
        let mut next = std::mem::take(&mut self.spare);
        next.clear();
        for guess in &self.guesses {
            let Node::Say { texts, .. } = &grammar.nodes[guess.at as usize] else { unreachable!() };
            let text = texts[usize::from(guess.entry)].as_bytes();
            if let Some(&expected) = text.get(usize::from(guess.read)) {
                if expected == character {
                    next.push(Guess { read: guess.read + 1, ..*guess });
                }
                continue;
            }
            for exit in &grammar.exits[guess.at as usize] {
                let memory = if exit.ended { NOTHING } else { guess.memory };
                grammar.enter(exit.to, memory, guess.weight * exit.probability, character, &mut next);
            }
        }
        // Equal states are merged.
        next.sort_unstable_by_key(Guess::key);
        next.dedup_by(|b, a| {
            let same = a.key() == b.key();
            a.weight += if same { b.weight } else { 0.0 };
            same
        });
        let probability = next.iter().map(|guess| guess.weight).sum::<f64>();
        next.iter_mut().for_each(|guess| guess.weight /= probability);
        self.spare = std::mem::replace(&mut self.guesses, next);
        probability
    }
}

impl Grammar {
    /// Adds to `into` the possible states after the first character of a text of the node `at`, if this first character is `character`.
    fn enter(&self, at: usize, memory: Memory, weight: f64, character: u8, into: &mut Vec<Guess>) {
        let Node::Say { texts, source, .. } = &self.nodes[at] else { unreachable!() };
        let known = match *source {
            Source::Recall(which) if memory[which] != UNKNOWN => Some(usize::from(memory[which])),
            _ => None,
        };
        let (entries, weight) = match known {
            Some(entry) => (entry..entry + 1, weight),
            None => (0..texts.len(), weight / texts.len() as f64),
        };
        for entry in entries {
            if texts[entry].as_bytes()[0] == character {
                let mut memory = memory;
                if let Source::Draw(which) | Source::Recall(which) = *source {
                    memory[which] = entry as u8;
                }
                into.push(Guess { at: at as u32, entry: entry as u8, read: 1, memory, weight });
            }
        }
    }
}

/// Predictors for windows that begin anywhere in a story.
pub struct WindowPredictors<'a> {
    grammar: &'a Grammar,
    /// Possible states after the first character of a window, `[character]`.
    after: Vec<Vec<Guess>>,
    /// Share of each character among all characters of the stories.
    shares: Vec<f64>,
}

impl WindowPredictors<'_> {
    /// Returns the share of a character among all characters of the stories.
    pub fn share(&self, character: u8) -> f64 {
        self.shares[usize::from(character)]
    }

    /// Returns the predictor for the rest of a window whose first character is `first`.
    pub fn after(&self, first: u8) -> BestPredictor<'_> {
        BestPredictor { grammar: self.grammar, guesses: self.after[usize::from(first)].clone(), spare: Vec::new() }
    }

    /// Returns the loss in nats of each character in `rest`, which follows the first character of a window.
    pub fn losses<'a>(&'a self, first: u8, rest: &'a [u8]) -> impl Iterator<Item = f64> + 'a {
        let mut ideal = self.after(first);
        rest.iter().map(move |&character| -ideal.read(character).ln())
    }
}

/// Compiler of templates to nodes. Compilation begins at the end of a story, so that the successors of a node already exist.
struct Compiler<'a> {
    rules: HashMap<&'a str, &'a [&'a str]>,
    lists: HashMap<&'a str, List<'a>>,
    nodes: Vec<Node>,
}

struct List<'a> {
    forms: Vec<&'a str>,
    /// Forms of each entry, `[entry][form]`.
    entries: Vec<Vec<&'a str>>,
    /// Slot of the list in the memory; `None` if no rule remembers entries of this list.
    memory: Option<usize>,
}

impl<'a> Compiler<'a> {
    fn new(lists: &'a [(&str, &str)], rules: &'a [(&str, &[&str])]) -> Compiler<'a> {
        let mut memories = 0;
        let mut remembered = |name: &str| {
            let mut capital = name.to_string();
            capital[..1].make_ascii_uppercase();
            let drawn = [format!("{{{name}="), format!("{{{capital}=")];
            let kept = rules.iter().flat_map(|(_, ways)| *ways).any(|way| drawn.iter().any(|d| way.contains(d)));
            kept.then(|| {
                memories += 1;
                memories - 1
            })
        };
        let lists: HashMap<&str, List> = lists
            .iter()
            .map(|(head, entries)| {
                let (name, forms) = head.split_once(' ').unwrap_or((head, ""));
                let list = List {
                    forms: forms.split('/').collect(),
                    entries: entries.split_whitespace().map(|entry| entry.split('/').collect()).collect(),
                    memory: remembered(name),
                };
                (name, list)
            })
            .collect();
        assert!(memories <= MEMORIES, "{memories} remembered lists, at most {MEMORIES} allowed");
        Compiler { rules: rules.iter().copied().collect(), lists, nodes: Vec::new() }
    }

    fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn rule(&mut self, name: &str, next: usize) -> usize {
        let ways = *self.rules.get(name).unwrap_or_else(|| panic!("no rule {name}"));
        self.choose(ways, next)
    }

    fn choose(&mut self, ways: &[&str], next: usize) -> usize {
        let ways: Vec<usize> = ways.iter().map(|way| self.template(way, next)).collect();
        if let [only] = ways[..] { only } else { self.add(Node::Choose(ways)) }
    }

    /// Compiles a template. The node `next` comes after the template. Returns the template's first node.
    fn template(&mut self, template: &str, next: usize) -> usize {
        let Some(at) = template.find(['{', '<', '(']) else {
            return if template.is_empty() { next } else { self.say(vec![template.into()], Source::Fresh, next) };
        };
        let (before, part) = template.split_at(at);
        let close = closing(part);
        let (inside, after) = (&part[1..close], &part[close + 1..]);
        let next = self.template(after, next);
        let first = match part.as_bytes()[0] {
            b'{' => self.slot(inside, next),
            b'<' => self.rule(inside, next),
            _ => self.choose(&alternatives(inside), next),
        };
        self.template(before, first)
    }

    fn say(&mut self, texts: Vec<String>, source: Source, next: usize) -> usize {
        self.add(Node::Say { texts, source, next })
    }

    /// Compiles the content of a `{…}` to one node. The node `next` comes after this node. The content is `name`, `name=` or `name.form`,
    /// with or without a capital letter. Returns the new node.
    fn slot(&mut self, slot: &str, next: usize) -> usize {
        let (name, form) = slot.split_once('.').unwrap_or((slot, ""));
        let (name, draw) = name.strip_suffix('=').map_or((name, false), |name| (name, true));
        let lower = name.to_ascii_lowercase();
        let list = self.lists.get(lower.as_str()).unwrap_or_else(|| panic!("no list {lower}"));
        let form = if form.is_empty() { Some(0) } else { list.forms.iter().position(|&f| f == form) };
        let form = form.unwrap_or_else(|| panic!("no such form in {slot}"));
        let texts = list.entries.iter().map(|entry| {
            let mut text = entry[form].replace('_', " ");
            if lower != name {
                text[..1].make_ascii_uppercase();
            }
            text
        });
        let texts = texts.collect();
        let source = match list.memory {
            None => Source::Fresh,
            Some(which) if draw => Source::Draw(which),
            Some(which) => Source::Recall(which),
        };
        self.say(texts, source, next)
    }
}

/// Returns the position of the bracket that closes the bracket at the start of a text.
fn closing(text: &str) -> usize {
    let mut depth = 0;
    let end = text.bytes().position(|byte| {
        depth += i32::from(matches!(byte, b'{' | b'<' | b'(')) - i32::from(matches!(byte, b'}' | b'>' | b')'));
        depth == 0
    });
    end.unwrap_or_else(|| panic!("no bracket closes {text}"))
}

/// Returns the alternatives in the content of a bracket. Bars outside of inner brackets separate the alternatives.
fn alternatives(inside: &str) -> Vec<&str> {
    let mut depth = 0;
    inside
        .split(|c: char| {
            depth += i32::from(matches!(c, '(')) - i32::from(matches!(c, ')'));
            c == '|' && depth == 0
        })
        .collect()
}
