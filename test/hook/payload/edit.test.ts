import { describe, expect, test } from "vitest"
import type { HookEvent } from "../../../src/hook/client-names.ts"
import { readPayload } from "../../../src/hook/payload/payload.ts"

/** The paths of a payload of no particular client. */
function pathsOf(payload: object, event: HookEvent = "pre-edit"): string[] {
  const nowhere = { folder: undefined, projectFolder: undefined }
  return readPayload("claude-code", event, JSON.stringify(payload), nowhere).paths
}

/** The paths of a tool call in Claude Code's dialect. */
function pathsOfTool(name: string, input: unknown): string[] {
  return pathsOf({ hook_event_name: "PreToolUse", tool_name: name, tool_input: input })
}

const EDIT = { file_path: "a.ts", old_string: "a", new_string: "b" }

describe("which tools edit", () => {
  test.each(["edit", "EDIT", "Multi_Edit", "strReplace", "str-replace", "applyPatch"])("%s does", (name) => {
    expect(pathsOfTool(name, { path: "a.ts" })).toEqual(["a.ts"])
  })

  test("an edit counts before an edit only", () => {
    const payload = { tool_name: "Edit", tool_input: EDIT }
    expect(pathsOf(payload)).toEqual(["a.ts"])
    for (const event of ["mail", "session-start", "session-end"] as const)
      expect(pathsOf(payload, event)).toEqual([])
  })

  test.each(
    [
      ["Read", "read_file", "readFile", "NotebookRead", "fs_read", "view", "list_code_usages", "LS"],
      ["Grep", "glob", "file_search", "find_references", "WebFetch", "open_page", "get_errors", "cat"],
    ].flat(),
  )("%s never does, whatever it carries", (name) => {
    expect(pathsOfTool(name, { ...EDIT, content: "x", command: "*** Begin Patch\n*** Add File: b" })).toEqual(
      [],
    )
  })

  test.each(["mcp__files__write_file", "mcp_files_write", "MCP:write_file", "@files/write", "use_mcp_tool"])(
    "%s is no tool of the client",
    (name) => {
      expect(pathsOfTool(name, { path: "a.ts", content: "x" })).toEqual([])
    },
  )

  test.each(["mcp_server", "mcp_context"])("a call with %s is no tool of the client either", (field) => {
    expect(pathsOf({ tool_name: "append_note", tool_input: EDIT, [field]: { name: "notes" } })).toEqual([])
  })

  test.each(["spread_sheet", "thread_write", "Whatever"])(
    "%s, which nobody knows, does when a path comes with new text",
    (name) => {
      expect(pathsOfTool(name, EDIT)).toEqual(["a.ts"])
      expect(pathsOfTool(name, { filePath: "a.ts", content: "" })).toEqual(["a.ts"])
      expect(pathsOfTool(name, { files: ["a.ts"], edits: [] })).toEqual(["a.ts"])
      expect(pathsOfTool(name, { file_path: "a.ts" })).toEqual([])
      expect(pathsOfTool(name, { file_path: "a.ts", content: null })).toEqual([])
      expect(pathsOfTool(name, { content: "x" })).toEqual([])
    },
  )

  test("a missing tool name is made up for by the shape, but not in an event that reads", () => {
    expect(pathsOf({ hook_event_name: "preToolUse", tool_input: EDIT })).toEqual(["a.ts"])
    expect(pathsOf({ hook_event_name: "beforeReadFile", file_path: "a.ts", content: "x" })).toEqual([])
    expect(pathsOf({ agent_action_name: "pre_read_code", tool_info: EDIT })).toEqual([])
  })

  test("an editor tool of several commands does not edit when it looks", () => {
    const input = { path: "a.ts", old_str: "a", new_str: "b" }
    expect(pathsOfTool("str_replace_editor", { command: "insert", ...input })).toEqual(["a.ts"])
    expect(pathsOfTool("str_replace_editor", { command: "view", ...input })).toEqual([])
  })
})

