/**
 * Markdown files of about 4 KB: real words that occur as often as Zipf's law says, around a topic of each file, in
 * paragraphs, lists, tables and code under headings, with links between them. The same in every run; each file is
 * made from its number alone.
 */

import { topicAtRandom, topicWords } from "./memory-corpus.ts"
import { pick, seeded } from "./numbers.ts"

const CHARS_MIN = 3_900
const FILES_PER_FOLDER = 100
const SECTION_BLOCKS_MAX = 3
const SEED = 5_000_000

/** What a file is written with. */
interface Writer {
  topic: number
  random: () => number
}

/** Returns the path of the file of a number, from the repository's root. */
export function documentPath(index: number): string {
  const random = seeded(SEED + index)
  const [first, second] = topicWords(topicAtRandom(random), 2, random)
  const folder = String(Math.floor(index / FILES_PER_FOLDER)).padStart(3, "0")
  return `docs/part-${folder}/${first}-${second}-${index}.md`
}

/** Returns the text of the file of a number. */
export function documentAt(index: number): string {
  const random = seeded(SEED + index)
  const writer = { topic: topicAtRandom(random), random }
  const title = heading(writer, 4)
  const blocks = [`---\ntitle: ${title}\n---`, `# ${title}`, paragraph(writer)]
  for (let chars = 0; chars < CHARS_MIN; chars = blocks.join("\n\n").length) {
    blocks.push(`${random() < 0.6 ? "##" : "###"} ${heading(writer, 2 + number(writer, 3))}`)
    for (let left = 1 + number(writer, SECTION_BLOCKS_MAX); left > 0; left -= 1) blocks.push(block(writer))
  }
  return `${blocks.join("\n\n")}\n`
}

function block(writer: Writer): string {
  const draw = writer.random()
  if (draw < 0.55) return paragraph(writer)
  if (draw < 0.75) return list(writer)
  return draw < 0.93 ? fence(writer) : grid(writer)
}

/** Two or three sentences; one of four has a link. */
function paragraph(writer: Writer): string {
  const sentences = Array.from({ length: 2 + number(writer, 2) }, () => sentence(writer))
  if (writer.random() < 0.25) sentences.push(`See [${heading(writer, 2)}](${link(writer)}).`)
  return sentences.join(" ")
}

function sentence(writer: Writer): string {
  return `${capital(words(writer, 8 + number(writer, 14)).join(" "))}.`
}

function list(writer: Writer): string {
  return Array.from({ length: 3 + number(writer, 4) }, () => {
    const [name, ...rest] = words(writer, 6 + number(writer, 9))
    return `- \`${name}\`: ${rest.join(" ")}`
  }).join("\n")
}

function fence(writer: Writer): string {
  const lines = Array.from({ length: 4 + number(writer, 7) }, () => {
    const [target, object, method, argument] = words(writer, 4)
    return `const ${target}${capital(object ?? "")} = await ${object}.${method}_${argument}("${argument}", ${number(writer, 100)})`
  })
  return `\`\`\`ts\n${lines.join("\n")}\n\`\`\``
}

function grid(writer: Writer): string {
  const row = () => `| ${words(writer, 2).join("_")} | ${words(writer, 6 + number(writer, 5)).join(" ")} |`
  return [
    "| Option | Meaning |",
    "| --- | --- |",
    ...Array.from({ length: 3 + number(writer, 3) }, row),
  ].join("\n")
}

function link({ random }: Writer): string {
  return `../../${documentPath(Math.floor(random() * FILES_PER_FOLDER))}#${pick(["use", "options", "errors"], random)}`
}

function heading(writer: Writer, count: number): string {
  return capital(words(writer, count).join(" "))
}

function words({ topic, random }: Writer, count: number): string[] {
  return topicWords(topic, count, random)
}

function number({ random }: Writer, below: number): number {
  return Math.floor(random() * below)
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
