/**
 * Owns the contract of summarizeThread: what stands for a thread, what was decided, what comes next, and from
 * which mail each text is taken. It refuses to test single cues of action items; work-ledger.test.ts does.
 */

import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { THREAD_ACTIVE_WINDOW_MS } from "../../../src/config/limits.ts"
import { readSentences } from "../../../src/domain/summary/markdown.ts"
import { summarizeThread, type ThreadMessage } from "../../../src/domain/summary/summary.ts"

const PARTICIPANTS = ["BlueLake", "RedFox", "GreenHill"]
const MINUTE_MS = 60_000

function thread(subject: string, ...mails: [sender: string, body: string][]): ThreadMessage[] {
  return mails.map(([sender, body], index) => ({
    id: 100 + index,
    sender,
    subject,
    body,
    createdAtMs: index * MINUTE_MS,
  }))
}

const summarize = (messages: ThreadMessage[]) => summarizeThread(messages, PARTICIPANTS, 0)
const decisionsIn = (...bodies: string[]): string[] =>
  summarize(thread("Cache", ...bodies.map((body): [string, string] => ["BlueLake", body]))).decisions.map(
    (decision) => decision.text,
  )
const nextStepsIn = (...bodies: string[]): string[] =>
  summarize(thread("Cache", ...bodies.map((body): [string, string] => ["BlueLake", body]))).nextSteps.map(
    (step) => step.text,
  )

const SESSION_THREAD = thread(
  "Session store migration",
  [
    "BlueLake",
    `Hi all,

The session store loses logins whenever the gateway restarts.
We decided to move the session store into SQLite.

@RedFox please write the migration by Friday.`,
  ],
  [
    "RedFox",
    `Thanks!

> We decided to move the session store into SQLite.

The migration locks the sessions table for nine seconds, which blocks every login. Should we use Redis?`,
  ],
  [
    "GreenHill",
    `Nine seconds of blocked logins break our uptime target.
Let's go with Redis for the session store instead.

Next steps:
- benchmark Redis with 500 sessions per second
- drop the SQLite branch`,
  ],
  ["RedFox", "The migration is done: sessions live in Redis now.\n\n```\nDecision: nothing in code\n```"],
  ["BlueLake", "Great, thanks!"],
)

/** A long thread of status mails in which every tenth mail decides anew. */
const LONG_THREAD = thread(
  "Parser rewrite",
  ...Array.from({ length: 60 }, (_, index): [string, string] => {
    const status = `The parser suite runs ${index * 7} cases and the parser module ${index} is being ported.`
    const decision = `Decision: release candidate ${index} of the parser goes to the staging cluster.`
    return [PARTICIPANTS[index % 3] ?? "BlueLake", index % 10 === 9 ? `${status}\n\n${decision}` : status]
  }),
)

describe("a thread about a session store", () => {
  const result = summarize(SESSION_THREAD)

  it("lists both the decision and its reversal, in order, and no quote or code", () => {
    expect(result.decisions).toEqual([
      { text: "We decided to move the session store into SQLite.", messageId: 100, sender: "BlueLake" },
      { text: "Let's go with Redis for the session store instead.", messageId: 102, sender: "GreenHill" },
    ])
  })

  it("closes the work that a later mail reports, and leaves only open steps", () => {
    expect(result.actionItems).toMatchObject([
      { owner: "RedFox", due: "by Friday (1970-01-02)", completedBy: 103 },
    ])
    expect(result.nextSteps.map((step) => step.text)).toEqual([
      "benchmark Redis with 500 sessions per second",
      "drop the SQLite branch",
    ])
  })

  it("stands for the thread with its problem, blocker and latest decision, not with small talk", () => {
    const texts = result.summary.map((sentence) => sentence.text)
    expect(texts).toContain("Let's go with Redis for the session store instead.")
    expect(texts.join(" ")).not.toMatch(/Thanks|Hi all|Great/)
    expect(texts.length).toBeLessThanOrEqual(5)
    expect(texts.length).toBeGreaterThanOrEqual(3)
  })

  it("keeps the summary in the order of the mails", () => {
    const ids = result.summary.map((sentence) => sentence.messageId)
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  })
})

