// Curriculum and replay of a Q-learner. If the replay is prioritised, the pane also shows the distribution of priorities and the
// transitions of highest priority. The data is requested only while the pane is visible.

import { button, h, id, write } from "../../parts/dom";
import { count, figure, minus } from "../../parts/format";
import { Asker } from "../../parts/requests";
import { bodyRow, headRow, scrolling } from "../shared/tables";
import { Bars, percent } from "./bars";
import type { CubeClient } from "./client";
import type { Inside } from "./protocol";
import { smallNet } from "./net";
import { lengthWords, type Metric } from "./notation";
import { normalised, spoken } from "./stickers";

const ASK_EVERY_MS = 1000;
const SHOWN = 6;

export class InsidePane {
  readonly element: HTMLElement;
  private metric: Metric = "quarter";
  private readonly stage = h("p.stage");
  private readonly depths = new Bars("Curriculum: success by depth", ["Depth", "Success", "Share of episodes", "Episodes"]);
  private readonly filled = h("p.small");
  private readonly priorities = new Bars("Replay: transitions by priority", ["Priority from", "Share"]);
  private readonly top = h("tbody");
  private readonly prioritised = h("div", { hidden: true });
  private readonly asker = new Asker(() => ASK_EVERY_MS);

  constructor(
    private readonly client: CubeClient,
    private readonly place: (stickers: string, words: string) => void,
    /** Names of the actions, in the order of the Q-values. */
    private readonly actions: () => string[],
  ) {
    const caption = id("top");
    const transitions = scrolling(
      { "aria-labelledby": caption },
      h("table", [
        h("caption", { id: caption }, ["Transitions with the greatest priority (largest error), and their current Q-values."]),
        headRow("State", "Action", "Reward", "Priority", { class: "text", words: "Q of each action" }),
        this.top,
      ]),
    );
    transitions.classList.add("transitions");
    this.depths.table.caption.textContent = "Curriculum by depth.";
    this.priorities.table.caption.textContent =
      "Share of transitions by priority. The first row includes all lower priorities, the last row all higher ones.";
    this.prioritised.append(this.priorities.element, this.priorities.table.element, transitions);
    this.element = h("div.inside", [
      h("div.head", h("h3", "Curriculum"), this.depths.table.button),
      this.stage,
      h("p.about", [
        "bars: share of recent episodes that solved the cube, by scramble depth; outlines: share of new episodes at that depth",
      ]),
      this.depths.element,
      this.depths.table.element,
      h("div.head", h("h3", "Replay"), this.priorities.table.button),
      this.filled,
      this.prioritised,
    ]);
  }

  begin(metric: Metric): void {
    this.metric = metric;
  }

  refresh(): void {
    if (document.hidden || !this.element.checkVisibility()) return;
    this.asker.eventually(
      () => this.client.ask({ ask: "inside" }),
      (inside) => inside && this.show(inside),
    );
  }

  private show({ stage, depths, replay }: Inside): void {
    const at = depths.find(({ depth }) => depth === stage);
    write(
      this.stage,
      `Current scrambles: ${lengthWords(stage, this.metric)}${at && at.episodes > 0 ? `, ${percent(at.success)} solved` : ""}.`,
    );
    this.depths.show(
      depths.map(({ depth, share, success, episodes }) => ({
        label: String(depth),
        share: episodes > 0 ? success : undefined,
        before: share,
        words: episodes > 0 ? percent(success).replace("%", "") : "",
        cells: [episodes > 0 ? percent(success) : "", percent(share), count(episodes)],
      })),
      depths.map(({ depth, success }) => `depth ${depth} ${percent(success)}`).join(", "),
    );
    const full = replay.capacity > 0 ? replay.len / replay.capacity : 0;
    write(
      this.filled,
      `${count(replay.len)} of ${count(replay.capacity)} transitions (${percent(full)}). ` +
        (replay.prioritised
          ? "Sampled by priority: transitions with larger errors are replayed more often."
          : "Sampled uniformly, so there are no priorities. To use priorities, turn on the knob for prioritised replay or choose " +
            "“2x2x2 by deep Q, later version”."),
    );
    this.prioritised.hidden = this.priorities.table.button.hidden = !replay.prioritised;
    if (!replay.prioritised) return;
    const most = Math.max(...replay.priorities, 1e-9);
    this.priorities.show(
      replay.priorities.map((share, k) => ({
        label: power(k - 12),
        share: (0.97 * share) / most,
        words: share >= 0.005 ? percent(share).replace("%", "") : "",
        cells: [percent(share)],
      })),
      replay.priorities.flatMap((share, k) => (share > 0.01 ? [`from ${power(k - 12)}: ${percent(share)}`] : [])).join(", "),
    );
    // Rows are not replaced while one of them has the focus, because the focus would be lost.
    if (this.top.contains(document.activeElement)) return;
    this.top.replaceChildren(
      ...replay.top.slice(0, SHOWN).map(({ facelets, action, reward, done, priority, q }) => {
        const stickers = normalised(facelets) ?? facelets;
        const onTheCube = { class: "quiet", "aria-label": `Put this state on the cube: ${spoken(stickers)}` };
        return bodyRow(
          false,
          button(smallNet(stickers, "the state"), () => this.place(stickers, "A state from the replay."), onTheCube),
          action,
          `${figure(reward)}${done ? ", solved" : ""}`,
          { class: "number", words: figure(priority) },
          { class: "text", words: qValues(q, this.actions()) },
        );
      }),
    );
  }
}

function qValues(q: number[], names: string[]): DocumentFragment {
  const best = q.indexOf(Math.max(...q));
  const fragment = document.createDocumentFragment();
  fragment.append(
    ...q.map((of, k) => h("span", { class: k === best ? "q-value best" : "q-value" }, `${names[k] ?? k + 1} ${minus(of.toFixed(2))}`)),
  );
  return fragment;
}

/** Formats 2 to the power of `k`. */
const power = (k: number): string => (k >= 0 ? String(2 ** k) : k > -5 ? `1/${2 ** -k}` : figure(2 ** k));
