// The visitor's own environments: the editor beside the pictures of a run in such an environment, and in other runs an invitation. The
// editor is loaded when the first run in an own environment begins.

import type { Event as RunEvent } from "../../../run/protocol";
import { textOf } from "../../../run/notice";
import { button, Choice, h } from "../../../parts/dom";
import type { Late } from "../../../parts/late";
import type { OwnVariant, RoomPage } from "../../../parts/room";
import type { Section } from "../../../parts/places";
import type { ControlClient } from "../client";
import { SECTIONS } from "../sections";
import { ownData } from "./data";
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
  data: ownData,
};

export class OwnSection {
  /** The invitation. */
  readonly section: Section;
  /** The editor, and on a phone the choice between the code and the controls. */
  readonly element: HTMLElement;
  private readonly late: Late<Desk>;

  /**
   * `bench` is the element with the pictures and the editor. Its attribute `data-own` names the shown pictures (see `Pictures`). Its
   * attribute `data-view` is the choice on a phone: `code` or `play`.
   */
  constructor(
    private readonly page: RoomPage<ControlClient>,
    private readonly bench: () => HTMLElement,
  ) {
    this.late = page.late(async () => {
      const { Desk } = await import("./desk");
      return () => new Desk(page, (pictures) => (this.bench().dataset.own &&= pictures));
    });
    const show = (view: "code" | "play"): void => void (this.bench().dataset.view = view);
    const views = [
      { value: "code", words: "Code" },
      { value: "play", words: "Play" },
    ] as const;
    const { element: choice } = new Choice<"code" | "play">("Code or controls", [...views], "code", show);
    this.element = h("div.own-place", h("div.own-switch", choice), this.late.element);
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
      element: invitation,
      offered: () => !this.here,
    };
  }

  /** True if the run is in an own environment, whose editor is on this page. */
  private get here(): boolean {
    return !this.page.framed && this.page.client.variant.id === OWN.variant.id;
  }

  /** Shows or hides the editor. Called when a run begins. */
  begin(): void {
    const { here } = this;
    const bench = this.bench();
    this.element.hidden = !here;
    if (!here) return void delete bench.dataset.own;
    bench.dataset.own ??= "run";
    bench.dataset.view ??= "code";
    void this.late.part?.began();
    this.late.show();
  }

  take(event: RunEvent): void {
    this.late.part?.take(event);
  }

  /**
   * Opens a Python file that the visitor has dropped. If the run is in another environment, stores the file and switches to the own
   * environments, whose editor then opens the stored file.
   */
  async drop(file: File): Promise<void> {
    if (!this.here && !this.late.part) return this.keep(file);
    this.page.chooseOwn();
    await this.late.loaded();
    await this.late.part?.drop(file);
  }

  /** Stores a dropped file as the file that was open last, and switches to the own environments. */
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
