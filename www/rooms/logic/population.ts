// The population. For each member, the pane shows a small picture of its latest grid, its soft and hard loss, and whether it is learning or
// perfect. The other panes show the selected member.

import type { Announcer } from "../../parts/announce";
import { h, id, ticked, write } from "../../parts/dom";
import { count, figure, percent } from "../../parts/format";
import { Asker } from "../../parts/requests";
import type { Chosen, LogicClient } from "./client";
import { Cells } from "./cells";
import { states } from "./text";
import type { MemberView, PopulationView } from "./protocol";

const ASK_EVERY_MS = 700;

/** Time for which a restarted member is shown as restarted. */
const DEAD_MS = 3000;

type Card = {
  restartedMs: number;
  item: HTMLElement;
  button: HTMLButtonElement;
  cells: Cells;
  name: HTMLElement;
  mark: HTMLElement;
  state: HTMLElement;
  losses: HTMLElement;
  updates: HTMLElement;
};

export class PopulationPane {
  readonly element: HTMLElement;
  private readonly list = h("ol.members");
  private readonly rate = h("output.number");
  private readonly about = h("p.about");
  private readonly follow = h("input", { type: "checkbox", role: "switch", checked: true, id: id("follow") });
  private cards: Card[] = [];
  private newest: PopulationView | undefined;
  private readonly asker = new Asker(() => ASK_EVERY_MS);

  constructor(
    private readonly client: LogicClient,
    private readonly chosen: Chosen,
    private readonly announcer: Announcer,
    /** Called when another member is selected. `picked` is true if the visitor selected it. */
    private readonly changed: (picked: boolean) => void,
    /** Called with each answer about the population. */
    private readonly received: (view: PopulationView) => void,
  ) {
    this.follow.addEventListener("change", () => {
      this.chosen.pick(this.follow.checked ? undefined : this.chosen.ownMember);
      this.show();
      this.changed(true);
    });
    this.element = h("div.population", h("div.row", this.rate, ticked(this.follow, "Follow the best")), this.about, this.list);
  }

  begin(): void {
    this.asker.turns.take();
    this.newest = undefined;
    this.follow.checked = true;
    this.chosen.pick(undefined);
    this.chosen.best = 0;
    write(this.rate, "");
    write(this.about, "");
    this.asker.hurry();
    this.ask();
  }

  /** Requests the population, even while the pane is off-screen, because other panes show the best member. */
  refresh(): void {
    if (!document.hidden) this.ask();
  }

  private ask(): void {
    this.asker.eventually(
      () => this.client.ask({ ask: "population" }),
      (view) => this.take(view),
    );
  }

  private take(view: PopulationView): void {
    const before = this.chosen.ownMember;
    this.chosen.best = view.best;
    this.announceChanges(view);
    this.newest = view;
    const member = view.members[this.chosen.ownMember];
    this.chosen.set(member?.updates ?? 0, member?.state === "perfect");
    this.show();
    this.received(view);
    if (before !== this.chosen.ownMember) this.changed(false);
  }

  private announceChanges({ members }: PopulationView): void {
    members.forEach(({ state, seed }, k) => {
      const before = this.newest?.members[k];
      const card = this.cards[k];
      if (!before || !card) return;
      if (before.seed !== seed) card.restartedMs = performance.now();
      else if (before.state !== state) this.announcer.say(`Member ${k + 1} is ${states[state].word}.`, `member ${k}`);
    });
  }

  private show(): void {
    const view = this.newest;
    if (!view) return;
    const { members, perfect, ended } = view;
    const restarts = ended - perfect;
    write(this.rate, ended ? `${perfect} of ${ended} perfect (${percent(perfect / ended)})` : "");
    const living = members.filter(({ state }) => state === "learning").length;
    write(
      this.about,
      `success rate: share of perfect attempts; ${restarts === 1 ? "1 restart" : `${count(restarts)} restarts`} with ` +
        `another seed, ${count(living)} still learning; on the cards: soft and hard loss`,
    );
    if (this.cards.length !== members.length) {
      for (const { cells } of this.cards) cells.close();
      this.cards = members.map((_, k) => this.card(k));
      this.list.replaceChildren(...this.cards.map(({ item }) => item));
    }
    members.forEach((member, k) => this.write(this.cards[k]!, member, k));
  }

  private card(k: number): Card {
    const cells = new Cells("", undefined, () => this.show());
    // The button's text describes the member, so the picture is hidden from screen readers.
    cells.element.setAttribute("aria-hidden", "true");
    cells.element.removeAttribute("role");
    const part = (name: string): HTMLElement => h("span", { class: name });
    const [name, mark, state, losses, updates] = [
      part("unseen"),
      h("span", { "aria-hidden": "true" }),
      part(""),
      part("member-losses"),
      part("member-updates"),
    ];
    const button = h("button.member", { onclick: () => this.pick(k) }, [
      cells.element,
      name,
      h("span.member-state", mark, " ", state),
      losses,
      " ",
      updates,
      h("span.unseen", "; the numbers are the soft and the hard loss"),
    ]);
    return { restartedMs: -Infinity, item: h("li", button), button, cells, name, mark, state, losses, updates };
  }

  private pick(k: number): void {
    this.chosen.pick(k);
    this.follow.checked = false;
    this.announcer.say(`Member ${k + 1} selected.`, "member");
    this.show();
    this.changed(true);
  }

  private write({ restartedMs, button, cells, name, mark: sign, state, losses, updates }: Card, member: MemberView, k: number): void {
    cells.show(member.picture, this.chosen.shows);
    const kind = member.state === "learning" && performance.now() - restartedMs < DEAD_MS ? "dead" : member.state;
    const { word, mark } = states[kind];
    write(sign, mark);
    write(state, word);
    const chosen = k === this.chosen.ownMember;
    button.className = `member ${kind}`;
    button.setAttribute("aria-pressed", String(chosen));
    const soft = member.loss === null ? "–" : figure(member.loss);
    write(losses, `${soft} / ${figure(member.hard_loss)}`);
    const best = k === this.newest?.best ? ", the best" : "";
    write(name, `Member ${k + 1}${best}: `);
    write(updates, `${count(member.updates)} updates`);
    button.title = `Member ${k + 1}${best}, seed ${member.seed}: loss soft / hard`;
  }
}
