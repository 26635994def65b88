/** What a benchmark found, as the table on stdout and in results.md. */

import { availableParallelism, cpus, totalmem } from "node:os"

/** One line of the table. */
export interface Finding {
  what: string
  ours: string
  baseline: string
  ratio: string
  goal: string
  /** null where there is no goal and the figure only orients. */
  met: boolean | null
}

const HEAD = ["What", "Ours", "Baseline", "Ratio", "Goal", "Met"]

/** Returns the finding of a ratio of two times with an upper bound. */
export function ratioFinding(what: string, oursMs: number, baselineMs: number, bound?: number): Finding {
  const ratio = oursMs / baselineMs
  return {
    what,
    ours: ms(oursMs),
    baseline: ms(baselineMs),
    ratio: ratio.toFixed(2),
    goal: bound === undefined ? "-" : `<= ${bound}`,
    met: bound === undefined ? null : ratio <= bound,
  }
}

/** Returns the finding of a figure that has no baseline. */
export function plainFinding(what: string, ours: string, goal = "-", met: boolean | null = null): Finding {
  return { what, ours, baseline: "-", ratio: "-", goal, met }
}

/** Returns a time with three significant digits. */
export function ms(valueMs: number): string {
  const decimals = valueMs >= 100 ? 0 : valueMs >= 10 ? 1 : valueMs >= 1 ? 2 : 3
  return `${valueMs.toFixed(decimals)} ms`
}

/** Returns findings as a Markdown table with aligned columns. */
export function table(findings: readonly Finding[]): string {
  const rows = [HEAD, ...findings.map(cells)]
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`
  return [line(HEAD), rule, ...rows.slice(1).map(line)].join("\n")
}

function cells({ what, ours, baseline, ratio, goal, met }: Finding): string[] {
  return [what, ours, baseline, ratio, goal, met === null ? "-" : met ? "met" : "MISSED"]
}

/** Returns the machine as the operating system tells it. */
export function machine(): string {
  const memory_gib = totalmem() / 1024 ** 3
  const model = cpus()[0]?.model.trim() || "unknown CPU"
  const system = `${process.platform} ${process.arch}`
  return `Node ${process.version}, ${system}, ${availableParallelism()} cores, ${memory_gib.toFixed(0)} GiB memory, ${model}`
}

/** Returns the text of results.md. */
export function resultsMarkdown(findings: readonly Finding[], notes: readonly string[], day: string): string {
  return [
    "# Benchmark results",
    `Written by \`npm run bench\` on ${day}. ${machine()}.`,
    "Every ratio is against a baseline measured in the same run, in turns, after a warm-up. Below 1 means faster than the baseline.",
    table(findings),
    ...notes,
    "",
  ]
    .join("\n\n")
    .trimEnd()
    .concat("\n")
}
