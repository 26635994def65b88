/**
 * The catalogues as an MCP server, for any transport and both protocol eras. Owns the mapping of errors
 * to protocol, and nothing else: what a call does is in operations/.
 */

import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, Server } from "@modelcontextprotocol/server"
import { named } from "../domain/foreign-text/markdown.ts"
import { visible } from "../domain/foreign-text/visible.ts"
import { AppError, fileProblem } from "../errors.ts"
import { callOperation } from "../operations/call.ts"
import type { Call } from "../operations/caller.ts"
import { cutToFit } from "../operations/markdown.ts"
import { actionOf, type Operation } from "../operations/operation.ts"
import { completeParameter } from "../resources/completion.ts"
import { type Resource, readResource, uriTemplateOf } from "../resources/resource.ts"
import type { Log } from "../runtime/log.ts"
import { isStatic, resourceDefinition, resourceTemplateDefinition, toolDefinition } from "./definitions.ts"
import { type Defaults, promptDefinitions, promptMessages } from "./prompts.ts"
import { NotFollowed, type Subscriptions } from "./subscriptions.ts"

export interface ServerParts {
  operations: readonly Operation[]
  resources: readonly Resource[]
  instructions: string
  /** What prompts name, where it is configured. */
  defaults?: Defaults
  version: string
  log: Log
  /** Returns the app with the caller at the other end; opens it on the first request that needs it. */
  call(): Promise<Call>
  /** Where the session of this connection keeps what it follows; undefined where there is none. */
  subscriptions?: Pick<Subscriptions, "add" | "remove"> | undefined
}

/** Makes a server that is not yet connected; making one touches nothing outside. */
export function createServer(parts: ServerParts): Server {
  const { operations, resources, log } = parts
  const server = new Server(
    { name: "signalbox", title: "signalbox", version: parts.version },
    {
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} },
      instructions: parts.instructions,
    },
  )
  const byName = new Map(operations.map((operation) => [operation.name, operation]))

  server.setRequestHandler("tools/list", () => ({ tools: operations.map(toolDefinition) }))
  server.setRequestHandler("tools/call", async ({ params }) => {
    const operation = byName.get(params.name)
    if (operation === undefined) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `tool ${named(params.name)} does not exist; tools/list shows those that do`,
      )
    }
    try {
      return toolResult(await callOperation(await parts.call(), operation, params.arguments))
    } catch (error) {
      return {
        ...toolResult(`Failed to ${actionOf(operation)}: ${reasonOf(error, log, operation.name)}`),
        isError: true,
      }
    }
  })

  serveResources(server, parts)
  server.setRequestHandler("prompts/list", () => ({ prompts: promptDefinitions() }))
  server.setRequestHandler("prompts/get", ({ params }) =>
    promptMessages(params.name, params.arguments ?? {}, parts.defaults ?? NO_DEFAULTS),
  )
  server.setRequestHandler("completion/complete", async ({ params: { ref, argument, context } }) => {
    const uri = ref.type === "ref/resource" ? ref.uri : ""
    if (!resources.some((resource) => uriTemplateOf(resource) === uri)) {
      const text = "only the resource templates of this server complete"
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, text)
    }
    try {
      const known = context?.arguments ?? {}
      return { completion: await completeParameter(await parts.call(), argument.name, argument.value, known) }
    } catch (error) {
      throw protocolError(error, uri, `Failed to complete: ${reasonOf(error, log, uri)}`)
    }
  })
  return server
}

function serveResources(server: Server, { resources, subscriptions, log, call }: ServerParts): void {
  server.setRequestHandler("resources/list", () => ({
    resources: resources.filter(isStatic).map(resourceDefinition),
  }))
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: resources.filter((resource) => !isStatic(resource)).map(resourceTemplateDefinition),
  }))
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
    try {
      const { content } = await readResource(await call(), resources, uri)
      return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify(content) }] }
    } catch (error) {
      throw protocolError(error, uri, `Failed to read resource: ${reasonOf(error, log, uri)}`)
    }
  })
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    try {
      if (subscriptions === undefined) throw noSession()
      await subscriptions.add(SESSION, [uri])
      return {}
    } catch (error) {
      throw subscriptionError(error, uri, log)
    }
  })
  server.setRequestHandler("resources/unsubscribe", async ({ params: { uri } }) => {
    await subscriptions?.remove(SESSION, uri)
    return {}
  })
}

/** What asks for subscriptions in the older form, in which all are the session's. */
const SESSION = "session"

function noSession(): AppError {
  return new AppError("invalid", "only a session can follow resources, and this request is of none", {
    hint: "Send the header Mcp-Session-Id that the answer to initialize carried.",
  })
}

/** Turns what kept a session from following a resource into what the protocol answers: the refusals of a read. */
export function subscriptionError(failure: unknown, asked: string, log: Log): ProtocolError {
  const isOne = failure instanceof NotFollowed
  const [uri, error] = isOne ? [failure.uri, failure.cause] : [asked, failure]
  return protocolError(error, uri, `Failed to subscribe to resource: ${reasonOf(error, log, uri)}`)
}

const NO_DEFAULTS: Defaults = { project: undefined, program: undefined, model: undefined }

function toolResult(text: string) {
  return { content: [{ type: "text" as const, text: cutToFit(text) }] }
}

/** What users cause is told as it is; everything else is logged whole and shown bland. */
function reasonOf(error: unknown, log: Log, where: string): string {
  const expected = error instanceof AppError ? error : fileProblem(error)
  if (expected !== undefined) return visible(expected.text)
  log.error("a call failed unexpectedly", { where, error })
  return "an internal error; it was logged on the server's stderr. Try again, and report it if it comes back."
}

function protocolError(error: unknown, uri: string, text: string): ProtocolError {
  if (!(error instanceof AppError)) return new ProtocolError(ProtocolErrorCode.InternalError, text)
  if (error.code === "not_found") return new ResourceNotFoundError(uri, text)
  const code = error.code === "invalid" ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InvalidRequest
  return new ProtocolError(code, text, { code: error.code, retry_after: error.retryAfterSeconds })
}
