/**
 * Which files a tool call is about to write, create, move or delete. One reader for all dialects: the same
 * entry of Claude Code's settings is run by VS Code, Copilot, Cursor and Devin, each with its own names for
 * tools and arguments, and VS Code runs it for every tool. So the call itself decides, never the client.
 *
 * Three kinds of tools:
 * - Known edit tools: whatever paths and patches they name count.
 * - Tools that read, and MCP tools, by their names: never an edit, whatever they carry.
 * - All others, and calls without a tool's name: an edit when a path comes with new text, or when they carry
 *   a patch. Reserving one file too many does less harm than missing an edit.
 */

import { asObject, asTexts, type JsonObject, parseJson } from "./json.ts"
import { isPatch, patchesIn } from "./patch.ts"
import { belowFolder, withoutSlashBeforeDrive } from "./paths.ts"

/** Edit tools of all clients; compared in lower case, without anything but letters and digits. */
const EDIT_TOOLS = new Set([
  // Claude Code, Devin, OpenCode
  ...["edit", "write", "multiedit", "notebookedit", "patch"],
  // Codex
  ...["applypatch", "functionsapplypatch"],
  // Gemini CLI
  ...["writefile", "replace"],
  // Cursor
  ...["strreplace", "delete", "searchreplace", "editfile", "deletefile", "editnotebook"],
  // Copilot CLI
  ...["create", "strreplaceeditor"],
  // VS Code
  ...["createfile", "replacestringinfile", "multireplacestringinfile", "inserteditintofile"],
  ...["editfiles", "editnotebookfile"],
  // Windsurf: the name of the event
  "prewritecode",
  // Cline, in the editor and on the command line
  ...["writetofile", "replaceinfile", "newrule", "editor"],
  // Kiro
  ...["fswrite", "fsappend", "smartrelocate"],
  // Names that agents of other makers gave to the same things
  ...["movefile", "renamefile", "insert", "append", "replacefilecontent", "multireplacefilecontent"],
  "strreplacebasededittool",
])

/** A tool with one of these words in its name reads, unless it is a known edit tool. */
const READING_WORDS = new Set([
  ...["read", "view", "grep", "glob", "search", "find", "list", "ls", "fetch", "open", "get", "show", "cat"],
])

/** What may hold a tool's arguments, the likeliest first. */
const ARGUMENTS = [
  "tool_input",
  "toolInput",
  "toolArgs",
  "tool_args",
  "tool_info",
  "args",
  "input",
  "parameters",
]

/** Fields are compared like the names of tools: `file_path` and `filePath` are one. */
const PATH_FIELDS = new Set([
  ...["filepath", "path", "notebookpath", "targetfile", "file", "filename"],
  ...["sourcepath", "destinationpath", "oldpath", "newpath"],
])
/** Lists of paths, or of objects with a path field. */
const PATH_LISTS = new Set(["files", "filepaths", "paths"])
/** Lists of objects with a path field. */
const CHANGE_LISTS = new Set(["edits", "replacements", "operations"])
/** What a call that writes carries beside a path. */
const NEW_TEXT_FIELDS = new Set([
  ...["content", "contents", "text", "filetext", "newsource", "newcode", "codeedit", "diff", "patch"],
  ...["oldstring", "newstring", "oldstr", "newstr", "oldtext", "newtext", "edits", "replacements"],
])
const PATCH_FIELDS = new Set(["command", "cmd", "commandline", "input", "patch", "patchtext", "diff"])
const FOLDER_FIELDS = new Set(["workdir", "workingdirectory", "cwd"])

/** A tool call as the payload has it. */
interface ToolCall {
  /** The tool's name, else the event's, else "". */
  name: string
  isMcp: boolean
  /** Names in their compared form; when two become one, both stay. */
  fields: [name: string, value: unknown][]
}

