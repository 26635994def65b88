/** Which client is nearest above a process, and which inherited session counts below it. */

import { describe, expect, test } from "vitest"
import { nearestClient, processesOfClient } from "../../src/hook/client-processes.ts"
import { clientProcess } from "../support/hook.ts"

const onPosix = test.skipIf(process.platform === "win32")
const CLAUDE = { client: "claude-code", id: "outer" }
const GEMINI = { client: "gemini", id: "inner" }

describe("of the sessions that the environment tells", () => {
  onPosix.each([
    ["claude", [CLAUDE, GEMINI], "outer"],
    ["gemini", [CLAUDE, GEMINI], "inner"],
    ["gemini", [CLAUDE], undefined],
    ["copilot", [CLAUDE, GEMINI], undefined],
    ["code", [CLAUDE], undefined],
    ["claude", [], undefined],
  ])("below %s of %j counts %s", async (program, inherited, id) => {
    const { pid } = await clientProcess(program)
    expect(nearestClient(pid, inherited).session).toBe(id)
  })

  test("the first counts where no client is found", () => {
    expect(nearestClient(undefined, [CLAUDE, GEMINI])).toEqual({
      anchors: [],
      agentAnchors: [],
      session: "outer",
    })
    expect(nearestClient(0, [GEMINI]).session).toBe("inner")
  })
})

describe("the nearest client", () => {
  onPosix("is told by its processes; below an editor a person may work too", async () => {
    const [codex, editor] = [await clientProcess("codex"), await clientProcess("code")]
    expect(nearestClient(codex.pid)).toMatchObject({ anchors: codex.anchors, agentAnchors: codex.anchors })
    expect(nearestClient(editor.pid)).toMatchObject({ anchors: editor.anchors, agentAnchors: [] })
  })

  onPosix("of a hook is its own, whatever runs above", async () => {
    const { pid, anchors } = await clientProcess("codex")
    expect(processesOfClient(pid, "codex")).toEqual(anchors)
    expect(processesOfClient(pid, "gemini")).toEqual([])
    expect(processesOfClient(undefined, "codex")).toEqual([])
  })
})