describe("a thread of 60 mails", () => {
  const result = summarize(LONG_THREAD)

  it("holds the newest decision among the decisions and in the summary", () => {
    const newest = "Decision: release candidate 59 of the parser goes to the staging cluster."
    expect(result.decisions.at(-1)).toMatchObject({ text: newest, messageId: 159 })
    expect(result.summary.map((sentence) => sentence.text)).toContain(newest)
  })

  it("prefers late mails when sentences say much the same", () => {
    expect(result.summary.every((sentence) => sentence.messageId >= 130)).toBe(true)
  })

  it("does not say the same thing twice", () => {
    const statuses = result.summary.filter((sentence) => sentence.text.startsWith("The parser suite"))
    expect(statuses).toHaveLength(1)
  })
})

describe("decisions", () => {
  it.each([
    "We decided to use SQLite.",
    "Decision: use SQLite.",
    "**Decision:** use SQLite.",
    "We agreed on SQLite.",
    "We have agreed that SQLite wins.",
    "Let's go with SQLite.",
    "We will use SQLite.",
    "We'll go with SQLite.",
    "We settled on SQLite.",
    "We chose SQLite.",
    "The plan for SQLite is approved.",
    "I am going with SQLite.",
    "We're going to use SQLite.",
    "So we go with SQLite.",
    "From now on every flag has an owner.",
    "Final: SQLite it is.",
    "We decided not to use Redis.",
    "We agreed to roll back if errors exceed 1%.",
    "Not everyone liked it, but we decided to use SQLite.",
  ])("hold %s", (body) => {
    expect(decisionsIn(body)).toHaveLength(1)
  })

  it.each([
    "Have we decided to use SQLite?",
    "We have not decided yet.",
    "It is undecided.",
    "We haven't agreed on a store.",
    "Nothing was decided.",
    "If the benchmark holds, we will use Redis.",
    "We will use Redis if the benchmark holds.",
    "This needs to be approved.",
    "It should be decided soon.",
    "Once approved, it ships.",
    "Decision: pending.",
    "Decision: not made yet.",
    "Who decided that.",
    "The `decided` flag is set.",
    "> We decided to use SQLite.",
    "The indecision: painful.",
    "## Decision: a title",
    "Semifinal: a match.",
    "Approved.",
    "Agreed.",
    "We are not going to use SQLite if it locks.",
  ])("do not hold %s", (body) => {
    expect(decisionsIn(body)).toEqual([])
  })

  it("hold the entries below a decisions title, open ones aside", () => {
    const body = "## Decisions\n\n- SQLite for sessions\n- Pending: the cache\n\nSo much for today."
    expect(decisionsIn(body)).toEqual(["SQLite for sessions"])
  })

  it("keep the latest ten of many, oldest first", () => {
    const bodies = Array.from({ length: 14 }, (_, index) => `Decision: take option number ${index}.`)
    expect(decisionsIn(...bodies)).toEqual(bodies.slice(4))
  })

  it("drop a mere repetition, but not a return to an earlier decision", () => {
    const sqlite = "We will use SQLite."
    const redis = "We will use Redis."
    expect(decisionsIn(sqlite, sqlite, redis, sqlite)).toEqual([sqlite, redis, sqlite])
  })
})

