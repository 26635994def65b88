/** What is checked of every client, in this order; each step begins with agent A holding `src/auth`. */

import type { ModelRequest, ScriptedTurn } from "../model/conversation.ts"
import { killDaemon } from "./client-run.ts"
import { type Identity, readIdentity } from "./holder.ts"
import { filesBelow } from "./place.ts"
import { instructionsIn, sessionTold, tellsOfBlock, toolsIn } from "./seen.ts"
import type { Stage } from "./stage.ts"
import { subAgentEnd, turnEnd } from "./turn-end.ts"
import { wake } from "./wake.ts"

const HELD = "src/auth/login.ts"
const FREE = "src/free.ts"
const OWN = "src/self.ts"
const LEFT = "src/left.ts"

export const STEPS: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  settings,
  blocked,
  forms,
  free,
  given,
  self,
  mail,
  turnEnd,
  subAgentEnd,
  wake,
  killed,
  uninstall,
}

/** The first run: what reaches the model, and an edit of what agent A holds. */
async function blocked(stage: Stage): Promise<void> {
  const { driver, place, model, holder, checks } = stage
  await stage.play("blocked", [{ calls: driver.edit(place, { file: HELD, from: "= 1", to: "= 2" }) }])
  const [first] = model.requests
  if (first === undefined) return
  checkTools(stage, first)
  const instructions = instructionsIn(first.prompt)
  checks.note("instructions", instructions.note)
  checks.expect("instructions", "the instructions reach the model", instructions.suffices)
  checks.expect("start", "the model is told at the start who it is", sessionTold(first.prompt) !== undefined)
  checks.expect("blocked", "an edit of what another holds changes nothing", place.read(HELD).includes("= 1"))
  checks.expect(
    "blocked",
    "the model is told who holds it",
    tellsOfBlock(model.results(1), holder.identity.name),
    model.results(1),
  )
}

function checkTools({ holder, checks }: Stage, request: ModelRequest): void {
  const all = holder.toolNames.length
  const { whole, named, isSearched } = toolsIn(request, holder.toolNames)
  const offered = request.tools.map(({ name }) => name).join(" ")
  const seen = `${whole} whole, ${named} by name`
  const isAll = whole + named === all || isSearched
  checks.expect(
    "tools",
    `all ${all} tools are offered, by name or behind a search`,
    isAll,
    `${seen}: ${offered}`,
  )
  if (whole === all) checks.note("tools", `${whole}`)
  else if (whole + named === all) checks.note("tools", seen)
  else if (isSearched) checks.note("tools", whole === 0 ? "by search" : `${whole}, the rest by search`)
}

/** Every other way that the client has to edit. */
async function forms(stage: Stage): Promise<void> {
  const { driver, place, model, holder, checks } = stage
  const several = driver.editSeveral?.(place, [
    { file: FREE, from: "= 1", to: "= 10" },
    { file: HELD, from: "= 1", to: "= 3" },
  ])
  const all: [string, ScriptedTurn[]][] = [
    ...(several === undefined
      ? []
      : [["several files at once", [{ calls: several }]] as [string, ScriptedTurn[]]]),
    ...Object.entries(driver.forms ?? {}).map(([name, form]): [string, ScriptedTurn[]] => [
      name,
      form(place),
    ]),
  ]
  for (const [name, script] of all) {
    place.reset()
    const before = JSON.stringify([...filesBelow(place.path("src/auth"))])
    await stage.play(`form-${name.replaceAll(/\W+/g, "-")}`, script)
    const after = JSON.stringify([...filesBelow(place.path("src/auth"))])
    const said = model.requests.map((_, index) => model.results(index)).join("\n")
    checks.expect("blocked", `${name}: nothing changes`, before === after, said)
    checks.expect("blocked", `${name}: the model is told`, tellsOfBlock(said, holder.identity.name), said)
  }
}

/** An edit of what nobody holds, and what stays of it when the session is over. */
async function free(stage: Stage): Promise<void> {
  const { driver, place, model, checks } = stage
  let during: string[] = []
  await stage.play("free", [
    { calls: driver.edit(place, { file: FREE, from: "= 1", to: "= 2" }) },
    async () => {
      during = await place.holdersOf(FREE)
      return {}
    },
  ])
  const told = sessionTold(model.requests[0]?.prompt ?? "")
  checks.expect(
    "free",
    "an edit of what nobody holds passes",
    place.read(FREE).includes("= 2"),
    model.results(1),
  )
  checks.expect("free", "it is reserved during the session", during.length === 1, during.join())
  if (told !== undefined)
    checks.expect(
      "free",
      "it is reserved under the name told",
      during.includes(told.name),
      `${told.name}, ${during.join()}`,
    )
  const after = await place.holdersOf(FREE)
  checks.expect("released", "it is released when the session ends", after.length === 0, after.join())
}

/** What agent A has given back. */
async function given(stage: Stage): Promise<void> {
  const { driver, place, model, holder, checks } = stage
  await holder.release()
  await stage.play("given", [{ calls: driver.edit(place, { file: HELD, from: "= 1", to: "= 4" }) }])
  checks.expect(
    "free",
    "once it is given back the edit passes",
    place.read(HELD).includes("= 4"),
    model.results(1),
  )
  await holder.reserve("src/auth/**")
}

