// Two things a static host may not give: the headers for cross-origin isolation, and the page
// without a network. `npm run build` writes the build's name and its files into the three lines below: those of every page, and by
// kind of module those of all rooms (null where not all are built).
const BUILD = "__BUILD__";
const SHELL = ["__SHELL__"];
const ROOMS = "__ROOMS__";

// Other pages may share the origin, another build of this one among them, and caches belong to the origin.
const SCOPE = self.registration.scope;
const MINE = `hothouse ${new URL(SCOPE).pathname} `;
const CACHE = MINE + BUILD;
const PATIENCE_MS = 2500;
const HEADERS = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
};

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(SHELL)));
  // The first one starts at once; a later one waits until no page of the build before is open.
  if (!self.registration.active) self.skipWaiting();
});

self.addEventListener("activate", (event) => {
  const tidy = async () => {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name.startsWith(MINE) && name !== CACHE).map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(tidy());
});

self.addEventListener("message", (event) => {
  const { keep, keepRooms } = event.data ?? {};
  if (keep) event.waitUntil(kept(keep.filter((url) => ours(new URL(url)))));
  if (keepRooms) event.waitUntil(kept(ROOMS[keepRooms]?.map((path) => SCOPE + path)).then((all) => event.ports[0].postMessage(all)));
});

/** Gives whether all of these are there now. */
async function kept(urls) {
  if (!urls) return false;
  const cache = await caches.open(CACHE);
  let all = true;
  // One after another: whatever the page itself loads goes first.
  for (const url of urls) {
    if (!(await cache.match(url))) await cache.add(url).catch(() => (all = false));
  }
  return all;
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || !ours(url)) return;
  event.respondWith((isPage(url) ? page(request) : file(request)).then(isolated));
});

/** The path within the scope, without what is asked of it; undefined beyond. */
function place({ origin, pathname }) {
  const address = origin + pathname;
  return address.startsWith(SCOPE) ? address.slice(SCOPE.length) : undefined;
}

/** The page has one document and these files; whatever else lies in the scope is somebody else's, and left alone. */
const isPage = (url) => ["", "index.html"].includes(place(url));
const ours = (url) => isPage(url) || SHELL.includes(place(url)) || /^(assets|wasm)\//.test(place(url));

/** The page itself comes fresh where there is a network, so that a new build is seen. */
async function page(request) {
  const cache = await caches.open(CACHE);
  const fresh = fetch(request).then((response) => keepCopy(cache, "./", response));
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  const first = await Promise.race([fresh.catch(() => undefined), late]);
  return first ?? (await cache.match("./")) ?? fresh;
}

/** Everything else has a hash in its name or belongs to this build. */
async function file(request) {
  const cache = await caches.open(CACHE);
  return (await cache.match(request, { ignoreSearch: true })) ?? keepCopy(cache, request, await fetch(request));
}

function keepCopy(cache, key, response) {
  // a full disk must not cost the response
  if (response.ok && response.type === "basic") cache.put(key, response.clone()).catch(() => {});
  return response;
}

function isolated(response) {
  if (!response || (response.type !== "basic" && response.type !== "default")) return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}
