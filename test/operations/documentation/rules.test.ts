import { describe, expect, test } from "vitest"
import { IGNORED_DOCUMENTS_DEFAULT } from "../../../src/config/limits.ts"
import { AppError } from "../../../src/errors.ts"
import { documentRules } from "../../../src/operations/documentation/rules.ts"

describe("which files are documentation", () => {
  const rules = documentRules(IGNORED_DOCUMENTS_DEFAULT)

  test.each([
    ["README.md", "markdown"],
    ["docs/deep/er/guide.rst", "restructuredtext"],
    ["builder/distribution.md", "markdown"],
    ["src/app.ts", null],
    ["node_modules/pkg/README.md", null],
    ["packages/one/node_modules/pkg/docs/a.md", null],
    ["dist/index.html", null],
    ["docs/_build/html/index.html", null],
  ])("%s is read as %s", (path, format) => {
    expect(rules.formatOf(path)).toBe(format)
    expect(rules.isDocument(path)).toBe(format !== null)
  })

  test("a folder that is left out need not be entered, and its neighbours are", () => {
    expect(rules.isFolderWanted("packages/one/vendor")).toBe(false)
    expect(rules.isFolderWanted("packages/one/vendored")).toBe(true)
    expect(rules.isFolderWanted("")).toBe(true)
  })
})

test("globs of the user's own are of folders, of files, or with braces", () => {
  const rules = documentRules(["archive/**", "**/CHANGELOG.md", "i18n/{de,fr}/**"])
  const wanted = (path: string) => rules.isDocument(path)
  expect(["archive/a.md", "docs/archive/a.md"].map(wanted)).toEqual([false, true])
  expect(["CHANGELOG.md", "packages/a/CHANGELOG.md", "docs/CHANGES.md"].map(wanted)).toEqual([
    false,
    false,
    true,
  ])
  expect(["i18n/de/a.md", "i18n/en/a.md", "node_modules/a/b.md"].map(wanted)).toEqual([false, true, true])
})

test("other globs are other rules, so that everything is looked at again; the same ones are not", () => {
  expect(documentRules(["a/**"]).name).not.toBe(documentRules(["b/**"]).name)
  expect(documentRules(["a/**"]).name).toBe(documentRules(["a/**"]).name)
})

test("what is no glob is refused with its text and the place where it stands", () => {
  const error = (() => {
    try {
      return documentRules(["a/../../b"])
    } catch (thrown) {
      return thrown
    }
  })()
  expect(error).toBeInstanceOf(AppError)
  expect((error as AppError).text).toMatch(
    /^documentation\.ignore in your config file: "a\/\.\.\/\.\.\/b" .+ Correct it there\.$/,
  )
})
