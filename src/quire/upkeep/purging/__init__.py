"""Taking a text out of every file of ours, without a trace: where it stands, and what the files are without it."""

from quire.upkeep.purging.forms import PURGED, SHORTEST, Forms
from quire.upkeep.purging.planning import Place, PurgePlan, plan_purge, secrets_below, texts_below

__all__ = ["PURGED", "SHORTEST", "Forms", "Place", "PurgePlan", "plan_purge", "secrets_below", "texts_below"]
