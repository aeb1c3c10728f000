// What is in use (threads, SIMD, GPU) in a few words, and why, in full sentences behind them.

import type { Backend } from "../run/protocol";
import { Dialog } from "./dialog";
import { h } from "./dom";

export type InUse = Backend & { module: string; why: string[] };

const threads = (n: number): string => (n === 1 ? "one thread" : `${n} threads`);

/** Instruction sets as people call them. */
const INSTRUCTIONS: Record<string, string> = { relaxed: "relaxed SIMD", simd128: "SIMD", portable: "no SIMD" };
const instructions = ({ isa }: InUse): string => INSTRUCTIONS[isa] ?? isa;

/** `2 threads, relaxed SIMD` */
export const summary = (backend: InUse): string => `${threads(backend.threads)}, ${instructions(backend)}`;

export class Badge {
  readonly button = h("button", { type: "button", class: "quiet badge" });
  private readonly dialog: Dialog;

  constructor(backend: InUse) {
    const rows: [string, string][] = [
      ["Threads", String(backend.threads)],
      ["Instructions", instructions(backend)],
      ["Arithmetic", backend.arithmetic === "fused" ? "fused: multiply and add round once" : "unfused: multiply and add round each"],
      ["Module", backend.module],
      ["Version", backend.version],
    ];
    this.dialog = new Dialog(
      "What is in use",
      h("dl", { class: "facts" }, ...rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
      h("h3", {}, "Why"),
      h("ul", { class: "why" }, ...backend.why.map((reason) => h("li", {}, reason))),
    );
    this.button.textContent = summary(backend);
    this.button.setAttribute("aria-label", `In use: ${summary(backend)}. Why?`);
    this.button.title = "What is in use, and why";
    this.button.addEventListener("click", () => this.dialog.open());
  }

  close(): void {
    this.dialog.remove();
  }
}
