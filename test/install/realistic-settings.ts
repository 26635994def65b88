/** Settings as users of each client have them: other servers, other hooks, comments, uneven layout. */

const OTHER_SERVERS = `{
  // what the team agreed on
  "mcpServers": {
    "github": { "command": "docker", "args": ["run", "-i", "ghcr.io/github/github-mcp-server"] }, // needs a token
    /* local only */
    "files": {
        "command": "npx",
        "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"]
    }
  },
  "theme": "dark"
}
`

const CLAUDE_STATE = `{
  "numStartups": 412,
  "installMethod": "global",
  "projects": {
    "/home/ann/shop": { "allowedTools": [], "mcpServers": { "signalbox": { "command": "other" } } }
  },
  "mcpServers": {
    "linear": { "type": "sse", "url": "https://mcp.linear.app/sse" }
  },
  "oauthAccount": { "emailAddress": "ann@example.com" }
}
`

const CLAUDE_SETTINGS = `{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "permissions": { "allow": ["Bash(npm run test:*)"], "deny": ["Read(./.env)"] },
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [ { "type": "command", "command": "~/bin/check-shell.sh" } ]
      },
      { "matcher": "Edit|Write", "hooks": [{ "type": "command", "command": "prettier --check", "timeout": 10 }] }
    ],
    "Stop": []
  },
  "model": "opus"
}
`

const CODEX_CONFIG = `# my codex
model = "gpt-6-codex"
approval_policy = "on-request" # never: too brave
notify = [
  "notify-send",
  "[codex]",
]

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs-mcp"]

[mcp_servers.docs.env]
NOTE = """
[mcp_servers.signalbox]
is only text here
"""

[projects."/home/ann/shop"]
trust_level = "trusted"
# the end`

const NESTED_HOOKS = `{
  "hooks": {
    "SessionStart": [ {"hooks": [ {"type": "command", "command": "date"} ]} ]
  }
}`

const GEMINI = `{
  "general": { "preferredEditor": "vim" },
  "mcpServers": {
    "playwright": { "command": "npx", "args": ["@playwright/mcp@latest"], "timeout": 30000 },
  },
  // ours
  "hooks": {
    "BeforeTool": [
      { "matcher": "run_shell_command", "hooks": [ { "name": "safe", "type": "command", "command": "safe.sh" } ] } // last one
    ]
  }
}
`

const CURSOR_HOOKS = `{
\t"version": 1,
\t"hooks": {
\t\t"afterFileEdit": [
\t\t\t{ "command": "./format.sh" }
\t\t],
\t\t"preToolUse": [ { "command": "audit.sh", "matcher": "Shell" } ]
\t}
}
`

const VSCODE_SERVERS = `{
  "inputs": [
    { "id": "token", "type": "promptString", "description": "Token", "password": true },
  ],
  "servers": {
    "github": { "type": "http", "url": "https://api.githubcopilot.com/mcp/" },
  },
}
`

const DEVIN_CONFIG = `{ "telemetry": false, "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }] } }`

const WINDSURF_HOOKS = `{"hooks":{"pre_write_code":[{"command":"python3 guard.py","show_output":true}],"post_run_command":[]}}
`

const OPENCODE = `{
  "$schema": "https://opencode.ai/config.json",
  "plugin": ["opencode-wakatime"],
  "mcp": {
    "context7": { "type": "remote", "url": "https://mcp.context7.com/mcp", "enabled": true }
  },

  "autoupdate": true
}
`

const QWEN = `{
  // mine
  "security": { "auth": { "selectedType": "openai" } },
  "hooks": {
    "PreToolUse": [
      { "matcher": "run_shell_command", "hooks": [{ "type": "command", "command": "safe.sh", "timeout": 5000 }] }
    ]
  },
  "$version": 4
}`

const GIT_HOOK = `#!/usr/bin/env bash
set -euo pipefail
npx lint-staged
exec ./scripts/more.sh "$@"
`

/** By client, then by the end of the path; files that are not named hold nothing of the user's. */
export const REALISTIC_SETTINGS: Record<string, Record<string, string>> = {
  "claude-code": {
    ".claude.json": CLAUDE_STATE,
    ".mcp.json": OTHER_SERVERS,
    "settings.json": CLAUDE_SETTINGS,
  },
  codex: { "config.toml": CODEX_CONFIG, "hooks.json": NESTED_HOOKS },
  gemini: { "settings.json": GEMINI },
  cursor: { "mcp.json": OTHER_SERVERS, "hooks.json": CURSOR_HOOKS },
  copilot: { "mcp-config.json": OTHER_SERVERS, ".mcp.json": OTHER_SERVERS },
  vscode: { "mcp.json": VSCODE_SERVERS },
  devin: { "mcp_config.json": OTHER_SERVERS, "/config.json": DEVIN_CONFIG, "hooks.v1.json": `{"Stop":[]}` },
  windsurf: { "mcp_config.json": OTHER_SERVERS, "hooks.json": WINDSURF_HOOKS },
  cline: { "cline_mcp_settings.json": OTHER_SERVERS },
  "cline-editor": { "cline_mcp_settings.json": OTHER_SERVERS },
  kiro: { "mcp.json": OTHER_SERVERS },
  opencode: { "opencode.json": OPENCODE },
  "qwen-code": { "settings.json": QWEN },
  git: { "pre-commit": GIT_HOOK, "post-commit": GIT_HOOK },
}
