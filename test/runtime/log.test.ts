import { expect, test } from "vitest"
import { createLog } from "../../src/runtime/log.ts"

function logged(error: Error): { message: string; cause?: unknown } {
  const lines: string[] = []
  createLog("error", (line) => lines.push(line)).error("failed", { error })
  expect(lines).toHaveLength(1)
  return (JSON.parse(lines[0] ?? "") as { error: { message: string; cause?: unknown } }).error
}

test("an error is logged with the causes below it", () => {
  const error = new Error("above", { cause: new Error("between", { cause: new Error("below") }) })
  expect(logged(error)).toMatchObject({
    message: "above",
    cause: { message: "between", cause: { message: "below" } },
  })
})

test("an error that is its own cause is logged, with an end", () => {
  const error = new Error("round")
  error.cause = error
  expect(JSON.stringify(logged(error)).match(/"message":"round"/g)).toHaveLength(9)
})
