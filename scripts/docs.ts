/**
 * Writes what the docs derive from the code: the generated sections of the pages in docs/ and one snapshot of
 * each tool as a client sees it. With --check it writes nothing and fails when something is stale.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Command } from "commander"
import { createProgram } from "../src/commands/program.ts"
import { ENVIRONMENT_VARIABLES } from "../src/config/config.ts"
import { EVENT_STREAMS_MAX, EVENTS_LISTED_MAX } from "../src/config/event-limits.ts"
import {
  HOOK_SETTINGS_DEFAULT,
  HOOK_SETTINGS_DOCUMENTED,
  type HookSettings,
} from "../src/config/hook-settings.ts"
import * as limits from "../src/config/limits.ts"
import { WEBHOOK_NAME_CHARS_MAX, WEBHOOK_URL_CHARS_MAX, WEBHOOKS_MAX } from "../src/config/webhook-limits.ts"
import { PLANS } from "../src/domain/api-key.ts"
import { EVENT_KINDS } from "../src/domain/events/kinds.ts"
import { WEBHOOK_KINDS } from "../src/domain/webhooks/webhook.ts"
import { HOOK_EVENTS, type HookEvent } from "../src/hook/client-names.ts"
import { type BlockForm, CLIENTS } from "../src/hook/clients.ts"
import { productRoutes, withPublicRoutes } from "../src/http/index.ts"
import { mcpRoutes } from "../src/http/mcp-route.ts"
import { toolDefinition } from "../src/mcp/definitions.ts"
import { OPERATIONS } from "../src/operations/index.ts"
import type { Operation } from "../src/operations/operation.ts"
import { RESOURCES } from "../src/resources/index.ts"
import { uriTemplateOf } from "../src/resources/resource.ts"
import { removeBelow } from "./removal.ts"

const ROOT = fileURLToPath(new URL("..", import.meta.url))
const SNAPSHOTS = "test/snapshots/tools"
/** Told once for all commands, not in each row. */
const COMMON_OPTIONS = ["--json", "--help"]

/** Returns every generated file of the checkout: its path, and what it must hold. */
function generatedFiles(): Map<string, string> {
  const files = new Map(
    Object.entries(pages()).map(([path, sections]) => [path, withSections(path, sections)]),
  )
  for (const operation of OPERATIONS) {
    files.set(
      `${SNAPSHOTS}/${operation.name}.json`,
      `${JSON.stringify(toolDefinition(operation), null, 2)}\n`,
    )
  }
  return files
}

/** Returns what differs from what is generated, as paths. */
export function staleFiles(): string[] {
  const generated = generatedFiles()
  const stale = [...generated].filter(([path, content]) => read(path) !== content).map(([path]) => path)
  const folder = join(ROOT, SNAPSHOTS)
  const present = existsSync(folder) ? readdirSync(folder).map((name) => `${SNAPSHOTS}/${name}`) : []
  return [...stale, ...present.filter((path) => !generated.has(path))]
}

/** Returns the generated sections of each page by their names. */
function pages(): Record<string, Record<string, string>> {
  return {
    "docs/tools.md": {
      tools: toolTable(),
      resources: table(
        ["Resource", "Content"],
        RESOURCES.map((resource) => [`\`${uriTemplateOf(resource)}\``, resource.description]),
      ),
    },
    "docs/commands.md": {
      commands: table(["Command", "Does", "Options"], commandRows(createProgram(), "signalbox")),
    },
    "docs/settings.md": {
      settings: table(
        ["Variable", "What", "Default"],
        ENVIRONMENT_VARIABLES.map(([name, what, otherwise]) => [`\`${name}\``, what, otherwise]),
      ),
    },
    "docs/limits.md": { limits: limitTable() },
    "docs/hook.md": { clients: clientTable(), hook: hookTable() },
    "docs/webhooks.md": { kinds: webhookKindTable() },
    "docs/events.md": { kinds: kindTable() },
    "docs/http.md": { http: httpTable(), plans: planTable() },
  }
}

function kindTable(): string {
  return table(
    ["Kind", "What happened", "Seen with"],
    Object.entries(EVENT_KINDS).map(([kind, { about, sight }]) => [`\`${kind}\``, about, sight]),
  )
}

