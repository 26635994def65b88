/** Text from bytes: which encoding is taken, what is no text, and where lines end. */

import fc from "fast-check"
import { describe, expect, it, test } from "vitest"
import { decodeText } from "../../src/indexing/decode.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)
const hex = (digits: string) => Uint8Array.from(Buffer.from(digits.replaceAll(" ", ""), "hex"))
const utf16le = (text: string) => new Uint8Array(Buffer.from(text, "utf16le"))
const utf16be = (text: string) => new Uint8Array(Buffer.from(text, "utf16le").swap16())

describe("the encoding", () => {
  it.each<[string, Uint8Array, string]>([
    ["UTF-8", bytesOf("Grüße, 漢字 \u{1f600}\n"), "Grüße, 漢字 \u{1f600}\n"],
    ["UTF-8 with a byte order mark", hex("ef bb bf 61 0a"), "a\n"],
    ["UTF-16LE with a byte order mark", hex("ff fe 61 00 22 6f 0a 00"), "a漢\n"],
    ["UTF-16BE with a byte order mark", hex("fe ff 00 61 6f 22 00 0a"), "a漢\n"],
    ["UTF-16LE without one", utf16le("Plain words é\n"), "Plain words é\n"],
    ["UTF-16BE without one", utf16be("Plain words é\n"), "Plain words é\n"],
    ["windows-1252", hex("43 61 66 e9 20 96 20 80 35 0a"), "Café – €5\n"],
    ["windows-1252 in capitals", hex("c9 54 c9 20 4e 4f cb 4c 20 e0 20 6c 61"), "ÉTÉ NOËL à la"],
    ["shift_jis", hex("93 fa 96 7b 8c ea 82 cc 83 65 83 4c 83 58 83 67 82 c5 82 b7"), "日本語のテキストです"],
    ["euc-kr", hex("c7 d1 b1 db 20 b9 ae bc ad 20 c0 d4 b4 cf b4 d9"), "한글 문서 입니다"],
    ["gb18030", hex("d6 d0 ce c4 ce c4 b5 b5 a3 ac ca c7 b5 c4"), "中文文档，是的"],
  ])("%s", (_, bytes, text) => {
    expect(decodeText(bytes)).toEqual({ text })
  })

  test("all valid UTF-8 without control characters is taken as it is", () => {
    const visible = fc
      .string({ unit: "grapheme", minLength: 1 })
      .filter((text) => /\S/.test(text) && !text.includes("\r"))
    fc.assert(
      fc.property(visible, (text) => {
        fc.pre(!text.startsWith("\ufeff") && !/\p{Cc}|\ufffd/u.test(text))
        expect(decodeText(bytesOf(text))).toEqual({ text })
      }),
    )
  })

  test("whatever the bytes, there is a text or a problem", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const decoded = decodeText(bytes)
        expect("text" in decoded ? /\S/.test(decoded.text) : decoded.problem).toBeTruthy()
      }),
    )
  })
})

describe("what is no text", () => {
  it.each<[string, Uint8Array, "binary" | "empty"]>([
    ["no bytes", hex(""), "empty"],
    ["a byte order mark alone", hex("ef bb bf"), "empty"],
    ["white space alone", bytesOf(" \r\n\t\n"), "empty"],
    ["a picture", hex("89 50 4e 47 0d 0a 1a 0a 00 00 00 0d 49 48 44 52 00 00 01 00"), "binary"],
    ["a NUL within words", bytesOf(`${"words ".repeat(50)}\0${"words ".repeat(50)}`), "binary"],
    ["a NUL after a byte order mark", hex("ff fe 61 00 00 00"), "binary"],
    ["many control characters", bytesOf("\u0001\u0002a\u0003b"), "binary"],
  ])("%s", (_, bytes, problem) => {
    expect(decodeText(bytes)).toEqual({ problem })
  })

  it("is not text in colours for a terminal", () => {
    expect(decodeText(bytesOf("\u001b[1mNAME\u001b[0m\n\f"))).toHaveProperty("text")
  })
})

describe("ends of lines", () => {
  it.each([
    ["a\r\nb\r\n", "a\nb\n"],
    ["a\r\r\nb", "a\nb"],
    ["a\rb\n", "a\rb\n"],
    ["a\n\rb", "a\n\rb"],
  ])("%j becomes %j", (given, text) => {
    expect(decodeText(bytesOf(given))).toEqual({ text })
  })

  test("the number of lines stays that of git", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "\r", "\n", "\r\n")), (parts) => {
        const given = `x${parts.join("")}`
        const decoded = decodeText(bytesOf(given))
        expect("text" in decoded && decoded.text.split("\n").length).toBe(given.split("\n").length)
      }),
    )
  })
})
