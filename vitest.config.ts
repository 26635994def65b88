import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from "vitest/config"

/** What starts many processes or takes long: left to `npm run test:slow`. */
const SLOW = [
  "test/processes/**/*.test.ts",
  "test/commands/**/process.test.ts",
  "test/commands/**/docs-process.test.ts",
  "test/git/history.test.ts",
  "test/operations/documentation/sync.property.test.ts",
]

/** What waits for hooks that have two seconds by the clock, and allow the edit when other work takes those. */
const DEADLINES = ["test/processes/{acting,hook*,launcher,nested-client}.test.ts"]

interface Files {
  include: string[]
  exclude?: string[]
}

function project(
  name: string,
  { include, exclude = [] }: Files,
  alone: TestProjectInlineConfiguration["test"] = {},
): TestProjectInlineConfiguration {
  return {
    test: {
      name,
      include,
      exclude: [...configDefaults.exclude, ...exclude],
      testTimeout: 30_000,
      hookTimeout: 30_000,
      // Loading the sources and the model takes longer than most files' tests: each worker does it once.
      isolate: false,
      // Tests wait for git and for the disk, so that more of them go on two processors than there are of those.
      maxWorkers: 3,
      ...alone,
    },
  }
}

export default defineConfig({
  test: {
    globalSetup: "test/support/outbound-watch.ts",
    slowTestThreshold: 10_000,
    projects: [
      project("fast", { include: ["test/**/*.test.ts"], exclude: SLOW }),
      project("slow", { include: SLOW, exclude: DEADLINES }),
      project("deadlines", { include: DEADLINES }, { maxWorkers: 1, sequence: { groupOrder: 1 } }),
    ],
  },
})
