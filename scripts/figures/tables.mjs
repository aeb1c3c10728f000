// The tables of figures of README and of crates/python/README.md, from the rows of `parts.mjs` alone. A line without any figure is left
// out, and so is a cell that was not measured. It measures nothing.

const SCALES = [
  [1e9, "billion"],
  [1e6, "million"],
  [1e4, "thousand", 1e3],
];

/** `39,300,000` is `39.3 million`; three figures, or four where they are whole numbers. */
function number(value, divisor = 1) {
  const x = value / divisor;
  if (!Number.isFinite(x)) return "never";
  const digits = Math.abs(x) >= 100 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(x) || 1)));
  return x.toLocaleString("en-US", { minimumFractionDigits: Math.min(digits, 4), maximumFractionDigits: Math.min(digits, 4) });
}

/** A row in words: `39.3 thousand (38.9 to 39.6)`. */
export function words({ value, lower, upper }, { times = 1, unit = "" } = {}) {
  // JSON has no infinity: what never ended is null there.
  if (value === null) value = Infinity;
  const scale = Number.isFinite(value) ? SCALES.find(([from]) => Math.abs(value * times) >= from) : undefined;
  const divisor = scale ? (scale[2] ?? scale[0]) : 1;
  const text = (x) => number((x ?? Infinity) * times, divisor);
  const named = [text(value), scale?.[1], Number.isFinite(value) && unit].filter(Boolean).join(" ");
  return lower === undefined ? named : `${named} (${text(lower)} to ${text(upper)})`;
}

