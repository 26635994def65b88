/** The vector of a query, as long as it does not keep a search waiting. */

import { QUERY_MODEL_TIMEOUT_MS } from "../../config/limits.ts"
import type { StoredModel } from "../../domain/embedding/embedding.ts"
import type { App } from "../app.ts"

/**
 * Embeds a query; null without its model, because words alone are a search as well. `weightOf` says how much each
 * word tells.
 */
export async function embedQueryWithin(
  app: App,
  model: StoredModel,
  query: string,
  weightOf: (word: string) => number,
): Promise<Float32Array | null> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), QUERY_MODEL_TIMEOUT_MS)
  })
  try {
    const embedder = await Promise.race([app.embedders.load(model), tooLate])
    return embedder === null ? null : await embedder.embedQuery(query, weightOf)
  } catch (error) {
    app.log.debug("a search went by words alone", { model: model.name, error })
    return null
  } finally {
    clearTimeout(timer)
  }
}
