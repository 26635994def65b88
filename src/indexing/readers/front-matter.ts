/** What stands about a document above its text: YAML between `---` lines, or TOML between `+++` lines. */

interface FrontMatter {
  /** The line after it, counted from 0. */
  to: number
  title: string | null
  /** The lines that describe the document in words, in order; `to` is after the last one of each. */
  descriptions: readonly { from: number; to: number }[]
}

/** What is read of a value; nobody needs more. */
const VALUE_CHARS_MAX = 1_000

interface Entry {
  name: string
  value: string
  from: number
  to: number
}

const FIRST_YAML_LINE = /^(?:#|[\w$"'][^:]{0,100}:(?:\s|$))/
const YAML_ENTRY = /^(title|linkTitle|description|summary)[ \t]*:(?:[ \t]+(.*))?$/
const TOML_ENTRY = /^(title|linkTitle|description|summary)[ \t]*=[ \t]*(.*)$/

/**
 * Reads the front matter of a document, given as its lines; null when it has none.
 *
 * It has some when the first line is `---` and a line of only `---` or `...` follows, with what looks like
 * YAML between them, or with `+++` for TOML. The title is `title`, else `linkTitle`; the descriptions are
 * `description` and `summary`, with their keys. Nested keys count for nothing. Time grows with its lines.
 */
export function readFrontMatter(lines: readonly string[]): FrontMatter | null {
  const fence = lines[0]?.trimEnd()
  if (fence !== "---" && fence !== "+++") return null
  const isToml = fence === "+++"
  const end = lines.findIndex((line, index) => index > 0 && isEnd(line.trimEnd(), fence))
  if (end < 0) return null
  const first = lines.find((line, index) => index > 0 && line.trim() !== "") ?? ""
  // Text between two rules is no front matter.
  if (!isToml && !FIRST_YAML_LINE.test(first) && !isEnd(first.trimEnd(), fence)) return null
  const entries = isToml ? tomlEntries(lines, end) : yamlEntries(lines, end)
  const titleOf = (name: string) => entries.find((entry) => entry.name === name && entry.value !== "")?.value
  return {
    to: end + 1,
    title: titleOf("title") ?? titleOf("linkTitle") ?? null,
    descriptions: entries
      .filter(({ name, value }) => (name === "description" || name === "summary") && value !== "")
      .map(({ from, to }) => ({ from, to })),
  }
}

function isEnd(line: string, fence: string): boolean {
  return line === fence || (fence === "---" && line === "...")
}

function yamlEntries(lines: readonly string[], end: number): Entry[] {
  const entries: Entry[] = []
  for (let from = 1; from < end; from++) {
    const entry = YAML_ENTRY.exec(lines[from] ?? "")
    if (entry === null) continue
    const [, name = "", start = ""] = entry
    const words = [start]
    let to = from + 1
    for (let line = to; line < end && /^(?:[ \t]|$)/.test(lines[line] ?? ""); line++) {
      const more = lines[line]?.trim() ?? ""
      if (more === "") continue
      words.push(more)
      to = line + 1
    }
    entries.push({ name, value: yamlText(words), from, to })
  }
  return entries
}

/** A scalar in any of its styles, its lines joined by spaces; a list or a mapping gives no text. */
function yamlText(words: readonly string[]): string {
  const [start = "", ...more] = words
  if (/^[|>][-+\d]{0,2}(?:[ \t]+#.*)?$/.test(start)) return more.join(" ").slice(0, VALUE_CHARS_MAX)
  const text = words.join(" ").trim().slice(0, VALUE_CHARS_MAX)
  const quoted = /^(["'])/.test(text) ? unquote(text) : null
  if (quoted !== null) return quoted.trim()
  if (/^[[{]/.test(text) || (start === "" && /^-[ \t]|^[\w-]+:(?:[ \t]|$)/.test(text))) return ""
  const comment = text.search(/(?:^|[ \t])#/)
  return (comment < 0 ? text : text.slice(0, comment)).trim()
}

function tomlEntries(lines: readonly string[], end: number): Entry[] {
  const entries: Entry[] = []
  for (let from = 1; from < end && !/^[ \t]*\[/.test(lines[from] ?? ""); from++) {
    const entry = TOML_ENTRY.exec(lines[from] ?? "")
    if (entry === null) continue
    const [, name = "", start = ""] = entry
    const fence = /^(?:"""|''')/.exec(start)?.[0]
    if (fence === undefined) {
      entries.push({
        name,
        value: unquote(start.slice(0, VALUE_CHARS_MAX))?.trim() ?? "",
        from,
        to: from + 1,
      })
      continue
    }
    let to = from + 1
    if (!start.includes(fence, fence.length)) {
      while (to < end && !lines[to]?.includes(fence)) to++
      to = Math.min(end, to + 1)
    }
    const text = [start, ...lines.slice(from + 1, to)].join(" ")
    entries.push({ name, value: text.replaceAll(fence, "").trim().slice(0, VALUE_CHARS_MAX), from, to })
    from = to - 1
  }
  return entries
}

/** The text of a quoted string at the start of a text, without what follows it; null when it is not closed. */
function unquote(text: string): string | null {
  if (text.startsWith("'")) {
    return /^'((?:[^']|'')*)'/.exec(text)?.[1]?.replaceAll("''", "'") ?? null
  }
  const quoted = /^"(?:[^"\\]|\\.)*"/.exec(text)?.[0]
  if (quoted === undefined) return null
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted.slice(1, -1)
  }
}
