/** How much work comparing patterns may take: counted in steps, never timed. Owns nothing but the count. */

/** The work allowed does not suffice for an answer. */
export class WorkLimitError extends Error {
  constructor() {
    super("comparing takes more steps than allowed")
    this.name = "WorkLimitError"
  }
}

/** Steps that several comparisons share; without a maximum they are only counted. */
export class Work {
  spent = 0
  readonly max: number

  constructor(max = Number.POSITIVE_INFINITY) {
    this.max = max
  }

  /** Counts steps; throws WorkLimitError when there are more than allowed. */
  spend(steps: number): void {
    this.spent += steps
    if (this.spent > this.max) throw new WorkLimitError()
  }
}
