import { test } from "vitest"
import { DOCUMENTATION, MEMORY } from "../../src/operations/index.ts"
import { world } from "../support/world.ts"
import { everyFourth } from "./corpus.ts"
import { attackAll, SLOW_MACHINE_MS, setStage } from "./tools.ts"

test(
  "no text in any field of a tool for memory passes for ours",
  async () => {
    await attackAll(await setStage(world()), MEMORY)
  },
  SLOW_MACHINE_MS,
)

test(
  "no text in any field of a tool for documentation passes for ours",
  async () => {
    // These tools start processes of git at each call.
    await attackAll(await setStage(world()), DOCUMENTATION, everyFourth(0))
  },
  SLOW_MACHINE_MS,
)