/** Our tools through the client, and an edit of what its own session holds. */
async function self(stage: Stage): Promise<void> {
  const { driver, place, model, checks } = stage
  let told: string | undefined
  let identity: Identity | undefined
  let [introduced, reserved] = ["", ""]
  let holders: string[] = []
  await stage.play("self", [
    ...(driver.prelude ?? []),
    (request) => {
      told = sessionTold(request.prompt)?.name
      const who = { project_key: place.repository, program: driver.client, model: "mock" }
      return { calls: driver.ours(request, "macro-start-session", who) }
    },
    (request) => {
      introduced = request.results.join("\n")
      identity = readIdentity(introduced)
      const who = {
        agent_id: identity?.agentId,
        repository_id: identity?.repositoryId,
        coordination_project_id: identity?.projectId,
      }
      const args = { ...who, path_pattern: OWN, exclusive: true }
      return { calls: driver.ours(request, "reserve-file-paths", args) }
    },
    (request) => {
      reserved = request.results.join("\n")
      return { calls: driver.edit(place, { file: OWN, from: "= 1", to: "= 2" }) }
    },
    async () => {
      holders = await place.holdersOf(OWN)
      return {}
    },
  ])
  checks.expect(
    "connected",
    "macro-start-session answers through the client",
    identity !== undefined,
    introduced,
  )
  checks.expect(
    "connected",
    "reserve-file-paths reserves through the client",
    /reserved/i.test(reserved) && !/failed/i.test(reserved),
    reserved,
  )
  if (told !== undefined)
    checks.expect(
      "self",
      "the server keeps the name that the hook told",
      identity?.name === told,
      `${told}, ${identity?.name}`,
    )
  checks.expect(
    "self",
    "a session edits what it holds itself",
    place.read(OWN).includes("= 2"),
    model.results(-1),
  )
  checks.expect(
    "self",
    "hook and server are one agent",
    holders.length > 0 && holders.every((name) => name === identity?.name),
    `${identity?.name}, ${holders.join()}`,
  )
}

/** Urgent mail during a session, and before one that goes on. */
async function mail(stage: Stage): Promise<void> {
  const { driver, place, model, holder, checks } = stage
  let agentId: number | undefined
  await stage.play("mail", [
    { calls: driver.edit(place, { file: FREE, from: "const free", to: "const  free" }) },
    async (request) => {
      agentId = sessionTold(request.prompt)?.agentId
      if (agentId !== undefined) await holder.mail(agentId, "URGENT-SUBJECT-1")
      return { calls: driver.edit(place, { file: FREE, from: "const  free", to: "const free" }) }
    },
    ...(driver.editsInShell === true ? [{ calls: driver.shell("true") }] : []),
  ])
  const last = driver.editsInShell === true ? 3 : 2
  const heard = model.requests[last]?.prompt ?? ""
  const isTold = heard.includes("URGENT-SUBJECT-1")
  checks.expect("mail", "urgent mail is told after an edit", isTold, model.results(last))
  if (!driver.resumes || agentId === undefined) return
  await holder.mail(agentId, "URGENT-SUBJECT-2")
  await stage.play("mail-resumed", [{}], true)
  const prompt = model.requests[0]?.prompt ?? ""
  const start = prompt.slice(Math.max(0, prompt.lastIndexOf("signalbox: you are")))
  const isToldThen = prompt.includes("URGENT-SUBJECT-2") || /Unread mail: [1-9]/.test(start)
  checks.expect("mail", "a session that goes on is told of mail that came meanwhile", isToldThen, start)
}

/** A client that dies in the middle: what it held is known to be a dead session's, and can be had at once. */
async function killed(stage: Stage): Promise<void> {
  const { driver, place, holder, checks } = stage
  let during: string[] = []
  const run = stage.begin("killed", [
    { calls: driver.create(place, LEFT, "left\n") },
    async () => {
      during = await place.holdersOf(LEFT)
      run.kill()
      if (driver.daemon !== undefined) killDaemon(place, driver.daemon)
      return {}
    },
  ])
  await run.ended
  const known = await place.signalbox("cleanup", "--json")
  const isKnown = during.length === 1 && known.includes(`"${LEFT}"`)
  checks.expect("released", "what a killed client held is known to be a dead session's", isKnown, known)
  await place.signalbox("cleanup", "--dead")
  const answer = await holder.reserve(LEFT)
  const after = await place.holdersOf(LEFT)
  const isFree = after.length === 1 && after[0] === holder.identity.name
  checks.expect("released", "another agent gets it when those are released", isFree, answer)
}

/** Before the client has run once: what the installation wrote is taken back byte for byte, and comes back. */
async function settings({ driver, place, checks, installed }: Stage): Promise<void> {
  await place.signalbox("uninstall", driver.client)
  const files = filesBelow(place.home)
  for (const [file, { before }] of installed)
    checks.expect("uninstalled", `${file} is byte for byte what it was`, files.get(file) === before)
  await place.signalbox("install", driver.client)
}

/** After all runs: the same, but that files which the client itself has written since keep what it wrote. */
async function uninstall({ driver, place, checks, installed }: Stage): Promise<void> {
  const files = filesBelow(place.home)
  await place.signalbox("uninstall", driver.client)
  const left = filesBelow(place.home)
  for (const [file, { before, after }] of installed) {
    const text = Buffer.from(left.get(file) ?? "", "base64")
      .toString()
      .replaceAll(place.root, "")
    if (files.get(file) === after)
      checks.expect(
        "uninstalled",
        `${file} is byte for byte what it was, after all runs`,
        left.get(file) === before,
        text,
      )
    else
      checks.expect(
        "uninstalled",
        `${file} keeps what the client wrote, and nothing of ours`,
        !/signalbox/i.test(text),
        text,
      )
  }
}
