// The start page: what Hothouse is, five small runs that train at once, and the ways on. A tap on a run opens its room with the same
// settings and seed, so the room starts the same run again from its beginning.

import LINKS from "../../crates/tiles/src/links.txt?raw";
import { button, h } from "../parts/dom";
import { keptRuns } from "../parts/kept";
import { pageLife, untilClosed } from "../parts/life";
import { ROOMS } from "../rooms";
import { textOf } from "../run/notice";
import { loadVisit } from "../run/store";
import { backgammon } from "./backgammon";
import { control } from "./control";
import { cube } from "./cube";
import { logic } from "./logic";
import { Tile } from "./tile";
import type { FromTraining, ToTraining } from "./training";
import { words } from "./words";
import "./start.css";

declare const __MODULES__: Record<string, string>;

const SUBJECTS = [control, backgammon, cube, logic, words];
/** The ways on beside the tiles. */
const WAYS: [href: string, words: string][] = [
  ["#/control?variant=own", "Write your own environment"],
  ["#/lessons", "Lessons"],
  ["#/backgammon", "Play backgammon"],
  ["#/gallery", "Gallery"],
];

const linkOf = (room: string): string => LINKS.split("\n").find((link) => link.startsWith(`#/${room}?`))!;

/** Compiles a module while it loads, or afterwards if the host sends it with another type. */
const compiled = (url: string): Promise<WebAssembly.Module> =>
  WebAssembly.compileStreaming(fetch(url)).catch(async () => WebAssembly.compile(await (await fetch(url)).arrayBuffer()));

/** Trains the runs of the tiles that are on the screen, unless the page is hidden or the visitor pauses them. */
class Training {
  private readonly worker = new Worker(new URL("./training.ts", import.meta.url), { type: "module" });
  private readonly seen = new Set<number>();
  private paused = false;

  constructor(tiles: Tile[], failed: (text: string) => void) {
    this.worker.onmessage = ({ data }: MessageEvent<FromTraining>) => {
      if (data.kind === "failed") failed(data.text);
      else tiles[data.at]!.take(data.numbers, data.score, performance.now());
    };
    this.open().catch((error) => failed(textOf(error)));
    const watcher = new IntersectionObserver((changes) => {
      for (const { target, isIntersecting } of changes) {
        const at = tiles.findIndex(({ element }) => element === target);
        if (isIntersecting) this.seen.add(at);
        else this.seen.delete(at);
      }
      this.show();
    });
    for (const { element } of tiles) watcher.observe(element);
    document.addEventListener("visibilitychange", () => this.show(), { signal: pageLife() });
    untilClosed(() => {
      watcher.disconnect();
      this.worker.terminate();
    });
  }

  /** Loads the module while the worker starts. */
  private async open(): Promise<void> {
    const script = new URL(__MODULES__["tiles/simd128"]!, document.baseURI).href;
    const module = await compiled(script.replace(/\.js$/, "_bg.wasm"));
    this.post({ kind: "open", script, module, links: SUBJECTS.map(({ room }) => linkOf(room)) });
  }

  /** Pauses or continues the runs. Returns true if they are paused now. */
  toggle(): boolean {
    this.paused = !this.paused;
    this.show();
    return this.paused;
  }

  private show(): void {
    this.post({ kind: "shown", shown: this.paused || document.hidden ? [] : [...this.seen].sort() });
  }

  private post(message: ToTraining): void {
    this.worker.postMessage(message);
  }
}

/** Adds links to the rooms whose run of this visit continues, before the last item of the list. */
async function addContinued(ways: HTMLElement): Promise<void> {
  const life = pageLife();
  for (const { id } of ROOMS) {
    const runs = [...keptRuns(id), ...(await loadVisit(id).catch(() => []))];
    if (life.aborted) return;
    if (runs.length) ways.lastElementChild!.before(h("li", h("a", { href: `#/${id}` }, `Continue in ${id}`)));
  }
}

/** Creates the start page. */
export function start(): HTMLElement {
  const tiles = SUBJECTS.map((subject) => new Tile(subject, linkOf(subject.room)));
  const failure = h("p.error", { hidden: true, role: "alert" });
  const training = new Training(tiles, (text) => {
    failure.textContent = `The small runs stopped (${text}). The rooms work without them.`;
    failure.hidden = false;
  });
  const pause = button("Pause", () => (pause.textContent = training.toggle() ? "Continue" : "Pause"), { class: "quiet" });
  const ways = h("ul.ways", ...WAYS.map(([href, words]) => h("li", h("a", { href }, words))), h("li", pause));
  void addContinued(ways);
  return h("main.start", { id: "main", tabindex: -1 }, [
    h("h1", "Hothouse trains agents in this browser tab, on your own CPU and GPU, while you watch and change how they learn."),
    ways,
    failure,
    h("div.start-tiles", ...tiles.map(({ element }) => element)),
    h(
      "p.small",
      "These five small runs began when you opened this page. A tap opens the room, which starts the same run from its beginning.",
    ),
  ]);
}
