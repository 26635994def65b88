import { test } from "vitest"
import { COORDINATION } from "../../src/operations/index.ts"
import { world } from "../support/world.ts"
import { attackAll, SLOW_MACHINE_MS, setStage } from "./tools.ts"

const ABOUT_MAIL = ["messaging", "contacts", "search"]

test(
  "no text in any field of a tool about work passes for ours",
  async () => {
    const operations = COORDINATION.filter(({ category }) => !ABOUT_MAIL.includes(category))
    await attackAll(await setStage(world()), operations)
  },
  SLOW_MACHINE_MS,
)