describe("where arguments and paths stand", () => {
  test.each(["tool_input", "toolInput", "toolArgs", "tool_args", "tool_info", "args", "input", "parameters"])(
    "arguments may be in %s, as an object or as JSON",
    (field) => {
      expect(pathsOf({ toolName: "edit", [field]: EDIT })).toEqual(["a.ts"])
      expect(pathsOf({ tool: "edit", [field]: JSON.stringify(EDIT) })).toEqual(["a.ts"])
    },
  )

  test("arguments may be beside the tool's name", () => {
    expect(pathsOf({ tool_name: "Write", path: "a.ts" })).toEqual(["a.ts"])
  })

  test.each([
    "file_path",
    "filePath",
    "notebook_path",
    "path",
    "target_file",
    "TargetFile",
    "file",
    "newPath",
  ])("a path may be in %s, alone or as a list", (field) => {
    expect(pathsOfTool("Edit", { [field]: "a.ts" })).toEqual(["a.ts"])
    expect(pathsOfTool("Edit", { [field]: ["a.ts", "b.ts"] })).toEqual(["a.ts", "b.ts"])
  })

  test.each(["files", "edits", "replacements", "operations"])("or in each object of %s", (field) => {
    const items = [{ file_path: "a.ts" }, { path: "b.ts", text: "x" }, { filePath: 5 }, null, ["c.ts"]]
    expect(pathsOfTool("Edit", { [field]: items })).toEqual(["a.ts", "b.ts"])
  })

  test("lists of files are paths, lists of changes are not", () => {
    expect(pathsOfTool("Edit", { files: ["a.ts", 1] })).toEqual(["a.ts"])
    expect(pathsOfTool("Edit", { edits: ["a.ts"], path: "b.ts" })).toEqual(["b.ts"])
  })

  test("each path counts once, empty ones do not, and all of many do", () => {
    expect(pathsOfTool("Edit", { path: "a.ts", files: ["b.ts", "a.ts", "", " "] })).toEqual(["a.ts", "b.ts"])
    const many = Array.from({ length: 5_000 }, (_, index) => `src/${index}.ts`)
    expect(pathsOfTool("editFiles", { files: many })).toEqual(many)
  })

  test("a path loses the slash that a URL leaves before a drive, and nothing else", () => {
    expect(pathsOfTool("Edit", { path: "/c:/src/a.ts" })).toEqual(["c:/src/a.ts"])
    expect(pathsOfTool("Edit", { path: "C:\\src\\a.ts" })).toEqual(["C:\\src\\a.ts"])
    expect(pathsOfTool("Edit", { path: "/c/src a/[id].ts" })).toEqual(["/c/src a/[id].ts"])
  })

  test("names of an object's inner workings are nothing special", () => {
    const input = '{"__proto__":{"file_path":"p.ts"},"constructor":"c.ts","file_path":"a.ts"}'
    expect(pathsOfTool("Edit", input)).toEqual(["a.ts"])
    expect({}).not.toHaveProperty("file_path")
  })
})

