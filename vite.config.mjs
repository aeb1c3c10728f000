// Bundles index.html and www/ into dist/. `scripts/build.mjs` also bundles embed.html with this configuration. The wasm modules are not
// bundled, because their threads load them by name. `scripts/build.mjs` copies them and passes their names in HOTHOUSE_MODULES.
import { defineConfig } from "vite";

export default defineConfig(({ mode }) => ({
  base: "./",
  publicDir: "www/public",
  logLevel: mode === "production" ? "warn" : "info",
  define: { __MODULES__: process.env.HOTHOUSE_MODULES ?? "{}" },
  worker: { format: "es" },
  build: { target: "es2022", assetsInlineLimit: 0, modulePreload: { polyfill: false } },
}));
