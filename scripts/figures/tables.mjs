// README's tables of figures, from the rows of `parts.mjs` alone. A line without any figure is left out, and so is a cell that was not
// measured. It measures nothing.

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
  const line = (cells) => `| ${cells.map((cell) => cell ?? "").join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...kept.map(line)].join("\n");
}

/** The tables of each room. `get` gives a row by its name, or nothing. */
export function tables(get) {
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
  const bothOf = (label, names, options) => [label, joined(names, options), joined(names.map((name) => `${name}_page`), options)];
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
    bothOf("training step of a 512-2048-2048-512 net, batch 1,536, one thread; two, of the peak of as many", ["core.train.mlp2048.share", "core.train.mlp2048.share.t2"]),
    ["first load, compressed", undefined, say("page.first_load_kb", { unit: "kB" })],
    ["first training step, warm revisit", undefined, say("page.first_step_ms", { times: 1e-3, unit: "s" })],
  ]);

  const environments = ["CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "Acrobot-v1", "LunarLander-v3"];
  const of = (...names) => {
    const found = names.map((name) => get(name)?.value);
    return found.every((value) => value !== undefined) ? found.join(" of ") : undefined;
  };
  const plain = (name) => get(name)?.value.toFixed(1);
  const control = [
    table(head, [
      both("CartPole solved, from the start of the process (20 seeds) or of a warm revisit (5), s", "control.ppo.cartpole.solve_s"),
      ["seeds solved", get("control.ppo.cartpole.solved_of_20") && `${get("control.ppo.cartpole.solved_of_20").value} of 20`, get("control.ppo.cartpole.solved_of_5_page") && `${get("control.ppo.cartpole.solved_of_5_page").value} of 5`],
      ...environments.map((id) => both(`${id.split("-")[0]} steps by the public call, one core, a second`, `control.${id.split("-")[0].toLowerCase()}.steps_per_s_core`)),
      both("CartPole, 100 steps a call, one core, steps a second", "control.cartpole.fused_steps_per_s_core"),
      both("PPO with two 4-64-64 networks, 4 epochs, two threads, steps a second", "control.ppo.cartpole.steps_per_s"),
      both("PPO with one 4-32-32 trunk, 1 epoch, two threads, steps a second", "control.ppo.cartpole.small.steps_per_s"),
      both("what a monitor that is read ten times a second costs", "control.monitor.overhead", { times: 100, unit: "%" }),
    ]),
    table(
      ["", "solved at", "solved", "lowest of these", "steps", "time, s"],
      environments.map((id) => [id, plain(`control.${id}.solved_at`), of(`control.${id}.solved`, `control.${id}.of`), plain(`control.${id}.lowest`), say(`control.${id}.solve_steps`), say(`control.${id}.solve_s`)]),
    ),
    table(
      ["return after", "1M steps", "10M", "50M"],
      environments.map((id) => [id, ...[1, 10, 50].map((million) => get(`control.${id}.return_after_${million}M`)).map((row) => row && `${row.value.toFixed(1)} (${row.lower.toFixed(1)} to ${row.upper.toFixed(1)})`)]),
    ),
  ];

  const points = (name) => {
    const [mean, error] = [get(`${name}.points`), get(`${name}.standard_error`)];
    return mean && `${mean.value >= 0 ? "+" : ""}${mean.value.toFixed(3)} ± ${error.value.toFixed(3)}`;
  };
  const strength = (label, id, seeds, opponents) => [
    label,
    ...["gnubg", "linear", "random"].map((against) => {
      const said = seeds.map((seed) => points(`backgammon.${id}.seed${seed}.${against}`)).filter(Boolean);
      return opponents.includes(against) && said.length ? said.join("; ") : undefined;
    }),
  ];
  const three = [101, 102, 103];
  const backgammon = [
    table(head, [
      both("the strong learner plays and learns, games a second, one core", "backgammon.td.games_per_s_core"),
      both("rolls answered with every result, one core, a second", "backgammon.rules.decisions_per_s_core"),
      both("the published configuration's self-play without learning, network evaluations a second, one core", "backgammon.selfplay.evals_per_s_core"),
      both("its games a minute at 100 evaluations, without learning, two threads (published: 849 [1])", "backgammon.selfplay.games_per_min"),
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
        return [name === "random" ? "against random moves" : "against the linear evaluation", mean && `+${mean.value.toFixed(2)} ± ${error.value.toFixed(2)}`];
      }),
    ),
  ];

  const percent = (name) => get(name) && `${get(name).value.toFixed(2)}%`;
  const greedy = (label, id) => [label, ...["greedy", "greedy_any", "greedy_optimal", "greedy_at_4", "greedy_at_6", "greedy_at_8"].map((what) => percent(`cube.${id}.${what}`))];
  const beam = (label, prefix, suffix = "") => [
    label,
    ...["solved", "optimal"].map((what) => percent(`${prefix}.${what}${suffix}`)),
    say(`${prefix}.moves${suffix}`),
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
        ["published: deep Q after some 100 minutes [2]", undefined, undefined, undefined, "45.8%"],
        ["published: deep Q after 12 million steps [3]", undefined, undefined, undefined, "100%", "92.6%", "54.8%"],
      ],
    ),
    table(
      ["beam search", "solved", "optimally", "turns", "time", "at most"],
      [
        beam("2x2x2 by walk length, 20 s, beam 256, uniform states", "cube.walk.beam"),
        beam("2x2x2 in the page after 60 s, beam 256, 20 states of each distance from 1 to 14", "cube.2x2x2.beam_256.after_60s", "_page"),
        beam("3x3x3 by walk length, 300 s, beam 4,096, uniform states", "cube.three.beam"),
        beam("3x3x3 in the page after 300 s, beam 4,096, scrambles", "cube.3x3x3.beam_4096.after_300s", "_page"),
      ],
    ),
    table(head, [
      both("training step of the published 144-128-64-6 double dueling network, batch 64, one core (published: 5.0 ms [2])", "cube.dqn.step_ms", { unit: "ms" }),
      both("the same with priorities and sampling", "cube.dqn.full_step_ms", { unit: "ms" }),
    ]),
  ];

  const solves = (variant) => [
    variant === "life" ? "a perfect Game of Life" : "a perfect checkerboard",
    get(`logic.${variant}.solved`) && `${get(`logic.${variant}.solved`).value} ${get(`logic.${variant}.solved`).unit}`,
    say(`logic.${variant}.solve_s`),
    say(`logic.${variant}.solve_most_s`),
    say(`logic.${variant}.solve_cpu_s`),
    of(`logic.${variant}.perfect`, `logic.${variant}.ended`),
    say(`logic.${variant}.solve_s_page`),
  ];
  const member = (label, id) => [label, of(`logic.${id}.perfect`, `logic.${id}.of`), say(`logic.${id}.updates`)];
  const logic = [
    table(["a population with new beginnings, two threads", "seeds", "time, s", "longest", "processor s", "members perfect of those ended", "page, warm revisit, s"], [solves("life"), solves("checkerboard")]),
    table(
      ["single members, none begins anew", "perfect", "updates until then"],
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
      both("update of the published checkerboard (16x16, 20 steps, batch 2: 47.2 million gates), one core (published: 2 s on a Colab GPU in JAX, 29 s in Rust [4])", "logic.checkerboard.step_ms_core", { unit: "ms" }),
      both("the same on two threads", "logic.checkerboard.step_ms", { unit: "ms" }),
      both("update of the published Game of Life, batch 20", "logic.life.step_ms", { unit: "ms" }),
      both("gates of a hardened circuit times cells a second, one core", "logic.hard.gate_cells_per_s_core"),
    ]),
  ];

  const presets = ["char", "d256", "d384", "d512"];
  const each = (label, name, options) => [label, ...presets.map((id) => say(`words.${id}${name}`, options))];
  const versus = (path, name) => [
    [`PyTorch, the faster of eager and compiled${path ? ", bf16" : ""}`, ...presets.map((id) => get(`words.${id}.${name}.tokens_per_s`)).map((row) => row && `${words(row)}, ${row.unit.match(/torch \S+ (\S+),/)?.[1]}`)],
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
  const rooms = { core: [core], control, backgammon, cube: cubes, logic, words: [language, learned] };
  return Object.fromEntries(Object.entries(rooms).map(([room, all]) => [room, all.filter(Boolean).join("\n\n")]));
}

/** A text with what stands between `<!-- figures:ROOM -->` and `<!-- /figures -->` replaced; nothing where there are no such marks. */
export function between(text, room, block) {
  const [from, to] = [`<!-- figures:${room} -->`, "<!-- /figures -->"];
  const began = text.indexOf(from);
  const ended = text.indexOf(to, began);
  if (began < 0 || ended < 0) return;
  return `${text.slice(0, began + from.length)}\n\n${block}\n\n${text.slice(ended)}`;
}
