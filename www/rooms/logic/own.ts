// The visitor's own target: a drawn pattern or a typed rule. Training on the target starts a new run with the target as a knob's value.

import type { Value, Variant } from "../../run/protocol";
import { button, form, h, id, labelled, line, markInvalid, select, write } from "../../parts/dom";
import { touch } from "../../parts/loop";
import { Cells } from "./cells";
import { cellColours, cellName, css } from "./colours";
import type { Experiment, Picture, Shows } from "./protocol";

const SIDES = [8, 10, 12, 16, 20, 24, 32];
const SIDE = 16;
/** The initial drawing, a shape in which wrong cells are easy to see. */
const HEART = `
................
................
...###....###...
..#####..#####..
.######..######.
.##############.
.##############.
.##############.
..############..
..############..
...##########...
....########....
.....######.....
......####......
.......##.......
................`
  .trim()
  .split("\n");
/** Well-known cellular automata whose rule depends on a cell and its eight neighbours. */
const RULES: { rule: string; name: string }[] = [
  { rule: "B3/S23", name: "Life" },
  { rule: "B36/S23", name: "HighLife" },
  { rule: "B3678/S34678", name: "Day & Night" },
  { rule: "B2/S", name: "Seeds" },
  { rule: "B1357/S1357", name: "Replicator" },
  { rule: "B3/S12345", name: "Maze" },
];

export class OwnPane {
  readonly element: HTMLElement;
  private readonly cells: Cells;
  private readonly side = select(
    "own-side",
    SIDES.map((side) => [side, `${side}x${side}`]),
    SIDE,
  );
  private readonly palette = h("fieldset.palette");
  private readonly message = h("p.unseen", { role: "status" });
  private readonly drawError = h("p.error", { role: "alert" });
  private readonly ruleError = h("p.error", { role: "alert", id: id("rule-error") });
  private readonly rule = line("rule", { value: RULES[1]!.rule, autocapitalize: "characters", "aria-describedby": this.ruleError.id });
  private readonly known = select(
    "known-rules",
    RULES.map(({ rule, name }) => [rule, `${name} ${rule}`]),
    RULES[1]!.rule,
  );
  private readonly colours = select("own-colours", [
    ["channel", "on and off"],
    ["rgb", "eight colours"],
  ]);
  private picture: Picture = { width: SIDE, height: SIDE, values: new Uint8Array(SIDE * SIDE) };
  private colour = 1;

  constructor(
    private readonly drawn: Variant,
    private readonly ruled: Variant,
    /** Returns the current target, with which the visitor can start the drawing. */
    private readonly target: () => { picture: Picture; shows: Shows } | undefined,
    private readonly train: (variant: Variant, knobs: Record<string, Value>) => void,
  ) {
    this.cells = new Cells(
      "Your drawing",
      { touched: (x, y) => this.paint(x, y), moved: (x, y) => this.announceCell(x, y), key: (key) => this.key(key) },
      () => this.show(),
    );
    this.cells.element.classList.add("own-cells");
    this.side.addEventListener("change", () => this.resize());
    this.colours.addEventListener("change", () => this.updateColours());
    const drawing = h("section.own-drawing", { "aria-label": "Draw a pattern" }, [
      h("h3", "Draw a pattern"),
      h("p.small", [
        `Choose a colour and draw.${touch() ? "" : " The arrow keys move, and Enter paints."} The automaton learns to grow the pattern.`,
      ]),
      h("div.row", [
        labelled("Size", this.side),
        labelled("Colours", this.colours),
        button("Clear", () => this.fill(() => 0)),
        button("Start from the current target", () => this.begin()),
      ]),
      this.palette,
      this.cells.element,
      this.message,
      this.drawError,
      h("p.row", [button("Train on this drawing", () => this.draw(), { class: "strong" })]),
    ]);
    const writing = form("own-form wrap foot", () => this.type(), [
      labelled("Known rules", this.known),
      labelled("Rule: births / survivals by neighbours", this.rule, "field grow"),
      h("button.strong", { type: "submit" }, "Train on this rule"),
    ]);
    this.rule.addEventListener("input", () => this.refuse(""));
    this.known.addEventListener("change", () => {
      this.rule.value = this.known.value;
      this.refuse("");
    });
    const typing = h("section", { "aria-label": "Type a rule" }, [
      h("h3", "Type a rule"),
      h("p.small", [
        "B3/S23 is Conway's Life: a cell turns on with 3 live neighbours and stays on with 2 or 3. You can also enter any other rule of " +
          "a cell and its eight neighbours as 128 hexadecimal digits, one bit for each of the 512 neighbourhoods.",
      ]),
      writing,
      this.ruleError,
    ]);
    this.element = h("div.own-target", drawing, typing);
    this.updateColours();
    this.fill((x, y) => (HEART[y]?.[x] === "#" ? 1 : 0));
  }

  /** The drawing as the value of a knob: one character per cell, and rows separated by slashes. */
  get text(): string {
    const { width, values } = this.picture;
    const digit = (value: number): string => (value === 0 ? "." : this.shows === "rgb" ? String(value) : "#");
    return Array.from({ length: values.length / width }, (_, row) =>
      [...values.subarray(row * width, (row + 1) * width)].map(digit).join(""),
    ).join("/");
  }