function planTable(): string {
  const rates: Record<string, number> = limits.RATES_DEFAULT
  const figure = (name: string) => {
    const value = rates[name] ?? 0
    return value === 0 ? "unlimited" : value.toLocaleString("en-US")
  }
  return table(
    ["Plan", "Memory/minute", "Documentation/minute", "/hour", "/day", "burst"],
    PLANS.map((plan) => [
      plan,
      figure(`memory_${plan}_per_minute`),
      ...["per_minute", "per_hour", "per_day", "burst"].map((name) =>
        figure(`documentation_${plan}_${name}`),
      ),
    ]),
  )
}

function clientTable(): string {
  const told: Record<HookEvent, string> = {
    "pre-edit": "beside an edit",
    "session-start": "at session start",
    mail: "when mail waits",
    "session-end": "",
    "turn-end": "before it stops",
  }
  return table(
    ["`signalbox install ...`", "Client", "A blocked edit", "What the model is told, and when"],
    CLIENTS.map(({ name, title, blockForm, contextForms }) => [
      `\`${name}\``,
      title,
      BLOCK_FORMS[blockForm],
      HOOK_EVENTS.filter((event) => contextForms[event] !== undefined)
        .map((event) => told[event])
        .filter((text) => text !== "")
        .join(", ") || "nothing but blocks",
    ]),
  )
}

const BLOCK_FORMS: Record<BlockForm, string> = {
  "exit-code": "exit 2",
  permission: "exit 2 and `permission: deny`",
  permissionDecision: "`permissionDecision: deny`",
  cancel: "`cancel: true`",
}

function hookTable(): string {
  return table(
    ["Key", "Default", "What"],
    Object.entries(HOOK_SETTINGS_DOCUMENTED).map(([key, what]) => {
      const value = HOOK_SETTINGS_DEFAULT[key as keyof HookSettings]
      const shown = Array.isArray(value)
        ? value.map((pattern) => `\`${pattern}\``).join(" ")
        : `\`${JSON.stringify(value)}\``
      return [`\`${key}\``, shown, what]
    }),
  )
}

function httpTable(): string {
  // Only what stands in them is wanted: nothing is answered here.
  const mcp = mcpRoutes(() => Promise.reject(new Error("this is a document")))
  const routes = withPublicRoutes([...productRoutes(), ...mcp], "", "")
  return table(
    ["Call", "Does"],
    routes.map(({ method, path, summary }) => [`\`${method} ${path}\``, summary]),
  )
}

function toolTable(): string {
  const categories = [...new Set(OPERATIONS.map((operation) => operation.category))]
  return categories
    .map((category) => {
      const rows = OPERATIONS.filter((operation) => operation.category === category).map(toolRow)
      return `**${category}**\n\n${table(["Tool", "What it does", "Parameters"], rows)}`
    })
    .join("\n\n")
}

function toolRow(operation: Operation): string[] {
  const required = new Set(toolDefinition(operation).inputSchema.required as string[] | undefined)
  const parameters = Object.keys(operation.input.shape).map((name) =>
    required.has(name) ? `**${name}**` : name,
  )
  return [`\`${operation.name}\``, operation.description, parameters.join(", ")]
}

function commandRows(command: Command, path: string): string[][] {
  return command.commands.flatMap((child) => {
    const usage = `${path} ${child.name()}`
    if (child.commands.length > 0) return commandRows(child, usage)
    const args = child.registeredArguments.map((argument) => ` <${argument.name()}>`).join("")
    const options = child.options.filter(
      (option) => !option.hidden && !COMMON_OPTIONS.includes(option.long ?? ""),
    )
    return [
      [`\`${usage}${args}\``, child.description(), options.map(({ flags }) => `\`${flags}\``).join(", ")],
    ]
  })
}

function webhookKindTable(): string {
  return table(
    ["Kind", "When"],
    WEBHOOK_KINDS.map((kind) => [`\`${kind}\``, EVENT_KINDS[kind].about]),
  )
}

