/** Links to lines of files at code hosts, and to files of this machine. */

import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { hostLink, type LinkTarget } from "../../../src/domain/documentation/host-link.ts"

const COMMIT = "0123456789abcdef0123456789abcdef01234567"

function link(remoteUrl: string | null, others: Partial<LinkTarget> = {}): string {
  return hostLink({
    remoteUrl,
    rootPath: "/home/ada/project",
    isBare: false,
    commit: COMMIT,
    path: "docs/a.md",
    lineStart: 3,
    lineEnd: 9,
    ...others,
  })
}

describe("a link", () => {
  test.each([
    ["https://github.com/owner/name", `https://github.com/owner/name/blob/${COMMIT}/docs/a.md?plain=1#L3-L9`],
    [
      "https://gitlab.com/group/sub/name.git",
      `https://gitlab.com/group/sub/name/-/blob/${COMMIT}/docs/a.md?plain=1#L3-9`,
    ],
    ["git@bitbucket.org:team/name.git", `https://bitbucket.org/team/name/src/${COMMIT}/docs/a.md#lines-3:9`],
    [
      "https://code.example/scm/PRO/name.git",
      `https://code.example/projects/PRO/repos/name/browse/docs/a.md?at=${COMMIT}&useDefaultHandler=true#3-9`,
    ],
    [
      "https://codeberg.org/owner/name.git",
      `https://codeberg.org/owner/name/src/commit/${COMMIT}/docs/a.md?display=source#L3-L9`,
    ],
    [
      "https://dev.azure.com/org/project/_git/name",
      `https://dev.azure.com/org/project/_git/name?path=/docs/a.md&version=GC${COMMIT}&line=3&lineEnd=10` +
        "&lineStartColumn=1&lineEndColumn=1&lineStyle=plain&_a=contents",
    ],
    ["https://git.sr.ht/~ada/name", `https://git.sr.ht/~ada/name/tree/${COMMIT}/item/docs/a.md#L3-9`],
    [null, "file:///home/ada/project/docs/a.md#L3-L9"],
  ])("for %j is as that host writes it", (remoteUrl, expected) => {
    expect(link(remoteUrl)).toBe(expected)
  })

  test.each([
    ["https://github.com/owner/name", `/blob/${COMMIT}/a.ts#L3`],
    ["https://gitlab.com/owner/name", `/-/blob/${COMMIT}/a.ts#L3`],
    ["https://bitbucket.org/owner/name", `/src/${COMMIT}/a.ts#lines-3`],
    ["https://code.example/scm/PRO/name.git", `/browse/a.ts?at=${COMMIT}#3`],
    ["https://codeberg.org/owner/name", `/src/commit/${COMMIT}/a.ts#L3`],
    ["https://dev.azure.com/org/project/_git/name", "&line=3&lineEnd=4&lineStartColumn=1&lineEndColumn=1"],
    ["https://git.sr.ht/~ada/name", `/item/a.ts#L3`],
    [null, "/a.ts#L3"],
  ])(
    "for %j names one line as such, and asks for the source of rendered formats only",
    (remoteUrl, expected) => {
      expect(link(remoteUrl, { path: "a.ts", lineEnd: 3 })).toContain(expected)
    },
  )

  test.each(["a.MD", "a.mdx", "a.rst", "a.adoc", "a.ipynb", "a.markdown", "x.y/a.org"])(
    "to %s asks for the source",
    (path) => {
      expect(link("https://github.com/owner/name", { path })).toContain(`${path}?plain=1#`)
    },
  )
})

