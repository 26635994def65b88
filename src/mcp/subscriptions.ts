/** Which resources one session follows, whatever the form of the protocol in which it asked for them. */

import { SUBSCRIPTIONS_MAX } from "../config/subscription-limits.ts"
import { tooManySubscriptions } from "../operations/subscriptions.ts"

/** Follows a resource; returns what ends that. `onEnd` is called when it ends by itself. */
type Follow = (uri: string, onEnd: () => void) => Promise<() => void>

/** Which of several resources cannot be followed, and as its cause why. */
export class NotFollowed extends Error {
  readonly uri: string

  constructor(uri: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.uri = uri
  }
}

interface Followed {
  /** The requests that asked for it. */
  owners: Set<unknown>
  end(): void
}

export class Subscriptions {
  readonly #follow: Follow
  readonly #followed = new Map<string, Followed>()
  #isClosed = false
  /** One after the other, so that a request to end what another one begins comes after it. */
  #tail: Promise<unknown> = Promise.resolve()

  constructor(follow: Follow) {
    this.#follow = follow
  }

  /**
   * Follows all of some resources for an owner, or none. Fails with `NotFollowed` where one of them cannot be read, and
   * beyond `SUBSCRIPTIONS_MAX`.
   */
  add(owner: unknown, uris: readonly string[]): Promise<void> {
    return this.#queued(async () => {
      if (this.#isClosed) return
      const fresh = [...new Set(uris)].filter((uri) => !this.#followed.has(uri))
      if (this.#followed.size + fresh.length > SUBSCRIPTIONS_MAX) throw tooManySubscriptions()
      const begun: [string, Followed][] = []
      try {
        for (const uri of fresh) begun.push([uri, { owners: new Set(), end: await this.#begin(uri) }])
      } catch (error) {
        for (const [, { end }] of begun) end()
        throw error
      }
      for (const [uri, followed] of begun) this.#followed.set(uri, followed)
      for (const uri of uris) this.#followed.get(uri)?.owners.add(owner)
    })
  }

  /** Ends what an owner follows, all of it or one resource; what nobody follows any more is let go. */
  remove(owner: unknown, only?: string): Promise<void> {
    return this.#queued(async () => {
      for (const [uri, { owners, end }] of this.#followed) {
        if ((only !== undefined && uri !== only) || !owners.delete(owner) || owners.size > 0) continue
        this.#followed.delete(uri)
        end()
      }
    })
  }

  async #begin(uri: string): Promise<() => void> {
    try {
      return await this.#follow(uri, () => void this.#queued(async () => void this.#followed.delete(uri)))
    } catch (error) {
      throw new NotFollowed(uri, error)
    }
  }

  /** Ends everything, for good. */
  close(): Promise<void> {
    return this.#queued(async () => {
      this.#isClosed = true
      for (const { end } of this.#followed.values()) end()
      this.#followed.clear()
    })
  }

  #queued(work: () => Promise<void>): Promise<void> {
    const done = this.#tail.then(work)
    this.#tail = done.catch(() => {})
    return done
  }
}
