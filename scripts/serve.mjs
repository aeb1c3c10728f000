// A static server for loopback: the built page, with the headers that let it use threads.
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".wasm": "application/wasm",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** The path that is asked for; an address that cannot be read asks for nothing that is here. */
function pathOf(address) {
  try {
    return decodeURIComponent(new URL(address, "http://loopback").pathname);
  } catch {
    return "";
  }
}

/**
 * Serves `folder` and gives `{ url, port, moved, close }`. A port in use is passed over for the
 * next free one (`moved`). `isolated: false` is a host that sends no headers; `base` a sub-path;
 * `extra` texts by path, beside the files; `missing` may make a file that is not there, or not; `instead` may name the file
 * to serve for a path.
 */
export async function serve(folder, { port = 0, isolated = true, base = "/", extra = {}, missing = () => {}, instead = () => {} } = {}) {
  const server = createServer(async (request, response) => {
    const path = pathOf(request.url);
    const inside = path.startsWith(base) ? normalize("/" + path.slice(base.length)) : null;
    if (inside in extra) {
      response.writeHead(200, { "Content-Type": TYPES[extname(inside)], ...(isolated ? ISOLATION : {}) }).end(extra[inside]);
      return;
    }
    let file = inside && (instead(inside) ?? join(folder, inside));
    if (file && !existsSync(file)) await missing(inside);
    if (file && existsSync(file) && statSync(file).isDirectory()) file = join(file, "index.html");
    if (!file || !existsSync(file)) {
      response.writeHead(404, { "Content-Type": "text/plain" }).end("There is nothing here.\n");
      return;
    }
    const headers = { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream", "Content-Length": statSync(file).size };
    // names under assets/ and wasm/ carry a hash of what is in them
    headers["Cache-Control"] = /^\/(assets|wasm)\//.test(inside) ? "max-age=31536000, immutable" : "no-cache";
    response.writeHead(200, { ...headers, ...(isolated ? ISOLATION : {}) });
    if (request.method === "HEAD") response.end();
    else createReadStream(file).pipe(response);
  });
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
