/**
 * Tells those who follow a resource that it shows something else. What is shown is read again after commits and
 * compared, so that nobody learns of anything that they could not read: an update cannot give a blind copy away.
 */

import { createHash } from "node:crypto"
import { PASSING_TIME_LOOK_MS, UPDATE_STEP_MS } from "../config/subscription-limits.ts"
import { AppError } from "../errors.ts"
import type { App } from "../operations/app.ts"
import type { Call } from "../operations/caller.ts"
import { lookAtResource, type Reading, type Resource, readResource } from "./resource.ts"

export interface Follower {
  /**
   * Called when the resource shows something else; `state` names what it shows now. Returns whether that was told: if
   * not, it is called again after a rest.
   */
  onUpdate(state: string): boolean
  /** Called once when the key counts no more; nothing is told after it. */
  onEnd?(): void
}

interface Followed extends Follower {
  call: Call
  uri: string
  state: string
  /** What it shows now, where that could not be told yet. */
  untold: string | undefined
}

/**
 * Returns how many milliseconds are rested after a look that took `tookMs`: the shortest step between two updates, and
 * so long that looking takes a quarter of the time at most, however much is followed.
 */
export function restAfter(tookMs: number): number {
  return Math.max(UPDATE_STEP_MS, 3 * tookMs)
}

/** The watch of one process. It reads nothing while nobody follows, and keeps no process alive. */
export class ResourceWatch {
  readonly #app: App
  readonly #catalogue: readonly Resource[]
  readonly #followed = new Set<Followed>()
  /** Ends what wakes it; undefined while nobody follows. */
  #stop: (() => void) | undefined
  #isLooking = false
  #hasChanged = false

  constructor(app: App, catalogue: readonly Resource[]) {
    this.#app = app
    this.#catalogue = catalogue
  }

  /** Returns the state of a resource that is to be followed. Counts as a read, and is refused like one. */
  async read(call: Call, uri: string): Promise<string> {
    return stateOf(await readResource(call, this.#catalogue, uri))
  }

  /** Follows a resource from a state on that `read` or `onUpdate` has told; returns what ends that. */
  follow(call: Call, uri: string, state: string, follower: Follower): () => void {
    const followed: Followed = { ...follower, call, uri, state, untold: undefined }
    this.#followed.add(followed)
    this.#wake()
    // What has changed since that state nobody else tells of.
    this.#changed()
    return () => this.#leave(followed)
  }

  #leave(followed: Followed): void {
    this.#followed.delete(followed)
    if (this.#followed.size > 0) return
    this.#stop?.()
    this.#stop = undefined
  }

  #wake(): void {
    if (this.#stop !== undefined) return
    const unwatch = this.#app.db.watch(() => this.#changed())
    // Some of what is shown changes by time alone.
    const timer = setInterval(() => this.#changed(), PASSING_TIME_LOOK_MS).unref()
    this.#stop = () => {
      unwatch()
      clearInterval(timer)
    }
  }

  #changed(): void {
    this.#hasChanged = true
    if (!this.#isLooking) void this.#lookAtAll()
  }

  /** Looks at everything once, and then rests, whatever comes meanwhile. */
  async #lookAtAll(): Promise<void> {
    this.#isLooking = true
    this.#hasChanged = false
    const beganMs = performance.now()
    for (const followed of [...this.#followed]) {
      if (this.#followed.has(followed)) await this.#lookAt(followed)
      // Others have their turn between two reads.
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#rest(restAfter(performance.now() - beganMs))
  }

  /** What could not be told is told after a rest, which takes no reading. */
  #rest(restMs: number): void {
    setTimeout(() => {
      this.#isLooking = false
      if (this.#hasChanged) return void this.#lookAtAll()
      const untold = [...this.#followed].filter((followed) => followed.untold !== undefined)
      for (const followed of untold) this.#tell(followed, followed.untold)
      if (untold.length === 0) return
      this.#isLooking = true
      this.#rest(UPDATE_STEP_MS)
    }, restMs).unref()
  }

  #tell(followed: Followed, state: string | undefined): void {
    if (state === undefined) return
    const isTold = followed.onUpdate(state)
    if (isTold) followed.state = state
    followed.untold = isTold ? undefined : state
  }

  async #lookAt(followed: Followed): Promise<void> {
    try {
      const state = stateOf(await lookAtResource(followed.call, this.#catalogue, followed.uri))
      if (!this.#followed.has(followed)) return
      if (state === followed.state) followed.untold = undefined
      else this.#tell(followed, state)
    } catch (error) {
      // What is read while the process ends may find the database closed.
      if (!this.#followed.has(followed)) return
      // What may not be read for now is silent: an agent that others took up may come back.
      if (!(error instanceof AppError)) this.#app.log.error("a followed resource cannot be read", { error })
      else if (error.code === "unauthenticated") {
        this.#leave(followed)
        followed.onEnd?.()
      }
    }
  }
}

/** Names what a resource showed, in few bytes. */
function stateOf({ compared }: Reading): string {
  return createHash("sha256").update(JSON.stringify(compared)).digest("base64url")
}
