/** A folder without git, held to what git says of the same files, and kept to its own bounds. */

import { execFileSync } from "node:child_process"
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import * as fc from "fast-check"
import { describe, expect, onTestFinished, test } from "vitest"
import { remove } from "../../scripts/removal.ts"
import { listTree, TooManyEntries } from "../../src/git/objects.ts"
import { type FolderFilter, folderState, listFolder, readFolderFile } from "../../src/git/plain-folder.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { all, TestRepository } from "./support.ts"

const ANYTHING = { isWanted: () => true, isFolderWanted: () => true, bytesMax: 1_000 }

function write(root: string, path: string, text: string | Buffer = "text"): string {
  const place = join(root, path)
  mkdirSync(dirname(place), { recursive: true })
  writeFileSync(place, text)
  return place
}

async function paths(
  root: string,
  filter: FolderFilter & { bytesMax: number } = ANYTHING,
): Promise<string[]> {
  return (await all(listFolder(root, filter))).map(({ path }) => path)
}

describe("the list of a folder", () => {
  test("is that of git for the same files: order, hashes, sizes, links", async () => {
    const repository = new TestRepository()
    const text = fc.sample(fc.string({ unit: "binary", maxLength: 40 }), { numRuns: 6, seed: 1 })
    const names = [
      "a.md",
      "a/b.md",
      "a-b.md",
      "a.b/c",
      "Z",
      "\u00fc.md",
      "\u{1f600}",
      "\uff21",
      "a b\n.md",
      "a0",
    ]
    const files = names.map((name, at) => [name, text[at % text.length] ?? ""] as const)
    symlinkSync("a/b.md", join(repository.root, "link.md"))
    symlinkSync("a", join(repository.root, "link-to-folder"))
    const commit = repository.commit(Object.fromEntries(files))
    const expected = await all(listTree(repository.gitFolder, commit))
    expect(expected.length).toBe(names.length + 2)
    expect(await all(listFolder(repository.root, ANYTHING))).toEqual(expected)
  })

  test("passes over what is not wanted, and never looks below such a folder", async () => {
    const root = temporaryFolder()
    for (const path of ["a.md", "a.ts", "docs/b.md", "docs/node_modules/c.md", "x/.git/d.md", ".git/e.md"]) {
      write(root, path)
    }
    chmodSync(join(root, "docs/node_modules"), 0o000)
    onTestFinished(() => chmodSync(join(root, "docs/node_modules"), 0o755))
    const asked: string[] = []
    const filter = {
      bytesMax: 1_000,
      isWanted: (path: string) => path.endsWith(".md"),
      isFolderWanted: (path: string) => {
        asked.push(path)
        return !path.endsWith("node_modules")
      },
    }
    expect(await paths(root, filter)).toEqual(["a.md", "docs/b.md"])
    expect(asked).toEqual(["docs", "x", "docs/node_modules"])
  })

  test("has the size of a large file, and no hash", async () => {
    const root = temporaryFolder()
    write(root, "exact.md", "x".repeat(1_000))
    write(root, "large.md", "x".repeat(1_001))
    const entries = await all(listFolder(root, ANYTHING))
    expect(entries.map(({ path, bytes, hash }) => [path, bytes, hash !== null])).toEqual([
      ["exact.md", 1_000, true],
      ["large.md", 1_001, false],
    ])
  })

  test.skipIf(process.platform === "win32")("has no pipes and sockets", async () => {
    const root = temporaryFolder()
    write(root, "a.md")
    execFileSync("mkfifo", [join(root, "pipe.md")])
    const server = createServer()
    await new Promise<void>((settle) => server.listen(join(root, "socket.md"), settle))
    onTestFinished(() => void server.close())
    expect(await paths(root)).toEqual(["a.md"])
  })

  test.skipIf(process.getuid?.() === 0)("says what cannot be read", async () => {
    const root = temporaryFolder()
    chmodSync(write(root, "secret.md"), 0o000)
    write(root, "closed/a.md")
    chmodSync(join(root, "closed"), 0o000)
    onTestFinished(() => chmodSync(join(root, "closed"), 0o755))
    expect((await all(listFolder(root, ANYTHING))).map(({ path, kind }) => [path, kind])).toEqual([
      ["closed", "unreadable"],
      ["secret.md", "unreadable"],
    ])
  })

  test("says what went while it was made", async () => {
    const root = temporaryFolder()
    for (const path of ["a.md", "b.md", "c/d.md"]) write(root, path)
    const kinds: string[] = []
    for await (const { path, kind } of listFolder(root, ANYTHING)) {
      kinds.push(`${path} ${kind}`)
      if (path === "a.md") for (const gone of ["b.md", "c"]) remove(join(root, gone))
    }
    expect(kinds).toEqual(["a.md file", "b.md unreadable", "c unreadable"])
  })

  test.runIf(process.platform === "linux")("says which names are not UTF-8", async () => {
    const root = temporaryFolder()
    writeFileSync(Buffer.concat([Buffer.from(`${root}/a`), Buffer.from([0xff])]), "text")
    write(root, "b\uFFFD")
    expect((await all(listFolder(root, ANYTHING))).map(({ isOddName, kind }) => [isOddName, kind])).toEqual([
      [true, "unreadable"],
      [false, "file"],
    ])
  })

  test("throws for a root that is not there, and for an abort", async () => {
    await expect(paths(join(temporaryFolder(), "none"))).rejects.toThrow(/ENOENT/)
    const root = temporaryFolder()
    write(root, "a.md")
    const reason = new Error("enough")
    const signal = AbortSignal.abort(reason)
    await expect(all(listFolder(root, { ...ANYTHING, signal }))).rejects.toBe(reason)
    await expect(folderState(root, { ...ANYTHING, signal })).rejects.toBe(reason)
  })

  test("is given up once there are more entries than somebody wants, wanted or not", async () => {
    const root = temporaryFolder()
    for (const path of ["a.md", "b.bin", "docs/c.md"]) write(root, path)
    const isWanted = (path: string) => path.endsWith(".md")
    const wanted = { ...ANYTHING, isWanted }
    expect(await all(listFolder(root, { ...wanted, entriesMax: 4 }))).toHaveLength(2)
    await expect(all(listFolder(root, { ...wanted, entriesMax: 3 }))).rejects.toThrow(new TooManyEntries(3))
    await expect(folderState(root, { ...wanted, entriesMax: 3 })).rejects.toThrow(new TooManyEntries(3))
  })

  test("lets other work go on while it is made", async () => {
    const root = temporaryFolder()
    for (let at = 0; at < 3_000; at++) write(root, `${at % 10}/${at}.md`, "x".repeat(900))
    let turns = 0
    const turn = setInterval(() => turns++, 0)
    expect(await paths(root)).toHaveLength(3_000)
    clearInterval(turn)
    expect(turns).toBeGreaterThan(0)
  })
})

