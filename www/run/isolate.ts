// Cross-origin isolation (which threads need) and offline use, through the page's own service worker.
// A host that sends the headers itself needs no reload; any other costs one, and never a second.

const TRIED = "hothouse.isolation-tried";
const PATIENCE_MS = 5000;

/** Ends when the page may start. Where a reload gives it threads, it reloads and never ends. */
export async function isolate(): Promise<void> {
  if (!("serviceWorker" in navigator) || !isSecureContext) return;
  const registered = navigator.serviceWorker.register(new URL("sw.js", document.baseURI)).catch(() => null);
  if (crossOriginIsolated) {
    remember(null);
    void registered.then(keepForOffline);
    return;
  }
  if (!remember("yes")) return;
  const registration = await registered;
  if (registration && (await activated(registration))) {
    location.reload();
    await new Promise(() => {});
  }
}

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
    setTimeout(() => resolve(false), PATIENCE_MS);
    const worker = registration.installing ?? registration.waiting ?? registration.active;
    const look = () => worker?.state === "activated" && resolve(true);
    worker?.addEventListener("statechange", look);
    look();
  });
}

/** What this first visit loaded before the service worker was there, it should keep as well. */
async function keepForOffline(registration: ServiceWorkerRegistration | null): Promise<void> {
  if (!registration || !(await activated(registration))) return;
  keep(performance.getEntriesByType("resource").map((entry) => entry.name));
}

/** Asks the service worker to have these addresses ready for when there is no network. */
export function keep(urls: string[]): void {
  void navigator.serviceWorker?.ready.then((registration) => registration.active?.postMessage({ keep: urls }));
}
