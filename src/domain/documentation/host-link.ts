/**
 * Links to lines of a file at one commit, as the code hosts write them. The host is told by the address of
 * the remote; what is at none of them is linked as a file of this machine.
 */

type RemoteHost = "github" | "gitlab" | "bitbucket" | "bitbucket-server" | "gitea" | "azure" | "sourcehut"

/** What a link leads to. */
export interface LinkTarget {
  /** The address that git knows the remote by; null when there is none. */
  remoteUrl: string | null
  /** The root of the work tree, or of the repository when it is bare, on this machine. */
  rootPath: string
  isBare: boolean
  commit: string
  /** From the repository's root, with `/`. */
  path: string
  /** From 1; both lines are included. */
  lineStart: number
  lineEnd: number
}

/**
 * Returns the address of lines of a file, pinned to the commit where the file is at a host.
 *
 * Every part of a path is percent-encoded, so the link can stand in Markdown too. Credentials of the remote's
 * address are not taken over. Where the host would show a rendered page without lines, its source is asked
 * for. Forms: GitHub, GitLab, Bitbucket Cloud and Server, Gitea, Forgejo and Codeberg, Azure DevOps,
 * SourceHut; else `file://`, and for a bare repository, which has no such file, its folder with commit and
 * path as the query.
 */
export function hostLink(target: LinkTarget): string {
  const remote = target.remoteUrl === null ? undefined : parseRemote(target.remoteUrl)
  const host = remote && hostOf(remote)
  const link = remote && host && WRITERS[host](remote, { ...target, path: encodePath(target.path) })
  return link ?? fileLink(target)
}

interface Remote {
  /** The address of the host's web pages, without a slash at the end. */
  origin: string
  /** In small letters, without port. */
  host: string
  /** Whether it was given in a form of ssh, where paths and ports are not those of the web pages. */
  isSsh: boolean
  port: string
  /** The parts of the path, decoded, without `.git`. */
  parts: readonly string[]
}

/** A target whose path is encoded. */
type Place = LinkTarget

const HAS_SCHEME =
  /^(https?|ssh|git|git\+ssh|ssh\+git):\/\/(?:[^/]*@)?(\[[\da-f:.]+\]|[^/:@]+)(?::(\d*))?\/(.*)$/is
const SSH_SHORT_FORM = /^(?:[^/:@]+@)?(\[[\da-f:.]+\]|[^/:@]{2,}):(?!\/\/)(.*)$/is

/** Names by which hosts are reached through a firewall, and those that people with several keys invent. */
const HOST_ALIASES: readonly (readonly [pattern: RegExp, host: string])[] = [
  [/^ssh\.github\.com$/, "github.com"],
  [/^altssh\.gitlab\.com$/, "gitlab.com"],
  [/^altssh\.bitbucket\.org$/, "bitbucket.org"],
  [/^github\.com[-_].*$/, "github.com"],
  [/^gitlab\.com[-_].*$/, "gitlab.com"],
  [/^bitbucket\.org[-_].*$/, "bitbucket.org"],
]

function parseRemote(url: string): Remote | undefined {
  const text = url.trim()
  const long = HAS_SCHEME.exec(text)
  const short = long === null && !text.includes("://") ? SSH_SHORT_FORM.exec(text) : null
  const scheme = long?.[1]?.toLowerCase() ?? "ssh"
  const named = (long?.[2] ?? short?.[1])?.toLowerCase()
  // A host with any other character could not be written into a link.
  if (named === undefined || !/^(?:\[[\da-f:.]+\]|[\w.-]+)$/.test(named)) return undefined
  const host = HOST_ALIASES.find(([pattern]) => pattern.test(named))?.[1] ?? named
  const isWeb = scheme === "https" || scheme === "http"
  const port = long?.[3] ?? ""
  const parts = splitPath(long?.[4] ?? short?.[2] ?? "")
  if (parts === undefined) return undefined
  const origin = isWeb ? `${scheme}://${host}${port === "" ? "" : `:${port}`}` : `https://${host}`
  return { origin, host, isSsh: !isWeb, port, parts }
}

