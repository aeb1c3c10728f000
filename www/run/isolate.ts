// Cross-origin isolation (which threads need) and offline use, through the page's own service worker.
// A host that sends the headers itself needs no reload; any other costs one, and never a second.

import type { Module } from "./features";

const TRIED = "hothouse.isolation-tried";
const PATIENCE_MS = 5000;

/** What came of registering, once `isolate` has asked for it. */
let registered: Promise<ServiceWorkerRegistration | undefined> | undefined;

/** The browser's service workers, where it has any: some have none, or throw where they are refused. */
function workers(): ServiceWorkerContainer | undefined {
  try {
    return isSecureContext ? navigator.serviceWorker : undefined;
  } catch {
    return undefined;
  }
}

/** Ends when the page may start. Where a reload gives it threads, it reloads and never ends. */
export async function isolate(): Promise<void> {
  const container = workers();
  if (!container) return;
  registered = register(container);
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

async function register(container: ServiceWorkerContainer): Promise<ServiceWorkerRegistration | undefined> {
  try {
    return await container.register(new URL("sw.js", document.baseURI));
  } catch {
    return undefined; // refused: the page goes on without
  }
}

const late = (): Promise<undefined> => new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, undefined));

/** Notes that a reload was tried; false where it was already, or where nothing can be noted. */
function remember(tried: string | null): boolean {
  try {
    if (tried === null) sessionStorage.removeItem(TRIED);
    else if (sessionStorage.getItem(TRIED)) return false;
    else sessionStorage.setItem(TRIED, tried);
    return true;
  } catch {
    return false;
  }
}

function activated(registration: ServiceWorkerRegistration): Promise<boolean> {
  return new Promise((resolve) => {
    void late().then(() => resolve(false));
    const worker = registration.installing ?? registration.waiting ?? registration.active;
    const look = () => worker?.state === "activated" && resolve(true);
    worker?.addEventListener("statechange", look);
    look();
  });
}

/** What this first visit loaded before the service worker was there, it should keep as well. */
async function keepForOffline(registration: ServiceWorkerRegistration | undefined): Promise<void> {
  if (!registration || !(await activated(registration))) return;
  keep(performance.getEntriesByType("resource").map((entry) => entry.name));
}

async function post(message: unknown, transfer: Transferable[] = []): Promise<void> {
  const registration = await registered;
  const worker = registration && (await Promise.race([workers()?.ready, redundant(registration)]))?.active;
  if (!worker) throw new Error("this page has no service worker. Load the page again, in a browser that has them");
  worker.postMessage(message, transfer);
}

/** Ends where the service worker cannot be installed: `ready` never does then, nor where it is not registered. */
function redundant({ installing }: ServiceWorkerRegistration): Promise<undefined> {
  return new Promise((resolve) => {
    installing?.addEventListener("statechange", () => installing.state === "redundant" && resolve(undefined));
  });
}

/** Asks the service worker to have these addresses ready for when there is no network. */
export function keep(urls: string[]): void {
  post({ keep: urls }).catch(() => {}); // nothing is kept then
}

/**
 * Asks the service worker to have every room ready, in a module of this kind. Gives whether they all are: the network may have gone away,
 * and `npm start` builds none that was not opened.
 */
export function keepRooms(module: Module): Promise<boolean> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }: MessageEvent<boolean>) => resolve(data);
    post({ keepRooms: module }, [port2]).catch(() => resolve(false));
  });
}
