// What trains, the processor or the GPU: the choice, what came of it, and why. It decides nothing itself.

import type { Device, DeviceWish } from "../run/protocol";
import { Choice, h, write } from "./dom";
import { short } from "./format";
import { recall, remember } from "./prefs";

const CHOICES: { value: DeviceWish; words: string; label: string; title: string }[] = [
  { value: "auto" as const, words: "Automatic", label: "Train on what is faster" },
  { value: "cpu" as const, words: "Processor", label: "Train on the processor" },
  { value: "gpu" as const, words: "GPU", label: "Train on the GPU" },
].map((choice) => ({ ...choice, title: choice.label }));

export const rememberedDevice = (): DeviceWish | undefined => CHOICES.find(({ value }) => value === recall("device"))?.value;

/** `NVIDIA ampere`, without what leads to it. */
export const gpuName = (device: Device): string => (device.gpu ?? "the GPU").replace(/ \(WebGPU\)$/, "");

export const trains = (device: Device): string => (device.on_gpu ? `${gpuName(device)} trains.` : "The processor trains.");

/** What a room counts: what rates are of, and after what another machine takes over. */
export type Counts = { rate: string; boundary: string };

/** Why that, and how fast either is where both were measured. */
export function because({ why, rates }: Device, { rate }: Counts): string {
  if (!rates) return why;
  const [cpu, gpu] = rates.map(short);
  return `${why} It was measured on this run: ${cpu} ${rate} a second on the processor, ${gpu} with the GPU.`;
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
    this.again.addEventListener("click", () => this.wished("gpu"));
    this.element = h("div.device", [
      h("div.row", new Choice("What trains", CHOICES, wish, (value) => this.wished(value), "speeds").element, this.again),
      h("p", this.outcome, " ", this.reason),
    ]);
    this.show(undefined);
  }

  private wished(wish: DeviceWish): void {
    this.wish = wish;
    remember("device", wish === "auto" ? null : wish);
    this.show(undefined);
    this.choose(wish);
  }

  /** What trains now; undefined while that is not decided. */
  show(device: Device | undefined): void {
    if (device && device.wish !== this.wish) return; // an answer to the wish before
    this.again.hidden = !(device && device.wish === "gpu" && !device.on_gpu);
    write(this.outcome, device ? trains(device) : "");
    const pending: Record<DeviceWish, string> = {
      auto: "A GPU, where there is one, is measured beside the processor; the faster one trains.",
      cpu: `The processor trains from the next ${this.counts.boundary} on.`,
      gpu: `The GPU trains from the next ${this.counts.boundary} on.`,
    };
    const reason = device?.wish === "cpu" ? "" : device ? because(device, this.counts) : pending[this.wish];
    write(this.reason, reason);
  }
}
