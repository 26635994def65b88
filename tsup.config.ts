import { copyFileSync, existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { defineConfig, type Options } from "tsup"
import { licences, replaceModule } from "./scripts/bundle.ts"
import { removeBelow } from "./scripts/removal.ts"

type Plugin = NonNullable<Options["esbuildPlugins"]>[number]

// Not by tsup itself, whose two builds run side by side.
const DIST = fileURLToPath(new URL("dist", import.meta.url))
if (existsSync(DIST)) for (const name of readdirSync(DIST)) removeBelow(DIST, join(DIST, name))

const bundle: Options = {
  // The hook's fallback is an entry of its own: the hook in the data folder imports it from here. So is what reads
  // large documents, because it is a process of its own.
  entry: {
    cli: "src/cli.ts",
    "hook-alone": "src/hook-alone.ts",
    "document-reader": "src/document-reader.ts",
  },
  format: "esm",
  silent: true,
  target: "node20",
  platform: "node",
  splitting: true,
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
    // Some packages' other form asks for its own files in a way that no bundler sees.
    options.mainFields = ["module", "main"]
  },
  // CommonJS packages ask for Node's own modules by require, which an ES module has to make first.
  banner: {
    js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
  },
}

const ONNX_RUNTIME = "node_modules/onnxruntime-web/dist"

/**
 * The thread that runs language models, apart from the rest: nothing else loads its code. Its packages'
 * own builds ask for a native runtime by name when they start, so their sources are bundled, with the
 * WebAssembly runtime in its place and nothing in the place of what reads pictures.
 */
const worker: Options = {
  ...bundle,
  entry: { "transformers-worker": "src/embed/transformers/worker.ts" },
  splitting: false,
  noExternal: [/./],
  esbuildPlugins: [
    licences("dist/licences-transformers.txt"),
    replaceModule("@huggingface/transformers", "node_modules/@huggingface/transformers/src/transformers.js"),
    replaceModule("./onnx-node.js", `${ONNX_RUNTIME}/ort.node.min.mjs`),
    emptyModule("onnxruntime-web/webgpu"),
    emptyModule("sharp"),
  ],
  async onSuccess() {
    for (const file of ["ort-wasm-simd-threaded.mjs", "ort-wasm-simd-threaded.wasm"]) {
      copyFileSync(`${ONNX_RUNTIME}/${file}`, `dist/${file}`)
    }
  },
}

/** What is copied out of the package, one file that imports nothing but Node. */
const hook: Options = {
  entry: { hook: "src/hook/hook.ts" },
  format: "cjs",
  outExtension: () => ({ js: ".cjs" }),
  silent: true,
  target: "node20",
  platform: "node",
  splitting: false,
  async onSuccess() {
    copyFileSync("src/hook/hook.sh", "dist/hook.sh")
  },
}

/** Returns an esbuild plugin that bundles an empty object wherever `name` is imported. */
function emptyModule(name: string): Plugin {
  return {
    name: "empty-module",
    setup(build) {
      build.onResolve({ filter: /./ }, ({ path }) =>
        path === name ? { path, namespace: "empty-module" } : undefined,
      )
      build.onLoad({ filter: /./, namespace: "empty-module" }, () => ({ contents: "module.exports = {}" }))
    },
  }
}

export default defineConfig([bundle, worker, hook])
