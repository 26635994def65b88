/** The two changes that a file can undergo, as pure functions of its text; each form of file has its own. */

/** What adding our part to a text gave. */
export interface Addition {
  /** Equal to the text before when nothing was missing. */
  text: string
  /** What stands in our place and is not ours, as reasons why it was left alone. */
  leftAlone: string[]
  /** Paths of the containers that had to be made, the outer first. */
  containers: string[][]
}

export interface Removal {
  /** Undefined when nothing is left but what we made, so that the file itself can go. */
  text: string | undefined
  leftAlone: string[]
}

/** What is known of a file from when our part was added. */
export interface Traces {
  containers: readonly string[][]
  /** Whether there was no such file before. */
  isCreated: boolean
}

export interface Edit {
  /** Adds what is missing; an absent file is the empty text. Fails with `invalid` when the text cannot be edited. */
  add(text: string): Addition
  /** Takes our part out and leaves everything else as it is. Fails as `add` does. */
  remove(text: string, traces: Traces): Removal
}
