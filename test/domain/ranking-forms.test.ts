/** Owns which forms of English words are taken for one word. */

import { describe, expect, test } from "vitest"
import { comparedForm } from "../../src/domain/ranking.ts"
import { baseForm, irregularForms } from "../../src/domain/ranking-forms.ts"
import { porterStem } from "../../src/domain/ranking-stem.ts"

describe("irregular forms", () => {
  test.each([
    ["went", "go"],
    ["bought", "buy"],
    ["children", "child"],
    ["indices", "index"],
    ["deploy", "deploy"],
  ])("%s is a form of %s", (form, base) => {
    expect(baseForm(form)).toBe(base)
  })

  test("are given with the word itself first, for the index", () => {
    expect(irregularForms("went")).toEqual(["went", "go", "gone"])
    expect(irregularForms("go")).toEqual(["go", "went", "gone"])
    expect(irregularForms("deploy")).toEqual(["deploy"])
  })

  test("have one base: no base is itself a form of another", () => {
    const words = ["go", "went", "lay", "lie", "lying", "lives", "leaves", "found", "felt", "saw", "wound"]
    for (const word of words) expect(baseForm(baseForm(word))).toBe(baseForm(word))
  })

  test("of a word that is as common as another word's form are left alone", () => {
    for (const word of ["lives", "leaves", "bound", "ground"]) expect(baseForm(word)).toBe(word)
  })

  test("and stems give one form to compare", () => {
    expect(comparedForm("went")).toBe(comparedForm("going"))
    expect(comparedForm("deployed")).toBe(comparedForm("deploys"))
    expect(comparedForm("went")).not.toBe(comparedForm("want"))
  })
})

describe("a stem", () => {
  test.each([
    ["caresses", "caress"],
    ["ponies", "poni"],
    ["agreed", "agre"],
    ["plastered", "plaster"],
    ["motoring", "motor"],
    ["conflated", "conflat"],
    ["hopping", "hop"],
    ["filing", "file"],
    ["happy", "happi"],
    ["relational", "relat"],
    ["vietnamization", "vietnam"],
    ["triplicate", "triplic"],
    ["adoption", "adopt"],
    ["effective", "effect"],
    ["controller", "control"],
    ["sky", "sky"],
    ["is", "is"],
    ["日本語", "日本語"],
  ])("of %s is %s, as in the index", (word, stem) => {
    expect(porterStem(word)).toBe(stem)
  })
})
