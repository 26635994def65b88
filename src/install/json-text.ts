/**
 * Edits JSON with comments by cutting and inserting text, so that every byte that is not concerned stays:
 * comments keep their place, and nothing is formatted anew.
 */

import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser"
import { JSON_DEPTH_MAX } from "../config/limits.ts"
import { invalid } from "../errors.ts"
import type { Json } from "./client.ts"

/** A value and, for a member of an object, its name. */
interface Child {
  key?: string
  value: Json
}

const TRIVIA = /(?:\s+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y

/**
 * Parses a text whose root is an object; fails with `invalid`, naming file and line, when it is none, and when it is
 * nested more than 100 levels deep.
 */
export function parseObject(text: string, file: string): Node {
  requireShallow(text, file)
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  const first = errors[0]
  if (first !== undefined) {
    const kind = printParseErrorCode(first.error)
    throw invalid(`${file}:${lineAt(text, first.offset)}`, `is no valid JSON (${kind})`, CORRECT_IT)
  }
  if (root === undefined) throw invalid(file, "is no valid JSON", CORRECT_IT)
  return requireType(root, "object", file, text, "the file")
}

/** Whoever walks a tree calls itself for each level, and no settings have as many. */
function requireShallow(text: string, file: string): void {
  const scanner = createScanner(text, true)
  let depth = 0
  // The end of the text alone is a token of no length.
  for (scanner.scan(); scanner.getTokenLength() > 0; scanner.scan()) {
    const first = text.charAt(scanner.getTokenOffset())
    if (first === "{" || first === "[") depth += 1
    else if (first === "}" || first === "]") depth -= 1
    if (depth <= JSON_DEPTH_MAX) continue
    const place = `${file}:${lineAt(text, scanner.getTokenOffset())}`
    throw invalid(place, `is nested more than ${JSON_DEPTH_MAX} levels deep`, CORRECT_IT)
  }
}

const CORRECT_IT = "Correct the file, then run the command again."

/** Returns the node when it has the type that is needed; fails with `invalid` otherwise. */
export function requireType(
  node: Node,
  type: "object" | "array",
  file: string,
  text: string,
  name: string,
): Node {
  if (node.type === type) return node
  const article = type === "object" ? "an object" : "an array"
  throw invalid(`${file}:${lineAt(text, node.offset)}`, `${name} must be ${article}`, CORRECT_IT)
}

/** Returns the value of a member; fails with `invalid` when the name stands there twice, since clients differ on which counts. */
export function memberOf(object: Node, key: string, file: string, text: string): Node | undefined {
  const named = (object.children ?? []).filter((property) => property.children?.[0]?.value === key)
  const second = named[1]
  if (second !== undefined) {
    throw invalid(`${file}:${lineAt(text, second.offset)}`, `"${key}" stands there twice`, CORRECT_IT)
  }
  return named[0]?.children?.[1]
}

/** Returns the text with a child added at the end of an object or array. */
export function insertChild(text: string, container: Node, child: Child): string {
  const close = container.offset + container.length - 1
  const last = container.children?.at(-1)
  const inside = text.slice(container.offset + 1, close)
  // A text without any line break stays one, unless it is empty: then it is the start of a new file.
  const isSpread =
    inside.includes("\n") || (last === undefined && (text.includes("\n") || isBlankObject(text)))
  const lastEnd = last === undefined ? undefined : last.offset + last.length
  const hasComma = lastEnd !== undefined && text[skipTrivia(text, lastEnd)] === ","
  const at = text.slice(0, close).trimEnd().length
  const addition = isSpread
    ? spreadChild(text, container, child, hasComma, !text.slice(at, close).includes("\n"))
    : inlineChild(inside, child, last !== undefined, hasComma)
  const withAddition = text.slice(0, at) + addition + text.slice(at)
  if (lastEnd === undefined || hasComma) return withAddition
  return `${withAddition.slice(0, lastEnd)},${withAddition.slice(lastEnd)}`
}

function spreadChild(
  text: string,
  container: Node,
  child: Child,
  hasComma: boolean,
  needsLine: boolean,
): string {
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n"
  const unit = indentUnit(text)
  const outer = indentAt(text, container.offset)
  const indent = childIndent(text, container) ?? outer + unit
  const value = JSON.stringify(child.value, null, unit).replaceAll("\n", lineBreak + indent)
  const name = child.key === undefined ? "" : `${JSON.stringify(child.key)}: `
  return `${lineBreak}${indent}${name}${value}${hasComma ? "," : ""}${needsLine ? lineBreak + outer : ""}`
}

function inlineChild(inside: string, child: Child, hasSiblings: boolean, hasComma: boolean): string {
  const gap = hasSiblings && /^ |, /.test(inside) ? " " : ""
  const name = child.key === undefined ? "" : `${JSON.stringify(child.key)}:${gap}`
  return `${gap}${name}${JSON.stringify(child.value)}${hasComma ? "," : ""}`
}

/** Returns the text with another value in the place of one, on as many lines as that had room for. */
export function replaceValue(text: string, node: Node, value: Json): string {
  const end = node.offset + node.length
  const isSpread = text.slice(node.offset, end).includes("\n")
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n"
  const written = isSpread
    ? JSON.stringify(value, null, indentUnit(text)).replaceAll("\n", lineBreak + indentAt(text, node.offset))
    : JSON.stringify(value)
  return text.slice(0, node.offset) + written + text.slice(end)
}

/** Returns the text without one child of an object (its property node) or array; comments around it stay. */
export function removeChild(text: string, container: Node, child: Node): string {
  const siblings = container.children ?? []
  const end = child.offset + child.length
  const commaAfter = skipTrivia(text, end)
  const previous = siblings[siblings.indexOf(child) - 1]
  const cuts: [start: number, end: number][] = []
  if (text[commaAfter] === ",") {
    const start = lineStartBefore(text, child.offset)
    const afterComma = commaAfter + 1
    const gap = start === child.offset ? (/^[ \t]*/.exec(text.slice(afterComma))?.[0].length ?? 0) : 0
    cuts.push([start, end], [commaAfter, afterComma + gap])
  } else {
    if (previous !== undefined) {
      const comma = skipTrivia(text, previous.offset + previous.length)
      cuts.push([comma, comma + 1])
    }
    cuts.push([text.slice(0, child.offset).trimEnd().length, end])
  }
  const cut = cuts.reduceRight((rest, [from, to]) => rest.slice(0, from) + rest.slice(to), text)
  const close = container.offset + container.length - 1 - (text.length - cut.length)
  const left = cut.slice(container.offset + 1, close)
  return left.trim() === "" ? cut.slice(0, container.offset + 1) + cut.slice(close) : cut
}

/** Returns where the line break before a child begins when nothing else precedes it on its line, else the child itself. */
function lineStartBefore(text: string, offset: number): number {
  const before = text.slice(0, offset)
  const blank = /\r?\n[ \t]*$/.exec(before)
  return blank === null ? offset : blank.index
}

/** Returns the number of the line that an offset is on, from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length
}

function skipTrivia(text: string, from: number): number {
  TRIVIA.lastIndex = from
  return from + (TRIVIA.exec(text)?.[0].length ?? 0)
}

function isBlankObject(text: string): boolean {
  return /^\{\s*\}$/.test(text.trim())
}

/** Returns one step of the indentation that a text uses; two spaces when it shows none. */
function indentUnit(text: string): string {
  const root = parseTree(text, [], { allowTrailingComma: true })
  const indent = root === undefined ? undefined : childIndent(text, root)
  return indent === undefined || indent === "" ? "  " : indent.startsWith("\t") ? "\t" : indent
}

/** Returns the indentation of the first child that begins a line. */
function childIndent(text: string, container: Node): string | undefined {
  for (const child of container.children ?? []) {
    const start = text.lastIndexOf("\n", child.offset - 1) + 1
    const before = text.slice(start, child.offset)
    if (start > container.offset && before.trim() === "") return before
  }
  return undefined
}

function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? ""
}
