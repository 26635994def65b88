/** What a memory is: a short text in one of five cognitive sectors, with a salience that fades. */

export const SECTORS = ["episodic", "semantic", "procedural", "emotional", "reflective"] as const
export type Sector = (typeof SECTORS)[number]

export const EMBEDDING_STATUSES = ["pending", "completed", "failed"] as const
export type EmbeddingStatus = (typeof EMBEDDING_STATUSES)[number]

/** What the salience of a memory is computed from whenever it is read; fading is never written back. */
export interface SalienceState {
  /** Salience at the anchor, 0 to 1. */
  base: number
  anchorMs: number
  /** Stretches the half-life of the sector: 1 at creation, at most 8. */
  stability: number
}

/** Days until a salience of each sector has halved, at stability 1. */
export type HalfLives = Readonly<Record<Sector, number>>

/** How much each profile adds to the salience of a memory that is reinforced. */
export const REINFORCE_BOOSTS = {
  quick_refresh: 0.05,
  maintenance: 0.1,
  deep_learning: 0.15,
  emergency: 0.25,
} as const
export type ReinforceProfile = keyof typeof REINFORCE_BOOSTS
export const REINFORCE_PROFILES = Object.keys(REINFORCE_BOOSTS) as ReinforceProfile[]
export const REINFORCE_PROFILE_DEFAULT: ReinforceProfile = "maintenance"

export interface Memory {
  /** The number of its row: newer memories have larger ones. */
  id: number
  uuid: string
  repositoryId: number
  content: string
  /** Grows with every change of the content. */
  contentVersion: number
  sector: Sector
  salience: SalienceState
  accessCount: number
  tags: string[]
  source: string | null
  metadata: Record<string, unknown>
  embeddingStatus: EmbeddingStatus
  createdAtMs: number
  updatedAtMs: number
  lastAccessedAtMs: number | null
}
