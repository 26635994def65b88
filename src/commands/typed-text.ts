/** Where commands get texts from: their arguments, a pipe, or the user's editor. */

import { spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { BODY_BYTES_MAX } from "../config/limits.ts"
import { AppError, invalid } from "../errors.ts"
import { hasClient } from "../runtime/input.ts"
import { makeTemporaryFolder } from "../runtime/owned-folder.ts"

/** Stands for stdin in the place of a text or a file. */
export const STDIN = "-"

/** A text that a command takes: what errors call it, and how it is given. */
export interface Asked {
  field: string
  /** A sentence. */
  example: string
}

/**
 * Returns the text that a command is given: its words, or stdin for `-` and, where one is there, for no words
 * at all. One new line at the end of stdin is left out, because commands put it there. Fails with `invalid`.
 */
export async function typedText(words: readonly string[], { field, example }: Asked): Promise<string> {
  if (words.length === 0 && !hasClient()) throw invalid(field, "is required", example)
  if (words.length > 0 && !(words.length === 1 && words[0] === STDIN)) return words.join(" ")
  return (await readText(process.stdin, field)).replace(/\r?\n$/, "")
}

/** Reads a text in UTF-8 to its end; fails with `invalid` when it is another or far beyond what is taken. */
export async function readText(input: AsyncIterable<Uint8Array>, field = "content"): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of input) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX)
      throw invalid(field, `must have at most ${BODY_BYTES_MAX.toLocaleString("en-US")} bytes`)
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    throw invalid(field, "must be UTF-8")
  }
}

/** A text that the user has edited. */
interface EditedText {
  text: string
  /** Where it still stands. */
  path: string
  /** Deletes the file. */
  discard(): void
}

/** Returns the command line of the user's editor. */
export function editorOf(env: Record<string, string | undefined>): string {
  return env.VISUAL || env.EDITOR || (process.platform === "win32" ? "notepad" : "vi")
}

/** What is edited: the name of the file, and what errors say of it. */
interface Editing {
  name: string
  /** What is true when the editor fails. */
  undone: string
  /** How the text can be given without an editor. */
  otherwise: string
}

/** Has the user edit a text in a private file; fails with `refused` when the editor does not end well. */
export async function editText(text: string, editor: string, editing: Editing): Promise<EditedText> {
  const { path: folder, discard } = makeTemporaryFolder("signalbox-edit-")
  const path = join(folder, editing.name)
  writeFileSync(path, text, { mode: 0o600 })
  try {
    await runEditor(editor, path, editing)
    const edited = readFileSync(path, "utf8")
    // Editors put a new line at the end of every file.
    return { text: text.endsWith("\n") ? edited : edited.replace(/\r?\n$/, ""), path, discard }
  } catch (error) {
    discard()
    throw error
  }
}

function runEditor(editor: string, path: string, { undone, otherwise }: Editing): Promise<void> {
  // A shell, because the variables hold command lines such as `code --wait`.
  const child =
    process.platform === "win32"
      ? spawn(`${editor} "${path}"`, { shell: true, stdio: "inherit" })
      : spawn("/bin/sh", ["-c", `${editor} "$1"`, "sh", path], { stdio: "inherit" })
  return new Promise((resolve, reject) => {
    const failed = (why: string) =>
      reject(
        new AppError("refused", `${undone}: the editor \`${editor}\` ${why}`, {
          hint: `Set VISUAL or EDITOR to one that works, or ${otherwise}.`,
        }),
      )
    child.once("error", (error) => failed(`cannot be started (${error.message})`))
    child.once("close", (code) => (code === 0 ? resolve() : failed(`ended with ${code ?? "a signal"}`)))
  })
}
