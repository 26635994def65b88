/** The commands of connected repositories and of the documentation in them. */

import { type Command, Option } from "commander"
import { DOCUMENTATION_LIMIT_DEFAULT, DOCUMENTATION_LIMIT_MAX } from "../../config/limits.ts"
import { type ReadConfig, several } from "../options.ts"

/** Adds `repos` and `docs` with all below them. */
export function addDocumentationCommands(program: Command, config: ReadConfig): void {
  addRepositoryCommands(program, config)
  addSearchCommands(program, config)
}

function addRepositoryCommands(program: Command, config: ReadConfig): void {
  const load = () => import("./repos.ts")
  const repos = program
    .command("repos")
    .description("connected repositories, whose documentation is searched")
  repos
    .command("add")
    .description("connect a repository and make its documentation searchable")
    .argument("<path|url>", "a folder, or the address of a git repository, which is cloned")
    .option("--name <name>", "what to call it (default: as its folder or address)")
    .addOption(several("--branch <name>", "searched besides the default branch; may be given several times"))
    .option("--no-sync", "connect it only; a server or `repos sync` reads it later")
    .option("--json", "print JSON")
    .action(async (target: string, options) => (await load()).addRepositoryCommand(config(), target, options))
  repos
    .command("list")
    .description("list the connected repositories with their ids and what is searched of them")
    .option("--json", "print JSON")
    .action(async (options) => (await load()).listRepositoriesCommand(config(), options))
  repos
    .command("sync")
    .description("bring what is searched up to date; clones are fetched first")
    .argument("[repository...]", "ids or names (default: all whose documentation is searched)")
    .option("--json", "print JSON")
    .addOption(new Option("--background", "as a server starts it").hideHelp())
    .action(async (named: string[], options) =>
      options.background === true
        ? (await import("./repos-background.ts")).indexOnRequest(config())
        : (await load()).syncRepositoriesCommand(config(), named, options),
    )
  repos
    .command("remove")
    .description("forget the documentation of a repository; its files are not touched")
    .argument("<repository>", "id or name, as `repos list` shows it")
    .option("--purge", "from the daily backups too: they are removed, and a new one is made")
    .option("--json", "print JSON")
    .action(async (named: string, options) =>
      (await load()).removeRepositoryCommand(config(), named, options),
    )
}

function addSearchCommands(program: Command, config: ReadConfig): void {
  const docs = program.command("docs").description("documentation of the connected repositories")
  docs
    .command("search")
    .description("find the passages of documentation that answer a question")
    .argument("<query...>", "a question or words")
    .option("--repository <repository>", "only in this one, by id or name (default: in all)")
    .option("--branch <name>", "another branch than the default one")
    .option(
      "--limit <number>",
      `most passages to show, at most ${DOCUMENTATION_LIMIT_MAX} (default: 3, with --json ${DOCUMENTATION_LIMIT_DEFAULT})`,
    )
    .option("--full", "show passages whole, not six lines of each")
    .option("--json", "print JSON")
    .action(async (words: string[], options) =>
      (await import("./docs.ts")).searchDocsCommand(config(), words, options),
    )
}