describe("a decision is also", () => {
  const talk = (...bodies: string[]): string[] =>
    summarize(
      thread("Cache", ...bodies.map((body, at): [string, string] => [PARTICIPANTS[at % 2] ?? "", body])),
    ).decisions.map(({ text }) => text)

  it.each([
    "Let's use Postgres.",
    "I propose to use Postgres.",
    "How about Postgres?",
    "Should we… no. I suggest Postgres.",
    "Shall we take Postgres?",
    "Proposal: Postgres for everything.",
    "Then Postgres?",
  ])("a proposal that another agreed to: %s", (proposal) => {
    expect(talk(proposal, "Agreed.")).toHaveLength(1)
    expect(talk(proposal, "The build is red.")).toEqual([])
  })

  it.each(["Agreed", "+1", "👍", "OK, agreed!", "Works for me.", "Sounds good, thanks.", "Yes.", "Ship it."])(
    "what is agreed to by %s",
    (answer) => {
      expect(talk("Let's use Postgres.", answer)).toEqual(["Let's use Postgres."])
    },
  )

  it.each(["No, Redis is enough.", "Agreed?", "OK, but not now.", "I don't agree.", "Maybe.", "Not agreed."])(
    "not what is answered by %s",
    (answer) => {
      expect(talk("Let's use Postgres.", answer)).toEqual([])
    },
  )

  it("not what its own author agrees to, nor what was turned down before", () => {
    const own = thread("Cache", ["RedFox", "Let's use Postgres."], ["RedFox", "Agreed."])
    expect(summarize(own).decisions).toEqual([])
    expect(talk("Let's use Postgres.", "No, too slow.", "The build is red.", "Agreed.")).toEqual([])
  })

  it("the latest proposal, when several were made", () => {
    const bodies = ["Let's use Postgres.", "Let's use Redis instead.", "Agreed."]
    expect(talk(...bodies)).toEqual(["Let's use Redis instead."])
  })

  it("an answer within six mails, and none later", () => {
    const words = (count: number) => Array.from({ length: count }, () => "The build is red.")
    expect(talk("Let's use Postgres.", ...words(4), "Agreed.")).toHaveLength(1)
    expect(talk("Let's use Postgres.", ...words(6), "Agreed.")).toEqual([])
  })

  it("a final call, and the proposal it confirms", () => {
    expect(talk("Let's use Postgres.", "Agreed.", "Final call: Postgres.")).toEqual([
      "Let's use Postgres.",
      "Final call: Postgres.",
    ])
  })
})

describe("a thread always has a summary", () => {
  const linesOf = (...bodies: string[]) =>
    summarize(thread("Cache", ...bodies.map((body): [string, string] => ["RedFox", body]))).summary.map(
      ({ text, messageId }) => [text, messageId],
    )

  it("its opening and its latest sentence, when nothing ranks", () => {
    expect(linesOf("Pizza?", "Hm.", "Yes! At noon.")).toEqual([
      ["Pizza?", 100],
      ["At noon.", 102],
    ])
  })

  it("one line, when that is all there is", () => {
    expect(linesOf("Hello")).toEqual([["Hello", 100]])
  })

  it("a line of a mail that holds nothing but code or a quote", () => {
    expect(linesOf("```\nnpm test\n```", "> Really?")).toEqual([
      ["npm test", 100],
      ["> Really?", 101],
    ])
  })
})

describe("next steps", () => {
  it.each([
    "Next steps: benchmark the cache.",
    "Next, we benchmark the cache.",
    "Next up: the cache benchmark.",
    "Next up is the cache benchmark.",
    "Our next step is to benchmark the cache.",
  ])("hold %s", (body) => {
    expect(nextStepsIn(body)).toEqual([body])
  })

  it.each([
    "Nextjs: benchmark the cache.",
    "Next.js is slow in this context.",
    "Next-gen parsers are fast.",
    "What is next?",
    "The next release is slow.",
    "`Next steps: nothing`",
  ])("do not hold %s", (body) => {
    expect(nextStepsIn(body)).toEqual([])
  })

  it("forget a step that a later mail reports as done", () => {
    expect(
      nextStepsIn("Next steps:\n- benchmark the cache\n- port the parser", "Cache benchmark done."),
    ).toEqual(["port the parser"])
  })

  it("name a step once, though it is both announced and a pending item", () => {
    expect(nextStepsIn("TODO: port the parser", "Next steps:\n- port the parser")).toEqual([
      "TODO: port the parser",
    ])
  })

  it("keep the latest ten of many", () => {
    const bodies = Array.from({ length: 14 }, (_, index) => `TODO: port module number ${index}`)
    expect(nextStepsIn(...bodies)).toEqual(bodies.slice(4))
  })
})

describe("the activity of a thread", () => {
  it("is empty for a thread without mails", () => {
    expect(summarizeThread([], ["BlueLake", "BlueLake"], 0)).toEqual({
      summary: [],
      decisions: [],
      actionItems: [],
      nextSteps: [],
      messageCount: 0,
      wholeMessageCount: 0,
      participants: ["BlueLake"],
      status: "idle",
    })
  })

  it("is active up to seven days after the last mail, and idle from then on", () => {
    const lastActivityAtMs = 4 * MINUTE_MS
    const statusAt = (nowMs: number) => summarizeThread(SESSION_THREAD, PARTICIPANTS, nowMs).status
    expect(statusAt(lastActivityAtMs + THREAD_ACTIVE_WINDOW_MS)).toBe("active")
    expect(statusAt(lastActivityAtMs + THREAD_ACTIVE_WINDOW_MS + 1)).toBe("idle")
  })
})

