/** Plugins of the build: the licences of what is bundled, and a module of ours in the place of another. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import type { Options } from "tsup"

type Plugin = NonNullable<Options["esbuildPlugins"]>[number]

/** Returns an esbuild plugin that bundles `file` wherever `name` is imported. */
export function replaceModule(name: string, file: string): Plugin {
  return {
    name: "replace-module",
    setup(build) {
      build.onResolve({ filter: /./ }, ({ path }) => (path === name ? { path: resolve(file) } : undefined))
    },
  }
}

/** Returns an esbuild plugin that writes the licence texts of all bundled packages to `file`: shipped code needs its licence with it. */
export function licences(file: string): Plugin {
  return {
    name: "licences",
    setup(build) {
      build.initialOptions.metafile = true
      build.onEnd(({ metafile }) => {
        const paths = Object.keys(metafile?.inputs ?? {})
        const folders = new Set(
          paths.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
        )
        if (folders.size === 0) return
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, [...folders].sort().map(licenceOf).join("\n"))
      })
    },
  }
}

/** Packages that are published without the text of their licence, and where we keep it. */
const KEPT_TEXTS = new Map([
  ["onnxruntime-common", "scripts/licences/onnxruntime.txt"],
  ["onnxruntime-web", "scripts/licences/onnxruntime.txt"],
  ["standardwebhooks", "scripts/licences/standardwebhooks.txt"],
])

/** Returns a package's name, version and licence with its text; throws where there is none, since it may not be shipped then. */
export function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<
    string,
    string
  >
  const own = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry))
  const file = own === undefined ? KEPT_TEXTS.get(name ?? "") : join(folder, own)
  const text = file === undefined ? "" : readFileSync(file, "utf8").trim()
  if (text === "")
    throw new Error(
      `${folder} has no licence text: keep that of ${name} in scripts/licences, and name it in scripts/bundle.ts`,
    )
  return `${"=".repeat(80)}\n${name} ${version} (${license})\n${"=".repeat(80)}\n\n${text}\n`
}