/** Undefined for a path that names no repository. */
function splitPath(path: string): string[] | undefined {
  const parts = path
    .replace(/[?#].*$/s, "")
    .replace(/\/+$/, "")
    .replace(/\.git$/i, "")
    .split("/")
    .filter((part) => part !== "")
    .map(decodePart)
  return parts.length === 0 || parts.some((part) => part === "." || part === "..") ? undefined : parts
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The first that fits counts. */
const HOSTS: readonly (readonly [host: RemoteHost, isAt: (remote: Remote) => boolean])[] = [
  ["azure", ({ host }) => /^(?:ssh\.)?dev\.azure\.com$|\.visualstudio\.com$/.test(host)],
  ["sourcehut", ({ host }) => host === "git.sr.ht"],
  ["bitbucket", ({ host }) => host === "bitbucket.org"],
  // Shared snippets have other addresses.
  ["github", ({ host }) => (/github/.test(host) && !/^gist\./.test(host)) || /\.ghe\.com$/.test(host)],
  ["gitlab", ({ host }) => /gitlab/.test(host) || GITLAB_HOSTS.has(host)],
  ["gitea", ({ host }) => /gitea|forgejo|codeberg/.test(host)],
  ["bitbucket-server", ({ host, port }) => /bitbucket|^stash\./.test(host) || port === "7999"],
  // Known by their paths, whatever the host is called.
  ["bitbucket-server", ({ isSsh, parts }) => !isSsh && parts.at(-3) === "scm"],
  ["azure", ({ isSsh, parts }) => !isSsh && parts.at(-2) === "_git"],
]

const GITLAB_HOSTS: ReadonlySet<string> = new Set([
  "salsa.debian.org",
  "invent.kde.org",
  "framagit.org",
  "code.videolan.org",
])

function hostOf(remote: Remote): RemoteHost | undefined {
  return HOSTS.find(([, isAt]) => isAt(remote))?.[0]
}

/** Undefined where the path of the remote is none that the host has for repositories. */
const WRITERS: Record<RemoteHost, (remote: Remote, place: Place) => string | undefined> = {
  github: (remote, place) => {
    const repository = repositoryAt(remote, 2, 2)
    const source = isRendered(place.path) ? "?plain=1" : ""
    return (
      repository && `${repository}/blob/${place.commit}/${place.path}${source}#${lines(place, "L", "-L")}`
    )
  },
  gitlab: (remote, place) => {
    const repository = repositoryAt(remote, 2)
    const source = isRendered(place.path) ? "?plain=1" : ""
    return (
      repository && `${repository}/-/blob/${place.commit}/${place.path}${source}#${lines(place, "L", "-")}`
    )
  },
  bitbucket: (remote, place) => {
    const repository = repositoryAt(remote, 2, 2)
    return repository && `${repository}/src/${place.commit}/${place.path}#${lines(place, "lines-", ":")}`
  },
  "bitbucket-server": (remote, place) => {
    const repository = bitbucketServerRepository(remote)
    const source = isRendered(place.path) ? "&useDefaultHandler=true" : ""
    return (
      repository && `${repository}/browse/${place.path}?at=${place.commit}${source}#${lines(place, "", "-")}`
    )
  },
  gitea: (remote, place) => {
    const repository = repositoryAt(remote, 2)
    const source = isRendered(place.path) ? "?display=source" : ""
    return (
      repository &&
      `${repository}/src/commit/${place.commit}/${place.path}${source}#${lines(place, "L", "-L")}`
    )
  },
  azure: (remote, { path, commit, lineStart, lineEnd }) => {
    const repository = azureRepository(remote)
    // The end is the first column of the line after the last.
    const range = `line=${lineStart}&lineEnd=${lineEnd + 1}&lineStartColumn=1&lineEndColumn=1`
    return (
      repository && `${repository}?path=/${path}&version=GC${commit}&${range}&lineStyle=plain&_a=contents`
    )
  },
  sourcehut: (remote, place) => {
    const repository = remote.parts[0]?.startsWith("~") ? repositoryAt(remote, 2, 2) : undefined
    return repository && `${repository}/tree/${place.commit}/item/${place.path}#${lines(place, "L", "-")}`
  },
}

/** The address of a repository at `origin/path`, whose path has so many parts; a wiki has no such pages. */
function repositoryAt({ origin, parts }: Remote, partsMin: number, partsMax = 20): string | undefined {
  if (parts.length < partsMin || parts.length > partsMax || /\.wiki$/.test(parts.at(-1) ?? ""))
    return undefined
  return `${origin}/${encodePath(parts.join("/"))}`
}

/** `[context/]scm/project/name` by https, `project/name` by ssh; a project `~user` is a person's. */
function bitbucketServerRepository({ origin, isSsh, parts }: Remote): string | undefined {
  const scm = isSsh ? -1 : parts.indexOf("scm")
  const [project, name, ...others] = parts.slice(scm + 1)
  if (project === undefined || name === undefined || others.length > 0 || (!isSsh && scm < 0))
    return undefined
  const context = parts.slice(0, Math.max(scm, 0)).map((part) => `/${encodePart(part)}`)
  const owner = project.startsWith("~")
    ? `users/${encodePart(project.slice(1))}`
    : `projects/${encodePart(project)}`
  return `${origin}${context.join("")}/${owner}/repos/${encodePart(name)}`
}

/** `.../project/_git/name` by https, `v3/organisation/project/name` by ssh. */
function azureRepository({ origin, host, isSsh, parts }: Remote): string | undefined {
  if (!isSsh) {
    if (parts.length < 2 || parts.at(-2) !== "_git") return undefined
    return `${origin}/${encodePath(parts.join("/"))}`
  }
  const [version, organisation, project, name, ...others] = parts
  if (version !== "v3" || organisation === undefined || project === undefined || name === undefined) {
    return undefined
  }
  if (others.length > 0) return undefined
  const repository = `${encodePart(project)}/_git/${encodePart(name)}`
  if (host === "ssh.dev.azure.com") return `https://dev.azure.com/${encodePart(organisation)}/${repository}`
  return /^[\w-]+$/.test(organisation) ? `https://${organisation}.visualstudio.com/${repository}` : undefined
}

/** One line or a range of them. */
function lines({ lineStart, lineEnd }: Place, before: string, between: string): string {
  return lineEnd > lineStart ? `${before}${lineStart}${between}${lineEnd}` : `${before}${lineStart}`
}

/** Formats that hosts show as a page, on which there are no lines. */
const RENDERED =
  /\.(?:md|mdx|markdown|mdown|mkdn?|rst|adoc|asciidoc|asc|org|textile|rdoc|creole|mediawiki|wiki|pod|ipynb)$/i

function isRendered(path: string): boolean {
  return RENDERED.test(path)
}

function fileLink(target: LinkTarget): string {
  const { rootPath, isBare, commit } = target
  const path = encodePath(target.path)
  const range = lines(target, "L", "-L")
  const root = fileUrlOf(rootPath)
  return isBare ? `${root}?commit=${commit}&path=${path}#${range}` : `${root}/${path}#${range}`
}

/** Without a slash at the end. */
function fileUrlOf(folder: string): string {
  const isWindows = /^[a-z]:[\\/]|^\\\\/i.test(folder)
  const parts = (isWindows ? folder.replaceAll("\\", "/") : folder).replace(/\/+$/, "")
  const drive = isWindows ? (/^[a-z]:/i.exec(parts)?.[0] ?? "") : ""
  if (drive !== "") return `file:///${drive}${encodePath(parts.slice(drive.length))}`
  // A share of another machine names that machine first.
  return isWindows ? `file:${encodePath(parts)}` : `file://${encodePath(parts)}`
}

function encodePath(path: string): string {
  return path.split("/").map(encodePart).join("/")
}

/** What `encodeURIComponent` leaves as it is but Markdown and terminals do not is encoded as well. */
function encodePart(part: string): string {
  return encodeURIComponent(part.replace(/\p{Surrogate}/gu, "\uFFFD")).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
