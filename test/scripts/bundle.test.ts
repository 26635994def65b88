/** What the build puts beside the bundled code: the licence text of every package, or no package. */

import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { licenceOf } from "../../scripts/bundle.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

function packageWith(files: Record<string, string>, name = "some-package"): string {
  const folder = temporaryFolder()
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version: "1.2.3", license: "MIT" }))
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  return folder
}

describe("the licence of a bundled package", () => {
  test.each(["LICENSE", "LICENCE.md", "license.txt", "COPYING"])("is the text of its file %s", (file) => {
    expect(licenceOf(packageWith({ [file]: "Copyright somebody\n" }))).toMatch(
      /^=+\nsome-package 1\.2\.3 \(MIT\)\n=+\n\nCopyright somebody\n$/,
    )
  })

  test("is kept by us where the package has none", () => {
    expect(licenceOf(packageWith({}, "onnxruntime-web"))).toContain("Copyright (c) Microsoft Corporation")
  })

  test.each([
    ["no file", {}],
    ["an empty file", { LICENSE: " \n" }],
  ])("fails the build when there is %s", (_, files) => {
    const folder = packageWith(files)
    expect(() => licenceOf(folder)).toThrow(`${folder} has no licence text: keep that of some-package in`)
  })
})
