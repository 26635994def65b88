/**
 * `signalbox demo`: two agents on one code base, each with a server process of its own, on a temporary
 * database. Everything behind a bar is what tools and hook really answered, without its empty lines.
 */

import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { text as textOf } from "node:stream/consumers"
import { setTimeout as wait } from "node:timers/promises"
import { hookFolder, placeHookFiles } from "../hook/files.ts"
import { connectFolder } from "../operations/connect.ts"
import { openDatabase } from "../operations/database.ts"
import { ownCommand } from "../runtime/own-command.ts"
import { makeTemporaryFolder } from "../runtime/owned-folder.ts"
import { ServerClient } from "./client.ts"
import { bold, cyan, dim, green, print, red } from "./output.ts"

const PROJECT = "demo"
const HELD_FILE = "src/auth/login.ts"

/** A reader needs about this long for a line, and never wants to wait longer than the last for a block. */
const MS_PER_LINE = 350
const PAUSE_MS_MAX = 4_000

const READ_ATTEMPTS_MAX = 100
const READ_PAUSE_MS = 100

const GUIDE = `# Releases

## How a release is rolled back

Point the balancer at the last green build, then revert the migration with \`npm run migrate:down\`.
Never delete the tag: the audit needs it.
`

/** One agent: the server it talks to, the ids that its tools gave it, and the session that its hook tells. */
interface Player {
  server: ServerClient
  session: string
  name: string
  id: number
  projectId: number
}

/** Where the two play, and how long they leave what they have said. */
interface Stage {
  codeBase: string
  dataFolder: string
  databasePath: string
  repositoryId: number
  /** Ends all waiting. */
  signal: AbortSignal
  isPaced: boolean
}

/** Plays the tour; paced for a reader at a terminal unless `fast`. Ctrl-C ends it and leaves nothing behind. */
export async function demo({ fast = false }: { fast?: boolean } = {}): Promise<void> {
  const folder = makeTemporaryFolder("signalbox-demo-")
  const servers: ServerClient[] = []
  const interrupt = new AbortController()
  const onInterrupt = () => interrupt.abort()
  process.once("SIGINT", onInterrupt)
  try {
    const codeBase = join(folder.path, "code-base")
    mkdirSync(join(codeBase, "docs"), { recursive: true })
    writeFileSync(join(codeBase, "docs", "releases.md"), GUIDE)
    const databasePath = join(folder.path, "signalbox.db")
    placeHookFiles(folder.path)
    const stage: Stage = {
      codeBase,
      dataFolder: folder.path,
      databasePath,
      repositoryId: await connect(databasePath, codeBase),
      signal: interrupt.signal,
      isPaced: !fast && process.stdout.isTTY === true,
    }
    for (let index = 0; index < 2; index += 1) {
      servers.push(await ServerClient.start(environmentOf(stage, `demo-${index}`), codeBase))
    }
    await play(stage, servers)
  } catch (error) {
    if (!interrupt.signal.aborted) throw error
  } finally {
    process.off("SIGINT", onInterrupt)
    await Promise.all(servers.map((server) => server.stop()))
    folder.discard()
  }
  // Whoever started this is told how it ended, as if nothing had been caught.
  if (interrupt.signal.aborted) process.kill(process.pid, "SIGINT")
  print(`${green("✓")} That was the real thing, on a temporary database that is gone now.`)
  print(`  Give it to your agents: ${bold(`${ownCommand()} install`)}`)
}

/**
 * A key or a session of the surrounding shell has no place in the demo, nor has a home with settings, and with a hook
 * and a launcher, which a listener would bring to the version of this package.
 */
function environmentOf(
  { databasePath, dataFolder }: Stage,
  session: string,
): Record<string, string | undefined> {
  return {
    APPDATA: dataFolder,
    HOME: dataFolder,
    LOCALAPPDATA: dataFolder,
    XDG_CONFIG_HOME: undefined,
    XDG_DATA_HOME: undefined,
    SIGNALBOX_AGENT: undefined,
    SIGNALBOX_API_KEY: undefined,
    SIGNALBOX_DB: databasePath,
    SIGNALBOX_ENV: "live",
    SIGNALBOX_SESSION: session,
  }
}

async function connect(databasePath: string, folder: string): Promise<number> {
  const db = await openDatabase(databasePath)
  try {
    return (await connectFolder(db, folder, Date.now())).id
  } finally {
    await db.close()
  }
}

