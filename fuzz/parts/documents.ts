/** Documents of every format: what is read of them keeps to the bounds of an index, and takes time in step with the size. */

import fc from "fast-check"
import type { Format } from "../../src/indexing/formats.ts"
import { readDocument } from "../../src/indexing/read-document.ts"
import { definePart } from "../support/part.ts"
import { require, requireDiscreet } from "../support/texts.ts"
import { anything, brokenBytes, brokenJson, text } from "../support/values.ts"

const FORMATS: readonly Format[] = [
  "markdown",
  "mdx",
  "restructuredtext",
  "asciidoc",
  "html",
  "notebook",
  "text",
]

/** What means something in some format, whole and in halves. */
const PIECES = [
  ...[
    "# a\n",
    "## b\n",
    "a\n===\n",
    "b\n---\n",
    "* c\n",
    "- ",
    "  - ",
    "1. ",
    "> ",
    "    code\n",
    "\t",
    "\n",
    "\n\n",
    "\r",
    "\r\n",
  ],
  ...[
    "```\n",
    "~~~\n",
    "````md\n",
    "| a | b |\n",
    "|---|:-:|\n",
    "|",
    "[a](b)",
    "[a][b]",
    "[a]: b\n",
    "![",
    "](",
    "<a>",
    "**",
    "_",
    "`",
    "\\",
  ],
  ...[
    "---\n",
    "---\ntitle: x\n---\n",
    "+++\n",
    "<!--",
    "-->",
    "{/*",
    "*/}",
    "import x from 'y'\n",
    "export const a = {\n",
    "{a.b}",
    "<A b={",
    "/>",
  ],
  ...[
    ".. note::\n",
    ".. code:: py\n\n   a\n",
    "::\n\n  a\n",
    "+--+--+\n",
    "|a |b |\n",
    "== ==\n",
    ":a: b\n",
    "`a`_",
    ".. _a: b\n",
    ".. |x| image:: y\n",
  ],
  ...[
    "= T\n",
    "== S\n",
    "----\n",
    "====\n",
    "....\n",
    "[source,js]\n",
    "|===\n",
    "ifdef::x[]\n",
    "include::y[]\n",
    "<<a>>",
    "+++",
    ":toc:\n",
    "//\n",
  ],
  ...[
    "<html>",
    "<body>",
    "<h1>",
    "</h1>",
    "<p>",
    "</p>",
    "<table><tr><td>",
    "<pre>",
    "<div>",
    "</div>",
    "<script>",
    "</script>",
    "<!DOCTYPE",
    "&amp;",
    "&#x110000;",
  ],
  ...[
    "word ",
    "中文。",
    "é",
    "e\u0301",
    "😀",
    "\u202e",
    "\0",
    "\ufeff",
    "A".repeat(300),
    "x ".repeat(200),
    `${"QUJD".repeat(40)}\n`,
  ],
]

const prose = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 60 }).map((all) => all.join(""))
/** One thing over and over: what takes time that grows faster than the text shows here. */
const repeated = fc
  .tuple(
    fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 3 }),
    fc.constantFrom(2_000, 20_000, 100_000),
  )
  .map(([pieces, length]) => {
    const piece = pieces.join("")
    return piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
  })
const nested = fc
  .tuple(
    fc.constantFrom("> ", "- ", "* ", "<div>", "[", "![", "**", "<ul><li>", "(", "{", "  "),
    fc.constantFrom(50, 1_000, 10_000),
    prose,
  )
  .map(([piece, count, end]) => piece.repeat(count) + end)
const cell = fc.record(
  {
    cell_type: fc.oneof(fc.constantFrom<unknown>("markdown", "code", "raw"), anything),
    source: fc.oneof(prose, fc.array(prose, { maxLength: 3 }), anything),
    outputs: fc.oneof(fc.constant([{ output_type: "stream", text: ["a"] }]), anything),
    metadata: anything,
  },
  { requiredKeys: [] },
)
const notebook = fc
  .record(
    {
      cells: fc.oneof(fc.array(fc.oneof(cell, anything), { maxLength: 6 }), anything),
      nbformat: fc.constantFrom<unknown>(4, 3, "4"),
      metadata: anything,
      worksheets: fc.array(anything, { maxLength: 2 }),
    },
    { requiredKeys: [] },
  )
  .map((value) => JSON.stringify(value))

const encode = (whole: string) => Buffer.from(whole)
const plain = fc.oneof(
  { weight: 6, arbitrary: prose },
  { weight: 2, arbitrary: repeated },
  { weight: 1, arbitrary: nested },
  { weight: 1, arbitrary: text },
)
const bytesOf = (format: Format): fc.Arbitrary<Uint8Array> => {
  const whole =
    format === "notebook"
      ? fc.oneof(
          { weight: 4, arbitrary: notebook },
          { weight: 1, arbitrary: brokenJson(notebook) },
          { weight: 1, arbitrary: plain },
        )
      : plain
  return fc.oneof(
    { weight: 8, arbitrary: whole.map(encode) },
    { weight: 1, arbitrary: prose.map((one) => Buffer.from(`\ufeff${one}`, "utf16le")) },
    { weight: 1, arbitrary: brokenBytes(prose.map(encode)) },
  )
}

interface Input {
  format: Format
  bytes: Uint8Array
}

export const documents = definePart<Input>({
  name: "documents",
  weight: 8,
  batch: 150,
  async open(makeRoom) {
    const { builtin } = await makeRoom()
    const countPieces = await builtin.pieceCounter()
    const inputs = fc
      .constantFrom(...FORMATS)
      .chain((format) => fc.record({ format: fc.constant(format), bytes: bytesOf(format) }))
    return {
      inputs,
      begin: async () => ({ run: (input) => read(input, countPieces), end: async () => {} }),
    }
  },
})

async function read({ format, bytes }: Input, countPieces: (text: string) => number): Promise<number> {
  const { chunks, problem } = readDocument(format, bytes, countPieces)
  if (problem !== null) requireDiscreet(problem, format)
  const lines = Buffer.from(bytes)
    .toString("latin1")
    .split(/\r\n|\r|\n/).length
  for (const { lineStart, lineEnd } of chunks) {
    const isOrdered = lineStart >= 1 && lineStart <= lineEnd
    // In a wide encoding a byte of another character may look like a break.
    require(isOrdered && lineEnd <= lines + bytes.length, () => `${format}: lines ${lineStart} to ${lineEnd}`)
  }
  return 1
}