describe("a summary is an extract", () => {
  const plainTextOf = (message: ThreadMessage | undefined): string =>
    readSentences(message?.body ?? "")
      .map((sentence) => sentence.text)
      .join("\n") ||
    (message?.body ?? "")

  function expectCitations(messages: ThreadMessage[]): void {
    const { summary, decisions, nextSteps, actionItems } = summarize(messages)
    const quotes = actionItems.map(({ quote, messageId }) => ({ text: quote, messageId }))
    for (const { text, messageId } of [...summary, ...decisions, ...nextSteps, ...quotes]) {
      const source = plainTextOf(messages.find((message) => message.id === messageId))
      expect(text.length).toBeLessThanOrEqual(300)
      expect(source).toContain(text.length === 300 || text.endsWith("…") ? text.replace(/…$/, "") : text)
    }
  }

  const WORDS =
    "We decided will use RedFox please review the parser cache login if not done next TODO: @BlueLake"
  const MARKS = [
    "\n",
    "\n\n",
    "- ",
    "- [ ] ",
    "- [x] ",
    "> ",
    "```",
    "`",
    "**",
    "# ",
    ". ",
    "? ",
    "。",
    "…",
    "|",
  ]
  const token = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...WORDS.split(" ").map((word) => `${word} `)) },
    { weight: 3, arbitrary: fc.constantFrom(...MARKS) },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 10 }) },
  )
  const mails = fc
    .array(fc.array(token, { maxLength: 80 }), { maxLength: 6 })
    .map((bodies) =>
      thread(
        "Parser cache",
        ...bodies.map((parts, index): [string, string] => [PARTICIPANTS[index % 3] ?? "", parts.join("")]),
      ),
    )

  it("every text stands in the mail it cites, whatever the mails hold", () => {
    fc.assert(fc.property(mails, expectCitations), { numRuns: 300 })
  })

  it("every sentence of plain prose stands in the body itself", () => {
    const word = fc.stringMatching(/^[a-z]{3,9}$/)
    const prose = fc.array(fc.array(word, { minLength: 4, maxLength: 90 }), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(prose, (sentences) => {
        const body = `We decided. ${sentences.map((words) => `${words.join(" ")}. `).join("")}`
        for (const { text } of summarize(thread("Parser", ["RedFox", body])).summary) {
          expect(body).toContain(text.replace(/…$/, ""))
        }
      }),
    )
  })

  it("the same thread gives the same summary", () => {
    fc.assert(
      fc.property(mails, (messages) => {
        expect(summarize(structuredClone(messages))).toEqual(summarize(messages))
      }),
    )
    expect(summarize(structuredClone(LONG_THREAD))).toEqual(summarize(LONG_THREAD))
  })

  it("cuts a long sentence at a word boundary", () => {
    const body = `We decided to keep ${"many words and ".repeat(40)}more.`
    const [text = ""] = decisionsIn(body)
    expect(text.length).toBeLessThanOrEqual(300)
    expect(text).toMatch(/(?:many|words|and)…$/)
  })

  it("leaves the mails it read unchanged", () => {
    const before = structuredClone(SESSION_THREAD)
    summarize(SESSION_THREAD)
    expect(SESSION_THREAD).toEqual(before)
  })
})

describe("a large thread", () => {
  it("is summarised when 1,000 mails hold nothing but open and finished tasks", () => {
    const mails = Array.from({ length: 1000 }, (_, index): [string, string] => [
      "RedFox",
      `- [ ] port module m${index} of the parser\n\nThe port of module m${index - 1} of the parser is done.`,
    ])
    const { actionItems } = summarize(thread("Parser", ...mails))
    expect(actionItems.filter((item) => !item.completed).map((item) => item.messageId)).toEqual([1099])
  })
})