async function play(stage: Stage, servers: readonly ServerClient[]): Promise<void> {
  const [firstServer, secondServer] = servers
  if (firstServer === undefined || secondServer === undefined) throw new Error("a server is missing")
  title("Two coding agents start on one code base, each with its own server process.")
  const first = await enter(stage, firstServer, "claude-code", "opus", "demo-0")
  const second = await enter(stage, secondServer, "codex", "gpt", "demo-1")

  title(`${first.name} reserves src/auth/** before it edits.`)
  await show(stage, first, "reserve-file-paths", {
    agent_id: first.id,
    repository_id: stage.repositoryId,
    coordination_project_id: first.projectId,
    path_pattern: "src/auth/**",
    reason: "moving the session store",
  })

  title(`${second.name} edits a file there all the same. The hook stops it before anything is written.`)
  await edit(stage, second)

  title(`${second.name} asks; ${first.name} reads, acknowledges and answers.`)
  const sent = await show(stage, second, "send-message", {
    sender_name: second.name,
    project_id: second.projectId,
    to_agent_ids: [first.id],
    subject: "May I have src/auth?",
    body_md: `I need ${HELD_FILE} for the new form. @${first.name} please tell me when you are through with it.`,
    ack_required: true,
  })
  await show(stage, first, "fetch-inbox", {
    agent_name: first.name,
    project_id: first.projectId,
    include_bodies: true,
  })
  await show(stage, first, "ack-message", {
    agent_name: first.name,
    project_id: first.projectId,
    message_id: numberAfter(sent, "Message id"),
    response_text: "We decided to keep the cookie format. I will release src/auth now.",
  })
  await show(stage, first, "release-file-reservations", {
    agent_id: first.id,
    coordination_project_id: first.projectId,
  })

  title(`Now the same edit goes on: the hook has nothing to say, and reserves the file for ${second.name}.`)
  await edit(stage, second)

  title("What was said and decided, offline, each line with the message that says so.")
  await show(stage, second, "summarize-thread", {
    project_id: second.projectId,
    thread_id: textAfter(sent, "Thread id"),
  })

  title("What one session learns, the next one knows.")
  await show(stage, first, "create-memory", {
    content: "Passwords are hashed with argon2id; bcrypt cut them at 72 bytes.",
    tags: ["auth"],
  })
  await show(stage, second, "search-memories", { query: "password hashing" })

  title("And what the repository's own documentation says: the passage, the file, the lines.")
  const question = { query: "how do I roll back a release" }
  await untilRead(stage, second, question)
  await show(stage, second, "search-documentation", question)
}

/** On a busy machine the first question may be answered before all is read. */
async function untilRead({ signal }: Stage, { server }: Player, question: object): Promise<void> {
  for (let attempt = 0; attempt < READ_ATTEMPTS_MAX; attempt += 1) {
    const { text } = await server.call("search-documentation", question)
    if (!text.includes("is being indexed")) return
    await wait(READ_PAUSE_MS, undefined, { signal })
  }
}

function title(text: string): void {
  print(`\n${bold(text)}\n`)
}

async function enter(
  stage: Stage,
  server: ServerClient,
  program: string,
  model: string,
  session: string,
): Promise<Player> {
  const answer = await show(stage, { server, name: program }, "macro-start-session", {
    project_key: PROJECT,
    program,
    model,
    repository_id: stage.repositoryId,
  })
  return {
    server,
    session,
    name: textAfter(answer, "Name"),
    id: numberAfter(answer, "Agent id"),
    projectId: numberAfter(answer, "Project id"),
  }
}

/** Calls a tool and shows call and answer; returns the answer. */
async function show(
  stage: Stage,
  player: Pick<Player, "server" | "name">,
  tool: string,
  args: object,
): Promise<string> {
  print(`${bold(player.name)} ${cyan(tool)} ${dim(JSON.stringify(args))}`)
  const { text, isError } = await player.server.call(tool, args)
  await answerWith(stage, text, isError ? red : green)
  return text
}

/** Has the hook decide on an edit of the held file, as a client does before each of its edits. */
async function edit(stage: Stage, player: Player): Promise<void> {
  print(`${bold(player.name)} ${cyan("edits")} ${dim(HELD_FILE)}`)
  const file = join(stage.codeBase, HELD_FILE)
  const payload = {
    session_id: player.session,
    cwd: stage.codeBase,
    hook_event_name: "PreToolUse",
    tool_name: "Write",
    tool_input: { file_path: file, content: "export const login = true\n" },
  }
  const hook = join(hookFolder(stage.dataFolder), "hook.cjs")
  const child = spawn(process.execPath, [hook, "claude-code", "pre-edit"], {
    stdio: ["pipe", "ignore", "pipe"],
    env: { ...process.env, ...environmentOf(stage, player.session) },
    cwd: stage.codeBase,
  })
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
  child.stdin.end(JSON.stringify(payload))
  const said = (await textOf(child.stderr)).trim()
  const isBlocked = (await ended) === 2
  await answerWith(stage, said === "" ? "(the edit goes on)" : said, isBlocked ? red : green)
}

async function answerWith(stage: Stage, text: string, colour: (text: string) => string): Promise<void> {
  const lines = text.split("\n").filter((line) => line !== "")
  for (const line of lines) print(`  ${colour("│")} ${line}`)
  print("")
  if (!stage.isPaced) return
  await wait(Math.min(PAUSE_MS_MAX, MS_PER_LINE * lines.length), undefined, { signal: stage.signal })
}

function textAfter(text: string, label: string): string {
  const found = new RegExp(`^${label}: (.+)$`, "m").exec(text)?.[1]
  if (found === undefined) throw new Error(`the answer has no line "${label}: ..."`)
  return found
}

function numberAfter(text: string, label: string): number {
  return Number(textAfter(text, label))
}