/**
 * Returns the paths that a payload's tool call will change, each once, absolute or relative as the client
 * says; [] when the call changes nothing. Never throws. `eventName` stands in for a missing tool name: some
 * clients call one event per kind of tool.
 */
export function editedPaths(payload: JsonObject, eventName: string | undefined): string[] {
  const call = toolCall(payload, eventName)
  const isKnown = EDIT_TOOLS.has(compared(call.name))
  if (!isKnown && (call.isMcp || wordsOf(call.name).some((word) => READING_WORDS.has(word)))) return []
  // One editor tool of several commands, one of which only looks.
  if (valuesOf(call, new Set(["command"])).includes("view")) return []

  const isEdit = isKnown || call.fields.some(([name, value]) => NEW_TEXT_FIELDS.has(name) && value !== null)
  const named = isEdit ? pathsIn(call.fields) : []
  const paths = [...named, ...pathsOfPatches(call, isKnown)]
  return [...new Set(paths.filter((path) => path.trim() !== "").map(withoutSlashBeforeDrive))]
}

function toolCall(payload: JsonObject, eventName: string | undefined): ToolCall {
  const nested = asObject(payload.preToolUse) ?? {}
  const names = [payload.tool_name, payload.toolName, payload.tool, nested.toolName, eventName]
  const name = names.find((value) => typeof value === "string" && value !== "")
  const text = typeof name === "string" ? name : ""
  const isMcp =
    text.startsWith("@") ||
    wordsOf(text).includes("mcp") ||
    Boolean(payload.mcp_server) ||
    Boolean(payload.mcp_context)
  const values = [...ARGUMENTS.map((key) => payload[key]), nested.parameters]
  // Some builds put the arguments beside the tool's name.
  const found = values.map(argumentsIn).find((value) => value !== undefined) ?? payload
  return { name: text, isMcp, fields: fieldsOf(found) }
}

/** Arguments come as an object, as its JSON, as a bare patch, or as the words of a command. */
function argumentsIn(value: unknown): JsonObject | undefined {
  if (typeof value === "string") return asObject(parseJson(value)) ?? { patch: value }
  return Array.isArray(value) ? { command: value } : asObject(value)
}

function fieldsOf(object: JsonObject): [name: string, value: unknown][] {
  return Object.entries(object).map(([name, value]) => [compared(name), value])
}

function valuesOf(call: ToolCall, names: ReadonlySet<string>): unknown[] {
  return call.fields.filter(([name]) => names.has(name)).map(([, value]) => value)
}

/** Looks one level deep: no client nests further, and a payload made to be deep must not overflow the stack. */
function pathsIn(fields: readonly [name: string, value: unknown][]): string[] {
  return fields.flatMap(([name, value]) => {
    if (PATH_FIELDS.has(name)) return asTexts(value)
    if (!Array.isArray(value)) return []
    if (PATH_LISTS.has(name)) return [...asTexts(value), ...pathsOfItems(value)]
    return CHANGE_LISTS.has(name) ? pathsOfItems(value) : []
  })
}

function pathsOfItems(items: readonly unknown[]): string[] {
  return items
    .flatMap((item) => fieldsOf(asObject(item) ?? {}))
    .flatMap(([name, value]) => (PATH_FIELDS.has(name) ? asTexts(value) : []))
}

/** A known edit tool may leave out the patch's first line; from others only what is surely a patch counts. */
function pathsOfPatches(call: ToolCall, isKnown: boolean): string[] {
  const [workFolder] = valuesOf(call, FOLDER_FIELDS).flatMap(asTexts)
  return valuesOf(call, PATCH_FIELDS)
    .map((value) => asTexts(value).join("\n"))
    .filter((text) => isKnown || isPatch(text))
    .flatMap(patchesIn)
    .flatMap(({ folder, paths }) => {
      const start = belowFolder(workFolder, folder ?? "")
      return paths.map((path) => belowFolder(start, path))
    })
}

function compared(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "")
}

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
}
