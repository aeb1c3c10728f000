// The parts that `npm run figures` measures. A part returns rows in the format of a bench's output. The generated tables of
// docs/benchmarks.md contain only numbers from such rows. A part's pattern `gives` matches the names of its rows. Seeds start at 101,
// because presets were tuned on lower ones.
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { counted, measured } from "../figure.mjs";
import { Trouble } from "../sh.mjs";

const SEEDS = [101, 102, 103];
const FIRST = SEEDS[0];
/** Number of agents that train and play in parallel: one per core, two at most. */
const PARALLEL = Math.min(2, availableParallelism());

/**
 * Groups of rows that some machines cannot measure. `rows` matches the names of a group's rows, and `why` is the reason. A machine measures
 * all rows of a group or none.
 */
export const OPTIONAL = [
  { rows: /^words\.\w+\.(bf16|amx)\.(tokens_per_s|share)$/, why: "the processor has no AVX512-BF16 and no AMX tiles" },
  { rows: /^words\.\w+\.(pytorch\.tokens_per_s|ratio_to_pytorch)$/, why: "no Python with torch was found (set HOTHOUSE_PYTHON to one)" },
  {
    rows: /^words\.\w+\.(pytorch_bf16\.tokens_per_s|(bf16|amx)\.ratio_to_pytorch_bf16)$/,
    why: "no Python with torch was found, or the processor has no bf16 products",
  },
  { rows: /^python\..*\.envpool$/, why: "EnvPool is not installed in the environment of the package's tests" },
  { rows: /^python\.lunarlander\..*\.gymnasium$/, why: "Gymnasium's LunarLander needs box2d, which is not installed" },
  { rows: /^python\.lunarlander\.ratio$/, why: "no other LunarLander is installed" },
];

/** Returns the first `count` seeds, or at most three in a quick pass. */
const seeds = (count, { quick }) => Array.from({ length: quick ? Math.min(count, 3) : count }, (_, i) => FIRST + i);

/** Returns the pattern for the names of rows that the native bench of a room measures. */
const ofTerminal = (room) => new RegExp(`^${room}\\.(?!.*_page$)`);
/** Returns the pattern for the names of rows that the page's bench of a room measures. */
const ofPage = (room) => new RegExp(`^${room}\\..*_page$${room === "core" ? "|^page\\." : ""}`);

/** Returns the part that runs the native bench of a room. */
const terminal = (room) => ({
  id: `${room}/terminal`,
  does: `hothouse bench ${room}`,
  gives: ofTerminal(room),
  run: (tools) => tools.hothouse("bench", room),
});
/** Returns the part that runs the page's bench of a room. */
const page = (room) => ({
  id: `${room}/page`,
  does: `npm run bench -- ${room}`,
  gives: ofPage(room),
  run: (tools) => tools.page(room),
});

/**
 * Runs `work` on all items, at most `limit` at a time, and returns the results in the order of the items. After a failure no further item
 * starts.
 */
export async function inParallel(limit, items, work) {
  const results = [];
  let next = 0;
  let failure;
  const worker = async () => {
    while (next < items.length && !failure) {
      const at = next++;
      await work(items[at]).then(
        (result) => (results[at] = result),
        (error) => (failure ??= error),
      );
    }
  };
  await Promise.all(Array.from({ length: limit }, worker));
  if (failure) throw failure;
  return results;
}

/**
 * Plays two games, so that a missing GNU Backgammon is reported before the training. `hothouse` starts GNU Backgammon, because it also
 * finds a copy outside PATH.
 */
async function checkGnubg(tools) {
  try {
    await tools.hothouse("eval", "backgammon", "random", "--against", "gnubg", "--games", 2, "--threads", 1);
  } catch (error) {
    throw new Trouble(`GNU Backgammon does not run: ${error.message}`, "install gnubg (apt-get install gnubg, brew install gnubg)");
  }
}

/**
 * Returns the part that measures an agent's strength after training for `seconds` of CPU time on one core. Its rows are points and standard
 * error for each seed and opponent. `ends` lists the opponents, each with a number of games and further arguments.
 */
