/**
 * Owns the contract of a thread's action items: what counts as work, whose it is, until when, and when it is done.
 * It refuses to test how Markdown is read; sentence.test.ts does.
 */

import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type ActionItem, summarizeThread, type ThreadMessage } from "../../../src/domain/summary/summary.ts"

const PARTICIPANTS = ["BlueLake", "RedFox", "GreenHill", "build-bot"]

function thread(...mails: [sender: string, body: string][]): ThreadMessage[] {
  return mails.map(([sender, body], index) => ({
    id: index + 1,
    sender,
    subject: "Session store",
    body,
    createdAtMs: index * 60_000,
  }))
}

const actionItemsOf = (messages: readonly ThreadMessage[], participants = PARTICIPANTS): ActionItem[] =>
  summarizeThread(messages, participants, 0).actionItems

function itemsOf(...mails: [sender: string, body: string][]): ActionItem[] {
  return actionItemsOf(thread(...mails))
}

const itemsIn = (body: string): ActionItem[] => itemsOf(["BlueLake", body])

/** Whether the first mail's only item is done after the second mail. */
function isDoneAfter(task: string, report: string): boolean {
  const [item] = itemsOf(["BlueLake", task], ["RedFox", report])
  expect(item?.messageId).toBe(1)
  return item?.completed ?? false
}

const RELEASE_THREAD = thread(
  [
    "BlueLake",
    `## Release 2.4

The transaction: log is rotated. Our nextjs context stays as it is.

@RedFox please review \`src/db/session.ts\` by Friday. I'll write the changelog before EOD.
GreenHill to rotate the signing keys, due 2026-01-05.

- [ ] Add retry tests
- [x] Bump the version

\`\`\`md
- [ ] not a task
TODO: neither this
\`\`\``,
  ],
  [
    "RedFox",
    `> - [ ] quoted task
> TODO: quoted as well

Review of \`src/db/session.ts\` is not done yet. The signing keys will be rotated tomorrow.`,
  ],
  ["GreenHill", "Rotated the signing keys. The retry tests are almost done."],
  ["RedFox", "Review of `src/db/session.ts` is done.\n\n- [x] Add retry tests"],
  ["build-bot", "CI went red again.\n\n- [ ] Add retry tests"],
)

describe("a thread about a release", () => {
  const items = actionItemsOf(RELEASE_THREAD)

  it("lists its work by mail and position, and nothing from code, quotes or longer words", () => {
    expect(items.map((item) => [item.owner, item.description, item.due])).toEqual([
      ["RedFox", "review `src/db/session.ts` by Friday", "by Friday (1970-01-02)"],
      ["BlueLake", "write the changelog before EOD", "before EOD"],
      ["GreenHill", "rotate the signing keys, due 2026-01-05", "2026-01-05"],
      [null, "Add retry tests", null],
      [null, "Bump the version", null],
    ])
  })

  it("credits completion to the mail that reports it, and a check box opened again has the last word", () => {
    expect(items.map((item) => item.completedBy)).toEqual([4, null, 3, null, 1])
    expect(items.map((item) => item.completed)).toEqual([true, false, true, false, true])
  })

  it("quotes the sentence and cites the mail that first named the work", () => {
    expect(items[0]?.quote).toBe("@RedFox please review `src/db/session.ts` by Friday.")
    expect(items.map((item) => item.messageId)).toEqual([1, 1, 1, 1, 1])
    expect(items[0]?.mentionedBy).toBe("BlueLake")
  })
})

