// Builds the generated tables of docs/benchmarks.md from the rows that `parts.mjs` measures. A line without any measured value is omitted,
// and a cell without a measured value is empty.

const SCALES = [
  [1e9, "billion"],
  [1e6, "million"],
  [1e4, "thousand", 1e3],
];

/** Formats `value / divisor` with three significant digits, or as a whole number from 100 on: 39,300,000 with divisor 1e6 is `39.3`. */
function number(value, divisor = 1) {
  const x = value / divisor;
  if (!Number.isFinite(x)) return "never";
  const digits = Math.abs(x) >= 100 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(x) || 1)));
  return x.toLocaleString("en-US", { minimumFractionDigits: Math.min(digits, 4), maximumFractionDigits: Math.min(digits, 4) });
}

/** Formats the value and the quartiles of a row: `39.3 thousand (38.9 to 39.6)`. */
export function words({ value, lower, upper }, { times = 1, unit = "" } = {}) {
  // JSON has no infinity and stores it as null.
  if (value === null) value = Infinity;
  const scale = Number.isFinite(value) ? SCALES.find(([from]) => Math.abs(value * times) >= from) : undefined;
  const divisor = scale ? (scale[2] ?? scale[0]) : 1;
  const text = (x) => number((x ?? Infinity) * times, divisor);
  const named = [text(value), scale?.[1], Number.isFinite(value) && unit].filter(Boolean).join(" ");
  return lower === undefined ? named : `${named} (${text(lower)} to ${text(upper)})`;
}

