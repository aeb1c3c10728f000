// The text of a lesson with its controls: the choice of a prediction, a button for each run, and the checked claims. The claims are shown
// after the visitor has committed to a prediction and the runs have ended.

import { form, h, id, write, type Child } from "../parts/dom";
import { capital, figure } from "../parts/format";
import { calm } from "../parts/loop";
import { check, type Checked } from "./claims";
import type { Claim, Lesson, Heading, Run } from "./lesson";
import { elementsOf, lineOf } from "./render";
import { workOf, type Trainer, type Work } from "./trainer";

const DIFFERS =
  "A claim does not hold in your run. The text describes runs that were checked before. Rounding differs between processors, and runs " +
  "can differ with it.";

export class LessonPage {
  readonly element: HTMLElement;
  private readonly work: Work;
  private readonly group = id("prediction");
  private readonly commit = h("button.strong", { type: "submit" }, "Commit to this prediction");
  private readonly inputs: HTMLInputElement[];
  private readonly runs: RunRow[];
  /** Names the runs that the result still needs. */
  private readonly needs = h("p.small", { role: "status" });
  /** Number of runs that had ended at the latest update. */
  private ended: number;
  private readonly tried: HTMLElement;
  private readonly shown: HTMLElement;
  private readonly judged = h("p.lesson-judged");
  private readonly claims = h("ul.lesson-claims");

  constructor(
    readonly lesson: Lesson,
    private readonly trainer: Trainer,
  ) {
    this.work = workOf(lesson);
    this.ended = Object.keys(this.work.results).length;
    this.inputs = lesson.predictions.map((_, k) =>
      h("input", { type: "radio", name: this.group, id: `${this.group}-${k}`, value: k, checked: k === this.work.committed }),
    );
    this.runs = lesson.runs.map((run) => new RunRow(run, () => this.trainer.begin(lesson, run)));
    this.tried = h(
      "div",
      this.part("Change"),
      this.part("Run", h("ul.lesson-runs", ...this.runs.map(({ element }) => element)), this.needs),
    );
    this.shown = h("div", this.part("Result", this.claims), this.part("Why"), this.part("Next"));
    this.element = h("div.lesson-text", this.part("Question"), this.part("Predict", this.predicting()), this.tried, this.shown);
    this.update();
  }

  /** Updates the page to the visitor's prediction and to the runs so far. */
  update(): void {
    const { work, lesson, trainer } = this;
    const committed = work.committed !== undefined;
    const ended = lesson.runs.every(({ name }) => name in work.results);
    for (const input of this.inputs) input.toggleAttribute("disabled", committed);
    this.commit.hidden = committed;
    this.tried.hidden = !committed;
    for (const row of this.runs) row.update(trainer.training?.run === row.run ? trainer.done : undefined, row.run.name in work.results);
    write(this.needs, this.needed());
    this.reachNeeds();
    if (this.shown.hidden !== !(committed && ended) || this.claims.childElementCount === 0) this.judge(committed && ended);
  }

  /** Scrolls to the runs that the result still needs when a run has ended. On a phone the picture of the run is above the lesson. */
  private reachNeeds(): void {
    const ended = Object.keys(this.work.results).length;
    if (ended > this.ended && this.needs.textContent) this.needs.scrollIntoView({ block: "nearest", behavior: smoothly() });
    this.ended = ended;
  }

  /** Returns a sentence on the runs that have neither ended nor begun, once one has; otherwise an empty text. */
  private needed(): string {
    const { lesson, work, trainer } = this;
    const missing = lesson.runs.filter((run) => !(run.name in work.results) && trainer.training?.run !== run);
    if (missing.length === 0 || missing.length === lesson.runs.length) return "";
    const names = missing.map(({ name }) => name).join(" and ");
    return `The result compares all runs: train ${names} too.`;
  }

  private part(name: Heading, ...more: Child[]): HTMLElement {
    const [first, ...rest] = elementsOf(this.lesson.parts[name]);
    return h("section", [h("h3", name), first, name === "Result" && this.judged, ...more, rest]);
  }

  private predicting(): HTMLElement {
    const choices = this.inputs.map((input, k) =>
      h("li.row", input, h("label", { for: input.id }, `${k + 1}. `, lineOf(this.lesson.predictions[k]!))),
    );
    return form("lesson-predictions", () => this.predict(), [
      h("fieldset", [h("legend.unseen", "Your prediction"), h("ol", choices)]),
      this.commit,
    ]);
  }

  private predict(): void {
    const chosen = this.inputs.findIndex(({ checked }) => checked);
    if (chosen < 0) return this.inputs[0]!.focus();
    this.work.committed = chosen;
    this.update();
    this.runs[0]!.focus();
  }

  /** Shows the results if `ended` is true, with the outcome of each claim, and scrolls to them; otherwise hides them. */
  private judge(ended: boolean): void {
    const { work, lesson, claims } = this;
    this.shown.hidden = !ended;
    claims.replaceChildren();
    if (!ended) return;
    const right = work.committed === lesson.answer;
    write(this.judged, right ? "Your prediction is right." : `You predicted number ${work.committed! + 1}.`);
    const rows = lesson.claims.map((claim) => claimRow(claim, judgement(claim, work)));
    claims.append(...rows.map(({ element }) => element));
    if (!rows.every(({ holds }) => holds)) claims.append(h("li.small", DIFFERS));
    this.shown.firstElementChild!.scrollIntoView({ block: "nearest", behavior: smoothly() });
  }
}

const smoothly = (): ScrollBehavior => (calm() ? "auto" : "smooth");

/** Row of a run of the lesson: its button, its text and its progress. */
class RunRow {
  readonly element: HTMLElement;
  private readonly begin: HTMLButtonElement;
  private training = false;
  private readonly progress: HTMLProgressElement;

  constructor(
    readonly run: Run,
    begin: () => void,
  ) {
    // The button is never disabled, so that it keeps the focus while the run trains.
    this.begin = h("button.strong", { onclick: () => this.training || begin() });
    this.progress = h("progress", { max: 1, value: 0, "aria-label": `Progress of run ${run.name}` });
    this.element = h("li", [h("div.row", this.begin, this.progress), h("p", lineOf(capital(run.words)))]);
  }

  focus(): void {
    this.begin.focus();
  }

  /** Updates the row. `done` is the trained share of the run from 0 to 1, or undefined while the run does not train. */
  update(done: number | undefined, ended: boolean): void {
    const { name } = this.run;
    this.training = done !== undefined;
    this.begin.setAttribute("aria-disabled", String(this.training));
    write(this.begin, done === undefined ? (ended ? `Run ${name} again` : `Run ${name}`) : `Training ${name}`);
    this.begin.classList.toggle("strong", !ended);
    this.progress.hidden = done === undefined && !ended;
    this.progress.value = done ?? 1;
  }
}

/** Checks a claim; returns an error's text if the claim cannot be checked. */
function judgement({ check: claim }: Claim, { results }: Work): Checked | string {
  try {
    return check(claim, results);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function claimRow({ words, check: claim }: Claim, found: Checked | string): { element: HTMLElement; holds: boolean } {
  const holds = typeof found !== "string" && found.holds;
  const numbers = typeof found === "string" ? found : `${figure(found.left)} ${found.comparison} ${figure(found.right)}`;
  const element = h("li", { class: holds ? "holds" : "fails" }, [
    h("p", lineOf(words)),
    h("p.small", h("code", claim), h("span", numbers), h("strong", holds ? "holds" : "does not hold")),
  ]);
  return { element, holds };
}
