/** The texts of the hook: every fact, every offer, and nothing that a file or another agent could slip in. */

import { execFileSync } from "node:child_process"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { Agent } from "../../src/domain/coordination/agent.ts"
import type { Reservation } from "../../src/domain/coordination/reservation.ts"
import type { Repository } from "../../src/domain/project.ts"
import { blockText, mailText, sharedText, warningText, welcomeText } from "../../src/hook/texts.ts"
import type { ClaimConflict } from "../../src/operations/coordination/claims.ts"
import type { WaitingMessage } from "../../src/store/coordination/messages.ts"

const NOW_MS = Date.parse("2026-03-10T12:00:00.000Z")
const MINUTE_MS = 60_000
const agent: Agent = {
  id: 7,
  projectId: 3,
  name: "Ada",
  program: "test",
  model: "m",
  taskDescription: null,
  repositoryId: 1,
  contactPolicy: "auto",
  session: null,
  isClaimed: true,
  lastActiveAtMs: NOW_MS,
  createdAtMs: NOW_MS,
  workTree: null,
}
const project = { id: 3, key: "demo", createdAtMs: NOW_MS }
const claimant = { agent, project, ownAgentIds: new Set([7]) }
const repository: Repository = {
  id: 1,
  name: "owner/name",
  rootPath: "/r",
  identityPath: "/r/.git",
  defaultBranch: null,
  ignoreCase: false,
}

function held(changes: Partial<Reservation> = {}): Reservation {
  return {
    id: 1,
    projectId: 3,
    repositoryId: 1,
    agentId: 9,
    agentName: "Bob",
    isPersons: false,
    diedAtMs: null,
    pathPattern: "src/**",
    exclusive: true,
    reason: null,
    createdAtMs: NOW_MS,
    expiresAtMs: NOW_MS + 90 * MINUTE_MS,
    endedAtMs: null,
    ...changes,
  }
}

function conflict(path: string, changes: Partial<Reservation> = {}): ClaimConflict {
  const claimed = { repository, rootPath: repository.rootPath, path, pathPattern: path, exclusive: false }
  return { reservation: held(changes), witness: path, claimed }
}

const block = (conflicts: readonly ClaimConflict[], shown = true, allowsOverride = true) =>
  blockText(conflicts, claimant, NOW_MS, { shown, allowsOverride })

describe("a refusal", () => {
  test("says in one pair of brackets that a person holds a file, or that the holder's session has died", () => {
    const facts = "exclusive, 1 h 30 min left, pattern src/**"
    const head = (changes: Partial<Reservation>) => block([conflict("src/a.ts", changes)], false)
    expect(head({ isPersons: true })).toContain(`is reserved by Bob (a person; ${facts}).`)
    expect(head({ diedAtMs: NOW_MS })).toContain(
      `is reserved by Bob (its session has died; released at 2026-03-10T12:10:00.000Z; ${facts}).`,
    )
  })

  test("says file, holder, mode, time left, pattern and reason, then the offers", () => {
    expect(block([conflict("src/a.ts", { reason: "new\nlogin" })])).toBe(
      [
        "signalbox blocked this edit: src/a.ts is reserved by Bob (exclusive, 1 h 30 min left, pattern src/**). Reason: new ⏎ login.",
        "You can:",
        "- message the holder: send-message to agent id 9 in project id 3",
        "- wait for the expiry: 2026-03-10T13:30:00.000Z (in 1 h 30 min), or in the background for your turn: signalbox wait --released /r/src/a.ts",
        "- work on another file",
        '- only in an emergency, request an override: signalbox override /r/src/a.ts --reason "<why>"',
      ].join("\n"),
    )
  })

  test("says a shared mode too, where the edit must be alone", () => {
    expect(block([conflict("src/a.ts", { exclusive: false })])).toContain("Bob (shared, 1 h 30 min left")
  })

  test("gives the last of several expiries, and counts holders beyond three", () => {
    const conflicts = [1, 2, 3, 4, 5].map((number) =>
      conflict(`${number}.ts`, { expiresAtMs: NOW_MS + number * MINUTE_MS }),
    )
    const text = block(conflicts)
    expect(text).toContain("wait for the expiry: 2026-03-10T12:05:00.000Z (in 5 min)")
    expect(text).toContain("3.ts is reserved")
    expect(text).not.toContain("4.ts")
    expect(text).toContain("And 2 more conflicts.")
    expect(block(conflicts.slice(0, 4))).toContain("And 1 more conflict.")
    expect(block(conflicts.slice(0, 3))).not.toContain("more conflict")
  })

  test("offers mail only where mail arrives", () => {
    expect(block([conflict("a.ts", { projectId: 4 })])).not.toContain("send-message")
    expect(block([conflict("a.ts", { projectId: 4 })])).toContain("- ask your user to write to the holder")
  })

  test("without guidance is the facts alone, without overrides has one offer fewer", () => {
    expect(block([conflict("a.ts")], false).split("\n")).toHaveLength(1)
    const offers = (text: string) => text.split("\n").filter((line) => line.startsWith("- "))
    expect(offers(block([conflict("a.ts")]))).toHaveLength(4)
    expect(offers(block([conflict("a.ts")], true, false))).toHaveLength(3)
  })

  test.skipIf(process.platform === "win32")(
    "gives the path as one word for a shell, and never as an option",
    () => {
      const path = fc
        .string({
          unit: fc.constantFrom("a", "-", "'", '"', " ", "$", "(", "\\", "*", "~", "ü", "#", "/"),
          minLength: 1,
        })
        .filter((value) => !/^\/|\/\/|\/$/.test(value))
      fc.assert(
        fc.property(path, (file) => {
          const [, words = ""] =
            /signalbox override (.*) --reason "<why>"$/m.exec(block([conflict(file)])) ?? []
          const script = `set -- ${words}; printf '%s\\n' "$@"`
          const given = execFileSync("sh", ["-c", script], { encoding: "utf8" }).trimEnd().split("\n")
          const [first] = given
          expect(first).toBe(`/r/${file}`.trimEnd())
          expect(given).toHaveLength(1)
        }),
        { numRuns: 40, examples: [["-rf.ts"]] },
      )
    },
  )
})

