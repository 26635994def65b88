import fc from "fast-check"
import { expect, test } from "vitest"
import { withoutData } from "../../../src/domain/documentation/encoded-data.ts"

const data = (length: number) => "eNp9UkFu".repeat(Math.ceil(length / 8)).slice(0, length)

test("a run of 200 characters of data is cut to its first 30, one of 199 stays", () => {
  expect(withoutData(`see #${data(200)} now`)).toBe(`see #${data(30)}… now`)
  expect(withoutData(`see #${data(199)} now`)).toBe(`see #${data(199)} now`)
})

test("several runs are cut, also at the beginning and the end, and lines stay lines", () => {
  expect(withoutData(`${data(300)}\ntext\n(${data(500)})\n${data(200)}`)).toBe(
    `${data(30)}…\ntext\n(${data(30)}…)\n${data(30)}…`,
  )
})

test("prose and code, which have spaces and brackets, stay as they are", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 150 })), (words) => {
      const text = words.join(" ")
      expect(withoutData(text)).toBe(text)
    }),
  )
  const json = `{${'"name":"value",'.repeat(1_000)}}`
  expect(withoutData(json)).toBe(json)
})
