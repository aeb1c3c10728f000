// The worker of the start page. It trains the small runs of the tiles in turns on one thread, and posts their pictures and scores.

/**
 * `open` has the module, the address of its script, and the links of all runs. `shown` lists the indices of the runs that the visitor sees;
 * all others rest.
 */
export type ToTraining = { kind: "open"; script: string; module: WebAssembly.Module; links: string[] } | { kind: "shown"; shown: number[] };
export type FromTraining =
  | { kind: "picture"; at: number; numbers: Float32Array; score: number | undefined }
  | { kind: "failed"; text: string };

/** The class of a run in the module (crates/tiles). */
interface LiveTile {
  advance(): void;
  score(): number | undefined;
  picture(seconds: number): Float32Array<ArrayBuffer>;
}
interface Script {
  default(input: { module_or_path: WebAssembly.Module }): Promise<unknown>;
  LiveTile: new (link: string) => LiveTile;
}

/** Training time of a run in a turn, and the rest between two turns. */
const TURN_MS = 6;
const REST_MS = 12;
/** Training time after which a run only shows its agent, so that an open page does not compute forever. */
const MOST_MS = 60_000;

const post = (message: FromTraining, transfer: Transferable[] = []): void => postMessage(message, { transfer });

let script: Script | undefined;
let links: string[] = [];
let shown: number[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;
const runs = new Map<number, { tile: LiveTile; trainedMs: number; shownMs: number }>();

/** Trains each shown run for a short time. Begins at most one run, so that the first run is seen soon. */
function turn({ LiveTile }: Script): void {
  timer = undefined;
  try {
    const next = shown.find((at) => !runs.has(at));
    if (next !== undefined) runs.set(next, { tile: new LiveTile(links[next]!), trainedMs: 0, shownMs: performance.now() });
    for (const at of shown) {
      const run = runs.get(at);
      if (!run) continue;
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
  const loaded = script;
  if (loaded && shown.length && timer === undefined) timer = setTimeout(() => turn(loaded), ms);
}

async function open(address: string, module: WebAssembly.Module): Promise<void> {
  try {
    const loaded: Script = await import(/* @vite-ignore */ address);
    await loaded.default({ module_or_path: module });
    script = loaded;
    schedule(0);
  } catch (error) {
    post({ kind: "failed", text: String(error) });
  }
}

self.onmessage = ({ data }: MessageEvent<ToTraining>) => {
  if (data.kind === "open") {
    links = data.links;
    void open(data.script, data.module);
  } else {
    shown = data.shown;
    schedule(0);
  }
};