/** Formats a Markdown table. A cell is a string or undefined. A line is omitted if all its cells after the first are empty. */
function table(heads, lines) {
  const kept = lines.filter(([, ...cells]) => cells.some(Boolean));
  if (!kept.length) return "";
  const line = (cells) => `| ${heads.map((_, column) => cells[column] ?? "").join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...kept.map(line)].join("\n");
}

/** Returns the tables of each room (`text`) and the names of rows that were not found (`missing`). `find` returns a row by its name. */
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
  /** Formats several rows as one cell; returns undefined unless all of them exist. */
  const joined = (names, options) => {
    const formatted = names.map((name) => say(name, options));
    return formatted.every(Boolean) ? formatted.join("; ") : undefined;
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
    both("embedding bag: sums of 24 of 144 rows of 512 numbers, batch 2,048, one core, sums a second", "core.bag.24of144x512.rows_per_s"),
    both("embedding bag: speed relative to the dense product", "core.bag.24of144x512.vs_dense.ratio"),
    both("16-layer residual net of 284 thousand weights, batch 64, one core, states a second", "core.net284k.states_per_s_core"),
    both("16-layer residual net, share of peak", "core.net284k.share", share),
    both("training step of a 144-128-64-6 net, batch 64, one core", "core.step_144_128_64_6_b64_ms", { unit: "ms" }),
    bothOf("layer of 512 to 2,048 units, batch 1,536, one thread, share of peak: forward; input gradient; weight gradient", cores("")),
    bothOf("layer on two threads, share of the peak of two: forward; input gradient; weight gradient", cores(".t2")),
    bothOf("training step of a 512-2048-2048-512 net, batch 1,536, share of the peak of as many threads: one thread; two", [
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
      both("CartPole: time to solve, s (terminal: whole process, 20 seeds; page: warm revisit, 5 seeds)", "control.ppo.cartpole.solve_s"),
      [
        "CartPole: seeds solved",
        get("control.ppo.cartpole.solved_of_20") && `${get("control.ppo.cartpole.solved_of_20").value} of 20`,
        get("control.ppo.cartpole.solved_of_5_page") && `${get("control.ppo.cartpole.solved_of_5_page").value} of 5`,
      ],
      ...environments.map((id) =>
        both(
          `${id.split("-")[0]}: steps a second by the public call, one core`,
          `control.${id.split("-")[0].toLowerCase()}.steps_per_s_core`,
        ),
      ),
      both("CartPole: steps a second, 100 steps a call, one core", "control.cartpole.fused_steps_per_s_core"),
      both("PPO on CartPole: two 4-64-64 networks, 4 epochs, two threads, steps a second", "control.ppo.cartpole.steps_per_s"),
      both("PPO on CartPole: one 4-32-32 trunk, 1 epoch, two threads, steps a second", "control.ppo.cartpole.small.steps_per_s"),
      both("monitor read ten times a second: added training time", "control.monitor.overhead", { times: 100, unit: "%" }),
    ]),
    table(
      ["environment", "goal (mean return)", "seeds solved", "lowest mean return of a seed", "steps to solve", "time to solve, s"],
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
      ["greedy return after", "1M steps", "10M steps", "50M steps"],
      // The figure after 50 million steps is measured for one environment only.
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
      const formatted = seeds.map((seed) => points(`backgammon.${id}.seed${seed}.${against}`)).filter(Boolean);
      return formatted.length ? formatted.join("; ") : undefined;
    }),
  ];
  const three = [101, 102, 103];
  const backgammon = [
    table(head, [
      both("strong learner: self-play with learning, one core, games a second", "backgammon.td.games_per_s_core"),
      both("rules: rolls with all their results, one core, rolls a second", "backgammon.rules.decisions_per_s_core"),
      both(
        "published configuration: self-play without learning, one core, network evaluations a second (published: 218 to 436 thousand " +
          "with 14 workers [1])",
        "backgammon.selfplay.evals_per_s_core",
      ),
      both(
        "published configuration: self-play without learning, 100 evaluations a move, two threads, games a minute " +
          "(published: 849 with 14 workers, a game of 15 to 31 thousand evaluations; compare evaluations instead [1])",
        "backgammon.selfplay.games_per_min",
      ),
      both(
        "published configuration: self-play with learning, 100 evaluations a move, two threads, games a minute",
        "backgammon.published.games_per_min",
      ),
    ]),
    table(
      ["points per game, agent", "against GNU Backgammon", "against pubeval", "against random moves"],
      [
        strength("strong, 60 s of one core, seeds 101 to 103", "minute", three, ["gnubg", "linear", "random"]),
        strength("strong without handmade inputs, 60 s of one core, seeds 101 to 103", "no-handmade", three, ["gnubg"]),
        strength("strong without the bear-off table, 60 s of one core, seeds 101 to 103", "no-bearoff", three, ["gnubg"]),
        strength("strong without either, 60 s of one core, seeds 101 to 103", "bare", three, ["gnubg"]),
        strength("strong, ten minutes of one core, seeds 101 to 103", "ten-minutes", three, ["gnubg"]),
        strength("strong, an hour of one core, seed 101", "hour", [101], ["gnubg"]),
        ["strong, an hour of one core, seed 101, 100 evaluations a move", points("backgammon.hour.seed101.gnubg--evals100")],
        strength("published configuration, ten minutes of one core, seed 101", "published", [101], ["gnubg", "random"]),
        strength("published configuration, an hour of one core, seed 101", "published-hour", [101], ["gnubg", "random"]),
      ],
    ),
    table(
      ["strong learner after 60 s of training in the page, one run, seed 101, 200 games", "points per game"],
      ["random", "linear"].map((name) => {
        const [mean, error] = ["points", "error"].map((what) => get(`backgammon.td.after_60s.${what}_against_${name}_page`));
        return [
          name === "random" ? "against random moves" : "against pubeval",
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
  /**
   * Returns the table line of a beam search. `gives` lists the optional columns that this search has (`optimal`, `moves`). The 3x3x3 has no
   * column of optimal solutions.
   */
  const beam = (label, prefix, gives, suffix = "") => [
    label,
    ...["solved", "optimal"].map((what) => (what === "solved" || gives.includes(what) ? percent(`${prefix}.${what}${suffix}`) : undefined)),
    gives.includes("moves") ? say(`${prefix}.moves${suffix}`) : undefined,
    ...["solve_ms", "most_solve_ms"].map((what) => say(`${prefix}.${what}${suffix}`, { unit: "ms" })),
  ];
  const cubes = [
    table(
      [
        "greedy play from every state of the 2x2x2",
        "solved",
        "solved, may undo",
        "solved optimally",
        "solved at 4",
        "solved at 6",
        "solved at 8",
      ],
      [
        greedy("walk length, 20 s on two cores", "walk"),
        greedy("exact distances, 20 s", "exact"),
        greedy("tuned deep Q, 60 s", "dqn"),
        greedy("deep Q as published, 60 s", "dqn-published"),
        greedy("deep Q as published, 100 minutes", "dqn-published-long"),
        [
          "published: deep Q after 2,000 episodes, by the README with a 144-256-128-64 network, which these rows do not train [2]",
          undefined,
          undefined,
          undefined,
          "45.8%",
        ],
        ["published: deep Q after 12 million steps [3]", undefined, undefined, undefined, "100%", "92.6%", "54.8%"],
      ],
    ),
    table(
      ["beam search", "solved", "solved optimally", "quarter turns", "time a state", "longest time"],
      [
        beam("2x2x2, walk length, 20 s, beam 256, 5,000 uniform states, means", "cube.walk.beam", ["optimal", "moves"]),
        beam(
          "2x2x2 in the page, 60 s, beam 256, 20 states of each distance from 1 to 14, medians",
          "cube.2x2x2.beam_256.after_60s",
          ["optimal"],
          "_page",
        ),
        beam("3x3x3, walk length, 300 s, beam 4,096, 200 uniform states, means", "cube.three.beam", ["moves"]),
        beam(
          "3x3x3 in the page, 300 s, beam 4,096, 200 scrambles of 100 moves, medians",
          "cube.3x3x3.beam_4096.after_300s",
          ["moves"],
          "_page",
        ),
      ],
    ),
    table(head, [
      both(
        "training step of a 144-128-64-6 double dueling network, batch 64, one core " +
          "(published for a network of that size: 5.0 ms after 100 episodes, 13.0 after 200 [2])",
        "cube.dqn.step_ms",
        { unit: "ms" },
      ),
      both("training step of that network with sampling and priorities", "cube.dqn.full_step_ms", { unit: "ms" }),
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
  // A member is perfect if it passes the population's check. A run is solved only after a confirmation.
  const passed = "passed the check: 64 grids (Life: 512 states)";
  const logic = [
    table(
      [
        "population with restarts, two threads",
        "solved: confirmed on 1,000 grids (Life: 512 states)",
        "time, s",
        "longest time, s",
        "processor time, s",
        "members side by side",
        "members restarted, all seeds",
        `${passed}, all seeds`,
        "page: time from a warm revisit, s",
      ],
      [
        population("Game of Life", "life", true),
        population("Game of Life without hard examples", "life-unmined-population", false),
        population("checkerboard", "checkerboard", true),
      ],
    ),
    table(
      ["single members, no restarts", passed, "confirmed on 1,000 grids (Life: 512 states)", "updates until the check passes"],
      [
        member("Game of Life, within 1,500 updates", "life-members"),
        member("Game of Life without hard examples, within 1,500 updates", "life-unmined"),
        member("Game of Life, published settings, within 3,000 updates", "life-published"),
        member("checkerboard, within 500 updates", "checkerboard-members"),
        member("checkerboard, published shape, within 500 updates", "checkerboard-shape"),
        member("checkerboard, published settings, within 500 updates", "checkerboard-published"),
        member("asynchronous checkerboard, within 512 updates", "asynchronous"),
      ],
    ),
    table(head, [
      both(
        "update of the published checkerboard (16x16, 20 steps, batch 2: 47.2 million gates), one core " +
          "(published: 2 s on a Colab GPU in JAX, 29 s in Rust before its optimisation [4])",
        "logic.checkerboard.step_ms_core",
        { unit: "ms" },
      ),
      both("update of the published checkerboard on two threads", "logic.checkerboard.step_ms", { unit: "ms" }),
      both("update of the published Game of Life, batch 20, two threads", "logic.life.step_ms", { unit: "ms" }),
      both("hardened circuit: gate evaluations (gates x cells), one core, a second", "logic.hard.gate_cells_per_s_core"),
    ]),
  ];

  const presets = ["char", "d256", "d384", "d512"];
  const each = (label, name, options) => [label, ...presets.map((id) => say(`words.${id}${name}`, options))];
  const versus = (path, name) => [
    [
      `PyTorch, the faster of eager and compiled${path ? ", bf16" : ""}`,
      ...presets
        .map((id) => get(`words.${id}.${name}.tokens_per_s`))
        .map((row) => row && `${words(row)}, ${row.unit.match(/(torch \S+ \S+),/)?.[1]}`),
    ],
    each(`Hothouse${path ? " in bf16" : ""} relative to PyTorch${path ? " in bf16" : ""}`, `${path}.ratio_to_${name}`),
  ];
  const language = table(
    ["tokens a second", ...presets],
    [
      each("f32, two threads", ".tokens_per_s"),
      each("f32, two threads, share of the f32 multiply-add peak of two cores", ".share"),
      ...versus("", "pytorch"),
      each("bf16 products (AVX512-BF16), two threads", ".bf16.tokens_per_s"),
      ...versus(".bf16", "pytorch_bf16"),
      each("page, f32, two threads", ".tokens_per_s_page"),
      each("page, f32, two threads, share of the peak of two threads", ".share_page"),
      ["memory of a run, calculated", ...presets.map((id) => say(`words.${id}.bytes`, { times: 1e-6, unit: "MB" }))],
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
        "Gymnasium",
        "EnvPool, one thread",
        "arrays only",
        "`SameStep` relative to the fastest rival",
      ],
      [
        steps("4,096 x CartPole (Gymnasium: one vector)", "cartpole", "4096.", all),
        steps("65,536 x CartPole (Gymnasium: one vector)", "cartpole", "65536.", all),
        steps("1,024 x LunarLander (Gymnasium: 16 in a loop)", "lunarlander", "", ["SameStep"]),
      ],
    ),
    table(
      [
        "a policy of two layers of 64 on 1,024 states of CartPole, one core",
        "states a second",
        "relative to the same calls without Python",
      ],
      [["", say("python.policy.states_per_s_core"), say("python.policy.ratio")]],
    ),
  ];

  const rooms = { core: [core], control, backgammon, cube: cubes, logic, words: [language, learned, bible], python };
  const text = Object.fromEntries(Object.entries(rooms).map(([room, all]) => [room, all.filter(Boolean).join("\n\n")]));
  return { text, missing: [...missing] };
}

/**
 * Returns start and end of a room's block in a text, as `[start, end]`. Returns undefined if the comments that mark the block are missing.
 */
function marks(text, room) {
  const from = `<!-- figures:${room} -->`;
  const began = text.indexOf(from);
  const ended = text.indexOf("<!-- /figures -->", began);
  return began < 0 || ended < 0 ? undefined : [began + from.length, ended];
}

/** Returns the text between the marks of a room. */
export const inside = (text, room) => text.slice(...(marks(text, room) ?? [0, 0]));

/** Replaces the block of a room. Returns undefined if the comments that mark the block are missing. */
export function between(text, room, block) {
  const found = marks(text, room);
  return found && `${text.slice(0, found[0])}\n\n${block}\n\n${text.slice(found[1])}`;
}

/**
 * Returns the lines of the tables in a block. A key consists of the line's label and its number among the lines with this label, because
 * several lines may have the same label.
 */
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

/**
 * Returns the lines that differ between the tables of two blocks, as pairs `[before, after]`. If a block lacks a line, its element of the
 * pair is undefined.
 */
export function changes(before, after) {
  const [was, now] = [before, after].map(labelled);
  const labels = [...new Set([...was.keys(), ...now.keys()])];
  return labels.map((label) => [was.get(label), now.get(label)]).filter(([old, fresh]) => old !== fresh);
}
