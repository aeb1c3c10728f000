// The bar above the editor: the choice of the open file, and commands on files.

import { Dialog } from "../../../parts/dialog";
import { button, form, h, id, labelled, line, markInvalid, write } from "../../../parts/dom";
import { chooser, download } from "../../../parts/files";
import { ago } from "../../../parts/format";
import type { Notices } from "../../../parts/notices";
import { coded } from "./coded";
import { FileError, type OwnFile } from "./files";
import { readPython } from "./imported";
import { first, templates } from "./newest";
import type { Named, Shelf } from "./shelf";
import type { Template } from "./templates";

/** Name of the empty file that replaces the first template if the templates cannot be loaded. */
const EMPTY = "environment.py";

export interface BarActions {
  train(): void;
  /** Starts the tour; undefined if there is no tour. */
  tour?: (() => void) | undefined;
}

export class FileBar {
  private readonly choice = h("select", { id: id("file") });
  /** States whether all files are saved. */
  readonly status = h("p.small.own-saved", { role: "status" });
  private readonly kinds = h("ul.own-templates");
  private readonly fresh = new Dialog("New file", h("p", "Each file is a complete environment."), this.kinds);
  private readonly name = line("name", { maxlength: 80 });
  private readonly error = h("p.error", { role: "alert", id: id("name-error") });
  private readonly naming = new Dialog("Rename file", this.nameForm());
  readonly element: HTMLElement;

  constructor(
    private readonly shelf: Shelf,
    private readonly notices: Notices,
    { train, tour }: BarActions,
  ) {
    this.choice.addEventListener("change", () => {
      const file = shelf.files.find((one) => one.id === this.choice.value);
      if (file) shelf.open(file);
    });
    this.element = h("div.own-bar.row", [
      labelled("File", this.choice),
      button("Train", train, { class: "strong", title: "Train in this environment (Ctrl+Enter)" }),
      button("New", () => this.attempt(() => this.offer())),
      chooser("Open", (file) => void this.take(file), ".py"),
      button("Download", () => this.download()),
      button("Rename", () => this.askName()),
      button("Duplicate", () => shelf.duplicate()),
      button("Delete", () => this.remove()),
      tour && button("Tour", tour, { title: "Change the reward and watch" }),
    ]);
  }

  /** Opens the file `wanted`, by default the file that was open last. If there is no such file, creates one. */
  begin(wanted?: Named): Promise<void> {
    return this.attempt(
      () => this.shelf.begin(first, wanted),
      (error) => {
        this.fail(error);
        void this.shelf.create(EMPTY, "");
      },
    );
  }

  /** Shows the names of the files, for the closed ones with the times of their last changes, and whether all files are saved. */
  show(): void {
    const { files, current, saved } = this.shelf;
    const option = ({ id, name, editedMs }: OwnFile): HTMLElement =>
      id === current?.id ? h("option", { value: id, selected: true }, name) : h("option", { value: id }, `${name}, ${ago(editedMs)}`);
    this.choice.replaceChildren(...files.map(option));
    write(this.status, saved ? "Saved in this browser" : "Not saved yet");
  }

  fail({ message, nextStep, storage }: FileError, file: Pick<OwnFile, "name" | "text"> | undefined = this.shelf.current): void {
    const action = storage && file ? { label: "Download", run: () => download(file.name, file.text) } : undefined;
    this.notices.show("warning", message, nextStep, action);
  }

  /** Creates a file from a file that the visitor has opened or dropped. */
  take(file: File): Promise<void> {
    return this.attempt(async () => this.shelf.create(file.name, await readPython(file)));
  }

  /** Runs `work`. Passes a `FileError` of `work` to `report`, and throws other errors again. */
  private async attempt(work: () => Promise<void>, report = (error: FileError) => this.fail(error)): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      report(error);
    }
  }

  private download(): void {
    const { current } = this.shelf;
    if (current) download(current.name, current.text);
  }

  /** Opens the list of templates. */
  private async offer(): Promise<void> {
    const create = ({ name, text }: Template): void => {
      this.fresh.close();
      void this.shelf.create(name, text);
    };
    const entry = (template: Template): HTMLElement =>
      h(
        "li",
        button([h("strong", template.name), h("span", template.title), h("span.small", coded(template.change))], () => create(template)),
      );
    this.kinds.replaceChildren(...(await templates()).map(entry));
    this.fresh.open();
  }

  private nameForm(): HTMLElement {
    this.name.setAttribute("aria-describedby", this.error.id);
    return form("own-name stack", () => this.rename(), [
      labelled("Name", this.name),
      this.error,
      h("p.row", h("button.strong", { type: "submit" }, "Rename")),
    ]);
  }

  private askName(): void {
    this.showError("");
    this.name.value = this.shelf.current?.name ?? "";
    this.naming.open();
    this.name.focus();
    this.name.setSelectionRange(0, this.name.value.lastIndexOf("."));
  }

  private rename(): Promise<void> {
    const work = async (): Promise<void> => {
      await this.shelf.rename(this.name.value);
      this.naming.close();
    };
    return this.attempt(work, ({ message, nextStep }) => {
      this.showError(`${message} ${nextStep}`);
      this.name.focus();
    });
  }

  private showError(words: string): void {
    write(this.error, words);
    markInvalid(this.name, words !== "");
  }

  private async remove(): Promise<void> {
    const name = this.shelf.current?.name;
    const restore = await this.shelf.remove();
    if (restore) this.notices.show("info", `${name} is deleted`, "", { label: "Undo", run: () => void restore() });
    if (restore) await this.begin();
  }
}
