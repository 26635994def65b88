/** Repositories for tests of documentation with whatever is to go wrong in them, beside a file that is found always. */

import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect } from "vitest"
import { repositoryStates } from "../../src/operations/documentation/repositories.ts"
import { findRepositoryById } from "../../src/store/repositories.ts"
import { TestRepository } from "../git/support.ts"
import { expectSound, type Index } from "./documentation-index.ts"

export const GUIDE = "# Guide\n\nThe anvil is forged in the morning.\n"
/** What can be searched beside whatever cannot. */
export const GOOD = { "good.md": "# Good\n\nA bellows needs leather every year.\n" }

export type Content = string | Uint8Array

/** Writes files below a folder. */
export function write(folder: string, files: Record<string, Content>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

/** A repository with one commit of these files and the good one. */
export function repositoryWith(files: Record<string, Content>): TestRepository {
  const repository = new TestRepository()
  write(repository.root, files)
  repository.commit(GOOD)
  return repository
}

/** What is noted of a repository: what keeps it from being read, and the files that could not be. */
export async function problemsOf(
  { app }: Index,
  id: number,
): Promise<{ whole: string | null; files: object }> {
  const repository = await findRepositoryById(app.db, id)
  const [state] = await repositoryStates(app, repository === undefined ? [] : [repository])
  const files = (state?.branches ?? []).flatMap(({ problems }) => problems)
  return {
    whole: state?.documented?.problem ?? null,
    files: Object.fromEntries(files.map(({ path, problem }) => [path, problem])),
  }
}

/** Fails the test unless the good file is found, and the index fits together. */
export async function expectGood(index: Index, branch?: string): Promise<void> {
  expect(await index.filesWith("bellows leather", branch === undefined ? {} : { branch })).toEqual([
    "good.md",
  ])
  await expectSound(index.app)
}
