/** Emergency overrides: taking a path away from whoever holds it. */

export const OVERRIDE_STATUSES = ["pending", "approved", "denied"] as const
export type OverrideStatus = (typeof OVERRIDE_STATUSES)[number]

export interface Override {
  id: number
  projectId: number
  repositoryId: number
  requesterId: number
  requesterName: string
  /** Relative to the repository's root, plain text. */
  path: string
  reason: string
  status: OverrideStatus
  requestedAtMs: number
  decidedAtMs: number | null
}
