/** Agent A: a session of its own that holds what the driven client wants to edit, and writes to it. */

import { numberAfter, StdioClient } from "../../bench/support/stdio-client.ts"
import { fieldsOf, objectsOf, stringOf } from "../model/json.ts"
import { type Place, SIGNALBOX } from "./place.ts"

/** What `macro-start-session` tells of an agent. */
export interface Identity {
  name: string
  agentId: number
  projectId: number
  repositoryId: number
}

/** Reads the answer of `macro-start-session`; undefined when it is none. Clients may show its lines escaped. */
export function readIdentity(answer: string): Identity | undefined {
  const text = answer.replaceAll("\\n", "\n")
  const name = /^Name: (\w+)/m.exec(text)?.[1]
  if (name === undefined) return undefined
  return {
    name,
    agentId: numberAfter(text, "Agent id"),
    projectId: numberAfter(text, "Project id"),
    repositoryId: numberAfter(text, "Repository id"),
  }
}

export class Holder {
  readonly identity: Identity
  readonly toolNames: readonly string[]
  readonly #client: StdioClient

  private constructor(identity: Identity, toolNames: readonly string[], client: StdioClient) {
    this.identity = identity
    this.toolNames = toolNames
    this.#client = client
  }

  static async start(place: Place): Promise<Holder> {
    const client = await StdioClient.connect({
      args: [SIGNALBOX],
      cwd: place.repository,
      env: { ...place.environment, SIGNALBOX_SESSION: "agent-a" },
    })
    const { tools } = fieldsOf(await client.request("tools/list", {}))
    const answer = await client.call("macro-start-session", {
      project_key: place.repository,
      program: "agent-a",
      model: "none",
    })
    const identity = readIdentity(answer)
    if (identity === undefined) throw new Error(`agent A got no identity: ${answer}`)
    return new Holder(
      identity,
      objectsOf(tools).map(({ name }) => stringOf(name)),
      client,
    )
  }

  /** Reserves files for itself alone; returns what the tool answers, which on a refusal names who holds them. */
  async reserve(pattern: string): Promise<string> {
    const { agentId, projectId, repositoryId } = this.identity
    const { text } = await this.#client.try("reserve-file-paths", {
      agent_id: agentId,
      repository_id: repositoryId,
      coordination_project_id: projectId,
      path_pattern: pattern,
      exclusive: true,
    })
    return text
  }

  /** Gives back all that it holds. */
  async release(): Promise<void> {
    const { agentId, projectId } = this.identity
    await this.#client.call("release-file-reservations", {
      agent_id: agentId,
      coordination_project_id: projectId,
    })
  }

  async mail(agentId: number, subject: string, importance = "urgent"): Promise<void> {
    await this.#client.call("send-message", {
      sender_name: this.identity.name,
      project_id: this.identity.projectId,
      to_agent_ids: [agentId],
      subject,
      body_md: "please",
      importance,
    })
  }

  close(): Promise<void> {
    return this.#client.close()
  }
}
