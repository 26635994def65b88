/**
 * `signalbox demo`: two agents on one code base, each with a server process of its own, on a temporary
 * database. Everything that is printed is what the tools answered.
 */

import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { connectFolder } from "../operations/connect.ts"
import { openDatabase } from "../operations/database.ts"
import { makeTemporaryFolder } from "../runtime/owned-folder.ts"
import { ServerClient } from "./client.ts"
import { bold, cyan, dim, green, print, red } from "./output.ts"

const PROJECT = "demo"

/** One agent: the server it talks to, and the ids that its tools gave it. */
interface Player {
  server: ServerClient
  name: string
  id: number
  projectId: number
}

export async function demo(): Promise<void> {
  const folder = makeTemporaryFolder("signalbox-demo-")
  const servers: ServerClient[] = []
  try {
    const codeBase = join(folder.path, "code-base")
    mkdirSync(codeBase)
    const databasePath = join(folder.path, "demo.db")
    const repositoryId = await connect(databasePath, codeBase)
    const start = async () => {
      // A key or a session of the surrounding shell has no place in the demo.
      const environment = {
        SIGNALBOX_API_KEY: undefined,
        SIGNALBOX_DB: databasePath,
        SIGNALBOX_ENV: "live",
        SIGNALBOX_SESSION: `demo-${servers.length}`,
      }
      const server = await ServerClient.start(environment, codeBase)
      servers.push(server)
      return server
    }
    await play(await start(), await start(), repositoryId)
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
    folder.discard()
  }
  print(`${green("✓")} That was the real thing, on a temporary database that is gone now.`)
  print(`  Give it to your agents: signalbox without arguments shows the line to paste.`)
}

async function connect(databasePath: string, folder: string): Promise<number> {
  const db = await openDatabase(databasePath)
  try {
    return (await connectFolder(db, folder, Date.now())).id
  } finally {
    await db.close()
  }
}

async function play(
  firstServer: ServerClient,
  secondServer: ServerClient,
  repositoryId: number,
): Promise<void> {
  print(bold("\nTwo coding agents start on one code base, each with its own server process.\n"))
  const first = await enter(firstServer, "claude-code", "opus", repositoryId)
  const second = await enter(secondServer, "codex", "gpt", repositoryId)

  print(bold(`\n${first.name} reserves src/** before it edits. ${second.name} wants a file below it.\n`))
  const reserve = (player: Player, pattern: string, reason: string) =>
    show(player, "reserve-file-paths", {
      agent_id: player.id,
      repository_id: repositoryId,
      coordination_project_id: player.projectId,
      path_pattern: pattern,
      reason,
    })
  await reserve(first, "src/**", "moving the session store")
  await reserve(second, "src/auth/*.ts", "new login form")

  print(bold(`\n${second.name} asks; ${first.name} reads it, acknowledges and answers.\n`))
  const sent = await show(second, "send-message", {
    sender_name: second.name,
    project_id: second.projectId,
    to_agent_ids: [first.id],
    subject: "May I have src/auth?",
    body_md: `I need src/auth/login.ts for the new form. @${first.name} please tell me when you are through with it.`,
    importance: "high",
    ack_required: true,
  })
  const messageId = numberAfter(sent, "Message id")
  await show(first, "fetch-inbox", {
    agent_name: first.name,
    project_id: first.projectId,
    include_bodies: true,
  })
  await show(first, "ack-message", {
    agent_name: first.name,
    project_id: first.projectId,
    message_id: messageId,
    response_text: "We decided to keep the cookie format. I will release src by 16:00 and push before that.",
  })
  await show(second, "fetch-inbox", { agent_name: second.name, project_id: second.projectId })

  print(bold("\nWhat was said, and what is to be done, offline and with the message that says so.\n"))
  await show(second, "summarize-thread", {
    project_id: second.projectId,
    thread_id: textAfter(sent, "Thread id"),
  })

  print(bold(`\n${first.name} is done.\n`))
  await show(first, "release-file-reservations", {
    agent_id: first.id,
    coordination_project_id: first.projectId,
  })
  await reserve(second, "src/auth/*.ts", "new login form")
}

async function enter(
  server: ServerClient,
  program: string,
  model: string,
  repositoryId: number,
): Promise<Player> {
  const answer = await show({ server, name: program }, "macro-start-session", {
    project_key: PROJECT,
    program,
    model,
    repository_id: repositoryId,
  })
  return {
    server,
    name: textAfter(answer, "Name"),
    id: numberAfter(answer, "Agent id"),
    projectId: numberAfter(answer, "Project id"),
  }
}

async function show(player: Pick<Player, "server" | "name">, tool: string, args: object): Promise<string> {
  print(`${bold(player.name)} ${cyan(tool)} ${dim(JSON.stringify(args))}`)
  const { text, isError } = await player.server.call(tool, args)
  const bar = isError ? red("│") : green("│")
  print(text.replace(/^/gm, `  ${bar} `))
  print("")
  return text
}

function textAfter(text: string, label: string): string {
  const found = new RegExp(`^${label}: (.+)$`, "m").exec(text)?.[1]
  if (found === undefined) throw new Error(`the answer has no line "${label}: ..."`)
  return found
}

function numberAfter(text: string, label: string): number {
  return Number(textAfter(text, label))
}
