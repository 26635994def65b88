/** Projects and repositories, as the rest of the product passes them around. */

export interface Project {
  id: number
  key: string
  createdAtMs: number
}

export interface Repository {
  id: number
  name: string
  /** The main work tree's root, absolute. */
  rootPath: string
  /** What tells it from every other repository: the git common directory, or the folder itself. */
  identityPath: string
  defaultBranch: string | null
  /** Whether file names that differ only in case are one file there (git's core.ignorecase). */
  ignoreCase: boolean
}

/** Returns the id that a text or number is, of up to 15 digits; undefined for a name. */
export function repositoryIdIn(named: string | number): number | undefined {
  return /^[1-9]\d{0,14}$/.test(String(named)) ? Number(named) : undefined
}

/** Returns what names of repositories are compared by: they are the same in any case. */
export function repositoryNameKey(name: string): string {
  return name.normalize("NFC").toLowerCase()
}
