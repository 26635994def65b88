import { defineConfig } from "tsup"
import { licences, replaceModule } from "./scripts/bundle.ts"

export default defineConfig({
  entry: { cli: "src/cli.ts" },
  format: "esm",
  silent: true,
  target: "node20",
  platform: "node",
  splitting: true,
  clean: true,
  // Everything pure JavaScript is bundled: an import graph of a few files starts several times
  // faster than one of hundreds, and a cold npx has one package with native code to fetch.
  noExternal: [/^(?!better-sqlite3)/],
  esbuildPlugins: [
    licences("dist/licences.txt"),
    replaceModule("@modelcontextprotocol/server/_shims", "src/mcp/sdk-shims.ts"),
  ],
  // Names stay, so that a stack in a log can be read.
  esbuildOptions(options) {
    options.minifySyntax = true
    options.minifyWhitespace = true
  },
  // CommonJS packages ask for Node's own modules by require, which an ES module has to make first.
  banner: {
    js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
  },
})
