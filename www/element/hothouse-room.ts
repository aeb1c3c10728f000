// The custom element `<hothouse-room>`, which shows a run in a frame. The frame loads a built page of Hothouse. The element has no
// dependencies.

import {
  PROTOCOL,
  posted,
  versionOf,
  type Began,
  type Failure,
  type FromFrame,
  type Progress,
  type Solved,
  type ToFrame,
} from "./messages.js";

export type { Began, Controls, Failure, Progress, Solved, Standing, Theme } from "./messages.js";

/** Events of the element, by name. */
export interface HothouseRoomEvents {
  /** A run has begun: the first one, or another after a change of the attributes or a press of "New run". */
  began: CustomEvent<Began>;
  /** Training has progressed. At most ten such events are sent each second. */
  progress: CustomEvent<Progress>;
  /** The run has reached its goal, and a confirmation has reached it too. */
  solved: CustomEvent<Solved>;
  error: CustomEvent<Failure>;
}

/** Address of the built page that `npm run element` sets for the package. Empty in the copy beside `embed.html`. */
declare const __PAGE__: string;

/** Maximum wait for the first message of the frame. */
const SILENT_MS = 30_000;
/** Distance from the visible part of the page at which the frame is loaded. */
const MARGIN = "200px";

const STYLE = `
  :host { display: block; width: 100%; height: 480px; contain: content; }
  :host([hidden]) { display: none; }
  iframe { display: block; width: 100%; height: 100%; border: 0; border-radius: inherit; }
  p { margin: 0; padding: 16px; font: 14px/1.5 system-ui, sans-serif; }
`;

// `HTMLElement` does not exist on a server that renders pages.
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/** Attributes with their defaults. The element has a property of the same name for each. */
const ATTRIBUTES = {
  room: "",
  variant: "",
  link: "",
  controls: "all",
  theme: "auto",
  src: __PAGE__ || import.meta.url.replace(/[^/]*$/, ""),
};

export class HothouseRoom extends Base {
  static readonly observedAttributes = Object.keys(ATTRIBUTES);
  /** Name of the room, for example `control`. */
  declare room: string;
  /** Name of the variant, for example `CartPole-v1`; empty for the room's first variant. */
  declare variant: string;
  /** Link to a run, as the page or `run.link` gives it. It replaces `room` and `variant`. */
  declare link: string;
  /** Parts besides picture and curve: `all` (default), `play`, `knobs` or `none`. */
  declare controls: string;
  /** Colours: `auto` (default), `light` or `dark`. */
  declare theme: string;
  /** Address of the folder with the built page. */
  declare src: string;
  private frame: HTMLIFrameElement | undefined;
  /** Error in place of the frame. */
  private alert: HTMLElement | undefined;
  /** Link that the frame shows or loads. */
  private opened = "";
  private listening = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly watcher = globalThis.IntersectionObserver
    ? new IntersectionObserver((seen) => seen.some(({ isIntersecting }) => isIntersecting) && this.load(), { rootMargin: MARGIN })
    : undefined;
  private readonly take = (event: MessageEvent): void => this.receive(event);

  connectedCallback(): void {
    if (!this.shadowRoot) {
      const style = document.createElement("style");
      style.textContent = STYLE;
      this.attachShadow({ mode: "open" }).append(style);
    }
    addEventListener("message", this.take);
    // The frame starts when the visitor is about to see it.
    if (this.watcher) this.watcher.observe(this);
    else this.load();
  }

  disconnectedCallback(): void {
    removeEventListener("message", this.take);
    this.watcher?.disconnect();
    this.unload();
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (before === after || !(this.frame || this.alert)) return;
    if (name === "src") {
      this.unload();
      this.load();
    } else if (name === "controls" || name === "theme") this.look();
    // Several attributes can change at once, so the link is opened after all of them have changed.
    else queueMicrotask(() => this.open());
  }

  // ---- commands

  play(): void {
    this.send({ kind: "run", running: true });
  }

  pause(): void {
    this.send({ kind: "run", running: false });
  }

  /** Changes a live knob, for example `set("lr", 0.001)`. The frame shows an error if the room has no such knob. */
  set(name: string, value: number | string): void {
    this.send({ kind: "knob", name, value });
  }