function strength(id, { what, long, train, seconds, of = SEEDS, ends }) {
  const sideBySide = Math.min(PARALLEL, of.length) > 1;
  /** Trains and evaluates the agent of one seed, both on one thread. */
  const judged = async (tools, seed) => {
    const file = tools.file(`${id}-${seed}.safetensors`);
    const budget = ["--cpu-seconds", tools.quick ? seconds / 10 : seconds, "--threads", 1];
    await tools.hothouse("train", "backgammon", ...train, "--seed", seed, ...budget, "--save", file);
    const rows = [];
    for (const [against, games, ...more] of ends) {
      const duels = ["--against", against, "--seed", FIRST, "--games", tools.quick ? games / 10 : games, "--threads", 1, ...more];
      const [duel] = await tools.hothouse("eval", "backgammon", file, ...duels);
      const name = `backgammon.${id}.seed${seed}.${against}${more.join("")}`;
      rows.push(counted(`${name}.points`, duel.points_per_game, `points per game, ${what}`));
      rows.push(counted(`${name}.standard_error`, duel.standard_error, `points per game, over ${duel.games} games in pairs`));
    }
    return rows;
  };
  const command = ["train backgammon", ...train, "--threads 1 --cpu-seconds", seconds].join(" ");
  return {
    id: `backgammon/${id}`,
    does: `${command}, seeds ${of.join(", ")}${sideBySide ? ", two at a time" : ""}; eval backgammon --threads 1`,
    how: sideBySide ? "backgammon agents two at a time, one core each" : undefined,
    gives: new RegExp(`^backgammon\\.${id}\\.seed`),
    long,
    async run(tools) {
      if (ends.some(([against]) => against === "gnubg")) await checkGnubg(tools);
      return (await inParallel(PARALLEL, tools.quick ? of.slice(0, 1) : of, (seed) => judged(tools, seed))).flat();
    },
  };
}

/**
 * Returns the part that measures a cube learner by greedy play and by beam search. Greedy play starts from all states of the 2x2x2, beam
 * search from uniformly drawn states.
 */
function cube(id, { variant, seconds, states, long }) {
  return {
    id: `cube/${id}`,
    does: `train cube --variant ${variant} --seed ${FIRST} --seconds ${seconds}; eval cube --seed ${FIRST} --states ${states}`,
    gives: new RegExp(`^cube\\.${id}\\.(greedy|beam)`),
    long,
    async run(tools) {
      const file = tools.file(`cube-${id}.safetensors`);
      await tools.hothouse(
        "train",
        "cube",
        "--variant",
        variant,
        "--seed",
        FIRST,
        "--seconds",
        tools.quick ? seconds / 10 : seconds,
        "--save",
        file,
      );
      const lines = await tools.hothouse("eval", "cube", file, "--seed", FIRST, "--states", tools.quick ? Math.min(states, 20) : states);
      const rows = [];
      const percent = (name, share, unit) => rows.push(counted(`cube.${id}.${name}`, 100 * share, `% of ${unit}`));
      for (const line of lines) {
        if (line.kind === "greedy") {
          percent("greedy", line.onward.solved, "all states, no move taken back");
          percent("greedy_any", line.plain.solved, "all states, any move");
          percent("greedy_optimal", line.onward.optimal, "all states");
          for (const distance of [4, 6, 8])
            percent(`greedy_at_${distance}`, line.by_distance[distance].solved, `states at distance ${distance}`);
        }
        if (line.kind === "search") {
          percent("beam.solved", line.all.solved, `${line.all.states} uniform states`);
          if (line.all.optimal !== undefined) percent("beam.optimal", line.all.optimal, `${line.all.states} uniform states`);
          // If no state is solved, the mean number of turns is infinite.
          rows.push(counted(`cube.${id}.beam.moves`, line.all.length ?? Infinity, "quarter turns in the mean"));
          rows.push(
            counted(`cube.${id}.beam.solve_ms`, line.all.ms, "ms in the mean"),
            counted(`cube.${id}.beam.most_solve_ms`, line.most_ms, "ms at most"),
          );
        }
      }
      return rows;
    },
  };
}

/**
 * Returns the part that trains a population until the run is solved, once for each seed. It measures the duration of the whole process in
 * seconds. If a member passes the population's check or makes no progress, a new member replaces it. The check uses 64 grids, or all 512
 * states of a rule. (If all members pass at once, all members except the best restart too. No counter includes these restarts.)
 */