test("a warning is one line, says the facts and asks to write first", () => {
  const text = warningText([conflict("a.ts", { reason: "x\ny" }), conflict("b.ts")], NOW_MS)
  expect(text.split("\n")).toHaveLength(1)
  expect(text).toContain(
    "a.ts is reserved by Bob (exclusive, 1 h 30 min left, pattern src/**). Reason: x ⏎ y",
  )
  expect(text).toContain("b.ts is reserved by Bob")
  expect(text).toContain("send-message")
})

test("a line about sharing names each holder once and the longest time", () => {
  const sharers = [
    held({ agentName: "Bob" }),
    held({ agentName: "Eve", expiresAtMs: NOW_MS + 2 * 60 * MINUTE_MS }),
    held({ agentName: "Bob" }),
  ]
  const text = sharedText("a\nb.ts", sharers, NOW_MS)
  expect(text).toContain("`a ⏎ b.ts` is also reserved by Bob, Eve (shared, 2 h left)")
})

describe("a welcome", () => {
  const unclaimed = { ...claimant, agent: { ...claimant.agent, isClaimed: false } }
  const base = { claimant, others: [], unreadCount: 0, urgentCount: 0, nowMs: NOW_MS }

  test("is three short lines where nothing is held and no mail waits", () => {
    expect(welcomeText(base).split("\n")).toEqual([
      'signalbox: you are Ada (agent id 7, project id 3, project_key "demo"). Your reservations and mail are kept under this name.',
      "No other agent has reserved files here.",
      "No unread mail.",
    ])
  })

  test("asks an agent that never introduced itself to do so", () => {
    expect(welcomeText({ ...base, claimant: unclaimed })).toContain("Call macro-start-session")
  })

  test("lists at most eight reservations, each on one line, and counts the rest", () => {
    const others = Array.from({ length: 10 }, (_, index) => held({ pathPattern: `a\n${index}` }))
    const listed = (count: number) => welcomeText({ ...base, others: others.slice(0, count) })
    expect(listed(8).match(/^- `a ⏎ \d`: Bob, exclusive, 1 h 30 min left$/gm)).toHaveLength(8)
    expect(listed(8)).not.toContain("more")
    expect(listed(10)).toContain("- and 2 more: call list-file-reservations")
  })

  test("counts unread and urgent mail", () => {
    expect(welcomeText({ ...base, unreadCount: 3 })).toContain("Unread mail: 3. Call fetch-inbox")
    expect(welcomeText({ ...base, unreadCount: 3, urgentCount: 2 })).toContain("Unread mail: 3, 2 urgent.")
  })
})

describe("a line about mail", () => {
  const waiting = (changes: Partial<WaitingMessage> = {}): WaitingMessage => ({
    id: 5,
    threadKey: "thr_5",
    senderId: 9,
    senderName: "Bob",
    isPersons: false,
    subject: "Stop",
    bodyMd: "",
    importance: "urgent",
    ackRequired: false,
    createdAtMs: NOW_MS,
    readAtMs: null,
    ackedAtMs: null,
    recipientName: "Ada",
    ...changes,
  })

  test("names recipient, sender, subject and id, and the next call", () => {
    expect(mailText(agent, [waiting({ subject: "Stop\nnow" })])).toBe(
      'signalbox: urgent mail for Ada from Bob: "Stop ⏎ now" (message id 5). Call read-message.',
    )
  })

  test("says where a person wrote it", () => {
    expect(mailText(agent, [waiting({ isPersons: true })])).toContain(
      "urgent mail for Ada from Bob (a person): ",
    )
  })

  test("asks for an acknowledgment where one is waited for", () => {
    const text = mailText(agent, [waiting({ importance: "normal", ackRequired: true })])
    expect(text).toContain("mail that needs your acknowledgment for Ada")
    expect(text).toContain("ack-message")
    expect(mailText(agent, [waiting({ ackRequired: true })])).toContain("urgent mail for Ada")
  })

  test("counts what else waits, and is empty when nothing does", () => {
    expect(mailText(agent, [waiting(), waiting({ id: 6 }), waiting({ id: 7 })])).toContain("2 more")
    expect(mailText(agent, [])).toBe("")
  })
})
