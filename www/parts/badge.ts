// What is in use (threads, SIMD, GPU) in a few words, and why, in full sentences behind them.

import type { Device } from "../run/protocol";
import type { InUse } from "../run/client";
import { because, gpuName, trains, type Counts } from "./device";
import { Dialog } from "./dialog";
import { facts, h, write } from "./dom";

const threads = (n: number): string => (n === 1 ? "one thread" : `${n} threads`);

/** Instruction sets as people call them. */
const INSTRUCTIONS: Record<string, string> = { relaxed: "relaxed SIMD", simd128: "SIMD", portable: "no SIMD" };
const instructions = ({ isa }: InUse): string => INSTRUCTIONS[isa] ?? isa;

/** `2 threads, relaxed SIMD`, or `GPU: NVIDIA ampere` */
export const summary = (backend: InUse, device?: Device): string =>
  device?.on_gpu ? `GPU: ${gpuName(device)}` : `${threads(backend.threads)}, ${instructions(backend)}`;

export class Badge {
  private readonly long = h("span.long");
  /** Where the page is narrow. */
  private readonly short = h("span.short", { "aria-hidden": "true" });
  readonly button = h("button.quiet.badge", this.long, this.short);
  private readonly dialog: Dialog;
  private readonly gpu = h("dd");
  private readonly why = h("li");

  constructor(
    private readonly backend: InUse,
    private readonly counts: Counts,
    device?: Device,
  ) {
    const rows = facts([
      ["GPU", this.gpu],
      ["Threads", String(backend.threads)],
      ["Instructions", instructions(backend)],
      ["Arithmetic", backend.arithmetic === "fused" ? "fused: multiply and add round once" : "unfused: multiply and add round each"],
      ["Module", backend.module],
      ["Version", backend.version],
    ]);
    this.dialog = new Dialog(
      "What is in use",
      h("dl.facts", rows),
      h("h3", "Why"),
      h("ul.why", this.why, ...backend.why.map((reason) => h("li", reason))),
    );
    this.button.title = "What is in use, and why";
    this.button.addEventListener("click", () => this.dialog.open());
    this.show(device);
  }

  /** What trains; undefined while that is not decided, when it is the processor. */
  show(device: Device | undefined): void {
    write(this.long, summary(this.backend, device));
    write(this.short, device?.on_gpu ? "GPU" : "CPU");
    this.button.setAttribute("aria-label", `In use: ${device?.on_gpu ? "" : "CPU, "}${summary(this.backend, device)}. Why?`);
    write(this.gpu, device?.gpu ? `${device.gpu}${device.on_gpu ? "" : ", not in use"}` : "none in use");
    write(
      this.why,
      device ? `${trains(device)} ${because(device, this.counts)}` : "The processor trains. What the GPU can do is not measured yet.",
    );
  }
}
