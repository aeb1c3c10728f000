// Static loopback server for the built page, with headers for cross-origin isolation and for security.
import { constants, readFileSync } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";
import { pipeline } from "node:stream";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".wasm": "application/wasm",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

const HEADERS = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};

/** Headers of files for pages of other origins: the document that any page may frame, and the script of the element that frames it. */
const OPEN = {
  "/embed.html": { "Cross-Origin-Resource-Policy": "cross-origin", "Document-Isolation-Policy": "isolate-and-require-corp" },
  "/hothouse-room.js": { "Cross-Origin-Resource-Policy": "cross-origin", "Access-Control-Allow-Origin": "*" },
};

/** Returns the content security policy that a document in a folder declares. */
export const policyOf = (folder, document) =>
  readFileSync(join(folder, document), "utf8").match(/http-equiv="Content-Security-Policy"\s+content="([^"]*)"/)[1];

/**
 * Returns the content security policy of a document, extended by `more`, as a header. Unlike the document's own tag, a header also applies
 * to workers.
 */
function policy(folder, document, more = "") {
  try {
    return { "Content-Security-Policy": policyOf(folder, document) + more };
  } catch {
    return {}; // tests also serve folders without these documents
  }
}

/** Returns a function from a path to its headers for isolation and security. Only `embed.html` may be framed. */
function headersIn(folder) {
  const closed = { ...HEADERS, ...policy(folder, "index.html", "; frame-ancestors 'none'") };
  const framed = policy(folder, "embed.html");
  return (path) => ({ ...closed, ...OPEN[path], ...(path === "/embed.html" && framed) });
}

/** Returns the path of a request, or an empty string if the address is invalid. */
function pathOf(address) {
  try {
    return decodeURIComponent(new URL(address, "http://loopback").pathname);
  } catch {
    return "";
  }
}

/**
 * Host names by which a local browser addresses this server. Any other name could be a DNS rebinding attack, in which a foreign page shares
 * the origin of this server.
 */
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Flags to open a file that may have been replaced after its check: opening fails on a link and does not block. (Windows supports neither
 * flag.)
 */
const AS_IT_IS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Opens the regular file at `path`, or the file index.html in `path` if `path` is a folder. Returns the handle and the length. Returns
 * undefined if there is no such file, or if a link leads out of `folder`.
 */
async function opened(folder, path) {
  try {
    const [root, real] = await Promise.all([realpath(folder), realpath(path)]);
    if (real !== root && !real.startsWith(root.endsWith(sep) ? root : root + sep)) return undefined;
    const stat = await lstat(real);
    if (stat.isDirectory()) return await opened(folder, join(real, "index.html"));
    if (!stat.isFile()) return undefined; // reading a pipe or a device may block
    const handle = await open(real, AS_IT_IS);
    const now = await handle.stat();
    if (now.isFile()) return { handle, size: now.size };
    await handle.close();
  } catch (error) {
    if (error.code === "EMFILE" || error.code === "ENFILE") throw error;
  }
}

/**
 * Serves `folder`; returns `{ url, port, moved, close }`. If `port` is in use, the next free port is used and `moved` is true. `isolated:
 * false` omits the headers for isolation and security. `base` is a sub-path, and `extra` contains additional texts by path. `missing(path)`
 * may create a missing file. `hosts` are host names that are allowed besides loopback.
 */
export async function serve(folder, { port = 0, isolated = true, base = "/", extra = {}, missing = () => {}, hosts = [] } = {}) {
  const headersOf = isolated ? headersIn(folder) : () => ({});
  const names = [...LOOPBACK, ...hosts.map((name) => name.toLowerCase())];
  const answer = async (request, response) => {
    const refuse = (status, text, headers) =>
      response.writeHead(status, { "Content-Type": "text/plain", ...headersOf(""), ...headers }).end(`${text}\n`);
    const host = (request.headers.host ?? "").toLowerCase().replace(/:\d*$/, "");
    if (!names.includes(host)) return refuse(421, `This server does not go by that name. To allow it: npm start -- --host <name>`);
    if (!["GET", "HEAD"].includes(request.method)) return refuse(405, "Only GET and HEAD are supported.", { Allow: "GET, HEAD" });
    const path = pathOf(request.url);
    const inside = path.startsWith(base) ? normalize(`/${path.slice(base.length)}`) : null;
    if (inside !== null && Object.hasOwn(extra, inside)) {
      response.writeHead(200, { "Content-Type": TYPES[extname(inside)], ...headersOf(inside) }).end(extra[inside]);
      return;
    }
    const file = inside && join(folder, inside);
    let found = file && (await opened(folder, file));
    if (file && !found) {
      await missing(inside);
      found = await opened(folder, file);
    }
    if (!found) return refuse(404, "Not found.");
    const type = TYPES[extname(inside.endsWith("/") ? "index.html" : inside)] ?? "application/octet-stream";
    const headers = { "Content-Type": type, "Content-Length": found.size };
    // Browsers may cache files under assets/ and wasm/ for a year, because the file names contain a hash of the content.
    headers["Cache-Control"] = /^\/(assets|wasm)\//.test(inside) ? "max-age=31536000, immutable" : "no-cache";
    response.writeHead(200, { ...headers, ...headersOf(inside) });
    const stream = found.handle.createReadStream();
    if (request.method === "HEAD") stream.destroy(), response.end();
    else pipeline(stream, response, () => {}); // closes the file if the client disconnects
  };
  const server = createServer((request, response) =>
    answer(request, response).catch((error) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(503, { "Content-Type": "text/plain", ...headersOf("") }).end(`${error.message}\n`);
    }),
  );
  const asked = port;
  for (;;) {
    const error = await new Promise((resolve) => {
      server.once("error", resolve);
      server.listen(port, "127.0.0.1", () => resolve(null));
    });
    server.removeAllListeners("error");
    if (!error) break;
    if (error.code !== "EADDRINUSE" || port - asked >= 20) throw error;
    port++;
  }
  port = server.address().port;
  return {
    url: `http://127.0.0.1:${port}${base}`,
    port,
    moved: asked !== 0 && port !== asked,
    close: () => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())),
  };
}
