// What `npm run figures` measures, part by part. A part gives rows as benches do; every number of README's tables is one of these. No run
// has a seed that a preset was tuned on: all are 101 and above.
import { counted, measured } from "../figure.mjs";

const SEEDS = [101, 102, 103];
const FIRST = SEEDS[0];

/** Seeds of a row, fewer in a quick pass. */
const seeds = (count, { quick }) => Array.from({ length: quick ? Math.min(count, 3) : count }, (_, i) => FIRST + i);

/** A bench of the program, and the same of the page's modules. */
const terminal = (room) => ({ id: `${room}/terminal`, does: `hothouse bench ${room}`, run: (on) => on.hothouse("bench", room) });
const page = (room) => ({ id: `${room}/page`, does: `npm run bench -- ${room}`, run: (on) => on.page(room) });

/** How strong an agent is after so many seconds of one core, a row a seed. `ends` are opponents with numbers of games. */
function strength(id, { what, long, train, seconds, of = SEEDS, ends }) {
  return {
    id: `backgammon/${id}`,
    does: `train backgammon ${train.join(" ")} --cpu-seconds ${seconds}, seeds ${of.join(", ")}; eval backgammon`,
    long,
    async run(on) {
      const rows = [];
      for (const seed of on.quick ? of.slice(0, 1) : of) {
        const file = on.file(`${id}-${seed}.safetensors`);
        await on.hothouse("train", "backgammon", ...train, "--seed", seed, "--cpu-seconds", on.quick ? seconds / 10 : seconds, "--threads", 1, "--save", file);
        for (const [against, games, ...more] of ends) {
          if (against === "gnubg" && !(await on.has("gnubg"))) continue;
          const [duel] = await on.hothouse("eval", "backgammon", file, "--against", against, "--seed", FIRST, "--games", on.quick ? games / 10 : games, ...more);
          const name = `backgammon.${id}.seed${seed}.${against}${more.join("")}`;
          rows.push(counted(`${name}.points`, duel.points_per_game, `points a game, ${what}`));
          rows.push(counted(`${name}.standard_error`, duel.standard_error, `points a game, over ${duel.games} games in pairs`));
        }
      }
      return rows;
    },
  };
}

/** How a cube's learner fares: greedy play from all states of the 2x2x2, and a beam from uniform ones. */
function cube(id, { variant, seconds, states, long }) {
  return {
    id: `cube/${id}`,
    does: `train cube --variant ${variant} --seed ${FIRST} --seconds ${seconds}; eval cube --seed ${FIRST} --states ${states}`,
    long,
    async run(on) {
      const file = on.file(`cube-${id}.safetensors`);
      await on.hothouse("train", "cube", "--variant", variant, "--seed", FIRST, "--seconds", on.quick ? seconds / 10 : seconds, "--save", file);
      const lines = await on.hothouse("eval", "cube", file, "--seed", FIRST, "--states", on.quick ? Math.min(states, 20) : states);
      const rows = [];
      const percent = (name, share, unit) => rows.push(counted(`cube.${id}.${name}`, 100 * share, `% of ${unit}`));
      for (const line of lines) {
        if (line.kind === "greedy") {
          percent("greedy", line.onward.solved, "all states, no move taken back");
          percent("greedy_any", line.plain.solved, "all states, any move");
          percent("greedy_optimal", line.onward.optimal, "all states");
          for (const distance of [4, 6, 8]) percent(`greedy_at_${distance}`, line.by_distance[distance].solved, `states at distance ${distance}`);
        }
        if (line.kind === "search") {
          percent("beam.solved", line.all.solved, `${line.all.states} uniform states`);
          if (line.all.optimal !== undefined) percent("beam.optimal", line.all.optimal, `${line.all.states} uniform states`);
          if (line.all.length !== undefined) rows.push(counted(`cube.${id}.beam.moves`, line.all.length, "quarter turns in the mean"));
          rows.push(counted(`cube.${id}.beam.solve_ms`, line.all.ms, "ms in the mean"), counted(`cube.${id}.beam.most_solve_ms`, line.most_ms, "ms at most"));
        }
      }
      return rows;
    },
  };
}