function untilSolved(id, { variant = id, set = [] } = {}) {
  const settings = set.flatMap((setting) => ["--set", setting]);
  return {
    id: `logic/${id}`,
    does: `${["train logic --variant", variant, ...settings, "--until-solved"].join(" ")}, seeds 101 to 200`,
    gives: new RegExp(`^logic\\.${id}\\.(solve_s|solve_cpu_s|solve_most_s|solved|members|begun_anew|begun|perfect)$`),
    async run(tools) {
      const ends = [];
      for (const seed of seeds(100, tools)) {
        const budget = ["--until-solved", "--cpu-seconds", 600, "--device", "cpu", "--save", tools.file("logic.safetensors")];
        const began = performance.now();
        const lines = await tools.hothouse("train", "logic", "--variant", variant, ...settings, "--seed", seed, ...budget);
        const took_s = (performance.now() - began) / 1000;
        const members = lines.find(({ kind }) => kind === "began").knobs.population;
        ends.push({ ...lines.at(-1), took_s, members });
      }
      return populationRows(`logic.${id}`, ends);
    },
  };
}

/**
 * Returns the rows for a population. `ends` contains the last output line of each run. The caller has added two fields to each line: the
 * duration of the run (`took_s`) and its number of members (`members`).
 */
export function populationRows(prefix, ends) {
  const solved = ends.filter(({ ended_by }) => ended_by === "solved");
  const times = ends.map((end) => (end.ended_by === "solved" ? end.took_s : Infinity));
  const sum = (of) => ends.reduce((total, end) => total + of(end), 0);
  const anew = sum(({ progress }) => progress.ended - progress.perfect_runs);
  const name = (what) => `${prefix}.${what}`;
  return [
    measured(name("solve_s"), times, `s of a whole process, over ${ends.length} seeds`),
    measured(
      name("solve_cpu_s"),
      ends.map((end) => end.cpu_seconds),
      "processor seconds",
    ),
    counted(name("solve_most_s"), Math.max(...times), "s, the longest of these"),
    counted(name("solved"), solved.length, `of ${ends.length} seeds`),
    counted(name("members"), ends[0].members, "members side by side"),
    counted(name("begun_anew"), anew, "members that made no progress and were replaced"),
    counted(name("begun"), sum(({ members }) => members) + anew, "members of all seeds, including replacements"),
    counted(
      name("perfect"),
      sum(({ progress }) => progress.perfect_runs),
      "of these passed the population's check",
    ),
  ];
}

/** Returns the part that trains `count` single members in parallel, without restarts. */
function members(id, { variant, count, updates, settings = [], long }) {
  const args = [variant, count, updates, "seed=101", ...settings];
  return {
    id: `logic/${id}`,
    does: `cargo run --release -p learn --example logic_seeds -- ${args.join(" ")}`,
    gives: new RegExp(`^logic\\.${id}\\.(perfect|of|confirmed|took_s|updates)$`),
    long,
    async run(tools) {
      const text = await tools.example("logic_seeds", tools.quick ? [variant, 2, 20, ...args.slice(3)] : args);
      return memberRows(`logic.${id}`, text, updates);
    },
  };
}

/** Returns the rows from the output of the example `logic_seeds`: `checkerboard: 12 of 20 perfect, 11 confirmed, after [..] … in 3.2 s`. */
export function memberRows(prefix, text, updates) {
  const match = text.match(/: (\d+) of (\d+) perfect, (\d+) confirmed, after \[([\d, ]*)\].* in ([\d.]+) s/);
  if (!match) throw new Error(`unexpected output of the example: ${text}`);
  const [perfect, of, confirmed] = match.slice(1, 4).map(Number);
  const found = match[4].split(", ").filter(Boolean).map(Number);
  const until = "updates until they passed the population's check, of those that did";
  return [
    counted(`${prefix}.perfect`, perfect, `of ${of} members passed the population's check within ${updates} updates`),
    counted(`${prefix}.of`, of, "members"),
    counted(`${prefix}.confirmed`, confirmed, `of ${of} members were confirmed within ${updates} updates`),
    counted(`${prefix}.took_s`, Number(match[5]), "s on all threads"),
    found.length ? measured(`${prefix}.updates`, found, until) : counted(`${prefix}.updates`, Infinity, until),
  ];
}

/**
 * Returns the part that measures the return of the greedy policy after `at` million steps, for each number in `at`. Each row is the median
 * of five seeds.
 */
