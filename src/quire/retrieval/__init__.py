"""From question to answer: candidates, relevance, tiers, verdicts, one hop, budget, text. Begin in `query.py`."""
