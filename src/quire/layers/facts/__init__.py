"""Facts that agents learned, with confidence, connections and episodes, in `.memory/facts.jsonl`."""
