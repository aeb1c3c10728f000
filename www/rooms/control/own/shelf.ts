// The list of the visitor's files, one of which is open. Changes are stored after a pause in typing. Texts that the browser cannot store
// stay in memory, and each later save tries to store them again.

import { pageLife } from "../../../parts/life";
import * as store from "./files";
import type { FileError, OwnFile } from "./files";

const SAVE_AFTER_MS = 500;

export type Named = Pick<OwnFile, "name" | "text">;

export interface Hearer {
  /** Called when a file is opened, also when another tab has changed the open file. */
  opened(file: OwnFile): void;
  /** Called when the names or times of files have changed, or when files become saved or unsaved. */
  changed(): void;
  /** Called when an operation on a file fails. `file` is by default the open file. */
  failed(error: FileError, file?: Named): void;
}

export class Shelf {
  /** All files. The file that was changed last is first. */
  files: OwnFile[] = [];
  /** The open file, with the visitor's latest text; undefined until the files are loaded. */
  current: OwnFile | undefined;
  /** Files with texts that are not stored yet, by id. */
  private readonly unsaved = new Map<string, OwnFile>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private working: Promise<unknown> = Promise.resolve();

  constructor(private readonly hearer: Hearer) {
    const signal = pageLife();
    document.addEventListener("visibilitychange", () => void (document.hidden ? this.save() : this.refresh()), { signal });
    addEventListener("pagehide", () => void this.save(), { signal });
    addEventListener("beforeunload", (event) => this.unsaved.size > 0 && event.preventDefault(), { signal });
    signal.addEventListener("abort", () => void this.save());
  }

  get saved(): boolean {
    return this.unsaved.size === 0;
  }

  /**
   * Opens the file with the text of `wanted`, or creates it. Without `wanted`, opens the file that was open last, or the latest file. If
   * there are no files, creates the file that `first` returns.
   */
  async begin(first: () => Promise<Named>, wanted?: Named): Promise<void> {
    await this.refresh();
    const last = store.lastOpen();
    const files = this.files.toSorted((a, b) => Number(b.id === last) - Number(a.id === last));
    const file = wanted ? files.find(({ text }) => text === wanted.text) : files[0];
    if (file) return this.open(file);
    const { name, text } = wanted ?? (await first());
    await this.create(name, text);
  }

  /** Calls `work` after all earlier calls have ended. Without this order, two calls could change the list of files at the same time. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.working.then(work);
    this.working = done.catch(() => {}); // the caller handles the error
    return done;
  }

  /** Reads the stored files again, because another tab may have changed them. */
  private refresh(): Promise<void> {
    return this.inTurn(async () => {
      const stored = await store.listFiles().catch((error: FileError) => this.hearer.failed(error));
      const kept = [...this.unsaved.values()];
      this.files = [...kept, ...(stored ?? this.files).filter(({ id }) => !this.unsaved.has(id))];
      const newer = this.files.find(({ id }) => id === this.current?.id);
      // A file that another tab has deleted stays in the list while it is open here.
      if (this.current && !newer) this.files = [this.current, ...this.files];
      if (newer && newer.editedMs !== this.current?.editedMs) this.open(newer);
      this.hearer.changed();
    });
  }

  open(file: OwnFile): void {
    void this.save();
    this.current = this.unsaved.get(file.id) ?? file;
    store.rememberOpen(file);
    this.hearer.opened(this.current);
    this.hearer.changed();
  }

  /** Takes a new text of the open file, and stores it after a pause. */
  write(text: string): void {
    if (!this.current || text === this.current.text) return;
    this.current = { ...this.current, text };
    this.keep(this.current);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.save(), SAVE_AFTER_MS);
  }

  /** Replaces the text of the open file, and shows the new text in the editor. */
  private rewrite(text: string): void {
    this.write(text);
    if (this.current) this.hearer.opened(this.current);
  }

  /** Keeps a file in memory until it is stored. */
  private keep(file: OwnFile): void {
    const { saved } = this;
    this.unsaved.set(file.id, file);
    if (saved) this.hearer.changed();
  }

  /** Stores all texts that are not stored yet. */
  save(): Promise<void> {
    clearTimeout(this.timer);
    return this.inTurn(async () => {
      for (const file of [...this.unsaved.values()]) await this.put(file);
    });
  }

  private async put(file: OwnFile): Promise<void> {
    try {
      this.replace(file, await store.saveText(file, file.text));
    } catch (error) {
      this.hearer.failed(error as FileError, file);
    }
  }

  /**
   * Replaces a file by its stored version. The stored version has another id if `saveText` stored the text as another file. Changes that
   * the visitor made in the meantime are kept.
   */
  private replace(file: OwnFile, stored: OwnFile): void {
    const { text } = this.unsaved.get(file.id) ?? file;
    this.unsaved.delete(file.id);
    if (text !== stored.text) this.unsaved.set(stored.id, { ...stored, text });
    this.files = [{ ...stored, text }, ...this.files.filter(({ id }) => id !== stored.id && id !== file.id)];
    if (this.current?.id === file.id) {
      this.current = { ...stored, text };
      store.rememberOpen(stored);
    }
    this.hearer.changed();
    if (stored.id !== file.id) void this.refresh();
  }

  /** Creates a file and opens it. If the browser cannot store it, the file stays in memory. */
  async create(name: string, text: string): Promise<void> {
    await this.add(() => store.createFile(name, text), { name, text });
  }

  async duplicate(): Promise<void> {
    await this.save();
    const { current } = this;
    if (current) await this.add(() => store.duplicateFile(current), current);
  }

  private async add(create: () => Promise<OwnFile>, { name, text }: Named): Promise<void> {
    const file = await this.inTurn(create).catch((error: FileError) => {
      this.hearer.failed(error, { name, text });
      if (!error.storage) return undefined;
      const unstored = store.fileOf(name, text);
      this.keep(unstored);
      return unstored;
    });
    if (!file) return;
    this.files = [file, ...this.files];
    this.open(file);
  }

  /** Renames the open file. Throws a `FileError` if the name is not permitted or not free. */
  async rename(name: string): Promise<void> {
    await this.save();
    if (!this.current) return;
    const { current } = this;
    const renamed = await this.inTurn(() => store.renameFile(current, name));
    this.files = this.files.map((file) => (file.id === renamed.id ? { ...file, name: renamed.name } : file));
    if (this.current.id === renamed.id) this.current = { ...this.current, name: renamed.name };
    this.hearer.changed();
  }

  /**
   * Deletes the open file; afterwards, no file is open. Returns a function that restores the file and opens it. Returns undefined if the
   * file could not be deleted.
   */
  async remove(): Promise<(() => Promise<void>) | undefined> {
    await this.save();
    const { current } = this;
    if (!current) return undefined;
    const restore = await this.inTurn(() => store.deleteFile(current)).catch((error: FileError) => this.hearer.failed(error));
    if (!restore) return undefined;
    const lost = this.unsaved.get(current.id);
    this.unsaved.delete(current.id);
    this.files = this.files.filter(({ id }) => id !== current.id);
    this.current = undefined;
    return async () => {
      await this.add(restore, current);
      if (lost) this.rewrite(lost.text);
    };
  }
}
