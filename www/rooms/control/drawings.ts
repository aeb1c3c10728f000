// Drawings of the networks of policy and critic: unit by unit, and as the plan of the forward pass.

import { h } from "../../parts/dom";
import { pageLife } from "../../parts/life";
import type { ControlClient } from "./client";
import { Network } from "./network";
import type { Environment } from "./protocol";
import { Units } from "./units";

export class Drawings {
  readonly element: HTMLElement;
  private readonly units: Units;
  private readonly plan = new Network();
  private readonly life = pageLife();

  /** `step` advances the single environment. */
  constructor(
    private readonly client: ControlClient,
    step: (nowMs: number) => void,
  ) {
    this.units = new Units(() => client.ask({ ask: "network" }), step);
    this.element = h("div.drawings", this.units.element, this.plan.element);
  }

  begin(environment: Environment): void {
    this.units.begin(environment);
    void this.client.ask({ ask: "plan" }).then(
      (plan) => this.life.aborted || this.plan.show(plan),
      () => {},
    );
  }
}