function returns(id, env, at) {
  const args = ["--env", env, "--at", at.join(","), "--first", FIRST, "--seeds", 5];
  return {
    id: `control/${id}`,
    does: `cargo run --release -p learn --example control_returns -- ${args.join(" ")}`,
    gives: new RegExp(`^control\\.${env === "all" ? "[^.]+" : env}\\.return_after_(${at.join("|")})M$`),
    async run(tools) {
      const text = await tools.example("control_returns", tools.quick ? ["--env", env, "--at", "1", "--first", FIRST, "--seeds", 1] : args);
      const found = new Map();
      for (const [, id, line] of text.matchAll(/^(\S+) seed \d+:(.*)$/gm))
        for (const [, million, value] of line.matchAll(/ ([\d.]+)M (-?[\d.]+)/g)) {
          const name = `control.${id}.return_after_${million}M`;
          found.set(name, [...(found.get(name) ?? []), Number(value)]);
        }
      return [...found].map(([name, samples]) => measured(name, samples, "mean return of 100 fresh episodes, over seeds"));
    },
  };
}

const BITS = "bits a byte";

/** Returns a row with the compressed size of a file, in bits per byte of the original. */
const compressed = async (tools, name, program, flag, file, bytes) =>
  counted(name, (8 * (await tools.bytes(program, [flag, "-c", file])).length) / bytes, `${BITS} of the whole text, ${program} ${flag}`);

/**
 * Returns the part that compares a model with compressors on the King James Bible. The model trains on nine tenths and is tested on the
 * last tenth.
 */
function kingJames() {
  const knobs = "tokenizer=bpe vocab=2048 width=192 heads=6 context=128 batch=16 micro=4 steps=8 warmup=50 decay_steps=400 prompt=";
  const settings = knobs.split(" ").flatMap((setting) => ["--set", setting]);
  const all = ["-f", "gen1:1-rev22:21"];
  const steps = "8.192e5";
  const train = `train words --data kjv.txt --seed ${FIRST} ${settings.join(" ")} --steps ${steps} --device cpu`;
  return {
    id: "words/text",
    does: `bible ${all.join(" ")} > kjv.txt; ${train}; gzip -9, xz -9e`,
    gives: /^words\.text\./,
    async run(tools) {
      const text = await tools.bytes("bible", all, "apt-get install bible-kjv bible-kjv-text");
      const file = tools.file("kjv.txt");
      writeFileSync(file, text);
      const budget = ["--steps", tools.quick ? "8.192e4" : steps, "--device", "cpu", "--save", tools.file("text.safetensors")];
      const end = (await tools.hothouse("train", "words", "--data", file, "--seed", FIRST, ...settings, ...budget)).at(-1);
      return [
        counted("words.text.bytes", text.length, "bytes"),
        counted("words.text.bits_per_byte", end.test.val_bits_per_byte, `${BITS} of the last tenth`),
        counted("words.text.cpu_s", end.cpu_seconds, "processor seconds"),
        await compressed(tools, "words.text.gzip_bits_per_byte", "gzip", "-9", file, text.length),
        await compressed(tools, "words.text.xz_bits_per_byte", "xz", "-9e", file, text.length),
      ];
    },
  };
}

