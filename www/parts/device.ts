// Control for the choice between CPU and GPU. It also shows the decision and its reason. The Rust code makes the decision.

import type { Device, DeviceWish } from "../run/protocol";
import { Choice, h, write } from "./dom";
import { short } from "./format";
import { recall, remember } from "./prefs";

const CHOICES: { value: DeviceWish; words: string; title: string }[] = [
  { value: "auto", words: "Automatic", title: "Train on the faster device" },
  { value: "cpu", words: "CPU", title: "Train on the CPU" },
  { value: "gpu", words: "GPU", title: "Train on the GPU" },
];

export const rememberedDevice = (): DeviceWish | undefined => CHOICES.find(({ value }) => value === recall("device"))?.value;

/** Returns the name of the GPU without its API, such as `NVIDIA ampere`. */
export const gpuName = (device: Device): string => (device.gpu ?? "the GPU").replace(/ \(WebGPU\)$/, "");

export const deviceText = (device: Device): string => `Training on ${device.on_gpu ? gpuName(device) : "the CPU"}.`;

/** Units that depend on the room: the unit of its rates, and the unit of training after which a change of device takes effect. */
export type Counts = { rate: string; boundary: string };

/** Returns the reason for the decision, with the rates of CPU and GPU if they were measured. */
export function because({ why, rates }: Device, { rate }: Counts): string {
  if (!rates) return why;
  const [cpu, gpu] = rates.map(short);
  return `${why} Measured on this run: CPU ${cpu}, GPU ${gpu} ${rate} a second.`;
}

export class DeviceSwitch {
  readonly element: HTMLElement;
  private readonly outcome = h("strong");
  private readonly reason = h("span");
  private readonly again = h("button", { hidden: true }, "Try the GPU again");

  constructor(
    private wish: DeviceWish,
    private readonly counts: Counts,
    private readonly choose: (wish: DeviceWish) => void,
  ) {
    this.again.addEventListener("click", () => this.select("gpu"));
    this.element = h("div.device", [
      h("div.row", new Choice("Device", CHOICES, wish, (value) => this.select(value), "speeds").element, this.again),
      h("p", this.outcome, " ", this.reason),
    ]);
    this.show(undefined);
  }

  private select(wish: DeviceWish): void {
    this.wish = wish;
    remember("device", wish === "auto" ? null : wish);
    this.show(undefined);
    this.choose(wish);
  }

  /** Shows the device; undefined while the device is undecided. */
  show(device: Device | undefined): void {
    if (device && device.wish !== this.wish) return; // a decision on an earlier choice
    this.again.hidden = !(device && device.wish === "gpu" && !device.on_gpu);
    write(this.outcome, device ? deviceText(device) : "");
    const pending: Record<DeviceWish, string> = {
      auto: "If there is a GPU, both devices are measured and the faster one is used.",
      cpu: `The CPU takes over with the next ${this.counts.boundary}.`,
      gpu: `The GPU takes over with the next ${this.counts.boundary}.`,
    };
    const reason = device?.wish === "cpu" ? "" : device ? because(device, this.counts) : pending[this.wish];
    write(this.reason, reason);
  }
}
