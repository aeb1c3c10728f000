// Samples of components that have behaviour. The page's own classes create them from fixed data.

import { RunCurves } from "../parts/curves";
import { copyField, Dialog } from "../parts/dialog";
import { facts, h, markup, type Child } from "../parts/dom";
import { equation } from "../parts/equation";
import { Ghost } from "../parts/ghost";
import { Knobs } from "../parts/knobs";
import { Notices } from "../parts/notices";
import { Palette } from "../parts/palette";
import { Switcher } from "../parts/switcher";
import { Table } from "../parts/table";
import { Tabs } from "../parts/tabs";
import { Tour } from "../parts/tour";
import { Transport } from "../parts/transport";
import { KNOBS, pastRun, presentRun, ROOM, SETTINGS, STANDING, VARIANTS } from "./data";
import { named } from "./elements";

const nothing = (): void => {};
const label = (name: string): string => KNOBS.find((knob) => knob.name === name)?.label ?? name;

/** Shows the second button or link of a list as hovered and the third one as focused. The first one is selected. */
function withStates(list: HTMLElement): HTMLElement {
  const [, hover, focus] = list.querySelectorAll("button, a");
  hover!.setAttribute("data-state", "hover");
  focus!.setAttribute("data-state", "focus-visible");
  return list;
}

export function chips(): Child {
  const switcher = new Switcher(ROOM, {
    variants: () => VARIANTS,
    nameOf: ({ name }) => name,
    linkTo: () => "#chips",
    goTo: async () => {},
  });
  switcher.write(VARIANTS[0]!.id);
  return switcher.element;
}

export function tabs(): Child {
  const row = (kind: string, titles: string[]): HTMLElement => {
    const panels = titles.map((title, k) => ({ name: `sample-${k}`, title, element: h("p", `Panel of ${title}`) }));
    const { list, panels: shown } = new Tabs(`Samples of ${kind}`, panels, nothing, kind);
    return named(kind, withStates(list), shown);
  };
  return [row("tabs", ["Live", "Explore", "Compare", "Settings", "Explain", "Share"]), row("chips", ["Runs", "Sweep", "Results"])];
}

export function tables(): Child {
  const table = (): Table =>
    new Table(
      "Tests",
      ["Steps", "Mean return", "Comment"],
      () => [
        ["80k", "7.1", "The pole falls at once."],
        ["160k", "201.4", "The pole stays up for some seconds."],
        ["240k", "493.2", "The task is solved, which a second test confirms."],
      ],
      ["Comment"],
    );
  const [closed, open] = [table(), table()];
  open.caption.textContent = "Tests of the current run";
  open.open(true);
  return [named("closed", closed.button), named("open", open.button, open.element)];
}

export function toasts(): Child {
  const notices = new Notices();
  const undo = { label: "Undo", run: nothing };
  notices.show("info", "The run is saved", "It continues here or in a terminal");
  notices.show("info", "Another run was opened", "The previous run is saved", undo);
  notices.show("warning", "This browser provides no threads", "Use another browser for faster training");
  notices.show("error", "The file is not a saved run", "Choose a file that Hothouse has saved");
  // The sample is a copy, because the original notices disappear after some time.
  return notices.element.cloneNode(true);
}

export function dialogs(): Child {
  const { element } = new Dialog(
    "Run it natively",
    h("p", "The same run continues in a terminal, exactly where it stopped."),
    copyField("Command", "hothouse resume run.safetensors"),
    h("h3", "System in use"),
    h(
      "dl.facts",
      facts([
        ["Threads", "2"],
        ["Arithmetic", "fused: multiply and add are rounded once"],
      ]),
    ),
    h("p.row", h("button.strong", "Save run"), h("button", "Cancel")),
  );
  // The attribute opens the dialog without making it modal, so that it stays in its place in the page.
  element.setAttribute("open", "");
  return element;
}

/** The command palette with results, and without a result. */
export function palettes(): Child {
  const commands = [
    { kind: "Actions", name: "Pause", key: "Space", run: nothing },
    { kind: "Knobs", name: "Learning rate", note: "now 0.003", run: nothing },
    { kind: "Tabs", name: "Settings, Device", run: nothing },
  ];
  const palette = (query: string): HTMLElement => {
    const { element } = new Palette(() => commands);
    const field = element.querySelector("input")!;
    field.value = query;
    field.dispatchEvent(new Event("input"));
    // An open dialog that is not modal stays in its place.
    element.setAttribute("open", "");
    return element;
  };
  return [palette(""), palette("anything else")];
}

