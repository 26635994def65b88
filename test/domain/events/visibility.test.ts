import fc from "fast-check"
import { expect, test } from "vitest"
import { EVENT_KINDS, type EventKind } from "../../../src/domain/events/kinds.ts"
import { maySee, type NamedEvent } from "../../../src/domain/events/visibility.ts"

const KINDS = Object.keys(EVENT_KINDS) as EventKind[]

const BASE: NamedEvent = {
  id: 1,
  kind: "message.sent",
  projectId: 1,
  projectKey: "/a",
  repositoryId: null,
  repositoryName: null,
  agentId: 1,
  agentName: "BlueLake",
  actor: null,
  partyId: null,
  subjectId: null,
  linkedRepositoryIds: [1, 2],
  data: {},
  createdAtMs: 0,
}

const see = (event: Partial<NamedEvent>, scopes: string[], ownAgentIds: number[] = []) =>
  maySee({ ...BASE, ...event }, { scopes, ownAgentIds })

test("coordination is seen with the scope of the project, or of a linked repository what concerns no other", () => {
  for (const repositoryId of [null, 1, 2]) {
    expect(see({ repositoryId }, ["*"])).toBe(true)
    expect(see({ repositoryId }, ["project:/a:coordination"])).toBe(true)
    expect(see({ repositoryId }, ["project:/b:coordination"])).toBe(false)
    expect(see({ repositoryId }, ["repo:1:coordination"])).toBe(repositoryId !== 2)
    expect(see({ repositoryId }, ["repo:3:coordination"])).toBe(false)
    expect(see({ repositoryId }, ["repo:1:memory", "repo:1:documentation", "admin"])).toBe(false)
  }
})

test("what a program without an agent was kept from is seen with the scope of the repository", () => {
  const unknown = {
    kind: "edit.blocked",
    repositoryId: 1,
    projectId: null,
    projectKey: null,
    agentId: null,
  } as const
  const event = { ...unknown, linkedRepositoryIds: [] }
  expect(see(event, ["repo:1:coordination"])).toBe(true)
  expect(see(event, ["repo:2:coordination", "project:/a:coordination", "repo:1:memory"])).toBe(false)
  expect(see({ ...event, repositoryId: null }, ["repo:1:coordination"])).toBe(false)
})

test("memories, documentation and keys are seen with their own scope alone", () => {
  const inOne = { repositoryId: 1, projectId: null, projectKey: null, linkedRepositoryIds: [] }
  for (const api of ["memory", "documentation"] as const) {
    const kind = api === "memory" ? "memory.created" : "documentation.indexed"
    expect(see({ ...inOne, kind }, [`repo:1:${api}`])).toBe(true)
    expect(see({ ...inOne, kind }, [`repo:2:${api}`])).toBe(false)
    expect(see({ ...inOne, kind }, ["repo:1:coordination", "admin"])).toBe(false)
  }
  expect(see({ kind: "key.created" }, ["admin"])).toBe(true)
  expect(see({ kind: "key.created" }, ["project:/a:coordination", "repo:1:memory"])).toBe(false)
})

test("contacts are seen by their two sides, each for itself, and a block by whoever blocks", () => {
  const contact = { agentId: 1, partyId: 2 }
  for (const kind of ["contact.requested", "contact.answered", "contact.blocked"] as const) {
    expect(see({ ...contact, kind }, ["*"])).toBe(false)
    expect(see({ ...contact, kind }, ["*"], [3])).toBe(false)
    expect(see({ ...contact, kind }, ["*"], [1])).toBe(true)
    expect(see({ ...contact, kind }, ["project:/b:coordination"], [1])).toBe(false)
    expect(see({ ...contact, kind }, ["*"], [2])).toBe(kind !== "contact.blocked")
  }
})

test("nobody sees a kind that this version does not know", () => {
  expect(see({ kind: "toString" as EventKind }, ["*"], [1])).toBe(false)
})

test("no scope shows less when others come with it, and without scopes nothing is seen", () => {
  const scope = fc.constantFrom(
    "*",
    "admin",
    "project:/a:coordination",
    "project:/b:coordination",
    ...["coordination", "memory", "documentation"].flatMap((api) => [`repo:1:${api}`, `repo:2:${api}`]),
  )
  const event = fc.record({
    kind: fc.constantFrom(...KINDS),
    projectKey: fc.constantFrom("/a", "/b", null),
    repositoryId: fc.constantFrom(1, 2, null),
    linkedRepositoryIds: fc.subarray([1, 2]),
  })
  fc.assert(
    fc.property(event, fc.array(scope), fc.array(scope), (given, some, more) => {
      if (see(given, some, [1])) expect(see(given, [...some, ...more], [1])).toBe(true)
      expect(see(given, [], [1])).toBe(false)
    }),
    { numRuns: 300 },
  )
})
