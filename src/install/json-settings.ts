/** Our part of a JSON settings file: an MCP server by its name, hooks by the command that they run. */

import { isDeepStrictEqual } from "node:util"
import { getNodeValue, type Node, stripComments } from "jsonc-parser"
import type { Json, JsonEntry, JsonSettings, TargetName } from "./client.ts"
import type { Addition, Edit, Removal, Traces } from "./edit.ts"
import {
  insertChild,
  lineAt,
  memberOf,
  parseObject,
  removeChild,
  replaceValue,
  requireType,
} from "./json-text.ts"
import { foreignEntry, startOf, startsOurServer } from "./shapes.ts"

interface Group {
  matcher?: unknown
  hooks: unknown[]
}

/** Returns the edit of a JSON file for one client; hooks of another client in it are not touched. */
export function jsonEdit(client: TargetName, file: JsonSettings): Edit {
  return {
    add: (text) => new JsonEditor(client, file.path, text).add(file),
    remove: (text, traces) => new JsonEditor(client, file.path, text).remove(file, traces),
  }
}

/** The text of one file while it is edited. It is parsed anew after each change, since offsets move. */
class JsonEditor {
  readonly #client: TargetName
  readonly #file: string
  readonly #leftAlone: string[] = []
  readonly #containers: string[][] = []
  #text: string

  constructor(client: TargetName, file: string, text: string) {
    this.#client = client
    this.#file = file
    this.#text = text
  }

