/** Where commands on memories get texts from: their arguments, a pipe, or the user's editor. */

import { spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { BODY_BYTES_MAX, JSON_DEPTH_MAX } from "../../config/limits.ts"
import { isDeeper } from "../../domain/json-depth.ts"
import { AppError, invalid } from "../../errors.ts"
import { hasClient } from "../../runtime/input.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { makeTemporaryFolder } from "../../runtime/owned-folder.ts"

/** Stands for stdin in the place of a text or a file. */
export const STDIN = "-"

/**
 * Returns the content that a command is given: its words, or stdin for `-` and, where one is there, for no words
 * at all. One new line at the end of stdin is left out, because commands put it there. Fails with `invalid`.
 */
export async function contentOf(words: readonly string[]): Promise<string> {
  if (words.length === 0 && !hasClient()) {
    throw invalid("content", "is required", `Such as: ${ownCommand()} memory add "We deploy on Tuesdays."`)
  }
  if (words.length > 0 && !(words.length === 1 && words[0] === STDIN)) return words.join(" ")
  return (await readText(process.stdin)).replace(/\r?\n$/, "")
}

/** Reads a text in UTF-8 to its end; fails with `invalid` when it is another or far beyond what is taken. */
export async function readText(input: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of input) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX)
      throw invalid("content", `must have at most ${BODY_BYTES_MAX.toLocaleString("en-US")} bytes`)
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    throw invalid("content", "must be UTF-8")
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

/** Has the user edit a text in a private file; fails with `refused` when the editor does not end well. */
export async function editText(text: string, editor: string): Promise<EditedText> {
  const { path: folder, discard } = makeTemporaryFolder("signalbox-edit-")
  const path = join(folder, "memory.md")
  writeFileSync(path, text, { mode: 0o600 })
  try {
    await runEditor(editor, path)
    const edited = readFileSync(path, "utf8")
    // Editors put a new line at the end of every file.
    return { text: text.endsWith("\n") ? edited : edited.replace(/\r?\n$/, ""), path, discard }
  } catch (error) {
    discard()
    throw error
  }
}

function runEditor(editor: string, path: string): Promise<void> {
  // A shell, because the variables hold command lines such as `code --wait`.
  const child =
    process.platform === "win32"
      ? spawn(`${editor} "${path}"`, { shell: true, stdio: "inherit" })
      : spawn("/bin/sh", ["-c", `${editor} "$1"`, "sh", path], { stdio: "inherit" })
  return new Promise((resolve, reject) => {
    const failed = (why: string) =>
      reject(
        new AppError("refused", `nothing was changed: the editor \`${editor}\` ${why}`, {
          hint: "Set VISUAL or EDITOR to one that works, or give the text with --content.",
        }),
      )
    child.once("error", (error) => failed(`cannot be started (${error.message})`))
    child.once("close", (code) => (code === 0 ? resolve() : failed(`ended with ${code ?? "a signal"}`)))
  })
}

/** Returns the metadata that a command is given, as JSON; fails with `invalid`. */
export function metadataOf({ metadata: text }: { metadata?: string }): unknown {
  if (text === undefined) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalid("metadata", "is not valid JSON", `Such as --metadata '{"ticket": 42}'.`)
  }
  // What holds it is a level of its own.
  if (isDeeper(value, JSON_DEPTH_MAX - 1))
    throw invalid("metadata", `must be nested at most ${JSON_DEPTH_MAX - 1} levels deep`)
  return value
}