describe("what counts as an action item", () => {
  it.each<[body: string, owner: string | null, description: string]>([
    ["TODO: write the docs.", null, "write the docs"],
    ["TODO(RedFox): write the docs", "RedFox", "write the docs"],
    ["Action item: RedFox to write the docs", "RedFox", "write the docs"],
    ["- Action: @redfox write the docs", "RedFox", "write the docs"],
    ["- [ ] **RedFox**: write the docs", "RedFox", "write the docs"],
    ["- [ ] write the docs (RedFox)", "RedFox", "write the docs (RedFox)"],
    ["- [ ] I'll write the docs", "BlueLake", "write the docs"],
    ["@RedFox can you write the docs?", "RedFox", "write the docs"],
    ["@RedFox, write the docs", "RedFox", "write the docs"],
    ["When you are back, @RedFox please write the docs.", "RedFox", "write the docs"],
    ["RedFox will write the docs.", "RedFox", "write the docs"],
    ["RedFox to write the docs", "RedFox", "write the docs"],
    ["Hi RedFox, please write the docs.", "RedFox", "write the docs"],
    ["RedFox, please write the docs.", "RedFox", "write the docs"],
    ["Please write the docs.", null, "write the docs"],
    ["Please write the docs, RedFox.", "RedFox", "write the docs, RedFox"],
    ["Sounds good, I will write the docs.", "BlueLake", "write the docs"],
    ["build-bot will write the docs.", "build-bot", "write the docs"],
    ["I'll check if the docs are right.", "BlueLake", "check if the docs are right"],
    ["@StrangeAgent please write the docs.", "StrangeAgent", "write the docs"],
  ])("%s", (body, owner, description) => {
    expect(itemsIn(body)).toMatchObject([{ owner, description, completed: false }])
  })

  it("takes the entries below an action title as items, up to the next paragraph", () => {
    const body =
      "## Action items\n\n- RedFox: port the parser\n- ✅ tag the release\n- none\n\nAll set.\n\n- a remark"
    expect(itemsIn(body).map((item) => [item.owner, item.description, item.completed])).toEqual([
      ["RedFox", "port the parser", false],
      [null, "tag the release", true],
    ])
  })

  it("finds the work of each agent in one sentence", () => {
    const items = itemsIn("RedFox will write the migration by Monday, and GreenHill will review it.")
    expect(items.map((item) => [item.owner, item.description, item.due])).toEqual([
      ["RedFox", "write the migration by Monday", "by Monday (1970-01-05)"],
      ["GreenHill", "review it", null],
    ])
  })

  it.each([
    "The transaction: commit failed.",
    "Reaction: none so far.",
    "In this context: all is well.",
    "AI: a broad term.",
    "We use nextjs and need more context.",
    "Run `TODO: nothing` and see.",
    "The comment says `@RedFox please review`.",
    "Will RedFox write the docs?",
    "RedFox will take this, right?",
    "Should I'll be a contraction?",
    "RedFox will not write the docs.",
    "RedFox won't write the docs.",
    "I will never merge this.",
    "RedFox wrote the docs.",
    "@RedFox reviewed the patch.",
    "@RedFox fix landed an hour ago.",
    "If CI fails, I will revert.",
    "I'll revert unless CI is green.",
    "I'll be away.",
    "I'll let you know.",
    "Please note the outage.",
    "Please do not touch the lock file.",
    "Unknown will write the docs.",
    "The new test will fail.",
    "Install @types/node please.",
    "## TODO: a title",
    "I was pleased to review it.",
  ])("is not found in %s", (body) => {
    expect(itemsIn(body)).toEqual([])
  })

  it("takes a common word for a free name only where it is spelled the same", () => {
    const items = actionItemsOf(thread(["a", "Main will break. main will write the docs."]), ["main"])
    expect(items.map((item) => item.owner)).toEqual(["main"])
  })

  it("keeps a promise of one agent and of another apart", () => {
    const items = itemsOf(["RedFox", "I'll review the patch."], ["GreenHill", "I'll review the patch."])
    expect(items.map((item) => item.owner)).toEqual(["RedFox", "GreenHill"])
  })
})

describe("the due date", () => {
  it.each([
    ["by Friday", "by Friday (1970-01-02)"],
    ["by tomorrow", "by tomorrow (1970-01-02)"],
    ["before EOD", "before EOD"],
    ["until 5pm", "until 5pm"],
    ["due 2026-01-05", "2026-01-05"],
    ["by end of day", "by end of day"],
    ["by the end of the week", "by the end of the week"],
    ["by the 3rd of May", "by the 3rd of May"],
    ["before March 14", "before March 14"],
    ["by next Monday at 14:00 UTC", "by next Monday at 14:00 UTC (1970-01-05)"],
    ["(2026-01-05)", "2026-01-05"],
    ["today", "today (1970-01-01)"],
    ["tonight", "tonight (1970-01-01)"],
    ["tomorrow morning", "tomorrow morning (1970-01-02)"],
    ["on Friday", "on Friday (1970-01-02)"],
    ["Wednesday", "Wednesday (1970-01-07)"],
    ["on Monday, please", "on Monday (1970-01-05)"],
  ])("is read from %j as written, a day by its date", (written, due) => {
    expect(itemsIn(`TODO: write the docs ${written}`)[0]?.due).toBe(due)
  })

  it.each([
    "by the way",
    "by hand",
    "before the release",
    "due to errors",
    "after 2026-01-05 incident notes",
    "of Monday's outage",
    "since Monday",
    "for the Friday build",
    "as today's builds do",
  ])("is not read from %j", (written) => {
    expect(itemsIn(`TODO: write the docs ${written}`)[0]?.due).toBeNull()
  })

  it("is read from before the name as well", () => {
    expect(itemsIn("By Friday, RedFox will write the docs.")[0]?.due).toBe("By Friday (1970-01-02)")
  })

  it.each([
    ["2026-03-10T23:59:59Z", "tomorrow", "2026-03-11"],
    ["2026-03-10T09:00:00Z", "by Tuesday", "2026-03-10"],
    ["2026-03-10T09:00:00Z", "by Monday", "2026-03-16"],
    ["2026-03-10T09:00:00Z", "by next Tuesday", "2026-03-17"],
    ["2026-03-10T09:00:00Z", "by next Sunday", "2026-03-22"],
    ["2026-03-15T09:00:00Z", "by next Monday", "2026-03-16"],
    ["2026-12-31T09:00:00Z", "tomorrow", "2027-01-01"],
  ])("is meant by the time of the mail: on %s %j is %s", (sentAt, written, date) => {
    const [mail] = thread(["BlueLake", `TODO: write the docs ${written}`])
    const mails = mail ? [{ ...mail, createdAtMs: Date.parse(sentAt) }] : []
    expect(actionItemsOf(mails)[0]?.due).toBe(`${written} (${date})`)
  })
})

