"""Configuration files as people really have them, for the tests of wiring."""

from __future__ import annotations

from pathlib import Path

Files = dict[str, bytes]

CLAUDE_SETTINGS = b"""{
  // formatting is not a matter of taste
  "permissions": {
    "allow": ["Bash(npm run test:*)", "mcp__github__get_issue"],
    "deny": []
  },
  "hooks": {
    "PostToolUse": [
      {
        "matcher": "Edit|Write",
        "hooks": [{ "type": "command", "command": "npx prettier --write \\"$FILE\\"" }]
      }
    ],
    "SessionStart": [
      { "hooks": [{ "type": "command", "command": "agent-memory hook start" }] } // the other program
    ]
  },
  "model": "opus"
}
"""
MCP_TABS = b'{\r\n\t"mcpServers": {\r\n\t\t"github": {"command": "gh-mcp", "env": {"A": "b"}}\r\n\t}\r\n}'
CODEX_CONFIG = b"""model = "gpt-5"
approval_policy = "on-request"   # asks

[profiles.fast]
model = "gpt-5-mini"

[mcp_servers.docs]
command = "npx"
args = [
  "-y",
  "docs-mcp",
]

[mcp_servers.docs.env]
TOKEN_FILE = "~/.docs"

[[projects]]
path = "/srv/a"
"""
CURSOR_HOOKS = b'{"version": 1, "hooks": {"afterFileEdit": [{"command": "./format.sh"}]}}'
GEMINI_SETTINGS = b"""\xef\xbb\xbf{
    "theme": "GitHub",
    "context": { "fileName": ["AGENTS.md", "GEMINI.md"] },
    "hooks": {
        "BeforeTool": [ { "matcher": "write_file", "hooks": [ { "type": "command", "command": "./check" } ] } ],
    },
}
"""
OPENCODE = b"""{
  "$schema": "https://opencode.ai/config.json",
  /* which model, and why:
     see docs */
  "model": "anthropic/claude-sonnet-4-5",
  "mcp": {
    "jira": {
      "type": "remote",
      "url": "https://jira.example.com/mcp",
      "enabled": true,
    },
  },
}
"""
COPILOT_TEXT = b"# House rules\r\n\r\nUse tabs.\r\n"

PROJECTS: dict[str, tuple[str, Files]] = {
    "claude with comments": ("claude", {".claude/settings.json": CLAUDE_SETTINGS, ".mcp.json": MCP_TABS}),
    "claude in one line": ("claude", {".claude/settings.json": b'{"model":"opus"}', ".mcp.json": b"{}"}),
    "claude with empty files": ("claude", {".claude/settings.json": b"", ".mcp.json": b'{"mcpServers": {}}\n'}),
    "claude with instructions": ("claude", {"CLAUDE.md": b"# Harbor\n\nNo final newline"}),
    "codex": ("codex", {".codex/config.toml": CODEX_CONFIG, ".codex/hooks.json": b'{\n  "hooks": {}\n}\n'}),
    "codex with line ends of Windows": ("codex", {".codex/config.toml": CODEX_CONFIG.replace(b"\n", b"\r\n")}),
    "codex without final newline": ("codex", {".codex/config.toml": b'model = "x"'}),
    "cursor": ("cursor", {".cursor/hooks.json": CURSOR_HOOKS, ".cursor/rules/style.mdc": b"---\n---\n"}),
    "gemini": ("gemini", {".gemini/settings.json": GEMINI_SETTINGS, "GEMINI.md": b"Be brief."}),
    "opencode": ("opencode", {"opencode.jsonc": OPENCODE, ".opencode/plugins/other.js": b"export const A = 1\n"}),
    "copilot": (
        "copilot",
        {
            ".mcp.json": MCP_TABS,
            ".vscode/mcp.json": b'{\n\t// servers\n\t"servers": {},\n\t"inputs": []\n}\n',
            ".github/copilot-instructions.md": COPILOT_TEXT,
            ".github/hooks/lint.json": b'{"version": 1, "hooks": {}}',
        },
    ),
    "cline with a folder": ("cline", {".clinerules/style.md": b"# Style\n"}),
    "cline with a file": ("cline", {".clinerules": b"Use tabs.\n"}),
    **{f"{name} in an empty project": (name, {}) for name in ("claude", "codex", "cursor", "gemini", "opencode")},
    "copilot in an empty project": ("copilot", {}),
    "cline in an empty project": ("cline", {}),
    "all in an empty project": ("all", {}),
}


def lay(top: Path, files: Files) -> None:
    for name, data in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def held(top: Path) -> Files:
    """Every file below a folder with its bytes, and every folder, without git and the memory's own."""
    found: Files = {}
    for path in sorted(top.rglob("*")):
        name = path.relative_to(top).as_posix()
        if name.split("/")[0] in (".git", ".memory", "registry"):
            continue
        if path.is_symlink():
            found[name] = b"-> " + str(path.readlink()).encode()
        else:
            found[f"{name}/" if path.is_dir() else name] = b"" if path.is_dir() else path.read_bytes()
    return found
