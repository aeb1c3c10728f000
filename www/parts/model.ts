// A section of a tab that exports the model of the run for other programs, with its model card.

import type { Announcer } from "./announce";
import { copyField } from "./dialog";
import { button, h, labelled, select } from "./dom";
import { download } from "./files";
import { bytes } from "./format";
import type { Notices } from "./notices";
import { quoted } from "./shell";
import type { Client } from "../run/client";
import type { Exported, ModelFormat } from "../run/exporter";
import { exportModel } from "../run/model";
import { textOf } from "../run/notice";
import "./model.css";

const FORMATS: Record<ModelFormat, string> = {
  onnx: "ONNX, for onnxruntime and other runtimes",
  c: "C, a file without dependencies",
  js: "JavaScript, a module for browsers and Node",
};

export class Model {
  readonly element: HTMLElement;
  private readonly format = select("format", Object.entries(FORMATS));
  private readonly start = button("Export the model", () => this.export());
  private readonly status = h("p.small", { role: "status" });
  private readonly card = h("div.model-card", { hidden: true });
  private readonly command = h("div");

  /** `fileName` returns the file name of a saved run, which the displayed command contains. */
  constructor(
    private readonly client: Client,
    private readonly fileName: () => string,
    private readonly around: { notices: Notices; announcer: Announcer },
  ) {
    this.format.addEventListener("change", () => this.writeCommand());
    this.writeCommand();
    this.element = h("div.saving", [
      h("p", [
        "The model contains the network with its current weights, for other programs. Rules, searches and the optimiser are not in it. ",
        "The model card describes inputs and outputs, and states how the run was trained and how well it does.",
      ]),
      h("div.row.foot", labelled("Format", this.format), this.start),
      this.status,
      this.card,
      h("p.small", [
        "In a terminal, this command exports the model of a saved run. See ",
        h("a", { href: "docs/export.html", target: "_blank", rel: "noopener" }, "formats, inputs and outputs"),
        ".",
      ]),
      this.command,
    ]);
  }

  private get chosen(): ModelFormat {
    return this.format.value as ModelFormat;
  }

  /** Writes the command with the name of the file that was saved last. Called when the section is shown. */
  writeCommand(): void {
    const { chosen } = this;
    const saved = quoted(this.fileName());
    const words = `cargo run --release -- export ${this.client.room.id} ${saved} --format ${chosen} --out model.${chosen}`;
    this.command.replaceChildren(copyField("Command", words));
  }

  private async export(): Promise<void> {
    this.start.disabled = true;
    this.status.textContent = "The model is being exported…";
    try {
      this.take(await exportModel(this.client, this.chosen));
    } catch (error) {
      this.status.textContent = "";
      this.around.notices.show("error", `The model could not be exported: ${textOf(error)}`, "Export it again.");
    }
    this.start.disabled = false;
  }

  /** Downloads the model and shows its card. */
  private take({ model, card }: Exported): void {
    download(model.name, model.bytes);
    this.status.textContent = `Exported ${model.name}, ${bytes(model.bytes.length)}.`;
    const text = new TextDecoder().decode(card.bytes);
    this.card.hidden = false;
    this.card.replaceChildren(
      button("Download the model card", () => download(card.name, card.bytes)),
      h("details", h("summary", "Model card"), h("pre", { tabindex: 0, role: "region", "aria-label": "Model card" }, text)),
    );
  }
}
