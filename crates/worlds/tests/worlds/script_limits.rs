//! Work of the compiler for the largest files of each construct: the compiler translates or refuses them soon. Work is counted in
//! allocations, because a time depends on the machine.

use worlds::control::script::{LARGEST, compile};

/// A construct of a file: its name, and the text of a file of at most the given number of bytes.
type Construct = (&'static str, fn(usize) -> String);

/// Returns a file. `top` is above the class; `reset` and `step` are bodies; `more` follows the methods.
fn whole(top: &str, reset: &str, step: &str, more: &str) -> String {
    let body = |text: &str| text.lines().map(|line| format!("        {line}\n")).collect::<String>();
    format!(
        "{top}\nclass World:\n    actions = 3\n    def reset(self):\n        self.x = 0\n{}\
         \x20   def step(self, action):\n        x = action\n{}\
         \x20       return 0.0, x > 5\n    def observe(self):\n        return [self.x]\n{more}",
        body(reset),
        body(step)
    )
}

/// Returns lines up to a size. `indent` is the width that [`whole`] adds to each line.
fn lines(size: usize, indent: usize, line: impl Fn(usize) -> String) -> String {
    let (mut text, mut used) = (String::new(), 300);
    for k in 0.. {
        let next = line(k) + "\n";
        used += next.len() + indent * next.matches('\n').count();
        if used > size {
            return text;
        }
        text += &next;
    }
    text
}

/// Returns parts, joined by `by`, up to a size.
fn joined(size: usize, by: &str, part: impl Fn(usize) -> String) -> String {
    let (mut text, mut k) = (part(0), 1);
    while text.len() + by.len() + 300 < size {
        text = text + by + &part(k);
        k += 1;
    }
    text
}

fn step(text: &str) -> String {
    whole("", "", text, "")
}

const CONSTRUCTS: [Construct; 44] = [
    ("functions of one call each", |size| {
        let all = lines(size, 0, |k| format!("def f{k}(x):\n    return f{}(x)", k + 1));
        let count = all.matches("def").count();
        whole(&format!("{all}def f{count}(x):\n    return x\n"), "", "x = f0(x)", "")
    }),
    ("functions that are not called", |size| whole(&lines(size, 0, |k| format!("def f{k}(x):\n    return x + {k}")), "", "", "")),
    ("functions that call themselves", |size| {
        whole(&lines(size, 0, |k| format!("def f{k}(x):\n    return f{}(x)", k / 2)), "", "x = f5(x)", "")
    }),
    ("methods of one call each", |size| {
        let all = lines(size, 0, |k| format!("    def f{k}(self):\n        return self.f{}()", k + 1));
        let count = all.matches("def").count();
        whole("", "", "x = self.f0()", &format!("{all}    def f{count}(self):\n        return 1\n"))
    }),
    ("methods with attributes and loops", |size| {
        let all = lines(size * 3 / 4, 0, |k| {
            format!("    def f{k}(self):\n        self.a{k} = 1\n        for i in range(300):\n            self.f{}()", k + 1)
        });
        let count = all.matches("def").count();
        let reset = (0..count).map(|k| format!("self.a{k} = 0\n")).collect::<String>();
        whole("", &reset, "self.f0()", &format!("{all}    def f{count}(self):\n        return 1\n"))
    }),
    ("loops that call functions", |size| {
        let calls = lines(size / 2, 0, |k| format!("    def f{k}(self):\n        self.a{k} = self.f{}()", k + 1));
        let count = calls.matches("def").count();
        let all = lines(size / 2, 8, |_| "for i in range(x):\n    self.f0()".into());
        whole("", "", &all, &format!("{calls}    def f{count}(self):\n        return 1\n"))
    }),
    ("undefined names", |size| step(&lines(size, 8, |k| format!("a{k} = b{k}")))),
    ("undefined functions", |size| step(&lines(size, 8, |k| format!("a{k} = b{k}()")))),
    ("undefined attributes", |size| step(&lines(size, 8, |k| format!("x = self.b{k}")))),
    ("attributes that are not assigned in reset", |size| step(&lines(size, 8, |k| format!("self.b{k} = 1")))),
    ("undefined constants", |size| whole(&lines(size, 0, |k| format!("a{k} = b{k}")), "", "", "")),
    ("variables", |size| step(&lines(size, 8, |k| format!("a{k} = x + {k}")))),
    ("variables and branches", |size| {
        let all = lines(size / 2, 8, |k| format!("a{k} = x")) + &lines(size / 2, 8, |k| format!("if x == {k}:\n    x = 1"));
        step(&all)
    }),
    ("variables and loops", |size| {
        let all = lines(size / 2, 8, |k| format!("a{k} = x")) + &lines(size / 2, 8, |_| "while x < 5:\n    x += 1".into());
        step(&all)
    }),
    ("variables and calls", |size| {
        let all = lines(size / 2, 8, |k| format!("a{k} = x")) + &lines(size / 2, 8, |_| "x = f(x)".into());
        whole("def f(y):\n    if y > 3:\n        return 1\n    return y\n", "", &all, "")
    }),
    ("attributes", |size| whole("", &lines(size, 8, |k| format!("self.a{k} = {k}")), "", "")),
    ("attributes and branches", |size| {
        let reset = lines(size / 2, 8, |k| format!("self.a{k} = {k}"));
        whole("", &reset, &lines(size / 2, 8, |k| format!("if x == {k}:\n    self.a{k} = 1")), "")
    }),
    ("attributes and functions that are not called", |size| {
        let more = lines(size / 2, 0, |k| format!("    def f{k}(self):\n        self.a0 = 1"));
        whole("", &lines(size / 2, 8, |k| format!("self.a{k} = {k}")), "", &more)
    }),
    ("constants", |size| whole(&lines(size, 0, |k| format!("a{k} = {k} + 1")), "", "", "")),
    ("types that widen one after another", |size| {
        let reset = lines(size / 4, 8, |k| format!("self.a{k} = 0"));
        let count = reset.lines().count();
        let back: String = (1..count).rev().map(|k| format!("self.a{k} = self.a{}\n", k - 1)).collect();
        whole("", &reset, &(back + "self.a0 = 0.5\n"), "")
    }),
    ("branches of one statement", |size| {
        step(&("if x == 0:\n    x = 1\n".to_owned() + &lines(size, 8, |k| format!("elif x == {k}:\n    x = {k}"))))
    }),
    ("early returns", |size| step(&lines(size, 8, |k| format!("if x == {k}:\n    return 1.0, True")))),
    ("breaks", |size| {
        step(&("for i in range(200):\n    x += 1\n".to_owned() + &lines(size, 8, |k| format!("    if x == {k}:\n        break"))))
    }),
    ("nested blocks", |size| {
        let deep =
            |k: usize| (0..40).map(|d| format!("{}if x > {}:\n", " ".repeat(d), k + d)).collect::<String>() + &" ".repeat(40) + "x += 1";
        step(&lines(size, 8, deep))
    }),
    ("nested loops", |size| {
        let deep =
            |_: usize| (0..20).map(|d| format!("{}while x > {d}:\n", " ".repeat(d))).collect::<String>() + &" ".repeat(20) + "x += 1";
        step(&lines(size, 8, deep))
    }),
    ("a long sum", |size| step(&format!("x = {}", joined(size, " + ", |_| "x".into())))),
    ("a long and", |size| step(&format!("x = {}", joined(size, " and ", |_| "x".into())))),
    ("a long comparison", |size| step(&format!("x = int({})", joined(size, " < ", |_| "x".into())))),
    ("nested brackets", |size| step(&lines(size, 8, |_| format!("x = {}x{}", "(1 + ".repeat(40), ")".repeat(40))))),
    ("nested calls", |size| step(&lines(size, 8, |_| format!("x = {}x{}", "min(3, ".repeat(40), ")".repeat(40))))),
    ("a long list", |size| whole(&format!("a = [{}]", joined(size, ", ", |k| k.to_string())), "", "x = a[x]", "")),
    ("a constant list at computed indices", |size| {
        whole(
            &format!("a = [{}]", joined(size / 8, ", ", |k| format!("{}", k % 10))),
            "",
            &lines(size / 8 * 7, 8, |_| "x = a[x]".into()),
            "",
        )
    }),
    ("constant lists", |size| {
        whole(&lines(size / 2, 0, |k| format!("a{k} = [{k}, 1]")), "", &lines(size / 2, 8, |k| format!("x = a{}[x]", k % 900)), "")
    }),
    ("repeated lists", |size| step(&lines(size, 8, |k| format!("a{k} = [0] * 4096")))),
    ("lists in loops", |size| step(&lines(size, 8, |_| "for i in range(128):\n    a = [0] * 4096\n    x += a[x]".into()))),
    ("lists that change", |size| {
        whole(
            "",
            &lines(size / 3, 8, |k| format!("self.a{k} = [0] * 50")),
            &lines(size / 3 * 2, 8, |k| format!("self.a{}[x] = self.a0[{}]", k % 90, k % 50)),
            "",
        )
    }),
    ("rows of lists", |size| {
        whole("", "self.g = [[0] * 9 for k in range(9)]", &lines(size, 8, |k| format!("r{k} = self.g[x]\nself.g[0][0] = r{k}[1]")), "")
    }),
    ("large tuples", |size| {
        step(&format!("t = ({})\n{}", joined(size / 3, ", ", |_| "x".into()), lines(size / 2, 8, |k| format!("t{k} = t"))))
    }),
    ("unrolled loops", |size| step(&lines(size, 8, |_| "for i in range(128):\n    for j in range(128):\n        x += i * j".into()))),
    ("comprehensions", |size| step(&lines(size, 8, |k| format!("a{k} = [i * x for i in range(4096)]")))),
    ("calls in calls", |size| {
        let all = lines(size, 0, |k| format!("def f{k}(x):\n    return f{}(x) + f{}(x + 1)", k + 1, k + 1));
        let count = all.matches("def").count();
        whole(&format!("{all}def f{count}(x):\n    return x\n"), "", "x = f0(x)", "")
    }),
    ("texts", |size| {
        whole("", "", "", &format!("    def draw(self):\n{}", lines(size, 0, |k| format!("        text(1, 2, \"{k}\", \"red\")"))))
    }),
    ("an observation in one line", |size| {
        step("").replace(
            "return [self.x]\n",
            &format!(
                "return [{}]\n",
                joined(size, ", ", |k| format!("self.x * {:090}.5", k))
                    .chars()
                    .take(size - 400)
                    .collect::<String>()
                    .rsplit_once(',')
                    .unwrap()
                    .0
            ),
        )
    }),
    ("problems of the grammar", |size| lines(size, 0, |_| "x = = 1".into())),
];

/// Maximum number of allocations for a file. The compiler makes about four million in a second.
const MOST: u64 = 4_000_000;

/// Compiles a file of the largest size. Returns a description if the compiler makes too many allocations.
fn excess((name, text): &Construct) -> Option<String> {
    let text = text(LARGEST);
    assert!(text.len() <= LARGEST, "{name}: {}", text.len());
    let mut found = None;
    let taken = testkit::allocations(|| found = compile(&text).err().map(|problems| problems[0].message.clone()));
    println!("{name}: {taken} allocations; {found:?}");
    (taken > MOST).then(|| format!("{name}: {taken} allocations"))
}

#[test]
fn large_files_compile_or_are_refused_with_little_work() {
    let (even, odd): (Vec<_>, Vec<_>) = CONSTRUCTS.iter().enumerate().partition(|(k, _)| k % 2 == 0);
    let check = |part: Vec<(usize, &Construct)>| part.into_iter().filter_map(|(_, construct)| excess(construct)).collect::<Vec<_>>();
    let wrong = std::thread::scope(|scope| {
        let other = scope.spawn(|| check(odd));
        [check(even), other.join().unwrap()].concat()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
