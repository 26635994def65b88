/** What is in the database that is fuzzed, and the names by which inputs find it. */

import { dirname, join } from "node:path"
import fc from "fast-check"
import type { Known } from "./from-schema.ts"
import type { LiveRoom } from "./room.ts"
import { text } from "./values.ts"

export const DOCUMENTS: Record<string, string> = {
  "README.md":
    "# Signals\n\nA train waits until the stretch of track before it is free.\n\n## Levers\n\nEach lever moves one signal.\n",
  "docs/limits.md":
    "# Rate limits\n\nA starter key may send sixty requests a minute.\n\n| plan | requests |\n|---|---|\n| pro | 300 |\n",
  "docs/guide.rst": "Guide\n=====\n\nHow a box is set up.\n\n.. code:: sh\n\n   signalbox status\n",
  "src/app.ts": "export const answer = 42\n",
  "src/app/[id]/page.tsx": "export const page = 1\n",
}

const NAMES = ["Alice", "Bob", "Carol"]
const OTHER_NAME = "Dave"
const THREADS = ["planning", "thr_2", "thr_3"]
const PATHS = [
  "src/app.ts",
  "src/**",
  "*.md",
  "src/app/[id]/page.tsx",
  "docs/{limits,guide}.*",
  "./src//app.ts",
  "src/../docs",
]
const QUERIES = [
  "track",
  "signal lever",
  '"stretch of track"',
  "subject:plan",
  "-train",
  "lev*",
  "sixty requests",
]

/** Registers agents in both sessions and gives them mail, reservations, contacts and memories. */
export async function fill(live: LiveRoom): Promise<void> {
  const call = async (name: string, args: object, session = 0) => {
    const { text: answer, isError } = await live.tool(name, JSON.stringify(args), session)
    if (isError) throw new Error(`${name} failed: ${answer}`)
  }
  const identity = { project_key: "demo", program: "fuzz", model: "none" }
  for (const name_hint of NAMES) await call("register-agent", { ...identity, name_hint })
  await call("register-agent", { ...identity, name_hint: OTHER_NAME }, 1)
  const mail = { sender_name: "Alice", project_id: 1, to_agent_ids: [3, 4] }
  await call("send-message", {
    ...mail,
    subject: "Plan",
    body_md: "Let's move the lever. - [ ] @Bob: by tomorrow",
    thread_id: "planning",
  })
  await call("send-message", {
    ...mail,
    subject: "Urgent",
    body_md: "Stop the train.",
    importance: "urgent",
    ack_required: true,
  })
  await call("send-message", {
    ...mail,
    sender_name: "Bob",
    to_agent_ids: [2, 5],
    subject: "Done",
    body_md: "Agreed, done.",
  })
  const place = { repository_id: 1, coordination_project_id: 1, exclusive: true }
  await call("reserve-file-paths", { ...place, agent_id: 2, path_pattern: "src/**" })
  await call("reserve-file-paths", { ...place, agent_id: 5, path_pattern: "docs/*.md" }, 1)
  await call("request-contact", {
    project_id: 1,
    requester_name: "Alice",
    recipient_name: OTHER_NAME,
    reason: "We share a file",
  })
  for (const content of [
    "The lever sticks in winter.",
    "To free a signal, pull its lever twice.",
    "I was glad that the train stopped.",
  ]) {
    const created = await live.tool("create-memory", JSON.stringify({ content, repository_id: 1 }))
    memoryIds.push(/\b[0-9a-z]{8}[0-9a-z-]{10,}\b/i.exec(created.text)?.[0] ?? "")
  }
  const { repository, home } = live.room
  folders.push(repository, join(repository, "docs"), join(repository, ".git"), dirname(repository), home)
  if (memoryIds.some((one) => one === "")) throw new Error("a memory has no id")
}

/** The ids of its memories, and folders in and around its repository, once it was filled. */
const memoryIds: string[] = []
const folders: string[] = []

/** Returns values that exist in such a database, by the name of a parameter. */
export const known: Known = (name) => {
  const kind = KINDS.find(([pattern]) => pattern.test(name))
  return kind?.[1]
}

/** Most of them the first, so that calls with several of them get anywhere. */
function mostly<T>(usual: readonly T[], ...others: T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...usual, ...others) },
  )
}

const existing = (all: readonly string[]) =>
  fc.nat(9).map((at) => all[at % Math.max(1, all.length)] ?? "none")
const KINDS: readonly (readonly [RegExp, fc.Arbitrary<unknown>])[] = [
  [/^project_key$/, mostly(["demo"], "Demo", "other", "/", "/home")],
  [/project_id$|^repository_id$/, mostly([1], 2)],
  [/agent_ids?$/, mostly([2, 3, 4], 1, 5, 6)],
  [/message_id$|reservation_ids?$|request_id$|override_id$/, mostly([1, 2, 3], 4, 5, 6)],
  [/_name$|^name_hint$|^agent$|_names$/, mostly(NAMES, OTHER_NAME, "Signalbox", "alice")],
  [/thread_ids?$/, mostly(THREADS, "thr_9")],
  [/path_pattern|^paths?$|^file_paths$/, fc.oneof(fc.constantFrom(...PATHS), text)],
  [/^query$|^q$/, fc.oneof(fc.constantFrom(...QUERIES), text)],
  [/^repository$|^repositories$/, mostly(["repository", "1"], "other", "repo")],
  [
    /^path_or_url$/,
    fc.oneof(existing(folders), fc.constantFrom("..", "/nowhere", "file:///nowhere", "ssh://-x/", "ext::sh")),
  ],
  [/^branch(es)?$/, mostly(["main"], "next", "--help", "refs/heads/main")],
  [/^memory_id$|^id$/, existing(memoryIds)],
  [
    /since|until|before|after|_at$|_ts$|_date$/,
    mostly(["2026-03-01", "2026-03-10T12:00:00Z"], "2027-01-01", "now"),
  ],
  [/^cursor$/, mostly(["eyJpZCI6MX0"], "", "x")],
]