/** Populations with new beginnings, until a circuit passes the room's test: seconds of a whole process, seed by seed. */
function untilSolved(variant) {
  return {
    id: `logic/${variant}`,
    does: `train logic --variant ${variant} --until-solved, seeds 101 to 200`,
    async run(on) {
      const ends = [];
      for (const seed of seeds(100, on)) {
        const began = performance.now();
        const lines = await on.hothouse("train", "logic", "--variant", variant, "--seed", seed, "--until-solved", "--cpu-seconds", 600, "--device", "cpu", "--save", on.file("logic.safetensors"));
        ends.push({ ...lines.at(-1), took_s: (performance.now() - began) / 1000 });
      }
      const solved = ends.filter(({ ended_by }) => ended_by === "solved");
      const times = ends.map((end) => (end.ended_by === "solved" ? end.took_s : Infinity));
      const sum = (of) => ends.reduce((total, end) => total + of(end), 0);
      const name = (what) => `logic.${variant}.${what}`;
      return [
        measured(name("solve_s"), times, `s of a whole process, over ${ends.length} seeds`),
        measured(name("solve_cpu_s"), ends.map((end) => end.cpu_seconds), "processor seconds"),
        counted(name("solve_most_s"), Math.max(...times), "s, the longest of these"),
        counted(name("solved"), solved.length, `of ${ends.length} seeds`),
        counted(name("ended"), sum((end) => end.progress.ended), "members that ended: perfect, or begun anew"),
        counted(name("perfect"), sum((end) => end.progress.perfect_runs), "of these were perfect"),
      ];
    },
  };
}

/** Single members side by side, none of which begins anew. */
function members(id, { variant, count, updates, settings = [], long }) {
  const args = [variant, count, updates, "seed=101", ...settings];
  return {
    id: `logic/${id}`,
    does: `cargo run --release -p learn --example logic_seeds -- ${args.join(" ")}`,
    long,
    async run(on) {
      const text = await on.example("logic_seeds", on.quick ? [variant, 2, 20, ...args.slice(3)] : args);
      const [, perfect, of, after, seconds] = text.match(/: (\d+) of (\d+) perfect, after \[([\d, ]*)\].* in ([\d.]+) s/) ?? [];
      if (!of) throw new Error(`the example said something else: ${text}`);
      const found = after.split(", ").filter(Boolean).map(Number);
      const rows = [counted(`logic.${id}.perfect`, Number(perfect), `of ${of} members within ${updates} updates`)];
      rows.push(counted(`logic.${id}.of`, Number(of), "members"), counted(`logic.${id}.took_s`, Number(seconds), "s on all threads"));
      if (found.length) rows.push(measured(`logic.${id}.updates`, found, "updates until perfect, of those that were"));
      return rows;
    },
  };
}