  /** Adds a listener. The types of the events `progress` and `error` differ from those of other elements. */
  override addEventListener<Name extends keyof HothouseRoomEvents>(name: Name, listener: (event: HothouseRoomEvents[Name]) => void): void;
  override addEventListener(name: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
  override addEventListener(name: string, listener: unknown, options?: boolean | AddEventListenerOptions): void {
    super.addEventListener(name, listener as EventListener, options);
  }

  // ---- the frame

  /** Link that the attributes describe. If the attribute `link` is an address of the page, only the text from `#` on is used. */
  private get wanted(): string {
    const { link, room, variant } = this;
    if (link) return link.slice(Math.max(0, link.indexOf("#")));
    return `#/${encodeURIComponent(room)}${variant && `?variant=${encodeURIComponent(variant)}`}`;
  }

  private get address(): URL | undefined {
    const { src } = this;
    try {
      return new URL("embed.html", new URL(src.endsWith("/") ? src : `${src}/`, document.baseURI));
    } catch {
      return undefined;
    }
  }

  private load(): void {
    const { address } = this;
    if (this.frame || this.alert) return;
    this.watcher?.disconnect();
    if (!address || !/^https?:$/.test(address.protocol)) {
      this.fail(
        `The address '${this.src}' of the page is invalid. Set the attribute 'src' to an address such as 'https://example.org/hothouse/'.`,
      );
      return;
    }
    address.searchParams.set("controls", this.controls);
    address.searchParams.set("theme", this.theme);
    this.opened = this.wanted;
    address.hash = this.opened;
    const frame = document.createElement("iframe");
    frame.title = this.title || "A run of Hothouse";
    // In an isolated page, only a frame with this permission is isolated.
    frame.allow = "cross-origin-isolated";
    frame.src = address.href;
    this.frame = frame;
    this.shadowRoot!.append(frame);
    this.timer = setTimeout(
      () => this.fail(`There was no answer from ${address.origin}${address.pathname}. Check the attribute 'src'.`),
      SILENT_MS,
    );
  }

  private unload(): void {
    clearTimeout(this.timer);
    this.frame?.remove();
    this.alert?.remove();
    this.frame = this.alert = undefined;
    this.listening = false;
  }

  /** Opens the link that the attributes describe, unless the frame shows it already. */
  private open(): void {
    const { wanted } = this;
    if (!this.listening || wanted === this.opened) return;
    this.opened = wanted;
    this.send({ kind: "open", link: wanted });
  }

  private look(): void {
    this.send({ kind: "look", controls: this.controls, theme: this.theme });
  }

  private send(message: ToFrame): void {
    if (this.listening) this.frame?.contentWindow?.postMessage(posted(message), this.address?.origin ?? "/");
  }

  private receive({ source, origin, data }: MessageEvent): void {
    if (!this.frame || source !== this.frame.contentWindow || origin !== this.address?.origin) return;
    const version = versionOf(data);
    if (version === undefined) return;
    clearTimeout(this.timer);
    if (version !== PROTOCOL) {
      this.fail(
        `The page at ${this.src} speaks version ${version} of the messages, this element version ${PROTOCOL}. Update the older one.`,
      );
      return;
    }
    const message = data as FromFrame;
    if (message.kind !== "listening") return this.report(message.kind, message.detail);
    // Attributes may have changed while the frame was loaded.
    this.listening = true;
    this.look();
    this.open();
  }

  /** Shows an error in place of the frame. */
  private fail(message: string): void {
    this.unload();
    this.alert = document.createElement("p");
    this.alert.setAttribute("role", "alert");
    this.alert.textContent = message;
    this.shadowRoot!.append(this.alert);
    this.report("error", { message });
  }

  private report(name: keyof HothouseRoomEvents, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

for (const [name, preset] of Object.entries(ATTRIBUTES))
  Object.defineProperty(HothouseRoom.prototype, name, {
    get(this: HothouseRoom) {
      return this.getAttribute(name) ?? preset;
    },
    set(this: HothouseRoom, value: string) {
      this.setAttribute(name, value);
    },
  });

declare global {
  interface HTMLElementTagNameMap {
    "hothouse-room": HothouseRoom;
  }
}

globalThis.customElements?.get("hothouse-room") ?? globalThis.customElements?.define("hothouse-room", HothouseRoom);
