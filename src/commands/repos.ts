/** `signalbox repos`: which repositories agents can reserve files in. */

import type { Config } from "../config.ts"
import type { Repository } from "../domain/project.ts"
import { connectFolder } from "../operations/connect.ts"
import { listRepositories } from "../store/repositories.ts"
import { type OutputOptions, printResult, table } from "./output.ts"
import { withApp } from "./with-app.ts"

export function addRepository(config: Config, folder: string, options: OutputOptions): Promise<void> {
  return withApp(config, async (app) => {
    const repository = await connectFolder(app.db, folder, app.now())
    printResult(options, repositoryJson(repository), () =>
      [
        `Connected ${repository.name}.`,
        `Repository id: ${repository.id}`,
        `Root: ${repository.rootPath}`,
      ].join("\n"),
    )
  })
}

export function listRepositoriesCommand(config: Config, options: OutputOptions): Promise<void> {
  return withApp(config, async (app) => {
    const repositories = await listRepositories(app.db)
    printResult(options, repositories.map(repositoryJson), () => {
      if (repositories.length === 0)
        return "No repositories yet. Run signalbox in a git work tree, or `signalbox repos add <folder>`."
      const rows = repositories.map((one) => [
        String(one.id),
        one.name,
        one.defaultBranch ?? "",
        one.rootPath,
      ])
      return table(["ID", "NAME", "BRANCH", "ROOT"], rows)
    })
  })
}

function repositoryJson(repository: Repository) {
  return {
    id: repository.id,
    name: repository.name,
    root_path: repository.rootPath,
    default_branch: repository.defaultBranch,
  }
}