  add(settings: JsonSettings): Addition {
    const before = this.#text
    if (holdsNothing(before)) this.#text = before.trim() === "" ? "{}\n" : `${before.trimEnd()}\n{}\n`
    const isFramed = settings.isFrameOfNewOnly !== true || holdsNothing(before)
    for (const [key, value] of isFramed ? Object.entries(settings.frame ?? {}) : []) {
      if (memberOf(this.#root(), key, this.#file, this.#text) === undefined) this.#insert([], { key, value })
    }
    this.#removeStaleHooks(settings.entries)
    for (const entry of settings.entries) {
      if (entry.key === undefined) this.#addElement(entry)
      else this.#addMember(entry, entry.key)
    }
    return { text: this.#text, leftAlone: this.#leftAlone, containers: this.#containers }
  }

  remove(settings: JsonSettings, traces: Traces): Removal {
    if (holdsNothing(this.#text)) return { text: this.#text, leftAlone: [] }
    for (const entry of settings.entries) {
      if (entry.key === undefined) this.#removeHooks(entry.at, () => false)
      else this.#removeMember(entry, entry.key)
    }
    for (const path of traces.containers.toReversed()) this.#removeIfEmpty(path)
    const left = plainValue(this.#root())
    const isOurs = isDeepStrictEqual(left, {}) || isDeepStrictEqual(left, { ...settings.frame })
    const hasComment = stripComments(this.#text) !== this.#text
    const isEmptied = traces.isCreated && isOurs && !hasComment
    return { text: isEmptied ? undefined : this.#text, leftAlone: this.#leftAlone }
  }

  #addMember(entry: JsonEntry, key: string): void {
    const parent = this.#find(entry.at, "object")
    const present = parent && memberOf(parent, key, this.#file, this.#text)
    if (present === undefined) this.#insert(entry.at, { key, value: entry.value })
    else if (startsOurServer(plainValue(present), entry.value)) this.#updateStart(entry, key)
    else if (!isDeepStrictEqual(plainValue(present), entry.value)) this.#leaveAlone(present, key)
  }

  #addElement(entry: JsonEntry): void {
    const array = this.#find(entry.at, "array")
    if ((array?.children ?? []).some((element) => holds(plainValue(element), entry.value))) return
    this.#insert(entry.at, { value: entry.value })
  }

  #removeMember(entry: JsonEntry, key: string): void {
    const parent = this.#find(entry.at, "object")
    const present = parent && memberOf(parent, key, this.#file, this.#text)
    if (parent === undefined || present?.parent === undefined) return
    if (startsOurServer(plainValue(present), entry.value))
      this.#text = removeChild(this.#text, parent, present.parent)
    else this.#leaveAlone(present, key)
  }

  /** Starts our server as it is wanted now; whatever else an entry holds stays. */
  #updateStart(entry: JsonEntry, key: string): void {
    const start = startOf(entry.value)
    for (const name of ["command", "args"] as const) {
      const server = this.#find([...entry.at, key], "object")
      const present = server && memberOf(server, name, this.#file, this.#text)
      const value = start[name]
      if (server === undefined) continue
      if (value === undefined) {
        if (present?.parent !== undefined) this.#text = removeChild(this.#text, server, present.parent)
      } else if (present === undefined) this.#text = insertChild(this.#text, server, { key: name, value })
      else if (!isDeepStrictEqual(plainValue(present), value))
        this.#text = replaceValue(this.#text, present, value)
    }
  }

  /** Hooks of an older version of ours, and those that were changed by hand, give way to what is wanted now. */
  #removeStaleHooks(entries: readonly JsonEntry[]): void {
    const hooks = entries.filter((entry) => entry.key === undefined)
    for (const path of new Set(hooks.map((entry) => JSON.stringify(entry.at)))) {
      const wanted = hooks.filter((entry) => JSON.stringify(entry.at) === path).map((entry) => entry.value)
      this.#removeHooks(JSON.parse(path), (element) => wanted.some((value) => holds(element, value)))
    }
  }

  /** Removes our hooks from an array, but for elements that are to stay. Groups keep what others put into them. */
  #removeHooks(path: readonly string[], isKept: (element: Json) => boolean): void {
    for (;;) {
      const array = this.#find(path, "array")
      const element = array?.children?.find((one) => {
        const value = plainValue(one)
        return this.#isOurs(value) && !isKept(value)
      })
      if (array === undefined || element === undefined) return
      this.#text = this.#withoutHook(array, element)
    }
  }

  #withoutHook(array: Node, element: Node): string {
    const handlers = groupHandlers(element)
    const ours = handlers?.children?.find((handler) => this.#isOurs(plainValue(handler)))
    const isShared = handlers !== undefined && (handlers.children ?? []).length > 1
    return isShared && ours !== undefined
      ? removeChild(this.#text, handlers, ours)
      : removeChild(this.#text, array, element)
  }

  #removeIfEmpty(path: readonly string[]): void {
    const parent = this.#find(path.slice(0, -1), "object", true)
    const node = parent && memberOf(parent, path.at(-1) ?? "", this.#file, this.#text)
    if (parent === undefined || node?.parent === undefined) return
    const inside = this.#text.slice(node.offset + 1, node.offset + node.length - 1)
    const isEmpty = (node.type === "object" || node.type === "array") && inside.trim() === ""
    if (isEmpty) this.#text = removeChild(this.#text, parent, node.parent)
  }

  /** Adds a child to the container at a path, making what is missing of the path. */
  #insert(path: readonly string[], child: { key?: string; value: Json }): void {
    let container = this.#root()
    for (const [depth, name] of path.entries()) {
      const next = memberOf(container, name, this.#file, this.#text)
      if (next === undefined) {
        const missing = path.slice(depth + 1)
        for (let length = depth + 1; length <= path.length; length += 1) {
          this.#containers.push(path.slice(0, length))
        }
        const innermost: Json = child.key === undefined ? [child.value] : { [child.key]: child.value }
        const value = missing.reduceRight<Json>((inner, key) => ({ [key]: inner }), innermost)
        this.#text = insertChild(this.#text, container, { key: name, value })
        return
      }
      container = next
    }
    this.#text = insertChild(this.#text, container, child)
  }

  /** Returns the container at a path, if it exists; fails with `invalid` when it is something else, unless that may be. */
  #find(path: readonly string[], type: "object" | "array", isLenient = false): Node | undefined {
    let node = this.#root()
    for (const [depth, name] of path.entries()) {
      const next = memberOf(node, name, this.#file, this.#text)
      if (next === undefined) return undefined
      const wanted = depth === path.length - 1 ? type : "object"
      if (isLenient && next.type !== wanted) return undefined
      node = requireType(next, wanted, this.#file, this.#text, `"${path.slice(0, depth + 1).join(".")}"`)
    }
    return node
  }

  #root(): Node {
    return parseObject(this.#text, this.#file)
  }

  #leaveAlone(node: Node, key: string): void {
    const line = lineAt(this.#text, node.offset)
    this.#leftAlone.push(foreignEntry(`"${key}" on line ${line}`))
  }

  #isOurs(value: unknown): boolean {
    if (typeof value === "string") return runsHookFor(this.#client, value)
    if (typeof value !== "object" || value === null) return false
    return Object.values(value).some((one) => this.#isOurs(one))
  }
}

/** Whether a command is one that runs the hook for a client, whatever version wrote it. */
export function runsHookFor(client: TargetName, command: string): boolean {
  return command.includes("/signalbox/hook/") && command.split(/\s+/).includes(client)
}

/** Whether a file is empty yet, but for comments. */
function holdsNothing(text: string): boolean {
  return text.replace(/\/\/.*|\/\*[\s\S]*?\*\//g, "").trim() === ""
}

/** Whether an element is what is wanted, or a group with the same matcher that has our handler among others. */
function holds(element: Json, wanted: Json): boolean {
  if (isDeepStrictEqual(element, wanted)) return true
  if (!isGroup(element) || !isGroup(wanted)) return false
  return (
    element.matcher === wanted.matcher &&
    wanted.hooks.every((handler) => element.hooks.some((one) => isDeepStrictEqual(one, handler)))
  )
}

function isGroup(value: unknown): value is Group {
  return typeof value === "object" && value !== null && Array.isArray((value as { hooks?: unknown }).hooks)
}

/** Returns the array of handlers when an element is a group. */
function groupHandlers(element: Node): Node | undefined {
  const properties = element.type === "object" ? (element.children ?? []) : []
  const hooks = properties.find((property) => property.children?.[0]?.value === "hooks")?.children?.[1]
  return hooks?.type === "array" ? hooks : undefined
}

/** Returns the value of a node with plain prototypes, so that it can be compared. */
function plainValue(node: Node): Json {
  return JSON.parse(JSON.stringify(getNodeValue(node))) as Json
}
