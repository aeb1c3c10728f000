// The section with the visitor's own environments. It loads the editor when it is shown. If the current wasm module has no compiler, the
// section offers to open the module that has the compiler.

import type { Event as RunEvent } from "../../../run/protocol";
import { textOf } from "../../../run/notice";
import { button, h } from "../../../parts/dom";
import type { Late } from "../../../parts/late";
import type { OwnVariant, RoomPage } from "../../../parts/room";
import type { Section } from "../../../parts/places";
import { reveal } from "../../../parts/tabs";
import type { ControlClient } from "../client";
import type { Body, Environment } from "../protocol";
import { SECTIONS } from "../sections";
import type { Desk } from "./desk";

/** The variant of the visitor's own environments, as it is before the first run. */
export const OWN: OwnVariant = {
  variant: {
    id: "own",
    name: "Your environment",
    summary: "Write an environment in Python, and watch an agent learn it.",
    goal: null,
    sweep_budget: 0,
    about: null,
  },
  data: async () => (await import("./newest")).newest(),
};

export class OwnSection {
  readonly section: Section;
  private readonly late: Late<Desk>;
  /** True if the current wasm module contains the compiler. */
  private readonly here: boolean;
  private environment: Environment | undefined;

  /** `step` advances the single environment. */
  constructor(
    private readonly page: RoomPage<ControlClient>,
    step: (nowMs: number) => void,
  ) {
    const { client } = page;
    this.late = page.late(async () => {
      const { Desk } = await import("./desk");
      return () => new Desk(page, step);
    });
    const here = client.has(OWN.variant.id);
    this.here = here;
    const invitation = h(
      "div.card",
      h("p", `${OWN.variant.summary} Nothing is installed, and your code stays on this machine.`),
      h(
        "p.row",
        button("Write your own environment", () => page.chooseOwn(), { class: "strong" }),
      ),
    );
    this.section = {
      ...SECTIONS.code,
      element: here ? this.late.element : invitation,
      shown: () => here && this.late.show(),
    };
  }

  begin(environment: Environment): void {
    this.environment = environment;
  }

  show(body: Body): void {
    const size = this.environment?.size;
    if (size) this.late.part?.show(size, body);
  }

  take(event: RunEvent): void {
    this.late.part?.take(event);
  }

  /**
   * Opens a Python file that the visitor has dropped. If the current wasm module has no compiler, stores the file and opens the module that
   * has the compiler. The editor of that module then opens the stored file.
   */
  async drop(file: File): Promise<void> {
    reveal(this.section.element);
    if (!this.here) return this.keep(file);
    this.late.show();
    await this.late.loaded();
    await this.late.part?.drop(file);
  }

  /** Stores a dropped file as the file that was open last, and opens the wasm module with the compiler. */
  private async keep(file: File): Promise<void> {
    const { notices } = this.page.around;
    try {
      const { keep } = await import("./newest");
      const refused = await keep(file);
      if (!refused) return this.page.chooseOwn();
      const next = refused.storage ? `Choose "${OWN.variant.name}", then drop the file again.` : refused.nextStep;
      notices.show("warning", refused.message, next);
    } catch (error) {
      notices.show("error", textOf(error), "Check the connection and drop the file again.");
    }
  }
}
