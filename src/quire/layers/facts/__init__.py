"""The facts: what agents learned, by section, with confidence, connections and episodes, in `.memory/facts.jsonl`."""
