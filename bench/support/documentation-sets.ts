/**
 * Repositories of documents with questions on them: docs/*.tar.gz, each with one folder at its top, and
 * docs-questions/*.jsonl, whose lines name the section that answers by file and lines, and others that do too.
 */

import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"

export interface QuestionSet {
  name: string
  /** The work tree of a repository with one commit. */
  root: string
  commit: string
  questions: DocumentQuestion[]
}
export interface DocumentQuestion {
  text: string
  /** Each of them answers. */
  places: Place[]
}
export interface Place {
  file: string
  /** From 1; both lines belong to it. */
  lineStart: number
  lineEnd: number
}

interface RawPlace {
  file: string
  line_start: number
  line_end: number
}
interface RawQuestion extends RawPlace {
  question: string
  also?: RawPlace[]
}

const QUESTIONS_FOLDER = "docs-questions"
const ARCHIVES_FOLDER = "docs"
/** No settings of the user have a part in it. */
const GIT_ENVIRONMENT = {
  ...process.env,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Bench",
  GIT_AUTHOR_EMAIL: "bench@example.com",
  GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
  GIT_COMMITTER_NAME: "Bench",
  GIT_COMMITTER_EMAIL: "bench@example.com",
  GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
}

/** Unpacks the archives of a data folder into `target` and makes a git repository of each; archives that no questions are about are left out. */
export function openQuestionSets(dataFolder: string, target: string): QuestionSet[] {
  const archives = filesOf(join(dataFolder, ARCHIVES_FOLDER), ".tar.gz")
  const questions = filesOf(join(dataFolder, QUESTIONS_FOLDER), ".jsonl").map(readQuestions)
  return archives.flatMap((path) => {
    const name = basename(path, ".tar.gz")
    const root = unpack(path, join(target, name))
    const own = questions.find((some) => some.every(({ places }) => isIn(root, places)))
    return own === undefined ? [] : [{ name, root, commit: commitAll(root, name), questions: own }]
  })
}

/** Returns the paths of the files of a folder that end in a certain way; none where there is no such folder. */
function filesOf(folder: string, end: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith(end))
    .sort()
    .map((name) => join(folder, name))
}

function readQuestions(path: string): DocumentQuestion[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const raw = JSON.parse(line) as RawQuestion
      return { text: raw.question, places: [raw, ...(raw.also ?? [])].map(placeOf) }
    })
}

function placeOf({ file, line_start, line_end }: RawPlace): Place {
  return { file, lineStart: line_start, lineEnd: line_end }
}

function isIn(root: string, places: readonly Place[]): boolean {
  return places.every(({ file }) => existsSync(join(root, file)))
}

function unpack(archive: string, target: string): string {
  mkdirSync(target, { recursive: true })
  execFileSync("tar", ["-xzf", archive, "-C", target])
  const [top, ...others] = readdirSync(target)
  if (top === undefined || others.length > 0)
    throw new Error(`${archive} has no folder of its own at its top`)
  return join(target, top)
}

/** Commits everything, under a remote whose links have a form that names commit, path and lines. */
function commitAll(root: string, name: string): string {
  git(root, ["init", "--quiet", "--initial-branch=main"])
  git(root, ["remote", "add", "origin", `https://github.com/bench/${name}.git`])
  git(root, ["add", "--all", "--force", "."])
  git(root, ["-c", "commit.gpgSign=false", "commit", "--quiet", "--message", "All documents"])
  return git(root, ["rev-parse", "HEAD"]).trim()
}

/** Runs git in a repository; returns what it prints. */
export function git(root: string, args: readonly string[]): string {
  return execFileSync("git", args, {
    cwd: root,
    env: GIT_ENVIRONMENT,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  })
}
