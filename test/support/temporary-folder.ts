/** Temporary folders that go with the test that made them. */

import { onTestFinished } from "vitest"
import { makeTemporaryFolder, remove } from "../../scripts/removal.ts"

/** Makes an empty folder that goes when the test ends, or when `atEnd` has its work done. */
export function temporaryFolder(atEnd: (work: () => void) => void = onTestFinished): string {
  const folder = makeTemporaryFolder()
  atEnd(() => remove(folder))
  return folder
}
