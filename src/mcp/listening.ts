/** What a request to listen asks for, in the newer form of the protocol. */

/** Returns the resources that a request `subscriptions/listen` names; none where it is malformed, which the SDK tells. */
export function listenedUris({ params }: { params?: unknown }): string[] {
  const { notifications } = (params ?? {}) as { notifications?: { resourceSubscriptions?: unknown } }
  const uris = notifications?.resourceSubscriptions
  return Array.isArray(uris) && uris.every((uri) => typeof uri === "string") ? uris : []
}
