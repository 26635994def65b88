import { describe, expect, test } from "vitest"
import { CONTACT_POLICIES } from "../../../src/domain/coordination/agent.ts"
import {
  type ContactFacts,
  decideDelivery,
  decideRequest,
  mayAskAgain,
} from "../../../src/domain/coordination/contact.ts"

const BOTH = [false, true]

type DeliveryFacts = Parameters<typeof decideDelivery>[0]

/** Every combination of what can be known of a sender and a recipient. */
const DELIVERIES: DeliveryFacts[] = CONTACT_POLICIES.flatMap((recipientPolicy) =>
  BOTH.flatMap((blocked) =>
    BOTH.flatMap((approved) =>
      BOTH.flatMap((denied) =>
        BOTH.map((answersRecipient) => ({ recipientPolicy, blocked, approved, denied, answersRecipient })),
      ),
    ),
  ),
)

/** The contract's steps in their order; the first that applies decides. */
const DELIVERY_STEPS: [string, (facts: DeliveryFacts) => boolean, ReturnType<typeof decideDelivery>][] = [
  ["a block refuses", (facts) => facts.blocked, "closed"],
  ["block_all refuses", (facts) => facts.recipientPolicy === "block_all", "closed"],
  ["an answer to the recipient is delivered", (facts) => facts.answersRecipient, "deliver"],
  ["open delivers", (facts) => facts.recipientPolicy === "open", "deliver"],
  ["an approved contact delivers", (facts) => facts.approved, "deliver"],
  ["a denial by the recipient refuses", (facts) => facts.denied, "denied"],
  ["contacts_only refuses", (facts) => facts.recipientPolicy === "contacts_only", "needs_approval"],
  ["auto asks whether the two are acquainted", (facts) => facts.recipientPolicy === "auto", "if_acquainted"],
]

describe("decideDelivery", () => {
  test.each(DELIVERY_STEPS)("%s, unless an earlier step applies", (_, applies, verdict) => {
    const step = DELIVERY_STEPS.findIndex(([, candidate]) => candidate === applies)
    const decided = DELIVERIES.filter(
      (facts) => DELIVERY_STEPS.findIndex(([, candidate]) => candidate(facts)) === step,
    )
    expect(decided.length).toBeGreaterThan(0)
    for (const facts of decided) expect(decideDelivery(facts), JSON.stringify(facts)).toBe(verdict)
  })
})

const REQUESTS: ContactFacts[] = CONTACT_POLICIES.flatMap((recipientPolicy) =>
  BOTH.flatMap((blocked) =>
    BOTH.flatMap((approved) => BOTH.map((denied) => ({ recipientPolicy, blocked, approved, denied }))),
  ),
)

describe("decideRequest", () => {
  test("a block or block_all denies at once, whatever was approved before", () => {
    const closed = REQUESTS.filter((facts) => facts.blocked || facts.recipientPolicy === "block_all")
    for (const facts of closed) expect(decideRequest(facts), JSON.stringify(facts)).toBe("denied")
  })

  test("open approves at once", () => {
    expect(decideRequest({ recipientPolicy: "open", blocked: false, approved: false, denied: false })).toBe(
      "approved",
    )
  })

  test("what is approved already stays approved", () => {
    for (const recipientPolicy of ["open", "auto", "contacts_only"] as const)
      expect(decideRequest({ recipientPolicy, blocked: false, approved: true, denied: true })).toBe(
        "approved",
      )
  })

  test("contacts_only leaves every new request to the recipient", () => {
    expect(
      decideRequest({ recipientPolicy: "contacts_only", blocked: false, approved: false, denied: false }),
    ).toBe("pending")
  })

  test("a denial leaves what auto might approve to the recipient", () => {
    const facts = { recipientPolicy: "auto", blocked: false, approved: false, denied: true } as const
    expect(decideRequest(facts)).toBe("pending")
  })

  test("auto asks whether the two are acquainted", () => {
    expect(decideRequest({ recipientPolicy: "auto", blocked: false, approved: false, denied: false })).toBe(
      "if_acquainted",
    )
  })
})

describe("mayAskAgain", () => {
  const HOUR_MS = 3_600_000

  test("lets a first request after a denial through at once", () => {
    expect(mayAskAgain({ asked: 0, lastMs: 0 }, 0)).toBe(true)
    expect(mayAskAgain({ asked: 1, lastMs: 0 }, 0)).toBe(true)
  })

  test("lets another one through an hour after the last, not before", () => {
    expect(mayAskAgain({ asked: 2, lastMs: 0 }, HOUR_MS - 1)).toBe(false)
    expect(mayAskAgain({ asked: 2, lastMs: 0 }, HOUR_MS)).toBe(true)
  })
})
