/**
 * Draws docs/demo.svg, the picture of the README: runs `signalbox demo`, takes the scenes that tell the story, and
 * writes what the terminal showed, line by line, as text. It moves once, and stands still where motion is unwanted.
 */

import { execFileSync } from "node:child_process"
import { symlinkSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { makeTemporaryFolder, remove } from "./removal.ts"

const ROOT = fileURLToPath(new URL("..", import.meta.url))
const TARGET = join(ROOT, "docs/demo.svg")
/** What is shown: the titles of scenes by some words of each, and the calls of theirs that tell the story. */
const SCENES: [title: RegExp, calls: RegExp][] = [
  [/ reserves /, /reserve-file-paths/],
  [/ edits a file /, /edits/],
  [/ asks; /, /fetch-inbox|release-file-reservations/],
  [/the same edit goes on/, /edits/],
]
const ESCAPE = "\u001b"
/** The start of a scene: a line that is bold as a whole, and an empty one. */
const SCENE_START = new RegExp(`\\n(?=${ESCAPE}\\[1m[^${ESCAPE}]*${ESCAPE}\\[0m\\n\\n)`)
const STYLE = new RegExp(`(${ESCAPE}\\[\\d+m)`)

const COLUMNS = 104
const FONT_PX = 13
const LINE_PX = 18
const CHARACTER_PX = FONT_PX * 0.6021
const MARGIN_PX = 18
const BAR_PX = 34
/** Until the next line appears, and before the first of a scene. */
const LINE_SECONDS = 0.09
const SCENE_SECONDS = 1.4

/** Classes of the select-graphic-rendition codes that commands print. */
const CLASSES: Record<string, string> = { 1: "b", 2: "d", 31: "r", 32: "g", 36: "c" }

/** A text in one style. */
interface Piece {
  text: string
  style: string
}

interface Line {
  pieces: Piece[]
  /** The first of a scene, before which a reader is left some time. */
  isFirst: boolean
}

/** Returns what the demo prints at a terminal that can colours, as who has installed the package sees it. */
function runDemo(): string {
  const folder = makeTemporaryFolder()
  try {
    symlinkSync(join(ROOT, "bin/signalbox.js"), join(folder, "signalbox"))
    return execFileSync(process.execPath, [join(ROOT, "bin/signalbox.js"), "demo", "--fast"], {
      cwd: ROOT,
      encoding: "utf8",
      env: {
        ...process.env,
        FORCE_COLOR: "1",
        PATH: [folder, process.env.PATH].join(delimiter),
        XDG_DATA_HOME: folder,
      },
    })
  } finally {
    remove(folder)
  }
}

function linesOf(output: string): Line[] {
  const scenes = output.split(SCENE_START)
  return SCENES.flatMap(([title, calls], sceneIndex) => {
    const [heading = "", ...blocks] = scenes.find((one) => title.test(firstLine(one)))?.split("\n\n") ?? []
    const shown = blocks.filter((block) => calls.test(firstLine(block)))
    if (shown.length === 0) throw new Error(`the demo has no scene ${title}`)
    const rows = [heading, ...shown].flatMap((block) => [...block.trimEnd().split("\n"), ""])
    return [...(sceneIndex === 0 ? [] : [""]), ...rows.slice(0, -1)]
      .flatMap((line) => rowsOf(piecesOf(line)))
      .map((pieces, index) => ({ pieces, isFirst: index === 0 && sceneIndex > 0 }))
  })
}

function firstLine(text: string): string {
  return text.trimStart().split("\n", 1).join()
}

function piecesOf(line: string): Piece[] {
  let style = ""
  const pieces: Piece[] = []
  for (const text of line.split(STYLE)) {
    if (STYLE.test(text)) style = CLASSES[text.slice(2, -1)] ?? ""
    else if (text !== "") pieces.push({ text, style })
  }
  return pieces
}

/** Arguments end with the row, other text goes on below its bar. */
function rowsOf(pieces: Piece[]): Piece[][] {
  const last = pieces.at(-1)
  if (last === undefined) return [[]]
  const before = pieces.slice(0, -1).reduce((sum, { text }) => sum + text.length, 0)
  if (before + last.text.length <= COLUMNS) return [pieces]
  if (last.style === "d")
    return [[...pieces.slice(0, -1), { ...last, text: `${last.text.slice(0, COLUMNS - before - 1)}…` }]]
  const words = new RegExp(`.{1,${COLUMNS - before - 1}}(?: |$)`, "g")
  const rows = last.text.trimStart().match(words) ?? [last.text]
  return rows.map((text) => [...pieces.slice(0, -1), { ...last, text: ` ${text}` }])
}

function drawing(lines: readonly Line[]): string {
  const width = Math.ceil(COLUMNS * CHARACTER_PX + 2 * MARGIN_PX)
  const height = BAR_PX + lines.length * LINE_PX + MARGIN_PX
  let seconds = 0
  const texts = lines.map(({ pieces, isFirst }, index) => {
    seconds += isFirst ? SCENE_SECONDS : LINE_SECONDS
    const y = BAR_PX + (index + 1) * LINE_PX
    const spans = pieces.map(({ text, style }) => {
      const escaped = text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
      return style === "" ? escaped : `<tspan class="${style}">${escaped}</tspan>`
    })
    return `<text x="${MARGIN_PX}" y="${y}" style="animation-delay:${seconds.toFixed(2)}s">${spans.join("")}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t">
<title id="t">signalbox demo: one agent reserves files, the hook blocks another agent's edit, they write to each other, and the edit goes on</title>
<style>
text{font:${FONT_PX}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d8dee9;white-space:pre;opacity:0;animation:show .2s forwards}
.b{font-weight:700;fill:#fff}.d{fill:#7d8799}.r{fill:#ff6b6b}.g{fill:#7bd88f}.c{fill:#6cc7ff}
@keyframes show{to{opacity:1}}
@media (prefers-reduced-motion:reduce){text{opacity:1;animation:none}}
</style>
<rect width="${width}" height="${height}" rx="8" fill="#161b22"/>
<circle cx="20" cy="17" r="5" fill="#ff5f57"/><circle cx="38" cy="17" r="5" fill="#febc2e"/><circle cx="56" cy="17" r="5" fill="#28c840"/>
${texts.join("\n")}
</svg>
`
}

writeFileSync(TARGET, drawing(linesOf(runDemo())))