  private get shows(): Shows {
    return this.colours.value as Shows;
  }

  private updateColours(): void {
    const colours = cellColours(this.shows);
    const group = id("cell-colour");
    this.colour = Math.min(this.colour, colours.length - 1);
    this.palette.replaceChildren(
      h("legend.unseen", "Drawing colour"),
      ...colours.flatMap((_, value) => {
        const input = h("input.unseen", { type: "radio", name: group, id: `${group}-${value}`, checked: value === this.colour });
        input.addEventListener("change", () => (this.colour = value));
        const name = cellName(this.shows, value);
        return [
          input,
          h("label", { for: input.id, title: name }, [
            h("span.cell-swatch", { "aria-hidden": "true" }),
            h("span", { class: colours.length > 2 ? "unseen" : "small" }, name),
          ]),
        ];
      }),
    );
    this.picture.values.forEach((value, cell) => (this.picture.values[cell] = Math.min(value, colours.length - 1)));
    this.show();
  }

  private resize(): void {
    const side = Number(this.side.value);
    const { width, height, values } = this.picture;
    // The old drawing is centred in the new one. Cells outside are dropped.
    const [dx, dy] = [Math.floor((side - width) / 2), Math.floor((side - height) / 2)];
    this.picture = { width: side, height: side, values: new Uint8Array(side * side) };
    values.forEach((value, cell) => {
      const [x, y] = [(cell % width) + dx, Math.floor(cell / width) + dy];
      if (x >= 0 && y >= 0 && x < side && y < side) this.picture.values[y * side + x] = value;
    });
    this.show();
  }

  private fill(of: (x: number, y: number) => number): void {
    const { width, values } = this.picture;
    values.forEach((_, cell) => (values[cell] = of(cell % width, Math.floor(cell / width))));
    write(this.drawError, "");
    this.show();
  }

  private begin(): void {
    const target = this.target();
    if (!target)
      return write(this.drawError, "The current target is a rule and has no picture. Draw one, or open another experiment first.");
    this.colours.value = target.shows;
    const { width, height, values } = target.picture;
    this.picture = { width, height, values: Uint8Array.from(values) };
    if (![...this.side.options].some(({ value }) => Number(value) === width))
      this.side.append(h("option", { value: width }, `${width}x${height}`));
    this.side.value = String(width);
    this.updateColours();
  }

  private paint(x: number, y: number): void {
    const cell = y * this.picture.width + x;
    if (this.picture.values[cell] === this.colour) return;
    this.picture.values[cell] = this.colour;
    write(this.drawError, "");
    this.show();
    this.announceCell(x, y);
  }

  private announceCell(x: number, y: number): void {
    write(this.message, `Column ${x + 1}, row ${y + 1}: ${cellName(this.shows, this.picture.values[y * this.picture.width + x]!)}.`);
  }

  /** Handles keys. A digit chooses a colour and paints with it; the space bar paints with the current colour. */
  private key(key: string): boolean {
    const inputs = [...this.palette.querySelectorAll("input")];
    if (key === " ") this.paint(this.cells.cursor.x, this.cells.cursor.y);
    else if (/^[0-7]$/.test(key) && inputs[Number(key)]) {
      this.colour = Number(key);
      inputs[this.colour]!.checked = true;
      this.paint(this.cells.cursor.x, this.cells.cursor.y);
    } else return false;
    return true;
  }

  private show(): void {
    const { width, height, values } = this.picture;
    const colours = cellColours(this.shows);
    this.cells.show(this.picture, this.shows);
    this.cells.label(
      `Your drawing, ${width} by ${height} cells, ${values.filter((value) => value > 0).length} of them drawn. Arrow keys move, ` +
        `enter or space paints, a digit chooses a colour and paints.`,
    );
    [...this.palette.querySelectorAll<HTMLElement>(".cell-swatch")].forEach(
      (swatch, value) => (swatch.style.background = css(colours[value]!)),
    );
  }

  private draw(): void {
    const { values } = this.picture;
    write(this.drawError, "");
    if (values.every((value) => value === values[0]))
      return write(
        this.drawError,
        values[0] ? "The drawing has only one colour. Leave some cells blank." : "The drawing is empty. Draw some cells first.",
      );
    // The pattern grows from the middle by at most one cell per step. A large drawing therefore needs more steps than the default.
    const { steps } = this.drawn.about as Experiment;
    const needs = Math.ceil(0.75 * this.picture.width);
    this.train(this.drawn, { target: this.text, ...(needs > steps && { steps: needs }) });
  }

  private refuse(words: string): void {
    write(this.ruleError, words);
    markInvalid(this.rule, words !== "");
  }

  private type(): void {
    const text = this.rule.value.replaceAll(/\s+/g, "");
    const table = /^[0-9a-f]{128}$/i.test(text);
    if (!table && !/^B[0-8]*\/S[0-8]*$/i.test(text))
      return this.refuse(
        "Not a rule. Enter births and survivals by number of neighbours, 0 to 8, as in B3/S23, or 128 hexadecimal digits.",
      );
    this.refuse("");
    this.train(this.ruled, { rule: table ? text.toLowerCase() : text.toUpperCase() });
  }
}
