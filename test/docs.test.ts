import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { staleFiles } from "../scripts/docs.ts"
import { OPERATIONS } from "../src/operations/index.ts"
import { RESOURCES } from "../src/resources/index.ts"
import { uriTemplateOf } from "../src/resources/resource.ts"

const ROOT = fileURLToPath(new URL("..", import.meta.url))
const read = (path: string) => readFileSync(`${ROOT}${path}`, "utf8")

describe("the docs", () => {
  test("hold exactly what the code generates: run `npm run docs` when this fails", () => {
    expect(staleFiles()).toEqual([])
  })

  test("name every tool and every resource on the README", () => {
    const readme = read("README.md")
    for (const { name } of OPERATIONS) expect(readme).toContain(`\`${name}\``)
    for (const resource of RESOURCES) expect(readme).toContain(`\`${uriTemplateOf(resource)}\``)
  })

  test("show both commands and the settings snippet on the README's first screen", () => {
    const firstScreen = read("README.md").split("\n").slice(0, 28).join("\n")
    expect(firstScreen).toContain("npm start")
    expect(firstScreen).toContain("npm test")
    expect(firstScreen).toContain('"command": "npx", "args": ["-y", "signalbox"]')
  })

  test("link only to files that exist", () => {
    for (const page of ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "SECURITY.md"]) {
      const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map((match) => match[1] ?? "")
      for (const link of links) expect(existsSync(`${ROOT}${link}`), `${page} links to ${link}`).toBe(true)
    }
  })

  test("name the version of package.json in the changelog", () => {
    const { version } = JSON.parse(read("package.json")) as { version: string }
    expect(read("CHANGELOG.md")).toContain(`## [${version}]`)
  })
})