describe("the repository at a host", () => {
  const NAME = "https://github.com/owner/name/"
  test.each([
    ...[
      "https://github.com/owner/name.git",
      "https://github.com/owner/name.git/",
      "https://github.com/owner/name/",
    ],
    ...["https://user@github.com/owner/name", "https://user:p@ss@github.com/owner/name.git"],
    ...[
      "ssh://git@github.com/owner/name.git",
      "ssh://git@github.com:22/owner/name",
      "git://github.com/owner/name",
    ],
    ...["git@github.com:owner/name.git", "git@github.com:/owner/name", "github.com:owner/name.git"],
    ...["ssh://git@ssh.github.com:443/owner/name.git", "git@github.com-work:owner/name.git"],
    ...["git+ssh://git@github.com/owner/name.git", " https://GitHub.com/owner/name.git\n"],
  ])("is found in %j", (remoteUrl) => {
    expect(link(remoteUrl)).toMatch(new RegExp(`^${NAME}blob/`))
  })

  test.each([
    ["https://github.acme.example:8443/o/n.git", "https://github.acme.example:8443/o/n/blob/"],
    ["http://github.local/o/n.git", "http://github.local/o/n/blob/"],
    ["git@acme.ghe.com:o/n.git", "https://acme.ghe.com/o/n/blob/"],
    ["ssh://git@gitlab.acme.example:2222/g/s/t/n.git", "https://gitlab.acme.example/g/s/t/n/-/blob/"],
    ["https://salsa.debian.org/g/n.git", "https://salsa.debian.org/g/n/-/blob/"],
    [
      "https://git.example/bitbucket/scm/~ada/n.git",
      "https://git.example/bitbucket/users/ada/repos/n/browse/",
    ],
    ["ssh://git@stash.example:7999/PRO/n.git", "https://stash.example/projects/PRO/repos/n/browse/"],
    ["ssh://git@git.example:7999/~ada/n.git", "https://git.example/users/ada/repos/n/browse/"],
    ["https://gitea.example/o/n", "https://gitea.example/o/n/src/commit/"],
    ["https://code.forgejo.org/o/n", "https://code.forgejo.org/o/n/src/commit/"],
    ["git@git.sr.ht:~ada/n", "https://git.sr.ht/~ada/n/tree/"],
    [
      "https://org@dev.azure.com/org/My%20project/_git/n",
      "https://dev.azure.com/org/My%20project/_git/n?path=",
    ],
    ["git@ssh.dev.azure.com:v3/org/My%20project/n", "https://dev.azure.com/org/My%20project/_git/n?path="],
    [
      "https://org.visualstudio.com/DefaultCollection/p/_git/n",
      "https://org.visualstudio.com/DefaultCollection/p/_git/n?",
    ],
    ["https://org.visualstudio.com/_git/n", "https://org.visualstudio.com/_git/n?path="],
    ["org@vs-ssh.visualstudio.com:v3/org/p/n", "https://org.visualstudio.com/p/_git/n?path="],
    ["https://tfs.example/tfs/Main/p/_git/n", "https://tfs.example/tfs/Main/p/_git/n?path="],
  ])("of %s is at %s", (remoteUrl, start) => {
    expect(link(remoteUrl).slice(0, start.length)).toBe(start)
  })

  test.each([
    ...[
      "/srv/git/a.git",
      "../a",
      "file:///srv/a.git",
      "C:\\code\\a",
      "C:/code/a",
      "",
      "https://",
      "nonsense",
    ],
    ...[
      "https://git.example/owner/name",
      "git@git.example:owner/name",
      "https://github.com",
      "https://github.com/",
    ],
    ...[
      "https://github.com/name",
      "https://github.com/a/b/c",
      "https://gist.github.com/ada/0123",
      "ext::sh -c x",
    ],
    ...["https://github.com/owner/name.wiki.git", "https://github.com/owner/..", "https://git.sr.ht/ada/n"],
    ...["git@ssh.dev.azure.com:v3/org/p", "https://git hub.com/o/n", "https://github.com<script>/o/n"],
  ])("is at none for %j, and the file is linked", (remoteUrl) => {
    expect(link(remoteUrl)).toBe("file:///home/ada/project/docs/a.md#L3-L9")
  })
})

