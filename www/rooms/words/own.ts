// The visitor's own training text: pasted, dropped or chosen as files, with a choice of tokenizer. Training on the text starts a new run.

import type { Knob, Value } from "../../run/protocol";
import { button, form, h, id, labelled, write } from "../../parts/dom";
import { bytes, exact } from "../../parts/format";
import { reveal } from "../../parts/tabs";
import { reason } from "../../parts/requests";
import { sentence } from "../../run/notice";

/** Maximum length of a pasted text that the field shows, in characters. A longer text would make the field slow. */
const MOST_PASTED = 100_000;
const SHOWN_BYTES = 1200;

export class OwnPane {
  readonly element: HTMLElement;
  private readonly field = h("textarea", { id: id("own"), rows: 6, spellcheck: "false", autocomplete: "off" });
  private readonly file = h("input", { type: "file", multiple: true, hidden: true, "aria-label": "Choose text files" });
  private readonly requested = h("p.request", { role: "status", hidden: true });
  private readonly held = h("p.row", { hidden: true, role: "status" });
  private readonly heldName = h("span");
  private readonly knobs = h("div.row");
  private readonly error = h("p.error", { role: "alert", id: id("own-error") });
  private readonly go = h("button.strong", { type: "submit" }, "Train on this text");
  private readonly back = button("Back to the stories", () => this.begin(undefined), { hidden: true });
  /** The chosen file, or a file with pasted text that is too long for the field. Undefined if the field contains the whole text. */
  private source: File | undefined;
  private inputs: { knob: Knob; field: HTMLElement; input: HTMLInputElement | HTMLSelectElement }[] = [];

  constructor(
    /** Text about the requirements for a training text. */
    help: string,
    private readonly train: (source: File | string | undefined, knobs: Record<string, Value>) => Promise<void>,
  ) {
    this.field.setAttribute("aria-describedby", this.error.id);
    this.field.addEventListener("input", () => write(this.error, ""));
    this.field.addEventListener("paste", (event) => {
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (text.length <= MOST_PASTED) return;
      event.preventDefault();
      void this.take(new File([text], "pasted text"));
    });
    this.file.addEventListener("change", () => {
      // Several files are joined, sorted by name.
      const files = [...(this.file.files ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
      this.file.value = "";
      const [file] = files;
      if (file)
        void this.take(
          files.length === 1
            ? file
            : new File(
                files.flatMap((one) => [one, "\n"]),
                `${files.length} files`,
              ),
        );
    });
    this.held.append(
      this.heldName,
      button("Remove", () => this.removeFile(), { class: "small" }),
    );
    const taking = form("text-form", () => this.submit(), [
      labelled("Text to learn from", this.field),
      this.held,
      this.knobs,
      this.error,
      h("p.row", [this.go, button("Open files", () => this.file.click()), this.back, this.file]),
    ]);
    taking.noValidate = true;
    this.element = h("div.card", [
      this.requested,
      h("p.small", [
        `Paste a text, drop a file anywhere on the page, or open files. Training starts a new run. ${help} The text stays on this ` +
          `machine, in this page and in saved runs.`,
      ]),
      taking,
    ]);
  }

  private submit(): unknown {
    if (this.source || this.field.value) return this.begin(this.source ?? this.field.value);
    write(this.error, "No text. Paste a text or open a file.");
    return this.field.focus();
  }

  setKnobs(knobs: Knob[], values: Record<string, Value>): void {
    this.inputs = ["tokenizer", "vocab"].flatMap((name) => {
      const knob = knobs.find((one) => one.name === name);
      if (!knob) return [];
      const { kind } = knob;
      const value = String(values[name] ?? knob.default);
      const [inputId, title] = [id("own-knob"), knob.help];
      const input =
        kind.kind === "choice"
          ? h("select", { id: inputId, title }, [
              kind.options.map((one) => h("option", { value: one.name, selected: one.name === value }, one.label)),
            ])
          : h("input", {
              type: "number",
              id: inputId,
              title,
              value,
              ...("min" in kind && { min: kind.min, max: kind.max }),
              step: 1,
              inputmode: "numeric",
            });
      return [{ knob, input, field: labelled(knob.label, input) }];
    });
    const [tokenizer, vocab] = this.inputs;
    const show = (): void => void (tokenizer && vocab && (vocab.field.hidden = tokenizer.input.value !== "bpe"));
    tokenizer?.input.addEventListener("change", show);
    show();
    this.knobs.replaceChildren(...this.inputs.map(({ field }) => field));
  }

  /** Shows the form and focuses its field. */
  open(): void {
    reveal(this.element);
    this.element.scrollIntoView({ block: "center" });
    this.field.focus({ preventScroll: true });
  }

  /** Asks for the text of a link's run. `why` names the missing text; if it is empty, no text is requested. */
  request(why: string): void {
    this.requested.hidden = !why;
    write(
      this.requested,
      why &&
        `${sentence(why)} The link does not contain this text. Paste or open exactly this text to begin the run; its settings are kept.`,
    );
  }

  setOwnText(own: boolean): void {
    this.back.hidden = !own;
  }

  /** Uses a chosen or dropped file as the text, and shows its beginning. */
  async take(file: File): Promise<void> {
    this.source = file;
    this.held.hidden = false;
    this.field.disabled = true;
    write(this.error, "");
    write(this.heldName, `${file.name}, ${file.size < 1000 ? `${file.size} bytes` : bytes(file.size)}`);
    this.field.value = await file
      .slice(0, SHOWN_BYTES)
      .text()
      .catch(() => "");
    this.open();
    this.go.focus();
  }

  private removeFile(): void {
    this.source = undefined;
    this.held.hidden = true;
    this.field.disabled = false;
    this.field.value = "";
    write(this.error, "");
    this.field.focus();
  }

  private async begin(source: File | string | undefined): Promise<void> {
    write(this.error, "");
    const knobs: Record<string, Value> = {};
    for (const { knob, field, input } of this.inputs) {
      const { kind } = knob;
      if (field.hidden || source === undefined) continue;
      if (!("min" in kind)) knobs[knob.name] = input.value;
      else {
        const number = Number(input.value);
        const good = input.value.trim() !== "" && Number.isInteger(number) && number >= kind.min && number <= kind.max;
        input.setAttribute("aria-invalid", String(!good));
        if (!good) {
          input.focus();
          return write(this.error, `${knob.label}: enter a whole number from ${exact(kind.min)} to ${exact(kind.max)}.`);
        }
        knobs[knob.name] = number;
      }
    }
    this.go.disabled = this.back.disabled = true;
    await this.train(source, knobs).catch((error) => write(this.error, reason(error)));
    this.go.disabled = this.back.disabled = false;
  }
}
