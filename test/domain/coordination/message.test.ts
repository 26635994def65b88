import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  firstAckAt,
  mergeRecipients,
  type Recipient,
  type RecipientKind,
  replyRecipients,
  replySubject,
  subjectOf,
  visibleRecipients,
} from "../../../src/domain/coordination/message.ts"

const ids = () => fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 10 })

function recipient(agentId: number, kind: RecipientKind, ackedAtMs: number | null = null): Recipient {
  return { agentId, name: `Agent${agentId}`, kind, readAtMs: null, ackedAtMs }
}

/** Recipients as the store returns them: each agent once. */
const recipients = () =>
  fc
    .uniqueArray(
      fc.tuple(fc.integer({ min: 1, max: 12 }), fc.constantFrom<RecipientKind>("to", "cc", "bcc")),
      {
        selector: ([id]) => id,
        maxLength: 12,
      },
    )
    .map((pairs) => pairs.map(([id, kind]) => recipient(id, kind)))

const idsOf = (all: readonly Recipient[], kind: RecipientKind) =>
  all.filter((one) => one.kind === kind).map((one) => one.agentId)

describe("mergeRecipients", () => {
  test("keeps each agent once, in the strongest list that names it, and nobody else", () => {
    fc.assert(
      fc.property(ids(), ids(), ids(), (to, cc, bcc) => {
        const merged = mergeRecipients(to, cc, bcc)
        expect(new Set(merged.keys())).toEqual(new Set([...to, ...cc, ...bcc]))
        for (const [id, kind] of merged) {
          const strongest = to.includes(id) ? "to" : cc.includes(id) ? "cc" : "bcc"
          expect(kind).toBe(strongest)
        }
      }),
    )
  })

  test("keeps the order in which agents were first named", () => {
    expect([...mergeRecipients([5, 3, 5], [3, 9, 1], [9, 2]).keys()]).toEqual([5, 3, 9, 1, 2])
  })
})

describe("replyRecipients", () => {
  test("goes to the parent's sender alone when somebody else replies", () => {
    fc.assert(
      fc.property(
        recipients(),
        fc.integer({ min: 13, max: 20 }),
        fc.integer({ min: 1, max: 12 }),
        (all, sender, me) => {
          expect(replyRecipients(me, { senderId: sender }, all).to).toEqual([sender])
        },
      ),
    )
  })

  test("copies every other visible recipient of the parent when somebody else replies", () => {
    fc.assert(
      fc.property(
        recipients(),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 12 }),
        (all, sender, me) => {
          fc.pre(sender !== me)
          const { cc } = replyRecipients(me, { senderId: sender }, all)
          const others = [...idsOf(all, "to"), ...idsOf(all, "cc")].filter((id) => id !== me && id !== sender)
          expect(new Set(cc)).toEqual(new Set(others))
          expect(cc.length).toBe(others.length)
        },
      ),
    )
  })

  test("goes to the parent's own to, with its cc copied, when one replies to oneself", () => {
    fc.assert(
      fc.property(recipients(), fc.integer({ min: 13, max: 20 }), (all, me) => {
        expect(replyRecipients(me, { senderId: me }, all)).toEqual({
          to: idsOf(all, "to"),
          cc: idsOf(all, "cc"),
        })
      }),
    )
  })

  test("never brings in anybody who was only in bcc", () => {
    fc.assert(
      fc.property(
        recipients(),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 12 }),
        (all, sender, me) => {
          const { to, cc } = replyRecipients(me, { senderId: sender }, all)
          for (const hidden of idsOf(all, "bcc")) {
            if (hidden !== sender) expect([...to, ...cc]).not.toContain(hidden)
          }
        },
      ),
    )
  })

  test("never copies the replier", () => {
    fc.assert(
      fc.property(
        recipients(),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 12 }),
        (all, sender, me) => {
          expect(replyRecipients(me, { senderId: sender }, all).cc).not.toContain(me)
        },
      ),
    )
  })
})

describe("replySubject", () => {
  test("puts `Re: ` before a subject once, however often it is replied to", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 200 }), (subject) => {
        const once = replySubject(subject)
        expect(once.endsWith(subject)).toBe(true)
        expect(once).toMatch(/^re: /i)
        expect(replySubject(once)).toBe(once)
      }),
    )
  })

  test("leaves a subject alone that begins so in another case", () => {
    expect(replySubject("RE: plan")).toBe("RE: plan")
    expect(replySubject("re: plan")).toBe("re: plan")
  })

  test("takes a word that only begins with re for what it is", () => {
    expect(replySubject("Release")).toBe("Re: Release")
    expect(replySubject("About re: plan")).toBe("Re: About re: plan")
  })
})

describe("visibleRecipients", () => {
  test("are those in to and cc, and never those in bcc", () => {
    fc.assert(
      fc.property(recipients(), (all) => {
        const visible = visibleRecipients(all)
        expect(visible).toEqual(all.filter((one) => one.kind === "to" || one.kind === "cc"))
      }),
    )
  })
})

describe("firstAckAt", () => {
  test("is the earliest acknowledgment, or null when there is none", () => {
    expect(firstAckAt([])).toBeNull()
    expect(firstAckAt([recipient(1, "to"), recipient(2, "cc")])).toBeNull()
    expect(firstAckAt([recipient(1, "to", 300), recipient(2, "cc"), recipient(3, "cc", 200)])).toBe(200)
  })
})

describe("a subject that is made for a text", () => {
  test.each([
    ["Please stop.\nMore.", "Please stop."],
    ["\n  \r\n# A  heading\t here\n", "A heading here"],
    ["- [ ] item", "item"],
    ["3. third", "third"],
    ["#hash tag", "#hash tag"],
    ["###", "###"],
    ["a".repeat(80), "a".repeat(80)],
    ["a".repeat(81), `${"a".repeat(79)}…`],
    [`${"word ".repeat(15)}and longer`, `${"word ".repeat(15)}and…`],
  ])("of %j is %j", (text, subject) => {
    expect(subjectOf(text)).toBe(subject)
  })

  test("is one that a message may have, whatever the text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }).filter((text) => /\S/.test(text) && !text.includes("\0")),
        (text) => {
          const subject = subjectOf(text)
          expect(subject).toMatch(/\S/)
          expect([...subject].length).toBeLessThanOrEqual(80)
        },
      ),
    )
  })
})