describe("a file of a folder", () => {
  test("is read as it is, also through a link that stays inside", async () => {
    const root = temporaryFolder()
    const bytes = Buffer.from([0, 255, 10, 13])
    write(root, "docs/a.md", bytes)
    symlinkSync("docs", join(root, "other"))
    const link = join(temporaryFolder(), "root")
    symlinkSync(root, link)
    expect(await readFolderFile(root, "docs/a.md", 4)).toEqual(bytes)
    expect(await readFolderFile(root, "other/a.md", 4)).toEqual(bytes)
    expect(await readFolderFile(link, "docs/a.md", 4)).toEqual(bytes)
    expect(await readFolderFile(root, "docs/a.md", 3)).toBeUndefined()
  })

  test("is not read outside the root, by a link or by its name", async () => {
    const outside = temporaryFolder()
    write(outside, "secret.md")
    const root = join(outside, "root")
    write(root, "a.md")
    symlinkSync("../secret.md", join(root, "link.md"))
    symlinkSync(outside, join(root, "folder"))
    symlinkSync("folder", join(root, "twice"))
    mkdirSync(`${root}-beside`)
    write(`${root}-beside`, "secret.md")
    for (const path of [
      ...["link.md", "folder/secret.md", "twice/secret.md", "../secret.md", "../root-beside/secret.md"],
      ...["a/../../secret.md", join(outside, "secret.md"), "", ".", "..", "a.md\0", "none.md", "a.md/b"],
    ]) {
      expect(await readFolderFile(root, path, 1_000), path).toBeUndefined()
    }
    expect(await readFolderFile(root, "folder/root/a.md", 1_000)).toEqual(Buffer.from("text"))
  })

  test.skipIf(process.platform === "win32")("is not waited for when it is a pipe", async () => {
    const root = temporaryFolder()
    execFileSync("mkfifo", [join(root, "pipe.md")])
    expect(await readFolderFile(root, "pipe.md", 1_000)).toBeUndefined()
  })
})

describe("the state of a folder", () => {
  const DOCUMENTS = { isWanted: (path: string) => path.endsWith(".md"), isFolderWanted: () => true }

  test.each<[string, (root: string) => void, boolean]>([
    ["nothing happened", () => {}, false],
    ["a file that is not wanted came", (root) => write(root, "b.ts"), false],
    ["a file came", (root) => write(root, "b.md"), true],
    ["a file went", (root) => remove(join(root, "a.md")), true],
    ["a file grew", (root) => appendFileSync(join(root, "a.md"), "x"), true],
    ["a file has another name", (root) => renameSync(join(root, "a.md"), join(root, "c.md")), true],
    ["a file's time changed", (root) => utimesSync(join(root, "a.md"), 1, 1), true],
    [
      "another text of the same size came with the old time",
      (root) => {
        write(root, "a.md", "TEXT")
        utimesSync(join(root, "a.md"), 1_000, 1_000)
      },
      true,
    ],
  ])("tells whether %s", async (_, change, isChange) => {
    const root = temporaryFolder()
    write(root, "docs/deep/a.md")
    utimesSync(write(root, "a.md"), 1_000, 1_000)
    const before = await folderState(root, DOCUMENTS)
    change(root)
    expect((await folderState(root, DOCUMENTS)) !== before).toBe(isChange)
  })
})
