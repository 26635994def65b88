/** Which operations a server offers, as its command line asks. */

import { echoed } from "../domain/foreign-text/markdown.ts"
import { AppError } from "../errors.ts"
import { type Category, type Operation, TOOLSETS } from "./operation.ts"

export interface Selection {
  /** Names of toolsets; all when undefined. */
  toolsets?: readonly string[] | undefined
  /** Names of single tools, offered whatever the toolsets are. */
  tools?: readonly string[] | undefined
  /** Leaves out everything that writes, whatever else is asked for. */
  readOnly?: boolean | undefined
}

/** Returns the operations that a selection offers, in catalogue order; fails with `invalid` for unknown names. */
export function selectOperations(catalogue: readonly Operation[], selection: Selection): Operation[] {
  requireKnown("--toolsets", selection.toolsets, Object.keys(TOOLSETS))
  requireKnown(
    "--tools",
    selection.tools,
    catalogue.map((operation) => operation.name),
  )
  // Naming tools without toolsets means just those tools.
  const toolsets = selection.toolsets ?? (selection.tools === undefined ? Object.keys(TOOLSETS) : [])
  return catalogue.filter((operation) => {
    if (selection.readOnly === true && operation.effect !== "read") return false
    const isNamed = selection.tools?.includes(operation.name) ?? false
    return isNamed || toolsets.includes(toolsetOf(operation))
  })
}

/** Returns the toolset that an operation's category belongs to. */
function toolsetOf(operation: Operation): string {
  const toolsets: [string, readonly Category[]][] = Object.entries(TOOLSETS)
  const found = toolsets.find(([, categories]) => categories.includes(operation.category))
  return found?.[0] ?? ""
}

function requireKnown(option: string, names: readonly string[] | undefined, known: readonly string[]): void {
  const unknown = names?.find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw new AppError("invalid", `${option}: ${echoed(unknown)} is unknown; known are: ${known.join(", ")}`)
}