/** Equations with a sum, a root, fractions, accents and large brackets. */
export const equations = (): Child =>
  h(
    "p.padded",
    markup(
      equation("the advantage is the discounted sum of the differences", "hat A_t = ∑_{k ≥ 0} (γ λ)^k δ_{t + k}") +
        equation("the value plus an exploration bonus", "argmax ~ Q_a + c P_a frac{sqrt{N}}{1 + N_a}") +
        equation(
          "angular acceleration of the pole",
          "ddot θ = frac{g ~ sin θ − cos θ ~ frac{F + m_p ℓ dot θ^2 sin θ}{m_c + m_p}}{ℓ (frac 4 3 − frac{m_p cos^2 θ}{m_c + m_p})}",
        ),
    ),
  );

/** A tour's box at its second step, beside the target of this step. */
export function tour(): { content: Child; begin(): void } {
  const target = h("p.card", "The target of the tour has an outline.");
  const content = h("div.fields", target);
  const at = "#tour .card";
  const steps = [
    { at, heading: "Training runs", words: "The agent has been training since the page opened.", change: true },
    { at, heading: "Turn a knob", words: "Drag a slider far to either side. The change applies at once." },
    { at, heading: "See the effect", words: "A vertical line marks the change." },
  ];
  const tour = new Tour("samples", steps, content);
  const begin = (): void => {
    tour.begin(false);
    tour.changed();
  };
  return { content, begin };
}

function knobs(): Knobs {
  const knobs = new Knobs({ change: nothing, reset: nothing }, ROOM.iteration_word);
  knobs.suit(KNOBS);
  knobs.begin(SETTINGS, 101);
  knobs.showNow("lr", "now 0.0031");
  return knobs;
}

/** Enters a value into the field with this label, as a visitor would. */
function enter(within: HTMLElement, label: string, value: string): void {
  const name = [...within.querySelectorAll("label")].find(({ textContent }) => textContent === label)!;
  const field = within.querySelector<HTMLInputElement | HTMLSelectElement>(`#${name.htmlFor}`)!;
  field.value = value;
  field.dispatchEvent(new Event("change"));
}

/** Rows of knobs: some are live, some wait for a new run, and one has an error. */
export function knobRows(): Child {
  const { live, fixed } = knobs();
  enter(fixed, "Network", "large");
  enter(fixed, "Environments", "512");
  enter(fixed, "Rollout length", "9999");
  return [live, fixed];
}

/** Three results cards: with a curve, with a past run, and with an open table. */
export function results(): Child {
  const words = { charts: { return: { about: "sum of an episode's rewards", span: [0, 500] as [number, number] } } };
  const card = (past = false): { element: HTMLElement; curves: RunCurves } => {
    const curves = new RunCurves(ROOM, words, label, () => nothing);
    const ghost = new Ghost(ROOM, "steps", label, nothing);
    const present = presentRun();
    if (past) ghost.keep(present.config.variant, pastRun(), new Uint8Array());
    ghost.begin(present);
    curves.suit(VARIANTS[0]!);
    curves.show(present, ghost.shown.value);
    curves.lead.show(STANDING);
    const parts = [...curves.large, knobs().first, ghost.element, curves.mainTable.element];
    return { element: h("section.returns.card", { "aria-label": "Results" }, parts), curves };
  };
  const table = card();
  table.curves.mainTable.open(true);
  return h("div.cards", card().element, card(true).element, table.element);
}

export function transport(): Child {
  const bar = (running: boolean, speed?: (index: number) => void): HTMLElement => {
    const counted = { rate: "steps a second", figures: ["steps", "iterations", "training time"], step: "iteration" };
    const transport = new Transport({ run: nothing, step: nothing, reset: nothing, speed }, counted);
    transport.setRunning(running);
    transport.show("312k", ["1.24M", "608", "1 min 12 s"]);
    return transport.element;
  };
  return [bar(true, nothing), bar(false)];
}
