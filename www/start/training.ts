// The worker of the start page. It trains the small runs of the tiles in turns on one thread, and posts their pictures and scores.

/** `open` names the module and the links of all runs. `shown` lists the indices of the runs that the visitor sees; all others rest. */
export type ToTraining = { kind: "open"; url: string; links: string[] } | { kind: "shown"; shown: number[] };
export type FromTraining =
  | { kind: "picture"; at: number; numbers: Float32Array; score: number | undefined }
  | { kind: "failed"; text: string };

/** The class of a run in the module (crates/tiles). */
interface LiveTile {
  advance(): void;
  score(): number | undefined;
  picture(seconds: number): Float32Array<ArrayBuffer>;
}
interface Module {
  default(): Promise<unknown>;
  LiveTile: new (link: string) => LiveTile;
}

/** Training time of a run in a turn, and the rest between two turns. */
const TURN_MS = 6;
const REST_MS = 12;
/** Training time after which a run only shows its agent, so that an open page does not work for ever. */
const MOST_MS = 60_000;

const post = (message: FromTraining, transfer: Transferable[] = []): void => postMessage(message, { transfer });

let module: Module | undefined;
let links: string[] = [];
let shown: number[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;
const runs = new Map<number, { tile: LiveTile; trainedMs: number; shownMs: number }>();

function begun({ LiveTile }: Module, at: number): { tile: LiveTile; trainedMs: number; shownMs: number } {
  const run = runs.get(at) ?? { tile: new LiveTile(links[at]!), trainedMs: 0, shownMs: performance.now() };
  runs.set(at, run);
  return run;
}

function turn(module: Module): void {
  timer = undefined;
  try {
    for (const at of shown) {
      const run = begun(module, at);
      const beganMs = performance.now();
      while (run.trainedMs < MOST_MS && performance.now() - beganMs < TURN_MS) run.tile.advance();
      const nowMs = performance.now();
      run.trainedMs += nowMs - beganMs;
      const numbers = run.tile.picture((nowMs - run.shownMs) / 1000);
      run.shownMs = nowMs;
      post({ kind: "picture", at, numbers, score: run.tile.score() }, [numbers.buffer]);
    }
  } catch (error) {
    return post({ kind: "failed", text: String(error) });
  }
  schedule(REST_MS);
}

function schedule(ms: number): void {
  const loaded = module;
  if (loaded && shown.length && timer === undefined) timer = setTimeout(() => turn(loaded), ms);
}

async function open(url: string): Promise<void> {
  try {
    const loaded: Module = await import(/* @vite-ignore */ url);
    await loaded.default();
    module = loaded;
    schedule(0);
  } catch (error) {
    post({ kind: "failed", text: String(error) });
  }
}

self.onmessage = ({ data }: MessageEvent<ToTraining>) => {
  if (data.kind === "open") {
    links = data.links;
    void open(data.url);
  } else {
    shown = data.shown;
    schedule(0);
  }
};
