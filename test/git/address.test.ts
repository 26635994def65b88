/** Addresses to clone: which are accepted, as they stand and decoded, and what stands in them. */

import { describe, expect, test } from "vitest"
import { isGitUrl, parseGitUrl } from "../../src/git/address.ts"

test.each([
  "https://github.com/owner/name.git",
  "https://user:token@host.example:8443/a/b",
  "ssh://git@host.example:2222/a/b.git",
  "ssh://host/~user/a.git",
  "git@github.com:owner/name.git",
  "git@[::1]:a/b",
  "first.last@host-name:~/a",
  "file:///srv/git/a.git",
  "file:///srv/git/a%20b%C3%A9.git",
  "https://host/%D0%BF/проект",
  "https://user:p%40ss@host/a/b",
])("%s is an address to clone", (url) => {
  expect(isGitUrl(url)).toBe(true)
})

test.each([
  ...["http://host/a/b", "git://host/a/b", "ftp://host/a", "rsync://host/a", "HTTPS://host/a"],
  ...["ext::sh -c true", "ext::sh", "fd::17", "https::https://host/a", "transport::address", "git@host::a"],
  ...["--upload-pack=touch", "-oProxyCommand=x@host:a", "-u@host:a", "ssh://-oProxyCommand=x/a"],
  ...["ssh://git@-oProxyCommand=x/a", "git@-oProxyCommand=x:a", "git@host:-a", "git@host:"],
  ...["", "/srv/a", "./a", "a/b", "C:\\a", "C:/a", "host:a", "https://", "https:///a", "ssh://", "file://"],
  ...["ssh://[-oProxyCommand=x]/a", "ssh://%2doProxyCommand=x/a", "ssh://%2DoProxyCommand=x/a"],
  ...["ssh://%252doProxyCommand=x/a", "ssh://git@%2doProxyCommand=x/a", "ssh://-oProxyCommand=x@host/a"],
  ...["ssh://%2doProxyCommand=x@host/a", "ssh://user:-password@host/a", "ssh://[::1%25-oProxy]/a"],
  ...["https://-user:token@host/a", "https://%2duser:token@host/a", "https://user@name@host/a"],
  ...["https://host%0a.evil/a", "https://host/a%0ab", "https://host/a%0d", "https://host/a%00"],
  ...["https://host/a%250ab", "https://user:a%0ahost=evil@host/a", "https://host/a%1bb", "https://host/%zz"],
  ...["https://host\\@evil/a", "https://host%5c@evil/a", "https://host/a%5cb", "https://evil?@host/a"],
  ...["https://ｇithub.com/a", "https://gіthub.com/a", "https://host。evil/a", "https://ho\u200dst/a"],
  ...[
    "https://host/a\u202eb",
    "https://host:99999/a",
    "https://host:/a",
    "https://@host/a",
    "https:///@host/a",
  ],
  ...["file://host/srv/a", "file://localhost/a", "file://user@/a", "file:////host/a", "file:///%2fhost/a"],
  ...["file:///-a", "file:///%2da", "-u@host:a", "--@host:a", "user@-host:a", "user@host:\\a"],
  ...["https://host/a b", "https://host/a\nb", "https://host/a\0"],
])("%j is no address to clone", (url) => {
  expect(isGitUrl(url)).toBe(false)
})

describe("an address", () => {
  test.each([
    ["https://user:p%40s%3as@Host.Example:8443/a/b", "user", "p@s:s", "https://Host.Example:8443"],
    ["https://oauth2:@host/a", "oauth2", "", "https://host"],
    ["https://:token@host/a", "", "token", "https://host"],
    ["https://user@host/a", "user", undefined, "https://host"],
  ])("of https is kept without user and password: %s", (text, username, password, origin) => {
    const address = parseGitUrl(text)
    expect(address?.credentials).toEqual({ origin, username, password })
    expect(address?.url).toBe(text.replace(/[^/]*@/, ""))
  })

  test.each([
    ["https://Host.Example/a", "host.example"],
    ["https://host:443/a", "host"],
    ["https://user:token@host:8443/a", "host:8443"],
    ["ssh://git@host:22/a", "host"],
    ["ssh://git@host:443/a", "host:443"],
    ["git@Host:a", "host"],
    ["https://[::1]:80/a", "[::1]:80"],
    ["file:///srv/a", ""],
  ])("names its host: %s", (text, host) => {
    expect(parseGitUrl(text)?.host).toBe(host)
  })

  test("of a folder names it, and one of ssh keeps the user that it is asked as", () => {
    expect(parseGitUrl("file:///srv/a%20b")?.folder).toBe("/srv/a b")
    expect(parseGitUrl("ssh://git@host/a")?.url).toBe("ssh://git@host/a")
    expect(parseGitUrl("ssh://git@host/a")?.credentials).toBeUndefined()
  })
})