/** A Markdown table of those lines that have a figure; cells are texts or nothing. */
function table(heads, lines) {
  const kept = lines.filter(([, ...cells]) => cells.some(Boolean));
  if (!kept.length) return "";
  const line = (cells) => `| ${heads.map((_, column) => cells[column] ?? "").join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...kept.map(line)].join("\n");
}

/** The tables of each room, as `text`, and the names of rows that they ask for in vain, as `missing`. `find` gives a row by its name. */
export function tables(find) {
  const missing = new Set();
  const get = (name) => {
    const row = find(name);
    if (!row) missing.add(name);
    return row;
  };
  const say = (name, options) => {
    const row = get(name);
    return row && words(row, options);
  };
  const both = (label, name, options) => [label, say(name, options), say(`${name}_page`, options)];
  /** Several rows in one cell, once all of them are there. */
  const joined = (names, options) => {
    const said = names.map((name) => say(name, options));
    return said.every(Boolean) ? said.join("; ") : undefined;
  };
  const bothOf = (label, names, options) => [
    label,
    joined(names, options),
    joined(
      names.map((name) => `${name}_page`),
      options,
    ),
  ];
  const share = { unit: "of peak" };
  const layer = "core.linear.1536x512x2048";
  const cores = (suffix) => [`${layer}.share${suffix}`, `${layer}.dx.share${suffix}`, `${layer}.dw.share${suffix}`];
  const head = ["", "terminal", "page"];
  const core = table(head, [
    both("multiply-add peak, one core, GFLOP/s", "core.peak_gflops"),
    both("matrix product 128x128, batch 64, one core", "core.gemm.128x128_b64.share", share),
    both("sums of 24 of 144 rows of 512 numbers (embedding bag), one core, a second", "core.bag.24of144x512.rows_per_s"),
    both("the same as a ratio to the dense product", "core.bag.24of144x512.vs_dense.ratio"),
    both("16-layer residual net of 284 thousand weights, batch 64, one core, states a second", "core.net284k.states_per_s_core"),
    both("the same", "core.net284k.share", share),
    both("training step of a 144-128-64-6 net, batch 64, one core", "core.step_144_128_64_6_b64_ms", { unit: "ms" }),
    bothOf("layer of 512 to 2,048 units, batch 1,536, one thread: forward; gradients by inputs; by weights; of peak", cores("")),
    bothOf("the same on two threads, of the peak of two", cores(".t2")),
    bothOf("training step of a 512-2048-2048-512 net, batch 1,536, one thread; two, of the peak of as many", [
      "core.train.mlp2048.share",
      "core.train.mlp2048.share.t2",
    ]),
    ["first load, compressed", undefined, say("page.first_load_kb", { unit: "kB" })],
    ["first training step, warm revisit", undefined, say("page.first_step_ms", { times: 1e-3, unit: "s" })],
  ]);

  const environments = ["CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "Acrobot-v1", "LunarLander-v3"];
  const of = (...names) => {
    const found = names.map((name) => get(name)?.value);
    return found.every((value) => value !== undefined) ? found.join(" of ") : undefined;
  };
  const plain = (name) => get(name)?.value.toFixed(1);
  const whole = (name) => get(name)?.value.toLocaleString("en-US");
  const spread = (name) => {
    const row = get(name);
    return row && `${row.value.toFixed(1)} (${row.lower.toFixed(1)} to ${row.upper.toFixed(1)})`;
  };
  const control = [
    table(head, [
      both("CartPole solved, from the start of the process (20 seeds) or of a warm revisit (5), s", "control.ppo.cartpole.solve_s"),
      [
        "seeds solved",
        get("control.ppo.cartpole.solved_of_20") && `${get("control.ppo.cartpole.solved_of_20").value} of 20`,
        get("control.ppo.cartpole.solved_of_5_page") && `${get("control.ppo.cartpole.solved_of_5_page").value} of 5`,
      ],
      ...environments.map((id) =>
        both(
          `${id.split("-")[0]} steps by the public call, one core, a second`,
          `control.${id.split("-")[0].toLowerCase()}.steps_per_s_core`,
        ),
      ),
      both("CartPole, 100 steps a call, one core, steps a second", "control.cartpole.fused_steps_per_s_core"),
      both("PPO with two 4-64-64 networks, 4 epochs, two threads, steps a second", "control.ppo.cartpole.steps_per_s"),
      both("PPO with one 4-32-32 trunk, 1 epoch, two threads, steps a second", "control.ppo.cartpole.small.steps_per_s"),
      both("what a monitor that is read ten times a second costs", "control.monitor.overhead", { times: 100, unit: "%" }),
    ]),
    table(
      ["", "solved at", "solved", "lowest of these", "steps", "time, s"],
      environments.map((id) => [
        id,
        plain(`control.${id}.solved_at`),
        of(`control.${id}.solved`, `control.${id}.of`),
        plain(`control.${id}.lowest`),
        say(`control.${id}.solve_steps`),
        say(`control.${id}.solve_s`),
      ]),
    ),
    table(
      ["return after", "1M steps", "10M", "50M"],
      // What 50 million steps give is measured of one environment.
      environments.map((id) => {
        const millions = id === "CartPole-v1" ? [1, 10, 50] : [1, 10];
        return [id, ...millions.map((million) => spread(`control.${id}.return_after_${million}M`))];
      }),
    ),
  ];

  const points = (name) => {
    const [mean, error] = [get(`${name}.points`), get(`${name}.standard_error`)];
    return mean && `${mean.value >= 0 ? "+" : ""}${mean.value.toFixed(3)} ± ${error.value.toFixed(3)}`;
  };
  const strength = (label, id, seeds, opponents) => [
    label,
    ...["gnubg", "linear", "random"].map((against) => {
      if (!opponents.includes(against)) return;
      const said = seeds.map((seed) => points(`backgammon.${id}.seed${seed}.${against}`)).filter(Boolean);
      return said.length ? said.join("; ") : undefined;
    }),
  ];
  const three = [101, 102, 103];
  const backgammon = [
    table(head, [
      both("the strong learner plays and learns, games a second, one core", "backgammon.td.games_per_s_core"),
      both("rolls answered with every result, one core, a second", "backgammon.rules.decisions_per_s_core"),
      both(
        "the published configuration's self-play without learning, network evaluations a second, one core",
        "backgammon.selfplay.evals_per_s_core",
      ),
      both(
        "its games a minute at 100 evaluations, without learning, two threads " +
          "(published: 849 with 14 workers; evaluations a move not stated [1])",
        "backgammon.selfplay.games_per_min",
      ),
      both("the same with learning on", "backgammon.published.games_per_min"),
    ]),
    table(
      ["points a game against", "GNU Backgammon", "the linear evaluation", "random moves"],
      [
        strength("strong, 60 s of one core, seeds 101 to 103", "minute", three, ["gnubg", "linear", "random"]),
        strength("the same without handmade inputs", "no-handmade", three, ["gnubg"]),
        strength("the same without the bear-off table", "no-bearoff", three, ["gnubg"]),
        strength("the same without either", "bare", three, ["gnubg"]),
        strength("strong, ten minutes, seeds 101 to 103", "ten-minutes", three, ["gnubg"]),
        strength("strong, an hour, seed 101", "hour", [101], ["gnubg"]),
        ["the same with 100 evaluations a move", points("backgammon.hour.seed101.gnubg--evals100")],
        strength("as published, ten minutes, seed 101", "published", [101], ["gnubg", "random"]),
        strength("as published, an hour, seed 101", "published-hour", [101], ["gnubg", "random"]),
      ],
    ),
    table(
      ["after 60 s in the page", "points a game"],
      ["random", "linear"].map((name) => {
        const [mean, error] = ["points", "error"].map((what) => get(`backgammon.td.after_60s.${what}_against_${name}_page`));
        return [
          name === "random" ? "against random moves" : "against the linear evaluation",
          mean && `+${mean.value.toFixed(2)} ± ${error.value.toFixed(2)}`,
        ];
      }),
    ),
  ];

  const percent = (name) => get(name) && `${get(name).value.toFixed(2)}%`;
  const greedy = (label, id) => [
    label,
    ...["greedy", "greedy_any", "greedy_optimal", "greedy_at_4", "greedy_at_6", "greedy_at_8"].map((what) => percent(`cube.${id}.${what}`)),
  ];
  /** `gives` names what a search of that kind counts: of a large cube nobody knows the least number of turns. */
  const beam = (label, prefix, gives, suffix = "") => [
    label,
    ...["solved", "optimal"].map((what) => (what === "solved" || gives.includes(what) ? percent(`${prefix}.${what}${suffix}`) : undefined)),
    gives.includes("moves") ? say(`${prefix}.moves${suffix}`) : undefined,
    ...["solve_ms", "most_solve_ms"].map((what) => say(`${prefix}.${what}${suffix}`, { unit: "ms" })),
  ];
  const cubes = [
    table(
      ["greedy play from every state of the 2x2x2", "solved", "any move", "optimally", "at distance 4", "6", "8"],
      [
        greedy("walk length, 20 s on two cores", "walk"),
        greedy("exact distances, 20 s", "exact"),
        greedy("tuned deep Q, 60 s", "dqn"),
        greedy("deep Q as published, 60 s", "dqn-published"),
        greedy("deep Q as published, 100 minutes", "dqn-published-long"),
        ["published: deep Q after 2,000 episodes [2]", undefined, undefined, undefined, "45.8%"],
        ["published: deep Q after 12 million steps [3]", undefined, undefined, undefined, "100%", "92.6%", "54.8%"],
      ],
    ),
    table(
      ["beam search", "solved", "optimally", "turns", "time", "at most"],
      [
        beam("2x2x2 by walk length, 20 s, beam 256, uniform states", "cube.walk.beam", ["optimal", "moves"]),
        beam(
          "2x2x2 in the page after 60 s, beam 256, 20 states of each distance from 1 to 14",
          "cube.2x2x2.beam_256.after_60s",
          ["optimal"],
          "_page",
        ),
        beam("3x3x3 by walk length, 300 s, beam 4,096, uniform states", "cube.three.beam", ["moves"]),
        beam("3x3x3 in the page after 300 s, beam 4,096, scrambles", "cube.3x3x3.beam_4096.after_300s", ["moves"], "_page"),
      ],
    ),
    table(head, [
      both(
        "training step of a 144-128-64-6 double dueling network, batch 64, one core " +
          "(published for a network of that size: 5.0 ms after 100 episodes, 13.0 after 200 [2])",
        "cube.dqn.step_ms",
        { unit: "ms" },
      ),
      both("the same with priorities and sampling", "cube.dqn.full_step_ms", { unit: "ms" }),
    ]),
  ];

  const population = (label, id, page) => {
    const row = (what) => `logic.${id}.${what}`;
    const solved = get(row("solved"));
    return [
      label,
      solved && `${solved.value} ${solved.unit}`,
      say(row("solve_s")),
      say(row("solve_most_s")),
      say(row("solve_cpu_s")),
      whole(row("members")),
      whole(row("begun_anew")),
      of(row("perfect"), row("begun")),
      page ? say(row("solve_s_page")) : undefined,
    ];
  };
  const member = (label, id) => {
    const row = (what) => `logic.${id}.${what}`;
    return [label, of(row("perfect"), row("of")), of(row("confirmed"), row("of")), say(row("updates"))];
  };
  // A member is called perfect once it passes the check of its population. Only what is solved was confirmed.
  const passed = "64 grids right (Life: 512 states)";
  const logic = [
    table(
      [
        "a population with new beginnings, two threads",
        "solved: confirmed on 1,000 grids (Life: 512 states)",
        "time, s",
        "longest",
        "processor s",
        "members side by side",
        "begun anew, of all seeds",
        `${passed}, of all members`,
        "page, warm revisit, s",
      ],
      [
        population("Game of Life", "life", true),
        population("the same without states that its evaluation found wrong", "life-unmined-population", false),
        population("checkerboard", "checkerboard", true),
      ],
    ),
    table(
      ["single members, none begins anew", passed, "confirmed on 1,000 grids (Life: 512 states)", "updates until 64 grids right"],
      [
        member("Life, within 1,500 updates", "life-members"),
        member("the same without states that its evaluation found wrong", "life-unmined"),
        member("Life as published, within 3,000", "life-published"),
        member("checkerboard, within 500", "checkerboard-members"),
        member("checkerboard at the published shape, within 500", "checkerboard-shape"),
        member("checkerboard as published, within 500", "checkerboard-published"),
        member("asynchronous checkerboard, within 512", "asynchronous"),
      ],
    ),
    table(head, [
      both(
        "update of the published checkerboard (16x16, 20 steps, batch 2: 47.2 million gates), one core " +
          "(published: 2 s on a Colab GPU in JAX, 29 s in Rust before its optimisation [4])",
        "logic.checkerboard.step_ms_core",
        { unit: "ms" },
      ),
      both("the same on two threads", "logic.checkerboard.step_ms", { unit: "ms" }),
      both("update of the published Game of Life, batch 20", "logic.life.step_ms", { unit: "ms" }),
      both("gates of a hardened circuit times cells a second, one core", "logic.hard.gate_cells_per_s_core"),
    ]),
  ];

  const presets = ["char", "d256", "d384", "d512"];
  const each = (label, name, options) => [label, ...presets.map((id) => say(`words.${id}${name}`, options))];
  const versus = (path, name) => [
    [
      `PyTorch, the faster of eager and compiled${path ? ", bf16" : ""}`,
      ...presets
        .map((id) => get(`words.${id}.${name}.tokens_per_s`))
        .map((row) => row && `${words(row)}, ${row.unit.match(/torch \S+ (\S+),/)?.[1]}`),
    ],
    each(`ours${path ? " in bf16" : ""} as a ratio to it`, `${path}.ratio_to_${name}`),
  ];
  const language = table(
    ["tokens a second", ...presets],
    [
      each("f32, two threads", ".tokens_per_s"),
      each("the same, of the f32 multiply-add peak of two cores", ".share"),
      ...versus("", "pytorch"),
      each("bf16 products (AVX512-BF16)", ".bf16.tokens_per_s"),
      ...versus(".bf16", "pytorch_bf16"),
      each("in the page, f32, two threads", ".tokens_per_s_page"),
      each("the same, of the peak of two threads", ".share_page"),
      ["memory of a run, reckoned", ...presets.map((id) => say(`words.${id}.bytes`, { times: 1e-6, unit: "MB" }))],
    ],
  );
  const learned = table(
    ["char preset, 8.2 million tokens, seed 101", "above the entropy floor", "processor seconds"],
    [["", say("words.char.above", { unit: "%" }), say("words.char.cpu_s")]],
  );
  const bytes = whole("words.text.bytes");
  const bits = (label, name, cpu) => [label, say(`words.text.${name}`), cpu && say(`words.text.${cpu}`)];
  const bible = table(
    [`the King James Bible${bytes ? `, ${bytes} bytes` : ""}`, "bits a byte", "processor seconds"],
    [
      bits("a model of 2,048 byte pairs after 819,200 tokens, seed 101, on the last tenth", "bits_per_byte", "cpu_s"),
      bits("`gzip -9`, the whole text", "gzip_bits_per_byte"),
      bits("`xz -9e`, the whole text", "xz_bits_per_byte"),
    ],
  );

  const rival = (name) => {
    const row = get(name);
    const version = row?.unit.match(/, \w+ (\S+)$/)?.[1];
    return row && `${words(row)}${version ? `, version ${version}` : ""}`;
  };
  const ratio = (name) => {
    const row = get(name);
    return row && `${words(row)} ${row.unit}`;
  };
  const steps = (label, prefix, count, modes) => {
    const row = (way) => `python.${prefix}.steps_per_s.${count}${way}`;
    return [
      label,
      ...["SameStep", "NextStep"].map((mode) => (modes.includes(mode) ? say(row(mode)) : undefined)),
      rival(row("gymnasium")),
      rival(row("envpool")),
      modes.includes("arrays_alone") ? say(row("arrays_alone")) : undefined,
      ratio(`python.${prefix}.ratio${count && `.${count.slice(0, -1)}`}`),
    ];
  };
  const all = ["SameStep", "NextStep", "arrays_alone"];
  const python = [
    table(
      [
        "steps a second, one core",
        "`SameStep`",
        "`NextStep`",
        "Gymnasium's own",
        "EnvPool, one thread",
        "arrays alone",
        "`SameStep` to the fastest rival",
      ],
      [
        steps("4,096 x CartPole (Gymnasium: one vector)", "cartpole", "4096.", all),
        steps("65,536 x CartPole (Gymnasium: one vector)", "cartpole", "65536.", all),
        steps("1,024 x LunarLander (Gymnasium: 16 in a loop)", "lunarlander", "", ["SameStep"]),
      ],
    ),
    table(
      ["a policy of two layers of 64 on 1,024 states of CartPole, one core", "states a second", "to the same calls without Python"],
      [["", say("python.policy.states_per_s_core"), say("python.policy.ratio")]],
    ),
  ];

  const rooms = { core: [core], control, backgammon, cube: cubes, logic, words: [language, learned, bible], python };
  const text = Object.fromEntries(Object.entries(rooms).map(([room, all]) => [room, all.filter(Boolean).join("\n\n")]));
  return { text, missing: [...missing] };
}

/** Where a room's block begins and ends in a text; nothing where the text has no such marks. */
function marks(text, room) {
  const from = `<!-- figures:${room} -->`;
  const began = text.indexOf(from);
  const ended = text.indexOf("<!-- /figures -->", began);
  return began < 0 || ended < 0 ? undefined : [began + from.length, ended];
}

/** What a text has between the marks of a room. */
export const inside = (text, room) => text.slice(...(marks(text, room) ?? [0, 0]));

/** A text with another block between the marks of a room; nothing where it has no such marks. */
export function between(text, room, block) {
  const found = marks(text, room);
  return found && `${text.slice(0, found[0])}\n\n${block}\n\n${text.slice(found[1])}`;
}

/** Lines of tables by their labels; `the same` may come again, so a label has a number. */
function labelled(block) {
  const lines = new Map();
  for (const line of block.split("\n").filter((line) => line.startsWith("|") && !/^[|\s-]*$/.test(line))) {
    const label = line.split("|")[1].trim();
    let nth = 1;
    while (lines.has(`${label} ${nth}`)) nth++;
    lines.set(`${label} ${nth}`, line);
  }
  return lines;
}

/** The lines in which the tables of two blocks differ, each as it was and as it is now; nothing for one that the other lacks. */
export function changes(before, after) {
  const [was, now] = [before, after].map(labelled);
  const labels = [...new Set([...was.keys(), ...now.keys()])];
  return labels.map((label) => [was.get(label), now.get(label)]).filter(([old, fresh]) => old !== fresh);
}
