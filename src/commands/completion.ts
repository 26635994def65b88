/**
 * `signalbox completion`: what a shell needs to complete our command line, generated from the commands
 * themselves. Where nothing of ours fits, the shells complete file names.
 */

import { fishQuoted, posixQuoted } from "../runtime/shell-quoting.ts"
import { print } from "./output.ts"

export type Shell = "bash" | "zsh" | "fish"

interface OptionShape {
  /** As it is typed, such as `--mode`. */
  flag: string
  description: string
  takesValue: boolean
  /** The values that it takes, where they are known. */
  choices: readonly string[]
  /** Whether it is of use with every command below the one that it belongs to. */
  isGlobal: boolean
}

/** A command as far as completion is concerned; the program itself is one. */
export interface CommandShape {
  name: string
  description: string
  options: readonly OptionShape[]
  /** The values that its arguments take, where they are known. */
  choices: readonly string[]
  commands: readonly CommandShape[]
}

/** Prints the script for a shell, which the shell is to read when it starts. */
export function completionCommand(program: CommandShape, shell: Shell): void {
  print(completionScript(program, shell))
}

/** Returns the completion script of a program for a shell. */
export function completionScript(program: CommandShape, shell: Shell): string {
  switch (shell) {
    case "bash":
      return bashScript(program)
    case "zsh":
      return zshScript(program)
    case "fish":
      return fishScript(program)
  }
}

/** A command with the words that lead to it, and the options that are valid there. */
interface Place {
  path: string
  command: CommandShape
  options: readonly OptionShape[]
}

/** Returns a command with all below it. */
function placesIn(command: CommandShape, global: readonly OptionShape[] = [], path = ""): Place[] {
  const handedDown = [...global, ...command.options.filter(({ isGlobal }) => isGlobal)]
  const below = command.commands.flatMap((child) =>
    placesIn(child, handedDown, path === "" ? child.name : `${path} ${child.name}`),
  )
  return [{ path, command, options: [...command.options, ...global] }, ...below]
}

/** One `case` of a shell: what stands before the word, and what to say then. */
const arm = (words: string, body: string) => `    ${posixQuoted(words)}) ${body} ;;`

/** The steps that bash and zsh take alike: which command the words before this one name. */
function pathCases(places: readonly Place[], variable: string): string {
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => posixQuoted(path))
  return `      ${paths.join("|")}) ${variable}="\${${variable}:+$${variable} }$word" ;;`
}

/** What follows an option that takes a value: its choices, or whatever `otherwise` completes. */
function valueCases(
  places: readonly Place[],
  say: (choices: readonly string[]) => string,
  otherwise: string,
): string {
  const values = places.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ flag, choices }) => ({ words: posixQuoted(`${path} ${flag}`.trim()), choices })),
  )
  const open = values.filter(({ choices }) => choices.length === 0).map(({ words }) => words)
  const known = values.filter(({ choices }) => choices.length > 0)
  return [
    ...known.map(({ words, choices }) => `    ${words}) ${say(choices)}; return ;;`),
    `    ${open.join("|")}) ${otherwise} ;;`,
  ].join("\n")
}

function bashScript(program: CommandShape): string {
  const places = placesIn(program)
  const name = program.name
  return `# bash completion of ${name}; put this into ~/.bashrc: source <(${name} completion bash)
_${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local path="" words="" word index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    case "\${path:+$path }$word" in
${pathCases(places, "path")}
    esac
  done
  COMPREPLY=()
  case "\${path:+$path }$previous" in
${valueCases(places, (choices) => `COMPREPLY=($(compgen -W ${posixQuoted(choices.join(" "))} -- "$current"))`, "return")}
  esac
  case "$path" in
${places.map(({ path, options, command }) => arm(path, `if [[ $current == -* ]]; then words=${posixQuoted(flags(options))}; else words=${posixQuoted(wordsOf(command))}; fi`)).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o bashdefault -o default -F _${name} ${name}`
}

function zshScript(program: CommandShape): string {
  const places = placesIn(program)
  const name = program.name
  const described = (entries: readonly { word: string; description: string }[]) =>
    entries
      .map(({ word, description }) => posixQuoted(`${word.replaceAll(":", "\\:")}:${description}`))
      .join(" ")
  const body = ({ options, command }: Place) => {
    const optionWords = options.map(({ flag, description }) => ({ word: flag, description }))
    const commandWords = command.commands.map((child) => ({
      word: child.name,
      description: child.description,
    }))
    const choiceWords = command.choices.map((word) => ({ word, description: word }))
    return `if [[ $current == -* ]]; then entries=(${described(optionWords)}); else entries=(${described([...commandWords, ...choiceWords])}); fi`
  }
  return `#compdef ${name}
# zsh completion of ${name}; put this into ~/.zshrc, after compinit: source <(${name} completion zsh)
_${name}() {
  local current="\${words[CURRENT]}" previous="\${words[CURRENT-1]}"
  local selected="" word index
  local -a entries
  for ((index = 2; index < CURRENT; index++)); do
    word="\${words[index]}"
    case "\${selected:+$selected }$word" in
${pathCases(places, "selected")}
    esac
  done
  case "\${selected:+$selected }$previous" in
${valueCases(places, (choices) => `compadd -- ${choices.map(posixQuoted).join(" ")}`, "_files; return")}
  esac
  case "$selected" in
${places.map((place) => arm(place.path, body(place))).join("\n")}
  esac
  if (( \${#entries} )); then _describe '${name}' entries || _files; else _files; fi
}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi`
}

function fishScript(program: CommandShape): string {
  const { name } = program
  const lines = placesIn(program).flatMap(({ path, command }) => {
    const condition = path === "" ? "" : ` -n ${fishQuoted(isAt(path))}`
    const optionLines = command.options.map(({ flag, description, takesValue, choices, isGlobal }) => {
      const values = choices.length > 0 ? ` -x -a ${fishQuoted(choices.join(" "))}` : takesValue ? " -r" : ""
      const where = path === "" && !isGlobal ? ` -n ${fishQuoted(isOpen(path, command))}` : condition
      return `complete -c ${name}${where} -l ${flag.slice(2)} -d ${fishQuoted(description)}${values}`
    })
    const open = fishQuoted(isOpen(path, command))
    const commandLines = command.commands.map(
      (child) =>
        `complete -c ${name} -f -n ${open} -a ${fishQuoted(child.name)} -d ${fishQuoted(child.description)}`,
    )
    const choiceLines =
      command.choices.length === 0
        ? []
        : [`complete -c ${name} -f${condition} -a ${fishQuoted(command.choices.join(" "))}`]
    return [...optionLines, ...commandLines, ...choiceLines]
  })
  const head = `# fish completion of ${name}: ${name} completion fish > ~/.config/fish/completions/${name}.fish`
  return [head, ...lines].join("\n")
}

/** Returns fish's condition that the words so far name a command. */
function isAt(path: string): string {
  return path
    .split(" ")
    .map((word) => `__fish_seen_subcommand_from ${word}`)
    .join("; and ")
}

/** Returns fish's condition that a command was named and none of those below it yet. */
function isOpen(path: string, { commands }: CommandShape): string {
  if (path === "") return "__fish_use_subcommand"
  return `${isAt(path)}; and not __fish_seen_subcommand_from ${commands.map((child) => child.name).join(" ")}`
}

function flags(options: readonly OptionShape[]): string {
  return options.map(({ flag }) => flag).join(" ")
}

function wordsOf({ commands, choices }: CommandShape): string {
  return [...commands.map((child) => child.name), ...choices].join(" ")
}
