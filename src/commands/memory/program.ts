/** The commands of the memory store and of the models that embed it. */

import { type Command, Option } from "commander"
import {
  MEMORY_HOPS_DEFAULT,
  MEMORY_HOPS_MAX,
  MEMORY_PAGE_DEFAULT,
  MEMORY_PAGE_MAX,
  MEMORY_SEARCH_LIMIT_DEFAULT,
  MEMORY_SEARCH_LIMIT_MAX,
  PRUNE_THRESHOLD_DEFAULT,
} from "../../config/limits.ts"
import { REINFORCE_PROFILE_DEFAULT, REINFORCE_PROFILES, SECTORS } from "../../domain/memory/memory.ts"
import { type ReadConfig, several } from "../options.ts"

const REPOSITORY = "id or name of the repository (default: the one around the current folder)"
const ID = "id of the memory, or its beginning"

/** Adds `memory` with all below it. */
export function addMemoryCommands(program: Command, config: ReadConfig): void {
  const memory = program.command("memory").description("what is remembered of a repository")
  addSingleCommands(memory, config)
  addListCommands(memory, config)
  addUpkeepCommands(memory, config)
  addTransferCommands(memory, config)
}

function sector(description: string): Option {
  return new Option("--sector <sector>", description).choices(SECTORS)
}

function addSingleCommands(memory: Command, config: ReadConfig): void {
  const load = () => import("./memory.ts")
  memory
    .command("add")
    .description("remember something, verbatim")
    .argument("[content...]", "what to remember; - or a pipe for stdin")
    .addOption(sector("kind of memory (default: as its words suggest)"))
    .addOption(several("--tag <tag>", "for filtering; may be given several times"))
    .option("--source <text>", "where it comes from")
    .option("--metadata <json>", "free JSON object")
    .option("--repository <repository>", REPOSITORY)
    .option("--json", "print JSON")
    .action(async (words: string[], options) => (await load()).addMemoryCommand(config(), words, options))
  memory
    .command("get")
    .description("show a memory whole, which counts as an access")
    .argument("<id>", ID)
    .option("--repository <repository>", REPOSITORY)
    .option("--json", "print JSON")
    .action(async (id: string, options) => (await load()).getMemoryCommand(config(), id, options))
  memory
    .command("edit")
    .description("change a memory; without options its content, in your editor")
    .argument("<id>", ID)
    .option("--content <text>", "new content; - for stdin")
    .addOption(several("--tag <tag>", "in the place of all its tags; may be given several times"))
    .option("--no-tags", "take all its tags away")
    .option("--source <text>", "where it comes from")
    .option("--metadata <json>", "JSON object in the place of the one it has")
    .option("--repository <repository>", REPOSITORY)
    .option("--json", "print JSON")
    .action(async (id: string, options) => (await load()).editMemoryCommand(config(), id, options))
  memory
    .command("reinforce")
    .description("raise a memory's salience, because it proved useful")
    .argument("<id>", ID)
    .addOption(
      new Option("--profile <profile>", `how much (default: ${REINFORCE_PROFILE_DEFAULT})`).choices(
        REINFORCE_PROFILES,
      ),
    )
    .option("--repository <repository>", REPOSITORY)
    .option("--json", "print JSON")
    .action(async (id: string, options) => (await load()).reinforceMemoryCommand(config(), id, options))
  memory
    .command("forget")
    .description("delete a memory for good")
    .argument("<id>", ID)
    .option("--purge", "from the daily backups too: they are removed, and a new one is made")
    .option("--repository <repository>", REPOSITORY)
    .option("--json", "print JSON")
    .action(async (id: string, options) => (await load()).forgetMemoryCommand(config(), id, options))
}