describe("completion", () => {
  const TASK = "TODO: write the login guide"

  it.each([
    "The login guide is done.",
    "Login guide: finished.",
    "Merged the login guide.",
    "✅ login guide",
    "- [x] The login guide",
    "I wrote the login guide.",
    "Login guide landed, the rest will be done tomorrow.",
    "## Done\n\n- login guide",
    "The login guide is written.",
    "Shipped the login guide after review.",
  ])("is reported by %s", (report) => {
    expect(isDoneAfter(TASK, report)).toBe(true)
  })

  it.each([
    "The login guide is not done.",
    "The login guide isn't finished.",
    "The login guide will be done tomorrow.",
    "The login guide is almost done.",
    "The login guide should be finished by Friday.",
    "Is the login guide done?",
    "Once the login guide is merged, we ship.",
    "The login guide is unfinished.",
    "> The login guide is done.",
    "`login guide done`",
    "The parser is done, the login guide is not.",
    "Done.",
    "The metrics dashboard is done.",
    "- [ ] the login guide is done",
  ])("is not reported by %s", (report) => {
    expect(isDoneAfter(TASK, report)).toBe(false)
  })

  it("may be reported by the verb alone by whoever owns the work", () => {
    const task: [string, string] = ["BlueLake", "@RedFox upload the key to the vault, please"]
    expect(itemsOf(task, ["RedFox", "Uploaded."])[0]?.completedBy).toBe(2)
    expect(itemsOf(task, ["GreenHill", "Uploaded."])[0]?.completed).toBe(false)
    expect(itemsOf(task, ["RedFox", "Uploaded the logs."])[0]?.completed).toBe(false)
  })

  it("needs a telling word: another bug or another pull request is other work", () => {
    expect(isDoneAfter("TODO: fix the login bug", "Fixed the pagination bug.")).toBe(false)
    expect(isDoneAfter("TODO: review PR 41", "PR 42 is merged.")).toBe(false)
    expect(isDoneAfter("TODO: review PR 41", "PR 41 is merged.")).toBe(true)
  })

  it("needs the work to have gone far enough", () => {
    expect(isDoneAfter("TODO: deploy the gateway", "Fixed the gateway.")).toBe(false)
    expect(isDoneAfter("TODO: fix the gateway", "Deployed the gateway.")).toBe(true)
  })

  it("comes from a later mail only", () => {
    const [item] = itemsOf(["BlueLake", "TODO: write the login guide\n\nThe login guide is done."])
    expect(item?.completed).toBe(false)
  })

  it("can follow again after a check box was opened again", () => {
    const items = itemsOf(
      ["BlueLake", "- [ ] Port the parser"],
      ["RedFox", "The parser port is done."],
      ["BlueLake", "- [ ] Port the parser"],
      ["RedFox", "Port of the parser is finished."],
    )
    expect(items).toMatchObject([{ completed: true, completedBy: 4, messageId: 1 }])
  })

  it("survives a repetition in prose, which cites the first mail and fills in what was missing", () => {
    const items = itemsOf(
      ["BlueLake", "- [x] Port the parser"],
      ["RedFox", "GreenHill to port the parser by Friday."],
    )
    expect(items).toMatchObject([
      { completed: true, completedBy: 1, messageId: 1, owner: "GreenHill", due: "by Friday (1970-01-02)" },
    ])
  })

  it("finds the work again among many open tasks that share its words", () => {
    const tasks = Array.from({ length: 300 }, (_, index) => `- [ ] Port module m${index} to the new api`)
    const items = itemsOf(
      ["BlueLake", tasks.join("\n")],
      ["RedFox", "Port of module m7 to the new api is done."],
    )
    expect(items).toHaveLength(300)
    expect(items.filter((item) => item.completed).map((item) => item.description)).toEqual([
      "Port module m7 to the new api",
    ])
  })
})

describe("the search for action items is total", () => {
  const CUES = [
    "- [ ] ",
    "- [x] ",
    "TODO: ",
    "@RedFox please ",
    "I'll ",
    "by Friday",
    " done. ",
    "`",
    "\n",
    "if ",
  ]

  it("never throws, and every description is part of its quote's mail", () => {
    const body = fc.array(fc.oneof(fc.string({ unit: "binary", maxLength: 12 }), fc.constantFrom(...CUES)))
    fc.assert(
      fc.property(fc.array(body, { maxLength: 4 }), fc.array(fc.string()), (bodies, names) => {
        const mails = thread(...bodies.map((parts): [string, string] => ["RedFox", parts.join("")]))
        for (const item of actionItemsOf(mails, names)) {
          expect(item.quote).toContain(item.description.replace(/…$/, "").slice(0, 100))
          expect(item.completed).toBe(item.completedBy !== null)
        }
      }),
    )
  })

  it.each(CUES)("reads 20,000 characters of %j", (cue) => {
    const body = cue.repeat(Math.ceil(20_000 / cue.length)).slice(0, 20_000)
    for (const item of itemsIn(body)) expect(item.description.length).toBeLessThanOrEqual(300)
  })
})