function limitTable(): string {
  const figure = (value: number) => value.toLocaleString("en-US")
  return table(
    ["Limit", "Value"],
    [
      ["tool calls", `${limits.RATES_DEFAULT.tool_calls_per_minute} per minute per API key`],
      ["resource reads", `${limits.RATES_DEFAULT.resource_reads_per_minute} per minute per API key`],
      [
        "searches (count as tool calls too)",
        `${limits.RATES_DEFAULT.searches_per_minute} per minute per API key`,
      ],
      ["messages sent", `${limits.RATES_DEFAULT.sends_per_hour} per hour per agent`],
      [
        "requests on reservations and events over HTTP",
        `${limits.RATES_DEFAULT.reservations_per_minute} per minute per API key`,
      ],
      ["subject", `${limits.SUBJECT_CHARS_MAX} characters`],
      ["body", `${figure(limits.BODY_CHARS_MAX)} characters`],
      ["recipients of one message", `${limits.RECIPIENTS_MAX}`],
      [
        "attachments (metadata only)",
        `${limits.ATTACHMENTS_MAX} objects, ${limits.ATTACHMENTS_JSON_BYTES_MAX / 1024} KiB of JSON`,
      ],
      [
        "path pattern",
        `${limits.PATTERN_CHARS_MAX} characters, ${figure(limits.BRACE_EXPANSIONS_MAX)} brace expansions`,
      ],
      [
        "path pattern with its braces expanded",
        `${figure(limits.PATTERN_POSITIONS_MAX)} characters and separators in all`,
      ],
      ["paths in one macro call", `${limits.FILE_PATHS_MAX}`],
      ["reservation", `1 s to ${figure(limits.RESERVATION_SECONDS_MAX)} s`],
      ["search query", `${figure(limits.QUERY_CHARS_MAX)} characters`],
      ["content of a memory", `${figure(limits.MEMORY_CONTENT_CHARS_MAX)} characters`],
      ["tags of a memory", `${limits.MEMORY_TAGS_MAX}, each ${limits.MEMORY_TAG_CHARS_MAX} characters`],
      ["source of a memory", `${limits.MEMORY_SOURCE_CHARS_MAX} characters`],
      ["metadata of a memory", `${limits.MEMORY_METADATA_JSON_BYTES_MAX / 1_024} KiB of JSON`],
      ["query for memories", `${figure(limits.MEMORY_QUERY_CHARS_MAX)} characters`],
      ["memories in one search, or on one page", `${limits.MEMORY_SEARCH_LIMIT_MAX}`],
      ["question to the documentation", `${figure(limits.DOCUMENTATION_QUERY_CHARS_MAX)} characters`],
      [
        "passages in one answer",
        `${limits.DOCUMENTATION_LIMIT_MAX}, each ${figure(limits.PASSAGE_CHARS_MAX)} characters, ${limits.PASSAGES_PER_FILE_MAX} of one file`,
      ],
      ["file of documentation", `${limits.DOCUMENT_BYTES_MAX / 1_000_000} MB`],
      ["events in one answer", figure(EVENTS_LISTED_MAX)],
      ["streams of events at once", `${EVENT_STREAMS_MAX}`],
      [
        "webhooks",
        `${WEBHOOKS_MAX}, each with a name of ${WEBHOOK_NAME_CHARS_MAX} characters and an address of ${figure(WEBHOOK_URL_CHARS_MAX)}`,
      ],
      ["one tool result", `${figure(limits.RESULT_CHARS_MAX)} characters, the rest on request`],
    ],
  )
}

function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`
  return [line(heading), line(heading.map(() => "---")), ...rows.map(line)].join("\n")
}

function withSections(page: string, contents: Record<string, string>): string {
  return Object.entries(contents).reduce((result, [name, content]) => {
    const [start, end] = [`<!-- generated: ${name} -->`, `<!-- end of generated: ${name} -->`]
    const [from, to] = [result.indexOf(start), result.indexOf(end)]
    if (from < 0 || to < from) throw new Error(`${page} has no section "${name}"`)
    return `${result.slice(0, from + start.length)}\n${content}\n${result.slice(to)}`
  }, read(page))
}

function read(path: string): string {
  const file = join(ROOT, path)
  return existsSync(file) ? readFileSync(file, "utf8") : ""
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const stale = staleFiles()
  if (process.argv.includes("--check")) {
    for (const path of stale) console.error(`${path} is stale; run: npm run docs`)
    process.exitCode = stale.length === 0 ? 0 : 1
  } else {
    mkdirSync(join(ROOT, SNAPSHOTS), { recursive: true })
    const generated = generatedFiles()
    for (const path of stale) {
      const content = generated.get(path)
      if (content === undefined) removeBelow(join(ROOT, SNAPSHOTS), join(ROOT, path))
      else writeFileSync(join(ROOT, path), content)
      console.log(`wrote ${path}`)
    }
  }
}
