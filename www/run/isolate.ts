// Cross-origin isolation and offline use. The page's own service worker provides both. Threads require the isolation. If the host does not
// send the isolation headers, the first visit reloads the page once. In a frame in another page, the service worker only adds headers.

import type { Module } from "./features";

const RELOADED = "hothouse.isolation-tried";
/** Parameter in the address of a frame that marks a reload for isolation. */
const FRAME_RELOADED = "isolation-tried";
/** First version of Chromium with Document-Isolation-Policy, which isolates a frame in any page. */
const ISOLATES_FRAMES = 137;
const TIMEOUT_MS = 5000;

/** Registration of the service worker. Undefined until `isolate` sets it; resolves to undefined if the registration failed. */
let registered: Promise<ServiceWorkerRegistration | undefined> | undefined;

/** Returns the browser's container of service workers. Returns undefined if the browser has no container or throws on access. */
function workers(): ServiceWorkerContainer | undefined {
  try {
    return isSecureContext ? navigator.serviceWorker : undefined;
  } catch {
    return undefined;
  }
}

/** Resolves when the page can start. If a reload enables threads, reloads the page and never resolves. */
export async function isolate(): Promise<void> {
  const container = workers();
  if (!container) return;
  registered ??= register(container);
  if (crossOriginIsolated) {
    remember(null);
    void registered.then(keepForOffline);
    return;
  }
  if (!remember("yes")) return;
  const registration = await Promise.race([registered, late()]);
  if (registration && (await activated(registration))) {
    location.reload();
    await new Promise(() => {});
  }
}

/** Registers the service worker for offline use, without a reload. Does nothing if it is registered already. */
export function prepareOffline(): void {
  const container = workers();
  if (!container || registered) return;
  registered = register(container);
  void registered.then(keepForOffline);
}

/**
 * Resolves when a frame in another page can start. A reload is needed if the host does not send the isolation headers and the browser can
 * isolate the frame. In this case, registers a service worker, reloads the frame once, and never resolves. If the page itself already has a
 * service worker, does nothing.
 */
export async function isolateFrame(): Promise<void> {
  const container = workers();
  const address = new URL(location.href);
  if (!container || crossOriginIsolated || !isolatesFrames() || address.searchParams.has(FRAME_RELOADED)) return;
  if (await container.getRegistration().catch(() => undefined)) return;
  const registration = await Promise.race([register(container, "sw.js?frame"), late()]);
  if (!registration || !(await activated(registration))) return;
  address.searchParams.set(FRAME_RELOADED, "");
  location.replace(address);
  await new Promise(() => {});
}

function isolatesFrames(): boolean {
  const { userAgentData } = navigator as { userAgentData?: { brands: { brand: string; version: string }[] } };
  return !!userAgentData?.brands.some(({ brand, version }) => brand === "Chromium" && Number(version) >= ISOLATES_FRAMES);
}

async function register(container: ServiceWorkerContainer, script = "sw.js"): Promise<ServiceWorkerRegistration | undefined> {
  try {
    return await container.register(new URL(script, document.baseURI));
  } catch {
    return undefined; // the browser refused it; the page works without it
  }
}

const late = (): Promise<undefined> => new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS, undefined));

/**
 * Records a reload in the session storage. If `value` is null, clears the record. Returns false if a reload is already recorded or the
 * storage is not available.
 */
function remember(value: string | null): boolean {
  try {
    if (value === null) sessionStorage.removeItem(RELOADED);
    else if (sessionStorage.getItem(RELOADED)) return false;
    else sessionStorage.setItem(RELOADED, value);
    return true;
  } catch {
    return false;
  }
}

function activated(registration: ServiceWorkerRegistration): Promise<boolean> {
  return new Promise((resolve) => {
    void late().then(() => resolve(false));
    const worker = registration.installing ?? registration.waiting ?? registration.active;
    const check = () => worker?.state === "activated" && resolve(true);
    worker?.addEventListener("statechange", check);
    check();
  });
}

/** Caches the files that the page loaded before the service worker was active. */
async function keepForOffline(registration: ServiceWorkerRegistration | undefined): Promise<void> {
  if (!registration || !(await activated(registration))) return;
  keep(performance.getEntriesByType("resource").map((entry) => entry.name));
}

async function post(message: unknown, transfer: Transferable[] = []): Promise<void> {
  const registration = await registered;
  const worker = registration && (await Promise.race([workers()?.ready, redundant(registration)]))?.active;
  if (!worker) throw new Error("this page has no service worker. Reload it in a browser that supports service workers");
  worker.postMessage(message, transfer);
}

/** Resolves if the service worker cannot be installed. `ready` would never resolve in this case. */
function redundant({ installing }: ServiceWorkerRegistration): Promise<undefined> {
  return new Promise((resolve) => {
    installing?.addEventListener("statechange", () => installing.state === "redundant" && resolve(undefined));
  });
}

/** Requests that the service worker cache these addresses for offline use. */
export function keep(urls: string[]): void {
  post({ keep: urls }).catch(() => {}); // without a service worker nothing is cached
}

/**
 * Asks the service worker to cache every room with its module of this flavour. Resolves to false if a file is missing, because the network
 * is down or a module is not built. (`npm start` builds a module only when its room is opened.)
 */
export function keepRooms(module: Module): Promise<boolean> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }: MessageEvent<boolean>) => resolve(data);
    post({ keepRooms: module }, [port2]).catch(() => resolve(false));
  });
}