function addListCommands(memory: Command, config: ReadConfig): void {
  const load = () => import("./lists.ts")
  memory
    .command("search")
    .description("find memories by words and by meaning")
    .argument("<query...>", "a question or words")
    .option(
      "--limit <number>",
      `most memories to show, at most ${MEMORY_SEARCH_LIMIT_MAX} (default: ${MEMORY_SEARCH_LIMIT_DEFAULT})`,
    )
    .addOption(sector("only of this sector"))
    .addOption(several("--tag <tag>", "only with this tag; with all of them when given several times"))
    .option("--min-salience <number>", "only with at least this salience now, 0 to 1")
    .option("--no-waypoints", "do not add what the best are connected with")
    .option(
      "--max-hops <number>",
      `most waypoints in a row, 0 to ${MEMORY_HOPS_MAX} (default: ${MEMORY_HOPS_DEFAULT})`,
    )
    .option("--full", "show whole contents")
    .option("--explain", "say how each score came about")
    .option("--repository <repository>", REPOSITORY)
    .option("--json", "print JSON")
    .action(async (words: string[], options) =>
      (await load()).searchMemoriesCommand(config(), words, options),
    )
  memory
    .command("list")
    .description("list memories, the newest first")
    .option(
      "--limit <number>",
      `most memories to show, at most ${MEMORY_PAGE_MAX} (default: ${MEMORY_PAGE_DEFAULT})`,
    )
    .option("--cursor <cursor>", "where to go on, as the page before says")
    .addOption(sector("only of this sector"))
    .option("--tag <tag>", "only with this tag")
    .option("--full", "show whole contents")
    .option("--repository <repository>", REPOSITORY)
    .option("--json", "print JSON")
    .action(async (options) => (await load()).listMemoriesCommand(config(), options))
}

function addUpkeepCommands(memory: Command, config: ReadConfig): void {
  const load = () => import("./lists.ts")
  memory
    .command("prune")
    .description("count the memories that have faded, or delete them with --yes")
    .option(
      "--threshold <number>",
      `what is below this salience, 0 to 1 (default: ${PRUNE_THRESHOLD_DEFAULT})`,
    )
    .addOption(sector("only of this sector"))
    .option("--yes", "delete them for good")
    .option("--purge", "from the daily backups too: they are removed, and a new one is made")
    .option("--repository <repository>", REPOSITORY)
    .option("--json", "print JSON")
    .action(async (options) => (await load()).pruneMemoriesCommand(config(), options))
  memory
    .command("stats")
    .description("count the memories by sector, with salience, waypoints and storage")
    .option("--repository <repository>", REPOSITORY)
    .option("--json", "print JSON")
    .action(async (options) => (await load()).memoryStatsCommand(config(), options))
}

function addTransferCommands(memory: Command, config: ReadConfig): void {
  const load = () => import("./transfer.ts")
  memory
    .command("export")
    .description("write all memories as JSON Lines, one a line")
    .argument("[file]", "the file to write; stdout when left out or -")
    .addOption(sector("only of this sector"))
    .option("--tag <tag>", "only with this tag")
    .option("--force", "replace the file when it exists")
    .option("--repository <repository>", REPOSITORY)
    .action(async (file: string | undefined, options) =>
      (await load()).exportMemoriesCommand(config(), file, options),
    )
  memory
    .command("import")
    .description("store memories that export has written; what is there already is passed over")
    .argument("<file>", "the file to read; - for stdin")
    .option("--replace", "replace memories of the same id that differ")
    .option("--dry-run", "only check the file and say what would happen")
    .option("--repository <repository>", REPOSITORY)
    .option("--json", "print JSON")
    .action(async (file: string, options) => (await load()).importMemoriesCommand(config(), file, options))
}

/** Adds `model` with all below it. */
export function addModelCommands(program: Command, config: ReadConfig): void {
  const load = () => import("./model.ts")
  const model = program.command("model").description("models that embed memories, for search by meaning")
  model
    .command("list")
    .description("list the models on this machine, and which one is at work")
    .option("--json", "print JSON")
    .action(async (options) => (await load()).listModelsCommand(config(), options))
  model
    .command("use")
    .description("embed all memories with another model; search goes on meanwhile")
    .argument("<model>", "`builtin`, an id of `model list`, a folder, or an id of the Hugging Face hub")
    .option("--host <url>", "another hub to download from, such as a mirror")
    .option("--revision <name>", "branch, tag or commit on the hub (default: main)")
    .option("--json", "print JSON")
    .action(async (typed: string, options) => (await load()).useModelCommand(config(), typed, options))
  model
    .command("import")
    .description("copy a model from a folder, in the layout of transformers.js")
    .argument("<folder>", "with config.json, tokenizer.json and an ONNX file")
    .option("--name <id>", "id that it gets (default: local/<name of the folder>)")
    .option("--json", "print JSON")
    .action(async (folder: string, options) => (await load()).importModelCommand(config(), folder, options))
  model
    .command("remove")
    .description("delete a model from this machine")
    .argument("<id>", "as `model list` shows it")
    .option("--json", "print JSON")
    .action(async (id: string, options) => (await load()).removeModelCommand(config(), id, options))
}