describe("patches", () => {
  const PATCH = [
    "*** Begin Patch",
    "*** Add File: new.ts",
    "+*** Add File: content.ts",
    "*** Update File: old name.ts",
    "*** Move to: moved.ts",
    "@@",
    "-*** Delete File: content.ts",
    "*** Delete File: gone.ts",
    "*** End Patch",
  ].join("\n")
  const PATHS = ["new.ts", "old name.ts", "moved.ts", "gone.ts"]

  test.each(["command", "input", "patch", "patchText", "diff"])(
    "may be in %s, whatever the tool",
    (field) => {
      expect(pathsOfTool("apply_patch", { [field]: PATCH })).toEqual(PATHS)
      expect(pathsOfTool("functions.apply_patch", { [field]: PATCH })).toEqual(PATHS)
      expect(pathsOfTool("exec_custom", { [field]: PATCH })).toEqual(PATHS)
    },
  )

  test("may be the arguments themselves", () => {
    expect(pathsOfTool("apply_patch", PATCH)).toEqual(PATHS)
    expect(pathsOf({ toolName: "apply_patch", toolArgs: PATCH })).toEqual(PATHS)
    expect(pathsOfTool("shell", ["apply_patch", PATCH])).toEqual(PATHS)
  })

  test("may have indented headers and any line ends, and no first line in a tool for patches", () => {
    const indented = PATCH.replaceAll("\n***", "\n \t ***")
    expect(pathsOfTool("apply_patch", { input: indented })).toEqual(PATHS)
    expect(pathsOfTool("apply_patch", { input: PATCH.replaceAll("\n", "\r\n") })).toEqual(PATHS)
    expect(pathsOfTool("apply_patch", { input: "*** Add File:a.ts  \n*** Add File: " })).toEqual(["a.ts"])
  })

  test("in the new text of a file are text", () => {
    expect(pathsOfTool("Write", { file_path: "a.md", content: PATCH })).toEqual(["a.md"])
    expect(pathsOfTool("Edit", { file_path: "a.md", old_string: "x", new_string: PATCH })).toEqual(["a.md"])
  })

  test.each([
    ["a heredoc", `apply_patch <<'EOF'\n${PATCH}\nEOF`],
    ["its other name", `applypatch <<EOF\n${PATCH}\nEOF`],
    ["words", ["apply_patch", PATCH]],
    ["words for a shell", ["bash", "-lc", `apply_patch <<'EOF'\n${PATCH}\nEOF`]],
  ])("count in a shell command: %s", (_form, command) => {
    expect(pathsOfTool("Bash", { command })).toEqual(PATHS)
    expect(pathsOfTool("shell", { cmd: command })).toEqual(PATHS)
    expect(pathsOf({ agent_action_name: "pre_run_command", tool_info: { command_line: command } })).toEqual(
      PATHS,
    )
  })

  test("count where they are piped to what applies them, or kept in a file first", () => {
    expect(pathsOfTool("Bash", { command: `printf '%s' '${PATCH}' | apply_patch` })).toEqual(PATHS)
    const kept = `cat <<'EOF' > x.patch\n${PATCH}\nEOF\napply_patch < x.patch`
    expect(pathsOfTool("Bash", { command: kept })).toEqual(PATHS)
  })

  test("count whole where one shows the end of another", () => {
    const patch =
      "*** Begin Patch\n*** Update File: a.md\n *** End Patch\n*** Delete File: b.md\n*** End Patch"
    expect(pathsOfTool("Bash", { command: `apply_patch <<EOF\n${patch}\nEOF` })).toEqual(["a.md", "b.md"])
  })

  // Copying all that is open at each bracket took half a minute for as many.
  test("are found behind 100,000 brackets", () => {
    const command = `${"(".repeat(100_000)}apply_patch <<EOF\n${PATCH}\nEOF`
    expect(pathsOfTool("Bash", { command })).toEqual(PATHS)
  })

  test.each([
    "npx vitest run",
    "cat *** Begin Patch",
    `cat <<EOF > notes.md\n${PATCH}\nEOF`,
    "grep -rn '*** Add File: a.ts' .",
    "apply_patch --help",
  ])("are not in %j", (command) => {
    expect(pathsOfTool("Bash", { command, description: "Run", path: "a.ts" })).toEqual([])
  })

  test("start from the folder that the command changes to", () => {
    const patch = "*** Begin Patch\n*** Add File: a.ts\n*** Add File: /b.ts\n*** Add File: \n*** End Patch"
    const inFolder = (folder: string) => `cd ${folder} && apply_patch <<EOF\n${patch}\nEOF`
    expect(pathsOfTool("Bash", { command: inFolder("src/x/") })).toEqual(["src/x/a.ts", "/b.ts"])
    expect(pathsOfTool("Bash", { command: inFolder("'my src'") })).toEqual(["my src/a.ts", "/b.ts"])
    expect(pathsOfTool("Bash", { command: inFolder('"/abs"') })).toEqual(["/abs/a.ts", "/b.ts"])
    const command = `apply_patch <<EOF\n${patch}\nEOF`
    expect(pathsOfTool("shell", { command, workdir: "src" })).toEqual(["src/a.ts", "/b.ts"])
    expect(pathsOfTool("shell", { command: inFolder("x"), workdir: "src" })).toEqual(["src/x/a.ts", "/b.ts"])
  })

  describe("of one command", () => {
    const patchOf = (...paths: string[]) =>
      `apply_patch <<'EOF'\n*** Begin Patch\n${paths.map((path) => `*** Add File: ${path}\n+*** Begin Patch\n+*** End Patch\n`).join("")}*** End Patch\nEOF`

    test.each([
      ["one after the other", `${patchOf("a.ts", "b.ts")}\n${patchOf("c.ts")}`, ["a.ts", "b.ts", "c.ts"]],
      [
        "in a folder that stays",
        `cd src && ${patchOf("a.ts")}\n${patchOf("b.ts")}`,
        ["src/a.ts", "src/b.ts"],
      ],
      [
        "each in a folder of its own",
        `cd src; cd x\n${patchOf("a.ts")}\ncd ../y && ${patchOf("b.ts")}`,
        ["src/x/a.ts", "src/x/../y/b.ts"],
      ],
      ["behind a subshell", `(cd src && ls) && ${patchOf("a.ts")}`, ["a.ts"]],
      ["in a subshell", `(cd src && ${patchOf("a.ts")})\n${patchOf("b.ts")}`, ["src/a.ts", "b.ts"]],
      ["behind too many brackets", `) ) cd src && ${patchOf("a.ts")}`, ["src/a.ts"]],
      ["behind words that hold cd", `abcd src && ${patchOf("a.ts")}`, ["a.ts"]],
      ["in a folder with blanks", `cd my\\ "own src" && ${patchOf("a.ts")}`, ["my own src/a.ts"]],
      ["in a folder that may be missing", `cd -- src || exit 1; ${patchOf("a.ts")}`, ["src/a.ts"]],
      ["in a folder of Windows", `cd src\\x; ${patchOf("a.ts")}`, ["src\\x/a.ts"]],
      [
        "in no folder deeper than any",
        `${"cd abc;".repeat(1_025)}${patchOf("a.ts")}`,
        [`${"abc/".repeat(1_024)}a.ts`],
      ],
    ])("all count, %s", (_, command, paths) => {
      expect(pathsOfTool("Bash", { command })).toEqual(paths)
    })
  })
})
