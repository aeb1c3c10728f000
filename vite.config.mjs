// Bundles index.html and www/ into dist/. The wasm modules stay as wasm-bindgen wrote them, since
// their threads load them by name; `scripts/build.mjs` places them and tells their names here.
import { defineConfig } from "vite";

export default defineConfig(({ mode }) => ({
  base: "./",
  publicDir: "www/public",
  logLevel: mode === "production" ? "warn" : "info",
  define: { __MODULES__: process.env.HOTHOUSE_MODULES ?? "{}" },
  worker: { format: "es" },
  build: { target: "es2022", assetsInlineLimit: 0, modulePreload: { polyfill: false } },
}));
