import { expect, test } from "vitest"
import { AGENT_ACTIVE_WINDOW_MS } from "../../../src/config/limits.ts"
import type { Agent } from "../../../src/domain/coordination/agent.ts"
import { presenceOf } from "../../../src/domain/coordination/presence.ts"

const NOW_MS = 10 * AGENT_ACTIVE_WINDOW_MS
const LATELY = NOW_MS - AGENT_ACTIVE_WINDOW_MS
const LONG_AGO = LATELY - 1

function presence(lastActiveAtMs: number, given: Partial<Agent>, signs: object) {
  const agent = { lastActiveAtMs, session: "process:1:x", isClaimed: true, ...given } as Agent
  const none = { isSessionLive: false, isLatestOfSession: true, isOverHttp: false }
  return presenceOf(agent, { ...none, ...signs }, NOW_MS)
}

test.each<[who: string, given: Partial<Agent>, signs: object, lately: string, longAgo: string]>([
  ["an agent whose session is open", {}, { isSessionLive: true }, "active", "idle"],
  [
    "an earlier name of an open session",
    {},
    { isSessionLive: true, isLatestOfSession: false },
    "active",
    "gone",
  ],
  ["an agent whose server has ended", {}, {}, "gone", "gone"],
  ["an agent that only hooks have made", { isClaimed: false }, {}, "active", "gone"],
  ["an agent over HTTP", {}, { isOverHttp: true }, "active", "gone"],
  ["a person", { session: "user:1" }, {}, "active", "gone"],
])("%s is there as its last activity and its session tell", (_, given, signs, lately, longAgo) => {
  expect(presence(LATELY, given, signs)).toBe(lately)
  expect(presence(LONG_AGO, given, signs)).toBe(longAgo)
})
