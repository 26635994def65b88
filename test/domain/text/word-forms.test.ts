/** Owns which forms of English words are taken for one word. */

import BetterSqlite3 from "better-sqlite3"
import { describe, expect, test } from "vitest"
import { baseForm, irregularForms } from "../../../src/domain/text/irregular-forms.ts"
import { comparedForm } from "../../../src/domain/text/word-forms.ts"

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

describe("a compared form", () => {
  const WORDS = (
    "caresses ponies agreed plastered motoring conflated hopping filing happy relational vietnamization " +
    "triplicate adoption effective controller sky is yxy ypes yield ies 8kb deployments generalizations oscillators"
  ).split(" ")

  test("is the stem by which SQLite's index finds a word that has no irregular forms", () => {
    const database = new BetterSqlite3(":memory:")
    database.exec(`
      CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'porter unicode61');
      CREATE VIRTUAL TABLE terms USING fts5vocab(texts, 'instance')`)
    const insert = database.prepare("INSERT INTO texts (text) VALUES (?)")
    for (const word of WORDS) insert.run(word)
    const stems = database.prepare<[], string>("SELECT term FROM terms ORDER BY doc").pluck().all()
    database.close()
    expect(WORDS.map(comparedForm)).toEqual(stems)
  })

  test.each(["日本語", "cafés", "a".repeat(64).concat("ing"), ""])("of %s is the word itself", (word) => {
    expect(comparedForm(word)).toBe(word)
  })
})
