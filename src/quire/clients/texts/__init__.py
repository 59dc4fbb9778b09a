"""What clients are given to read and to run: the skill, the rules, slash commands, the plugin of opencode."""
