//! Tests that the source files of a crate do not import each other in a cycle.
//!
//! A file imports another file if it uses a name by path (`crate::…`, `super::…`, `self::…`, or through a `use`) that the other file
//! defines. A re-export (`pub use`) leads to the defining file and is not an import itself, so a parent that only declares its modules is
//! in no cycle. Tests within a file (`#[cfg(test)]`) do not count.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Path of a module, such as `["rooms", "cube"]`.
type Module = Vec<String>;

/// Definitions and imports in one file.
#[derive(Default)]
struct Source {
    file: PathBuf,
    defines: BTreeSet<String>,
    /// Path of each name that a `use` imports, with a flag that is true if the name is re-exported.
    uses: BTreeMap<String, (Vec<String>, bool)>,
    /// Path of each module whose names are all imported (`use …::*`). The flag is true if the names are re-exported.
    globs: Vec<(Vec<String>, bool)>,
    /// Paths with at least two names, in the code outside of `use`.
    paths: BTreeSet<Vec<String>>,
    /// Single names without a path, in the code outside of `use`.
    names: BTreeSet<String>,
}

#[test]
fn source_files_have_no_import_cycles() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut cycles = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let root = entry.unwrap().path().join("src");
        let graph = imports(&sources(&root));
        for component in components(&graph) {
            let name = |file: &PathBuf| file.strip_prefix(crates).unwrap().display().to_string();
            let shortest_cycle: Vec<String> = shortest_cycle(&graph, &component).iter().map(name).collect();
            cycles.push(format!("{} files, as in {}", component.len(), shortest_cycle.join(" -> ")));
        }
    }
    assert!(cycles.is_empty(), "files that import each other:\n{}", cycles.join("\n"));
}

fn sources(root: &Path) -> BTreeMap<Module, Source> {
    let mut folders = vec![root.to_path_buf()];
    let mut sources = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let file = entry.unwrap().path();
            if file.is_dir() {
                folders.push(file);
            } else if file.extension().is_some_and(|e| e == "rs") && !file.ends_with("src/main.rs") {
                let module = module_of(file.strip_prefix(root).unwrap());
                let text = fs::read_to_string(&file).unwrap();
                let mut source = Source { file, ..Source::default() };
                source.read(text.parse().unwrap(), &module);
                sources.insert(module, source);
            }
        }
    }
    assert!(!sources.is_empty(), "{} has sources", root.display());
    sources
}

fn module_of(file: &Path) -> Module {
    let mut module: Module = file.with_extension("").iter().map(|part| part.to_str().unwrap().into()).collect();
    if module.last().is_some_and(|last| last == "mod" || last == "lib") {
        module.pop();
    }
    module
}

