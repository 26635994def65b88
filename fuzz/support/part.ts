/** What a part of the fuzzing is: where its inputs come from, and what each is put into. */

import type * as fc from "fast-check"
import type { Room } from "./room.ts"

/** Something that must not happen; the message says what did. */
export class Fault extends Error {
  constructor(message: string) {
    super(message)
    this.name = "Fault"
  }
}

/** What inputs are put into. One lives for a batch, so that a batch's seed alone gives all of it again. */
export interface Target<Input> {
  /** Puts an input in; returns how many executions that was. Rejects with a Fault, or with what was thrown. */
  run(input: Input): Promise<number>
  /** Looks at what is left behind, and closes. */
  end(): Promise<void>
}

export interface OpenPart<Input> {
  inputs: fc.Arbitrary<Input>
  begin(seed: number): Promise<Target<Input>>
}

export interface Part {
  name: string
  /** Its share of the time. */
  weight: number
  /** Inputs of one batch. */
  batch: number
  /** Whether an input may take longer: it waits for processes. */
  isSlow?: boolean
  /** `makeRoom` gives the same room to all parts of a process. */
  open(makeRoom: () => Promise<Room>): Promise<OpenPart<unknown>>
}

interface Definition<Input> extends Omit<Part, "open"> {
  open(makeRoom: () => Promise<Room>): Promise<OpenPart<Input>>
}

/** Makes a part; the type of its inputs matters inside its definition only. */
export function definePart<Input>(definition: Definition<Input>): Part {
  return definition as unknown as Part
}
