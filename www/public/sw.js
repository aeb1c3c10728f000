// Service worker. It adds the headers for cross-origin isolation and for security, and serves the page offline. A frame in another page
// registers the address `sw.js?frame`, which only adds headers, until the visitor opens the page itself. `npm run build` sets the four
// constants below. `BUILD` is the name of the build and `SHELL` lists the files of every page. `ROOMS` maps each module flavour (a choice of
// threads and vector instructions) to the files of all rooms, or to null if a module of this flavour is not built. `POLICY` is the content
// security policy of `index.html`.
const BUILD = "__BUILD__";
const SHELL = ["__SHELL__"];
const ROOMS = "__ROOMS__";
const POLICY = "__POLICY__";

// Caches belong to the origin. Other pages and other builds may share the origin, so names of caches contain path and build.
const SCOPE = self.registration.scope;
const MINE = `hothouse ${new URL(SCOPE).pathname} `;
const CACHE = MINE + BUILD;
/** End of the address of a service worker that a frame has registered. It caches nothing. */
const FRAME = "?frame";
const OF_FRAME = self.location.search === FRAME;
const TIMEOUT_MS = 2500;
const HEADERS = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
  // Unlike the document's own tag, a header also applies to workers.
  "Content-Security-Policy": POLICY,
};
/** Headers of `embed.html` in addition: any page may contain it, and a browser with the second policy isolates it in any page. */
const FRAMED = { "Cross-Origin-Resource-Policy": "cross-origin", "Document-Isolation-Policy": "isolate-and-require-corp" };

self.addEventListener("install", (event) => {
  if (!OF_FRAME) event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(SHELL)));
  // The first service worker of the page activates immediately. A later one waits until all pages of the previous build are closed.
  const { active } = self.registration;
  if (!active || active.scriptURL.endsWith(FRAME)) self.skipWaiting();
});

self.addEventListener("activate", (event) => {
  const tidy = async () => {
    const names = OF_FRAME ? [] : await caches.keys();
    await Promise.all(names.filter((name) => name.startsWith(MINE) && name !== CACHE).map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(tidy());
});

self.addEventListener("message", (event) => {
  const { keep, keepRooms } = event.data ?? {};
  if (OF_FRAME) return void event.ports[0]?.postMessage(false);
  if (keep) event.waitUntil(cacheAll(keep.filter((url) => ours(new URL(url)))));
  if (keepRooms) event.waitUntil(cacheAll(ROOMS[keepRooms]?.map((path) => SCOPE + path)).then((all) => event.ports[0].postMessage(all)));
});

/** Caches the files of `urls`. Resolves to true if all are cached. */
async function cacheAll(urls) {
  if (!urls) return false;
  const cache = await caches.open(CACHE);
  let all = true;
  // Files are loaded one at a time, so that the page's own requests have priority.
  for (const url of urls) {
    if (!(await cache.match(url))) await cache.add(url).catch(() => (all = false));
  }
  return all;
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || !ours(url)) return;
  const answer = OF_FRAME || isFramed(url) ? fetch(request) : isPage(url) ? page(request) : file(request);
  event.respondWith(answer.then((response) => isolated(response, isFramed(url) ? { ...HEADERS, ...FRAMED } : HEADERS)));
});

/** Path of a URL within the page's folder, without the query; undefined if the URL is outside the folder. */
function scopedPath({ origin, pathname }) {
  const address = origin + pathname;
  return address.startsWith(SCOPE) ? address.slice(SCOPE.length) : undefined;
}

/** True for the addresses of the page's document. */
const isPage = (url) => ["", "index.html"].includes(scopedPath(url));
/** True for the document for frames in other pages. */
const isFramed = (url) => scopedPath(url) === "embed.html";
/** True for the page's files. The browser handles all other requests. */
const ours = (url) => isPage(url) || isFramed(url) || SHELL.includes(scopedPath(url)) || /^(assets|trained|wasm)\//.test(scopedPath(url));

/** Loads the document from the network, so that a new build is used. Uses the cache if the network fails or is slow. */
async function page(request) {
  const cache = await caches.open(CACHE);
  const fresh = fetch(request).then((response) => keepCopy(cache, "./", response));
  const late = new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS));
  const first = await Promise.race([fresh.catch(() => undefined), late]);
  return first ?? (await cache.match("./")) ?? fresh;
}

/** Loads a file from the cache if possible. The cached file is current, because its name contains a hash or it belongs to this build. */
async function file(request) {
  const cache = await caches.open(CACHE);
  return (await cache.match(request, { ignoreSearch: true })) ?? keepCopy(cache, request, await fetch(request));
}

function keepCopy(cache, key, response) {
  // A full disk must not make the response fail.
  if (response.ok && response.type === "basic") cache.put(key, response.clone()).catch(() => {});
  return response;
}

function isolated(response, added) {
  if (!response || (response.type !== "basic" && response.type !== "default")) return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(added)) headers.set(name, value);
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}