impl Source {
    /// Collects definitions and imports from the tokens of the module `here`. This module may be nested in the file's own module.
    fn read(&mut self, stream: TokenStream, here: &[String]) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let (mut at, mut passes_on) = (0, false);
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Punct(mark) if mark.as_char() == '#' && is_test(tokens.get(at + 1)) => {
                    at = behind_item(&tokens, at + 2);
                    continue;
                }
                TokenTree::Group(group) => self.read(group.stream(), here),
                TokenTree::Ident(word) => match word.to_string().as_str() {
                    "pub" => {
                        // The visibility may have parentheses, as in `pub(crate)`.
                        at += 1 + usize::from(is_parenthesis(tokens.get(at + 1)));
                        passes_on = true;
                        continue;
                    }
                    // `use<…>` in a type lists captured parameters.
                    "use" if !is_mark(tokens.get(at + 1), '<') => {
                        let end = at + tokens[at..].iter().position(|token| is_mark(Some(token), ';')).unwrap_or(tokens.len() - at);
                        self.take_use(&tokens[at + 1..end], &[], here, passes_on);
                        at = end;
                    }
                    "mod" if matches!(tokens.get(at + 2), Some(TokenTree::Group(_))) => {
                        let (name, Some(TokenTree::Group(body))) = (tokens[at + 1].to_string(), tokens.get(at + 2)) else { unreachable!() };
                        self.read(body.stream(), &[here, &[name]].concat());
                        at += 2;
                    }
                    "struct" | "enum" | "union" | "fn" | "trait" | "type" | "const" | "static" | "macro_rules" => {
                        let mut next = at + 1;
                        while is_mark(tokens.get(next), '!')
                            || tokens.get(next).is_some_and(|t| ["mut", "fn", "unsafe"].contains(&&*t.to_string()))
                        {
                            next += 1;
                        }
                        self.defines.extend(tokens.get(next).map(ToString::to_string));
                    }
                    _ => {
                        let (path, end) = path(&tokens, at);
                        match path.len() {
                            1 => drop(self.names.insert(path[0].clone())),
                            _ => drop(self.paths.insert(absolute(path, here))),
                        }
                        at = end;
                        passes_on = false;
                        continue;
                    }
                },
                _ => {}
            }
            passes_on = false;
            at += 1;
        }
    }

    fn take_use(&mut self, tree: &[TokenTree], before: &[String], here: &[String], passes_on: bool) {
        for part in tree.split(|token| is_mark(Some(token), ',')) {
            let start = part.iter().position(|token| !is_mark(Some(token), ':')).unwrap_or(part.len());
            let (mut whole, mut at) = (before.to_vec(), start);
            if start > 0 {
                whole.push(String::new());
            }
            while let Some(TokenTree::Ident(word)) = part.get(at) {
                whole.push(word.to_string());
                at += 1;
                if !is_mark(part.get(at), ':') {
                    break;
                }
                at += 2;
            }
            let of_module = whole.last().is_some_and(|last| last == "self") && whole.len() > 1;
            if of_module {
                whole.pop();
            }
            match part.get(at) {
                Some(TokenTree::Group(group)) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    self.take_use(&inner, &whole, here, passes_on);
                }
                Some(TokenTree::Punct(_)) => self.globs.push((absolute(whole, here), passes_on)),
                Some(TokenTree::Ident(_)) => {
                    let name = part[at + 1].to_string();
                    self.uses.insert(name, (absolute(whole, here), passes_on));
                }
                _ => {
                    if let Some(name) = whole.last().cloned() {
                        self.uses.insert(name, (absolute(whole, here), passes_on));
                    }
                }
            }
        }
    }
}

fn is_mark(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

fn is_parenthesis(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
}

/// Returns true for `[test]`, and for `[cfg(test)]` with or without further conditions.
fn is_test(attribute: Option<&TokenTree>) -> bool {
    let text = attribute.map_or(String::new(), ToString::to_string).replace(' ', "");
    text == "[test]" || text.starts_with("[cfg(test") || text.starts_with("[cfg(all(test")
}

fn behind_item(tokens: &[TokenTree], from: usize) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        token => is_mark(Some(token), ';'),
    };
    tokens[from..].iter().position(ends).map_or(tokens.len(), |end| from + end + 1)
}

/// Reads the path that starts at `at`. Returns the path and the index after the path. If a `::` precedes the path, the first element is
/// empty, because such a path is in another crate.
fn path(tokens: &[TokenTree], mut at: usize) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    if at > 0 && is_mark(tokens.get(at - 1), ':') && at > 1 && is_mark(tokens.get(at - 2), ':') {
        path.push(String::new());
    }
    while let Some(TokenTree::Ident(word)) = tokens.get(at) {
        path.push(word.to_string());
        at += 1;
        if !(is_mark(tokens.get(at), ':') && is_mark(tokens.get(at + 1), ':')) {
            break;
        }
        at += 2;
    }
    (path, at)
}

/// Converts a path in the module `here` that starts with `super` or `self` to a path that starts with `crate`. Does not change other paths,
/// because a `use` may define their first name.
fn absolute(path: Vec<String>, here: &[String]) -> Vec<String> {
    let root = || vec!["crate".to_string()];
    let up = path.iter().take_while(|part| *part == "super").count();
    match path[0].as_str() {
        "super" => [root(), here[..here.len() - up].to_vec(), path[up..].to_vec()].concat(),
        "self" => [root(), here.to_vec(), path[1..].to_vec()].concat(),
        _ => path,
    }
}

