import fc from "fast-check"
import { expect, test } from "vitest"
import { EVENT_KINDS, type EventKind } from "../../../src/domain/events/kinds.ts"
import { eventWords } from "../../../src/domain/events/words.ts"

const KINDS = Object.keys(EVENT_KINDS) as EventKind[]

test.each<[EventKind, string | null, Record<string, unknown>, string]>([
  [
    "message.sent",
    "BlueLake",
    { subject: "Lunch", to: ["GreenCastle"], cc: ["RedFox"] },
    'BlueLake sent "Lunch" to GreenCastle, cc RedFox',
  ],
  [
    "message.sent",
    "BlueLake",
    { subject: "Stop", importance: "urgent", ack_required: true, to: [{ agent_id: 2, name: "GreenCastle" }] },
    'BlueLake sent urgently "Stop" to GreenCastle and asks for an acknowledgment',
  ],
  [
    "message.sent",
    "BlueLake",
    { subject: "All", to: ["A1", "B2", "C3", "D4", "E5"] },
    'BlueLake sent "All" to A1, B2, C3 and 2 more',
  ],
  [
    "reservation.granted",
    "BlueLake",
    { path_pattern: "src/**", mode: "exclusive" },
    "BlueLake reserved src/** (exclusive)",
  ],
  ["reservation.expired", null, { path_pattern: "src/**" }, "A reservation of src/** ran out"],
  ["reservation.expired", "BlueLake", {}, "BlueLake's reservation of files ran out"],
  [
    "edit.blocked",
    "BlueLake",
    { path: "a.ts", holders: ["RedFox"] },
    "BlueLake was kept from editing a.ts, held by RedFox",
  ],
  [
    "contact.answered",
    "B2",
    { requester: "A1", recipient: "B2", approved: false },
    "B2 denied the contact with A1",
  ],
  ["memory.pruned", "signalbox", { count: 1 }, "signalbox pruned 1 memory"],
  ["waypoint.created", "BlueLake", { to: [{}, {}] }, "BlueLake linked a memory to 2 others"],
  [
    "documentation.indexed",
    "signalbox",
    { branch: "main", files: 12 },
    "signalbox indexed the documentation of main (12 files)",
  ],
  ["key.used", null, { name: "ci" }, 'Somebody used the API key "ci" for the first time'],
])("%s by %s is told in a sentence", (kind, actor, data, words) => {
  expect(eventWords({ kind, actor, data })).toBe(words)
})

test("whatever stands in an event, its words are one line without what acts on a terminal", () => {
  const value = fc.oneof(fc.string({ unit: "binary" }), fc.array(fc.anything()), fc.anything())
  const fields = [
    "subject",
    "to",
    "cc",
    "path",
    "holders",
    "name",
    "branch",
    "files",
    "count",
    "mode",
    "reason",
  ]
  const data = fc.dictionary(fc.constantFrom(...fields), value)
  fc.assert(
    fc.property(
      fc.constantFrom(...KINDS),
      fc.option(fc.string({ unit: "binary" })),
      data,
      (kind, actor, given) => {
        const words = eventWords({ kind, actor, data: given })
        expect(words).not.toMatch(/[\p{Cc}\u2028\u2029]/u)
        expect(words).not.toBe("")
      },
    ),
    { numRuns: 300 },
  )
})
