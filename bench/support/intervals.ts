/** How sure a mean is. */

import { quantile, seeded } from "./numbers.ts"

export const RESAMPLES = 1_000

/** Returns the mean of values, and 95 % of its bootstrap samples in brackets. */
export function interval(values: readonly number[]): string {
  const random = seeded(7)
  const means = Array.from({ length: RESAMPLES }, () =>
    mean(values.map(() => values[Math.floor(random() * values.length)] ?? 0)),
  )
  const three = (value: number) => value.toFixed(3).replace("0.", ".")
  return `${three(mean(values))} [${three(quantile(means, 0.025))}, ${three(quantile(means, 0.975))}]`
}

/** Returns the mean of values; 0 of none. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
