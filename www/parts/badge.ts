// Badge with the hardware in use (threads or GPU). Its dialog shows details and the reasons for the choice.

import type { Device } from "../run/protocol";
import type { InUse } from "../run/client";
import { because, deviceText, gpuName, type Counts } from "./device";
import { Dialog } from "./dialog";
import { button, facts, h, write } from "./dom";

const INSTRUCTIONS: Record<string, string> = { relaxed: "relaxed SIMD", simd128: "SIMD", portable: "no SIMD" };
const instructions = ({ isa }: InUse): string => INSTRUCTIONS[isa] ?? isa;

/** Returns a short description: `CPU, 2 threads` or `GPU: NVIDIA ampere`. */
export const summary = (backend: InUse, device?: Device): string =>
  device?.on_gpu ? `GPU: ${gpuName(device)}` : `CPU, ${backend.threads} ${backend.threads === 1 ? "thread" : "threads"}`;

export class Badge {
  private readonly long = h("span.long");
  /** Text for narrow pages. */
  private readonly short = h("span.short", { "aria-hidden": "true" });
  readonly button = h("button.quiet.badge", this.long, this.short);
  private readonly dialog: Dialog;
  private readonly gpu = h("dd");
  private readonly why = h("li");

  constructor(
    private readonly backend: InUse,
    private readonly counts: Counts,
    device: Device | undefined,
    chooseDevice: () => void,
  ) {
    const choose = button("Choose the device", () => {
      this.dialog.close();
      chooseDevice();
    });
    const rows = facts([
      ["GPU", this.gpu],
      ["Threads", String(backend.threads)],
      ["Instructions", instructions(backend)],
      [
        "Arithmetic",
        backend.arithmetic === "fused" ? "fused: multiply and add are rounded once" : "unfused: multiply and add are rounded separately",
      ],
      ["Module", backend.module],
      ["Version", backend.version],
    ]);
    this.dialog = new Dialog(
      "System in use",
      h("dl.facts", rows),
      h("h3", "Why"),
      h("ul.why", this.why, ...backend.why.map((reason) => h("li", reason))),
      h("p.row", choose),
    );
    this.button.title = "System in use, with reasons";
    this.button.addEventListener("click", () => this.dialog.open());
    this.show(device);
  }

  /** Shows the device that trains. While `device` is undefined, the choice is open and the CPU trains. */
  show(device: Device | undefined): void {
    write(this.long, summary(this.backend, device));
    write(this.short, device?.on_gpu ? "GPU" : "CPU");
    this.button.setAttribute("aria-label", `In use: ${summary(this.backend, device)}. Why?`);
    write(this.gpu, device?.gpu ? `${device.gpu}${device.on_gpu ? "" : ", not in use"}` : "none in use");
    write(this.why, device ? `${deviceText(device)} ${because(device, this.counts)}` : "Training on the CPU. The GPU is not measured yet.");
  }
}