/// Returns, for each file, the set of other files that it imports.
fn imports(sources: &BTreeMap<Module, Source>) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
    let mut graph = BTreeMap::new();
    for (module, source) in sources {
        let used = source.uses.iter().filter(|(name, (_, passed_on))| !passed_on || source.names.contains(*name));
        let globs = source.globs.iter().filter(|(_, passed_on)| !passed_on);
        let paths = source.paths.iter().chain(used.map(|(_, (path, _))| path)).chain(globs.map(|(path, _)| path));
        let files = paths.filter_map(|path| defined_in(sources, module, path, 0));
        let others: BTreeSet<PathBuf> = files.filter(|file| *file != source.file).collect();
        graph.insert(source.file.clone(), others);
    }
    graph
}

/// Returns the file that defines the target of a path in `module`, or `None` if the target is a module or in another crate.
fn defined_in(sources: &BTreeMap<Module, Source>, module: &[String], path: &[String], depth: u32) -> Option<PathBuf> {
    // The depth is limited to prevent endless recursion, because two modules may re-export all of each other's names.
    if depth > 12 {
        return None;
    }
    let mut full = match path[0].as_str() {
        "crate" => path[1..].to_vec(),
        first => match sources[module].uses.get(first) {
            // The guard excludes a name that a `use` maps to itself, as in `use image;` for an external crate.
            Some((used, _)) if used[0] != first => {
                return defined_in(sources, module, &[used, &path[1..]].concat(), depth + 1);
            }
            _ => [module, path].concat(),
        },
    };
    let mut owner = Module::new();
    while full.first().is_some_and(|next| sources.contains_key(&[owner.clone(), vec![next.clone()]].concat())) {
        owner.push(full.remove(0));
    }
    let (source, name) = (sources.get(&owner)?, full.first()?);
    if source.defines.contains(name) {
        return Some(source.file.clone());
    }
    if let Some((used, _)) = source.uses.get(name) {
        return defined_in(sources, &owner, &[used, &full[1..]].concat(), depth + 1);
    }
    let through = |(glob, _): &(Vec<String>, bool)| defined_in(sources, &owner, &[glob.clone(), full.clone()].concat(), depth + 1);
    source.globs.iter().find_map(through)
}

/// Returns the strongly connected components: sets of files in which each file imports every other file, directly or indirectly.
fn components(graph: &BTreeMap<PathBuf, BTreeSet<PathBuf>>) -> Vec<BTreeSet<PathBuf>> {
    let reached: BTreeMap<&PathBuf, BTreeSet<PathBuf>> = graph.keys().map(|file| (file, reach(graph, file))).collect();
    let mut components: Vec<BTreeSet<PathBuf>> = Vec::new();
    for file in graph.keys().filter(|file| reached[file].contains(*file)) {
        let component = reached[file].iter().filter(|other| reached[other].contains(file)).cloned().collect();
        if !components.contains(&component) {
            components.push(component);
        }
    }
    components
}

fn reach(graph: &BTreeMap<PathBuf, BTreeSet<PathBuf>>, from: &PathBuf) -> BTreeSet<PathBuf> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(file) = next.pop() {
        next.extend(graph[file].iter().filter(|other| reached.insert((*other).clone())));
    }
    reached
}

/// Returns a shortest cycle of imports within a component. The first file is repeated at the end.
fn shortest_cycle(graph: &BTreeMap<PathBuf, BTreeSet<PathBuf>>, component: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let rounds = component.iter().map(|start| {
        let mut ways = vec![vec![start.clone()]];
        let mut seen = BTreeSet::new();
        let mut at = 0;
        loop {
            let way = ways[at].clone();
            for next in graph[way.last().unwrap()].iter().filter(|next| component.contains(*next)) {
                if next == start {
                    return [way, vec![start.clone()]].concat();
                }
                if seen.insert(next.clone()) {
                    ways.push([&way[..], std::slice::from_ref(next)].concat());
                }
            }
            at += 1;
        }
    });
    rounds.min_by_key(Vec::len).unwrap()
}
