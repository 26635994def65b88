/** The order in which somebody in a repository reads what was found in several. */

/** What is known of something found. */
interface Found<Item> {
  item: Item
  score: number
  /** Whether it is of the repository that the reader is in. */
  isOwn: boolean
  content: string
}

/**
 * Returns at most `limit` items, the reader's own before all others, each by score, and of identical contents the first
 * in that order; `repeats` is how many were left out because one of those returned has the same content.
 */
export function ownFirst<Item>(
  found: readonly Found<Item>[],
  limit: number,
): { items: Item[]; repeats: number } {
  const chosen = new Map<string, Item>()
  let repeats = 0
  const ordered = found.toSorted(
    (one, other) => Number(other.isOwn) - Number(one.isOwn) || other.score - one.score,
  )
  for (const { item, content } of ordered) {
    if (chosen.has(content)) repeats += 1
    else if (chosen.size < limit) chosen.set(content, item)
  }
  return { items: [...chosen.values()], repeats }
}