describe("a file of this machine", () => {
  test.each([
    ["/home/ada/pro ject#1", "file:///home/ada/pro%20ject%231/docs/a.md#L3-L9"],
    ["/", "file:///docs/a.md#L3-L9"],
    ["/odd\\name", "file:///odd%5Cname/docs/a.md#L3-L9"],
    ["C:\\Users\\Ada\\pro ject", "file:///C:/Users/Ada/pro%20ject/docs/a.md#L3-L9"],
    ["c:/code/", "file:///c:/code/docs/a.md#L3-L9"],
    ["D:\\", "file:///D:/docs/a.md#L3-L9"],
    ["\\\\server\\share\\a", "file://server/share/a/docs/a.md#L3-L9"],
  ])("below %s is linked by %s", (rootPath, expected) => {
    expect(link(null, { rootPath })).toBe(expected)
  })

  test("is not there in a bare repository, whose folder is linked with commit and path", () => {
    expect(link(null, { rootPath: "/srv/a.git", isBare: true, path: "a b&c.md" })).toBe(
      `file:///srv/a.git?commit=${COMMIT}&path=a%20b%26c.md#L3-L9`,
    )
    expect(link("https://github.com/o/n", { isBare: true })).toMatch(/^https:\/\/github\.com\/o\/n\/blob\//)
  })
})

const REMOTES = [
  null,
  "https://me:secret@github.com/owner/name.git",
  "https://me:secret@gitlab.com/group/sub/name.git",
  "https://me:secret@bitbucket.org/team/name.git",
  "https://me:secret@x.example/scm/PRO/name.git",
  "https://me:secret@codeberg.org/owner/name.git",
  "https://me:secret@dev.azure.com/org/project/_git/name",
  "https://me:secret@git.sr.ht/~ada/name",
  "ssh://me:secret@github.com/owner/name.git",
  "me:secret@github.com:owner/name.git",
]

/** Names that a tree may have: anything but a slash, a NUL and what stands for a folder. */
const name = fc
  .oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
    fc.string({
      unit: fc.constantFrom("a", ".", "#", "?", "%", " ", "\n", "&", "+", "(", "\\", ":", "\u00e9"),
    }),
    fc.constantFrom("%2e%2e", "a.md", "#L1", "?plain=1", "\ud800", "C:", "~"),
  )
  .filter((text) => text !== "" && text !== "." && text !== ".." && !/[/\0]/.test(text))

test("every path comes back from its link, and nothing of it means anything there", () => {
  fc.assert(
    fc.property(
      fc.array(name, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(...REMOTES),
      fc.nat(9_998),
      fc.nat(100),
      (names, remoteUrl, before, more) => {
        const path = names.join("/")
        const target = { path, lineStart: before + 1, lineEnd: before + 1 + more }
        const text = link(remoteUrl, target)
        expect(text).toMatch(/^(?:https|file):\/\/[\w./%~?=&:#-]+$/)
        expect(text).not.toMatch(/secret|me:|@/)
        const url = new URL(text)
        expect(url.href).toBe(text)
        expect(url.username + url.password).toBe("")
        const shown = url.searchParams.get("path") ?? decodeURIComponent(url.pathname)
        const wanted = path.replace(/\p{Surrogate}/gu, "\uFFFD")
        expect(shown.endsWith(`/${wanted}`)).toBe(true)
        // Another path or another range is another link.
        expect(link(remoteUrl, { ...target, path: `${path}x` })).not.toBe(text)
        expect(link(remoteUrl, { ...target, lineEnd: target.lineEnd + 1 })).not.toBe(text)
      },
    ),
    { numRuns: 1_000 },
  )
})

test("whatever a remote is called, its link is an address without user and password", () => {
  const piece = fc.constantFrom(
    ...[
      "https://",
      "ssh://",
      "git@",
      "me:secret@",
      "github.com",
      "gitlab.example",
      "dev.azure.com",
      "/",
      ":",
      "_git",
    ],
    ...[
      "owner",
      "name",
      ".git",
      "..",
      "%2e%2e",
      "scm",
      "v3",
      "?",
      "#",
      "~a",
      " ",
      "\n",
      '"',
      "<",
      "[::1]",
      ":22",
      "@",
    ],
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
      const text = link(pieces.join(""))
      const url = new URL(text)
      expect(url.href).toBe(text)
      expect([url.username, url.password]).toEqual(["", ""])
      expect(url.pathname.endsWith("docs/a.md") || url.searchParams.get("path") === "/docs/a.md").toBe(true)
    }),
    { numRuns: 2_000 },
  )
})
