import { describe, expect, test } from "vitest"
import { CONTACT_POLICIES } from "../../../src/domain/coordination/agent.ts"
import { type ContactFacts, decideDelivery, decideRequest } from "../../../src/domain/coordination/contact.ts"

const BOTH = [false, true]

type DeliveryFacts = Parameters<typeof decideDelivery>[0]

/** Every combination of what can be known of a sender and a recipient. */
const DELIVERIES: DeliveryFacts[] = CONTACT_POLICIES.flatMap((recipientPolicy) =>
  BOTH.flatMap((blocked) =>
    BOTH.flatMap((approved) =>
      BOTH.map((answersRecipient) => ({ recipientPolicy, blocked, approved, answersRecipient })),
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
  BOTH.flatMap((blocked) => BOTH.map((approved) => ({ recipientPolicy, blocked, approved }))),
)

describe("decideRequest", () => {
  test("a block or block_all denies at once, whatever was approved before", () => {
    const closed = REQUESTS.filter((facts) => facts.blocked || facts.recipientPolicy === "block_all")
    for (const facts of closed) expect(decideRequest(facts), JSON.stringify(facts)).toBe("denied")
  })

  test("open approves at once", () => {
    expect(decideRequest({ recipientPolicy: "open", blocked: false, approved: false })).toBe("approved")
  })

  test("what is approved already stays approved", () => {
    for (const recipientPolicy of ["open", "auto", "contacts_only"] as const)
      expect(decideRequest({ recipientPolicy, blocked: false, approved: true })).toBe("approved")
  })

  test("contacts_only leaves every new request to the recipient", () => {
    expect(decideRequest({ recipientPolicy: "contacts_only", blocked: false, approved: false })).toBe(
      "pending",
    )
  })

  test("auto asks whether the two are acquainted", () => {
    expect(decideRequest({ recipientPolicy: "auto", blocked: false, approved: false })).toBe("if_acquainted")
  })
})
