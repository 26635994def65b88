/** Text from bytes: which encoding is taken, what is no text, and where lines end. */

import fc from "fast-check"
import { describe, expect, it, test } from "vitest"
import { decodeText } from "../../src/indexing/decode.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)
const hex = (digits: string) => Uint8Array.from(Buffer.from(digits.replaceAll(" ", ""), "hex"))
const utf16le = (text: string) => new Uint8Array(Buffer.from(text, "utf16le"))
const utf16be = (text: string) => new Uint8Array(Buffer.from(text, "utf16le").swap16())

const CYRILLIC =
  "d3 f1 f2 e0 ed ee e2 e8 f2 e5 20 ef e0 ea e5 f2 20 e8 20 ef f0 ee e2 e5 f0 fc f2 e5 2c 20 f7 f2 ee 20 f1 e5 f0 e2 e5 f0 20 ee f2 e2 e5 f7 e0 e5 f2"

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
    [
      "windows-1252 with enough to guess by",
      hex(
        "4a 6f 73 e9 20 4d fc 6c 6c 65 72 20 a9 20 32 30 30 39 2e 20 49 74 92 73 20 93 73 69 6d 70 6c 65 94 20 96 20 63 61 66 e9 20 35 20 80",
      ),
      "José Müller © 2009. It’s “simple” – café 5 €",
    ],
    ["shift_jis", hex("93 fa 96 7b 8c ea 82 cc 83 65 83 4c 83 58 83 67 82 c5 82 b7"), "日本語のテキストです"],
    ["euc-kr", hex("c7 d1 b1 db 20 b9 ae bc ad 20 c0 d4 b4 cf b4 d9"), "한글 문서 입니다"],
    ["gb18030", hex("d6 d0 ce c4 ce c4 b5 b5 a3 ac ca c7 b5 c4"), "中文文档，是的"],
    ["euc-jp", hex("c6 fc cb dc b8 ec a4 ce a5 c6 a5 ad a5 b9 a5 c8 a4 c7 a4 b9"), "日本語のテキストです"],
    ["big5", hex("b3 6f ac 4f a4 a4 a4 e5 aa ba a4 e5 a5 f3"), "這是中文的文件"],
    ["windows-1251", hex(CYRILLIC), "Установите пакет и проверьте, что сервер отвечает"],
    [
      "koi8-r",
      hex(
        "f5 d3 d4 c1 ce cf d7 c9 d4 c5 20 d0 c1 cb c5 d4 20 c9 20 d0 d2 cf d7 c5 d2 d8 d4 c5 2c 20 de d4 cf 20 d3 c5 d2 d7 c5 d2 20 cf d4 d7 c5 de c1 c5 d4",
      ),
      "Установите пакет и проверьте, что сервер отвечает",
    ],
    [
      "iso-8859-7",
      hex(
        "c1 f5 f4 fc 20 f4 ef 20 e5 f1 e3 e1 eb e5 df ef 20 e4 e9 e1 e2 dc e6 e5 e9 20 f4 e1 20 e1 f1 f7 e5 df e1",
      ),
      "Αυτό το εργαλείο διαβάζει τα αρχεία",
    ],
    [
      "iso-8859-9",
      hex(
        "4b 6f 6d 75 74 75 20 e7 61 6c fd fe 74 fd 72 fd 6e 20 76 65 20 73 75 6e 75 63 75 6e 75 6e 20 79 61 6e fd 74 20 76 65 72 64 69 f0 69 6e 69 20 64 6f f0 72 75 6c 61 79 fd 6e",
      ),
      "Komutu çalıştırın ve sunucunun yanıt verdiğini doğrulayın",
    ],
  ])("%s", (_, bytes, text) => {
    expect(decodeText(bytes)).toEqual({ text })
  })

  it("is told by the lines that are not ASCII, whatever stands around them", () => {
    const around = "Run `install` first, then read what each option means.\n".repeat(2_000)
    const bytes = Buffer.concat([bytesOf(around), hex(CYRILLIC), bytesOf(`\n${around}`)])
    const text = `${around}Установите пакет и проверьте, что сервер отвечает\n${around}`
    expect(decodeText(bytes)).toEqual({ text })
  })

  it.each(["José", "naïve café", "½ cup", "ÅÄÖ", "a × b ÷ c", "ça va", "§ 3 Größe", "España ñ"])(
    "is windows-1252 where %s is all that is not ASCII",
    (words) => {
      expect(decodeText(new Uint8Array(Buffer.from(words, "latin1")))).toEqual({ text: words })
      const document = `Some words before.\n${words}\nSome words behind.\n`
      expect(decodeText(new Uint8Array(Buffer.from(document, "latin1")))).toEqual({ text: document })
    },
  )

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
