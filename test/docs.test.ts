import { existsSync, readdirSync, readFileSync } from "node:fs"
import { posix } from "node:path"
import { fileURLToPath } from "node:url"
import { minimatch } from "minimatch"
import { describe, expect, test } from "vitest"
import { staleFiles } from "../scripts/docs.ts"
import { OPERATIONS } from "../src/operations/index.ts"
import { RESOURCES } from "../src/resources/index.ts"
import { uriTemplateOf } from "../src/resources/resource.ts"

const ROOT = fileURLToPath(new URL("..", import.meta.url))
const read = (path: string) => readFileSync(`${ROOT}${path}`, "utf8")

/** Returns the anchors of a page's headings, in the form in which GitHub makes them. */
function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- _]/gu, "")
      .replaceAll(" ", "-"),
  )
}

describe("the docs", () => {
  test("hold exactly what the code generates: run `npm run docs` when this fails", () => {
    expect(staleFiles()).toEqual([])
  })

  test("name every tool and every resource", () => {
    const page = read("docs/tools.md")
    for (const { name } of OPERATIONS) expect(page).toContain(`\`${name}\``)
    for (const resource of RESOURCES) expect(page).toContain(`\`${uriTemplateOf(resource)}\``)
  })

  test("show both commands and the settings snippet on the README's first screen, and are short", () => {
    const lines = read("README.md").split("\n")
    const firstScreen = lines.slice(0, 28).join("\n")
    for (const text of [
      "npm start",
      "npm test",
      "npx -y signalbox",
      '"command": "npx", "args": ["-y", "signalbox"]',
    ])
      expect(firstScreen).toContain(text)
    expect(lines.length).toBeLessThanOrEqual(200)
  })

  const pages = [
    ...["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "SECURITY.md"],
    ...readdirSync(`${ROOT}docs`)
      .filter((name) => name.endsWith(".md"))
      .map((name) => `docs/${name}`),
  ]
  test.each(pages)("%s links to files and headings that exist, and that the package carries too", (page) => {
    const { files } = JSON.parse(read("package.json")) as { files: string[] }
    for (const [, link = ""] of read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [path = "", anchor] = link.split("#", 2)
      const target = path === "" ? page : posix.join(posix.dirname(page), path)
      expect(existsSync(`${ROOT}${target}`), `${page} links to ${link}`).toBe(true)
      if (anchor !== undefined) expect(anchorsOf(target), `${page} links to ${link}`).toContain(anchor)
      // The other pages are for who has the sources.
      if (page !== "README.md" && !page.startsWith("docs/")) continue
      const isCarried = files.some(
        (entry) => target === entry || minimatch(target, entry) || target.startsWith(`${entry}/`),
      )
      expect(isCarried, `${page} links to ${link}, which the package does not carry`).toBe(true)
    }
  })

  test("are all linked from the README", () => {
    const readme = read("README.md")
    const listed = pages.filter((page) => page !== "README.md" && !readme.includes(`](${page})`))
    expect(listed).toEqual([])
  })

  test("name the version of package.json in the changelog", () => {
    const { version } = JSON.parse(read("package.json")) as { version: string }
    expect(read("CHANGELOG.md")).toContain(`## [${version}]`)
  })
})
