/** What is being done with documentation, in figures. */

import type { IndexingWork } from "../../domain/documentation/documentation.ts"

/** Returns a number as people read it. */
export function figure(amount: number): string {
  return amount.toLocaleString("en-US")
}

/** Returns how much of some work is done, in whole percent. */
export function percentOf({ done, total }: IndexingWork): number {
  return total === 0 ? 0 : Math.floor((100 * Math.min(done, total)) / total)
}