export const PARTS = [
  terminal("core"),
  page("core"),
  terminal("control"),
  page("control"),
  {
    id: "control/solve",
    does: `hothouse solve --seeds 5 --first-seed ${FIRST}`,
    gives: /^control\.[^.]+-v\d\.(solved_at|solved|of|lowest|solve_steps|solve_s)$/,
    async run(tools) {
      // `hothouseAnyway` accepts the failure that the command reports for an unsolved seed. Such a seed has a row too.
      const lines = await tools.hothouseAnyway("solve", "--seeds", tools.quick ? 1 : 5, "--first-seed", FIRST);
      const rows = [];
      for (const { variant, solved_at, solved, of } of lines.filter(({ kind }) => kind === "environment")) {
        const own = lines.filter((line) => line.kind === "seed" && line.variant === variant);
        const until = (of) => own.map((line) => (line.solved ? line[of] : Infinity));
        const name = (what) => `control.${variant}.${what}`;
        rows.push(
          counted(name("solved_at"), solved_at, "mean return"),
          counted(name("solved"), solved, "seeds"),
          counted(name("of"), of, "seeds"),
        );
        rows.push(counted(name("lowest"), Math.min(...own.map((line) => line.mean_return)), "mean return, the lowest of these seeds"));
        rows.push(
          measured(name("solve_steps"), until("steps"), "steps, over seeds"),
          measured(name("solve_s"), until("seconds"), "s, over seeds"),
        );
      }
      return rows;
    },
  },
  returns("returns", "all", [1, 10]),
  returns("cartpole-50m", "CartPole-v1", [50]),
  terminal("backgammon"),
  page("backgammon"),
  strength("minute", {
    what: "60 s of one core",
    train: [],
    seconds: 60,
    ends: [
      ["gnubg", 4000],
      ["random", 4000],
      ["linear", 4000],
    ],
  }),
  strength("no-handmade", {
    what: "60 s of one core, no handmade inputs",
    train: ["--set", "handmade=false"],
    seconds: 60,
    ends: [["gnubg", 4000]],
  }),
  strength("no-bearoff", {
    what: "60 s of one core, no bear-off table",
    train: ["--set", "bearoff=false"],
    seconds: 60,
    ends: [["gnubg", 4000]],
  }),
  strength("bare", {
    what: "60 s of one core, neither",
    train: ["--set", "handmade=false", "--set", "bearoff=false"],
    seconds: 60,
    ends: [["gnubg", 4000]],
  }),
  strength("published", {
    what: "10 minutes of one core, as published",
    train: ["--variant", "published"],
    seconds: 600,
    of: [FIRST],
    ends: [
      ["gnubg", 1000],
      ["random", 1000],
    ],
  }),
  strength("ten-minutes", { what: "10 minutes of one core", train: [], seconds: 600, long: true, ends: [["gnubg", 6000]] }),
  strength("hour", {
    what: "an hour of one core",
    train: [],
    seconds: 3600,
    long: true,
    of: [FIRST],
    ends: [
      ["gnubg", 12_000],
      ["gnubg", 3000, "--evals", 100],
    ],
  }),
  strength("published-hour", {
    what: "an hour of one core, as published",
    train: ["--variant", "published"],
    seconds: 3600,
    long: true,
    of: [FIRST],
    ends: [
      ["gnubg", 1000],
      ["random", 1000],
    ],
  }),
  terminal("cube"),
  page("cube"),
  cube("walk", { variant: "2x2x2", seconds: 20, states: 5000 }),
  cube("exact", { variant: "2x2x2-exact", seconds: 20, states: 1000 }),
  cube("dqn", { variant: "2x2x2-dqn", seconds: 60, states: 1000 }),
  cube("dqn-published", { variant: "2x2x2-dqn-published", seconds: 60, states: 1000 }),
  cube("dqn-published-long", { variant: "2x2x2-dqn-published", seconds: 6000, states: 1000, long: true }),
  cube("three", { variant: "3x3x3", seconds: 300, states: 200 }),
  terminal("logic"),
  page("logic"),
  untilSolved("life"),
  untilSolved("life-unmined-population", { variant: "life", set: ["hard_share=0"] }),
  untilSolved("checkerboard"),
  members("life-members", { variant: "life", count: 24, updates: 1500 }),
  members("life-unmined", { variant: "life", count: 24, updates: 1500, settings: ["hard=0"] }),
  members("life-published", { variant: "life", count: 24, updates: 3000, settings: ["lr=0.05", "init=10", "hard=0"] }),
  members("checkerboard-members", { variant: "checkerboard", count: 20, updates: 500 }),
  members("checkerboard-shape", { variant: "checkerboard", count: 20, updates: 500, settings: ["side=16", "steps=20"] }),
  members("checkerboard-published", {
    variant: "checkerboard",
    count: 20,
    updates: 500,
    settings: ["side=16", "steps=20", "lr=0.05", "init=10"],
  }),
  members("asynchronous", { variant: "checkerboard-async", count: 20, updates: 512, long: true }),
  {
    id: "words/terminal",
    does: "hothouse bench words, with --versus pytorch where a Python has torch",
    gives: ofTerminal("words"),
    run: async (tools) => tools.hothouse("bench", "words", ...((await tools.hasTorch()) ? ["--versus", "pytorch"] : [])),
  },
  page("words"),
  {
    id: "words/char",
    does: "train words --steps 8.192e6 --set decay_steps=16000 --device cpu, seed 101",
    gives: /^words\.char\.(above|cpu_s)$/,
    async run(tools) {
      const end = (
        await tools.hothouse(
          "train",
          "words",
          "--seed",
          FIRST,
          "--steps",
          "8.192e6",
          "--set",
          "decay_steps=16000",
          "--device",
          "cpu",
          "--save",
          tools.file("char.safetensors"),
        )
      ).at(-1);
      return [
        counted("words.char.above", 100 * end.test.above, "% above the floor"),
        counted("words.char.cpu_s", end.cpu_seconds, "processor seconds"),
      ];
    },
  },
  kingJames(),
  {
    id: "python/bench",
    does: "python -m hothouse.bench",
    gives: /^python\./,
    run: (tools) => tools.python("-m", "hothouse.bench", "--json"),
  },
];
