/** Variables of the environment that a test sets for itself. */

import { onTestFinished, vi } from "vitest"

/** Sets variables until the test ends. */
export function setVariables(variables: Record<string, string>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
}
