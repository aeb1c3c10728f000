// The visitor's own cube. The visitor paints it on a net, or types it as facelets or as a scramble. The worker validates the cube.

import { button, form, h, id, labelled, line, markInvalid, write } from "../../parts/dom";
import { untilClosed } from "../../parts/life";
import { reason, Turns } from "../../parts/requests";
import { puzzleOf, type CubeClient } from "./client";
import { coloured, PaintNet } from "./net";
import type { Metric } from "./notation";
import { thought } from "./opinion";
import { COLOURS, FACES, normalised, solved, stickersAt } from "./stickers";

const JUDGE_MS = 250;

export class OwnPane {
  readonly element: HTMLElement;
  private readonly net: PaintNet;
  private readonly palette: { letter: string; input: HTMLInputElement; left: HTMLElement }[];
  private readonly verdict = h("p.own-verdict", { role: "status", id: id("own-verdict") });
  private readonly text = line("own", { "aria-describedby": this.verdict.id });
  private readonly buttons: HTMLButtonElement[];
  private size = 0;
  private metric: Metric = "quarter";
  private readonly judging = new Turns();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly client: CubeClient,
    private readonly state: () => string,
    private readonly place: (stickers: string, words: string, solve: boolean) => void,
  ) {
    const group = id("colour");
    this.palette = FACES.map((letter, k) => ({
      letter,
      input: h("input.unseen", { type: "radio", name: group, id: `${group}-${letter}`, value: letter, checked: k === 0 }),
      left: h("span.palette-left", { "aria-hidden": "true" }),
    }));
    this.net = new PaintNet(
      () => this.palette.find(({ input }) => input.checked)?.letter ?? "U",
      () => this.painted(),
    );
    const palette = h("fieldset.palette", [
      h("legend.unseen", "Paint colour"),
      ...this.palette.flatMap(({ letter, input, left }) => [
        input,
        h("label", { for: input.id, title: `${COLOURS[letter]} (${letter})` }, [
          h("span.sticker", { style: coloured(letter), "aria-hidden": "true" }, letter),
          h("span.unseen", COLOURS[letter]!),
          left,
        ]),
      ]),
    ]);
    this.buttons = [button("Solve it", () => this.use(true), { class: "strong" }), button("Put it on the cube", () => this.use(false))];
    const writing = form("own-form wrap foot", () => this.read(), [
      labelled("Facelets, or the moves of a scramble", this.text, "field grow"),
      h("button", { type: "submit" }, "Load cube"),
    ]);
    this.element = h("div.own", [
      h("p.small", [
        "Choose a colour and paint, or type the letter of its face: U white, R red, F green, D yellow, L orange, B blue. As text, list " +
          "the faces in the order U R F D L B, each row by row: U with B above it, D with F above it. Other letters for the colours " +
          "work as well.",
      ]),
      h("div.own-body", [
        h("div", palette, this.net.element),
        h("div.own-side", [
          this.verdict,
          h("p.row", ...this.buttons),
          writing,
          h("p.row", [
            button("Start from solved", () => this.show(solved(this.size))),
            button("Start from the displayed cube", () => this.show(this.state())),
          ]),
        ]),
      ]),
    ]);
    untilClosed(() => clearTimeout(this.timer));
  }

  begin(metric: Metric): void {
    this.metric = metric;
    const { size } = puzzleOf(this.client);
    if (size === this.size) return;
    this.size = size;
    this.text.placeholder = size === 2 ? "UUUURRRRFFFF… or R U R'" : "UUUUUUUUURRR… or R U2 F'";
    this.show(solved(size));
  }

  private show(stickers: string): void {
    this.net.show(stickers);
    this.painted();
  }

  private painted(): void {
    const text = this.net.text;
    for (const { letter, left } of this.palette) {
      const over = Array.from(text).filter((one) => one === letter).length - this.size ** 2;
      write(left, over === 0 ? "" : over > 0 ? `+${over}` : `−${-over}`);
    }
    markInvalid(this.text, false);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.judge(), JUDGE_MS);
  }

  /**
   * Validates the cube on the net. Returns true for a valid cube and false for an invalid cube. Returns undefined if a newer validation has
   * begun.
   */
  private async judge(): Promise<boolean | undefined> {
    const stale = this.judging.take();
    try {
      const view = await this.client.ask({ ask: "look", facelets: this.net.text });
      if (stale()) return undefined;
      this.net.mark([]);
      this.showVerdict(view.solved ? "The solved cube." : `Valid cube. ${thought(view, this.metric)}`, false);
      return true;
    } catch (error) {
      if (stale()) return undefined;
      this.showVerdict(reason(error), true);
      return false;
    }
  }

  private showVerdict(words: string, wrong: boolean): void {
    write(this.verdict, words);
    this.verdict.classList.toggle("wrong", wrong);
    this.buttons.forEach((button) => button.setAttribute("aria-disabled", String(wrong)));
    // The worker's messages name the positions of cubies by their faces, such as `URF`.
    const places = wrong ? [...words.matchAll(/\b(?:at|and) ([URFDLB]{1,3})\b/g)].map(([, place]) => place!) : [];
    this.net.mark(places.flatMap((place) => stickersAt(this.size, place)));
  }

  private async use(solve: boolean): Promise<void> {
    clearTimeout(this.timer);
    if (await this.judge()) this.place(this.net.text, "Your own cube.", solve);
  }

  private async read(): Promise<void> {
    const text = this.text.value.trim();
    if (!text) return;
    const letters = text.replaceAll(/\s+/g, "");
    const stickers =
      /^[A-Za-z0-9]+$/.test(letters) &&
      (letters.length === 6 * this.size ** 2 || text.split(/\s+/).some((word) => /^[A-Za-z]{5,}$/.test(word)));
    const stale = this.judging.take();
    clearTimeout(this.timer);
    try {
      const taken = stickers
        ? (await this.client.ask({ ask: "look", facelets: text })).facelets
        : (await this.client.ask({ ask: "turn", facelets: solved(this.size), moves: text })).facelets;
      if (stale()) return;
      this.show(normalised(taken) ?? taken);
    } catch (error) {
      if (stale()) return;
      // Shows the invalid stickers on the net, so that the visitor can find the error.
      const drawn = stickers && letters.length === 6 * this.size ** 2 ? normalised(letters) : undefined;
      if (drawn) {
        this.net.show(drawn);
        this.painted();
        clearTimeout(this.timer);
      }
      markInvalid(this.text, true);
      this.showVerdict(reason(error), true);
    }
  }
}