/** The greedy policy's return after so many million steps, medians of five seeds. */
function returns(id, env, at) {
  const args = ["--env", env, "--at", at.join(","), "--first", FIRST, "--seeds", 5];
  return {
    id: `control/${id}`,
    does: `cargo run --release -p learn --example returns -- ${args.join(" ")}`,
    async run(on) {
      const text = await on.example("returns", on.quick ? ["--env", env, "--at", "1", "--first", FIRST, "--seeds", 1] : args);
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

export const PARTS = [
  terminal("core"),
  page("core"),
  terminal("control"),
  page("control"),
  {
    id: "control/solve",
    does: `hothouse solve --seeds 5 --first-seed ${FIRST}`,
    async run(on) {
      // A seed that was not solved is a row too, though the command fails for it.
      const lines = await on.hothouseAnyway("solve", "--seeds", on.quick ? 1 : 5, "--first-seed", FIRST);
      const rows = [];
      for (const { variant, solved_at, solved, of } of lines.filter(({ kind }) => kind === "environment")) {
        const own = lines.filter((line) => line.kind === "seed" && line.variant === variant);
        const until = (of) => own.map((line) => (line.solved ? line[of] : Infinity));
        const name = (what) => `control.${variant}.${what}`;
        rows.push(counted(name("solved_at"), solved_at, "mean return"), counted(name("solved"), solved, "seeds"), counted(name("of"), of, "seeds"));
        rows.push(counted(name("lowest"), Math.min(...own.map((line) => line.mean_return)), "mean return, the lowest of these seeds"));
        rows.push(measured(name("solve_steps"), until("steps"), "steps, over seeds"), measured(name("solve_s"), until("seconds"), "s, over seeds"));
      }
      return rows;
    },
  },
  returns("returns", "all", [1, 10]),
  returns("cartpole-50m", "CartPole-v1", [50]),
  terminal("backgammon"),
  page("backgammon"),
  strength("minute", { what: "60 s of one core", train: [], seconds: 60, ends: [["gnubg", 4000], ["random", 4000], ["linear", 4000]] }),
  strength("no-handmade", { what: "60 s of one core, no handmade inputs", train: ["--set", "handmade=false"], seconds: 60, ends: [["gnubg", 4000]] }),
  strength("no-bearoff", { what: "60 s of one core, no bear-off table", train: ["--set", "bearoff=false"], seconds: 60, ends: [["gnubg", 4000]] }),
  strength("bare", { what: "60 s of one core, neither", train: ["--set", "handmade=false", "--set", "bearoff=false"], seconds: 60, ends: [["gnubg", 4000]] }),
  strength("published", { what: "10 minutes of one core, as published", train: ["--variant", "published"], seconds: 600, of: [FIRST], ends: [["gnubg", 1000], ["random", 1000]] }),
  strength("ten-minutes", { what: "10 minutes of one core", train: [], seconds: 600, long: true, ends: [["gnubg", 6000]] }),
  strength("hour", { what: "an hour of one core", train: [], seconds: 3600, long: true, of: [FIRST], ends: [["gnubg", 12_000], ["gnubg", 3000, "--evals", 100]] }),
  strength("published-hour", { what: "an hour of one core, as published", train: ["--variant", "published"], seconds: 3600, long: true, of: [FIRST], ends: [["gnubg", 1000], ["random", 1000]] }),
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
  untilSolved("checkerboard"),
  members("life-members", { variant: "life", count: 24, updates: 1500 }),
  members("life-unmined", { variant: "life", count: 24, updates: 1500, settings: ["hard=0"] }),
  members("life-published", { variant: "life", count: 24, updates: 3000, settings: ["lr=0.05", "init=10", "hard=0"] }),
  members("checkerboard-members", { variant: "checkerboard", count: 20, updates: 500 }),
  members("checkerboard-shape", { variant: "checkerboard", count: 20, updates: 500, settings: ["side=16", "steps=20"] }),
  members("checkerboard-published", { variant: "checkerboard", count: 20, updates: 500, settings: ["side=16", "steps=20", "lr=0.05", "init=10"] }),
  members("asynchronous", { variant: "checkerboard-async", count: 20, updates: 512, long: true }),
  {
    id: "words/terminal",
    does: "hothouse bench words, with --versus pytorch where a Python has torch",
    run: async (on) => on.hothouse("bench", "words", ...((await on.hasTorch()) ? ["--versus", "pytorch"] : [])),
  },
  page("words"),
  {
    id: "words/char",
    does: "train words --steps 8.192e6 --set decay_steps=16000 --device cpu, seed 101",
    async run(on) {
      const end = (await on.hothouse("train", "words", "--seed", FIRST, "--steps", "8.192e6", "--set", "decay_steps=16000", "--device", "cpu", "--save", on.file("char.safetensors"))).at(-1);
      return [counted("words.char.above", 100 * end.test.above, "% above the floor"), counted("words.char.cpu_s", end.cpu_seconds, "processor seconds")];
    },
  },
];
