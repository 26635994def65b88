import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { runIndexing } from "../../../src/operations/documentation/indexing.ts"
import { TestRepository } from "../../git/support.ts"
import { expectSound, type Index, indexOf, openIndex } from "../../support/documentation-index.ts"

const README = "# Read me\n\nThe anvil is forged in the morning.\n"
const PATHS = ["a.md", "b.md", "dir/a.md", "dir/c.txt", "node_modules/x.md", "d.rst", "e.bin"]
const TEXTS = [
  README,
  `${README}\n## More\n\nTongs and a hammer, see \`forge_all\`.\n`,
  "# Other\n\nA bellows needs leather every year.\n",
  "",
  "one\ntwo\nthree\n",
]

/** What somebody does to a repository; what cannot be done is passed over. */
type Step =
  | { do: "write"; path: string; text: number }
  | { do: "remove" | "tick"; path: string }
  | { do: "rename"; path: string; to: string }
  | { do: "stop"; after: number }
  | { do: "commit" | "amend" | "back" | "merge" | "delete" | "sync" | "switch" }

const path = fc.constantFrom(...PATHS)
const write = fc.record({ do: fc.constant("write" as const), path, text: fc.nat(TEXTS.length - 1) })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: write },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const), path }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("rename" as const), path, to: path }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("stop" as const), after: fc.nat(4) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("commit", "commit", "amend", "back", "merge", "delete", "sync", "sync", "switch"),
    }) as fc.Arbitrary<Step>,
  },
)

class History {
  readonly repository = new TestRepository()
  #isOnNext = false
  #files = new Map<string, string>()

  constructor() {
    this.repository.commit({ "a.md": README, "dir/c.txt": TEXTS[4] ?? "" })
    this.repository.git("branch", "next")
    this.#read()
  }

  take(step: Step): void {
    const { repository } = this
    if (step.do === "write") this.#files.set(step.path, TEXTS[step.text] ?? "")
    if (step.do === "remove") this.#files.delete(step.path)
    if (step.do === "rename") this.#rename(step.path, step.to)
    if (step.do === "commit") this.#commit()
    if (step.do === "amend") {
      this.#commit()
      repository.tick()
      repository.git("commit", "--quiet", "--amend", "--no-edit", "--allow-empty")
    }
    if (step.do === "back" && repository.git("rev-list", "--count", "HEAD").trim() !== "1")
      repository.git("reset", "--quiet", "--hard", "HEAD~1")
    if (step.do === "merge" && this.#hasBoth()) {
      repository.git("reset", "--quiet", "--hard")
      repository.merge(this.#isOnNext ? "main" : "next")
    }
    if (step.do === "delete" && this.#hasBoth())
      repository.git("branch", "-D", this.#isOnNext ? "main" : "next")
    if (step.do === "switch") this.#switch()
    if (["back", "merge", "switch"].includes(step.do)) this.#read()
  }

  branches(): string[] {
    return this.repository.git("branch", "--format=%(refname:short)").trim().split("\n")
  }

  #hasBoth(): boolean {
    return this.branches().length === 2
  }

  #switch(): void {
    const name = this.#isOnNext ? "main" : "next"
    this.repository.git("reset", "--quiet", "--hard")
    this.repository.git("checkout", "--quiet", ...(this.#hasBoth() ? [] : ["-b"]), name)
    this.#isOnNext = !this.#isOnNext
  }

  #rename(from: string, to: string): void {
    const text = this.#files.get(from)
    if (text === undefined) return
    this.#files.delete(from)
    this.#files.set(to, text)
  }

  #commit(): void {
    const tracked = this.#tracked()
    const gone = tracked.filter((path) => !this.#files.has(path)).map((path) => [path, null] as const)
    this.repository.commit({ ...Object.fromEntries(gone), ...Object.fromEntries(this.#files) })
  }

  #read(): void {
    const files = this.#tracked().map((path) => [path, this.repository.git("show", `HEAD:${path}`)] as const)
    this.#files = new Map(files)
  }

  #tracked(): string[] {
    return this.repository.git("ls-tree", "-r", "--name-only", "HEAD").trim().split("\n").filter(Boolean)
  }
}

/** Begins to index, and stops when so much has been noted of it, if it takes that long. */
async function stopAfter({ app }: Index, count: number): Promise<void> {
  const stop = new AbortController()
  let noted = 0
  if (count === 0) stop.abort()
  const onProgress = () => {
    noted += 1
    if (noted === count) stop.abort()
  }
  await runIndexing(app, { signal: stop.signal, onProgress })
}

describe("whatever happens to a repository", () => {
  test("what is stored is what a new index has of it", { timeout: 240_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
        const history = new History()
        const index = await openIndex()
        const id = await index.add(history.repository.root, "next")
        for (const step of steps) {
          if (step.do === "sync") await index.sync()
          else if (step.do === "stop") await stopAfter(index, step.after)
          else history.take(step)
        }
        const branches = history.branches()
        await index.connect(history.repository.root, ...branches)
        await index.sync()
        const fresh = await openIndex()
        const freshId = await fresh.add(history.repository.root, ...branches)
        expect(indexOf(index.app, id)).toEqual(indexOf(fresh.app, freshId))
        await expectSound(index.app)
        await index.close()
        await fresh.close()
      }),
      { numRuns: 25 },
    )
  })
})
