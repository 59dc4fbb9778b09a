"""Answer questions: candidates, relevance, tiers, verdicts, one hop, budget, text. Begin in `query.py`."""
