/** Our lines in a shell script, between two marks. They stand first, so that no `exit` or `exec` skips them. */

import { invalid } from "../errors.ts"
import type { ScriptBlock } from "./client.ts"
import type { Edit, Traces } from "./edit.ts"

const BEGIN = "# >>> signalbox >>>"
const END = "# <<< signalbox <<<"
const BLOCK = /# >>> signalbox >>>\r?\n[\s\S]*?# <<< signalbox <<<\r?\n?/
const SHELL_SHEBANG = /^#!.*\b(?:sh|bash|dash|zsh|ksh|ash)\b.*(?:\r?\n|$)/
const NEW_SCRIPT = "#!/bin/sh\n"

/** Returns the edit of a shell script; a script in another language is refused with `invalid`. */
export function blockEdit(file: ScriptBlock): Edit {
  return {
    add: (text) => ({ text: withBlock(file, text), leftAlone: [], containers: [] }),
    remove: (text, traces) => ({ text: withoutBlock(text, traces), leftAlone: [] }),
  }
}

function withBlock(file: ScriptBlock, text: string): string {
  const script = text === "" ? NEW_SCRIPT : text
  const shebang = SHELL_SHEBANG.exec(script)?.[0]
  if (shebang === undefined) {
    throw invalid(
      file.path,
      "is no shell script, so nothing can be added to it",
      `Call this from it: ${file.lines.join("; ")}`,
    )
  }
  const lineBreak = shebang.endsWith("\r\n") ? "\r\n" : "\n"
  const block = [BEGIN, ...file.lines, END].map((line) => line + lineBreak).join("")
  if (BLOCK.test(script)) return script.replace(BLOCK, () => block)
  const head = shebang.endsWith("\n") ? shebang : shebang + lineBreak
  return head + block + script.slice(shebang.length)
}

function withoutBlock(text: string, traces: Traces): string | undefined {
  const left = text.replace(BLOCK, "")
  return traces.isCreated && left === NEW_SCRIPT ? undefined : left
}
