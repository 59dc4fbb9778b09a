"""The profile: who works here and how, in `.ai-state/memory.json`."""

from typing import TYPE_CHECKING

from quire.layers.profile import layout
from quire.model.lazy import loader

if TYPE_CHECKING:
    from quire.layers.profile.access import Readings, as_read, note_reading, pending_readings
    from quire.layers.profile.comparing import changed_entries
    from quire.layers.profile.document import Document, parse_document
    from quire.layers.profile.drafts import Draft
    from quire.layers.profile.entries import Entry, new_fields, read_entry, split_name, time_text
    from quire.layers.profile.export import export_document, size_text
    from quire.layers.profile.faults import find_profile_faults
    from quire.layers.profile.forgotten import Forgotten, read_forgotten, sound_forgotten
    from quire.layers.profile.linking import Linked, add_link, forget, remove_links, restore
    from quire.layers.profile.merge import Disagreement, Merged, merge_documents
    from quire.layers.profile.migration import migrated
    from quire.layers.profile.places import Places, backup_name, find_places, stamp_now
    from quire.layers.profile.privacy import Move, carry_out, plan_move, refuse_undecided, retarget
    from quire.layers.profile.records import entry_of, entry_record, entry_ref, tag_name, text_name
    from quire.layers.profile.reflecting import Reflection, reflect
    from quire.layers.profile.rules import allowed_category, allowed_name, allowed_status
    from quire.layers.profile.settling import settle_profile
    from quire.layers.profile.source import Overview, ProfileSource, document_order, overview_of
    from quire.layers.profile.store import (
        commit,
        create_document,
        has_lock,
        migrate,
        open_draft,
        profile_access,
        profile_folders,
    )
    from quire.layers.profile.telling import SHARED_TAGS, Telling, remember

__all__ = [
    "SHARED_TAGS",
    "Disagreement",
    "Document",
    "Draft",
    "Entry",
    "Forgotten",
    "Linked",
    "Merged",
    "Move",
    "Overview",
    "Places",
    "ProfileSource",
    "Readings",
    "Reflection",
    "Telling",
    "add_link",
    "allowed_category",
    "allowed_name",
    "allowed_status",
    "as_read",
    "backup_name",
    "carry_out",
    "changed_entries",
    "commit",
    "create_document",
    "document_order",
    "entry_of",
    "entry_record",
    "entry_ref",
    "export_document",
    "find_places",
    "find_profile_faults",
    "forget",
    "has_lock",
    "layout",
    "merge_documents",
    "migrate",
    "migrated",
    "new_fields",
    "note_reading",
    "open_draft",
    "overview_of",
    "parse_document",
    "pending_readings",
    "plan_move",
    "profile_access",
    "profile_folders",
    "read_entry",
    "read_forgotten",
    "reflect",
    "refuse_undecided",
    "remember",
    "remove_links",
    "restore",
    "retarget",
    "settle_profile",
    "size_text",
    "sound_forgotten",
    "split_name",
    "stamp_now",
    "tag_name",
    "text_name",
    "time_text",
]

# Which module holds what.
_HOMES = {
    "SHARED_TAGS": "telling",
    "Disagreement": "merge",
    "Document": "document",
    "Draft": "drafts",
    "Entry": "entries",
    "Forgotten": "forgotten",
    "Linked": "linking",
    "Merged": "merge",
    "Move": "privacy",
    "Overview": "source",
    "Places": "places",
    "ProfileSource": "source",
    "Readings": "access",
    "Reflection": "reflecting",
    "Telling": "telling",
    "add_link": "linking",
    "allowed_category": "rules",
    "allowed_name": "rules",
    "allowed_status": "rules",
    "as_read": "access",
    "backup_name": "places",
    "carry_out": "privacy",
    "changed_entries": "comparing",
    "commit": "store",
    "create_document": "store",
    "document_order": "source",
    "entry_of": "records",
    "entry_record": "records",
    "entry_ref": "records",
    "export_document": "export",
    "find_places": "places",
    "find_profile_faults": "faults",
    "forget": "linking",
    "has_lock": "store",
    "merge_documents": "merge",
    "migrate": "store",
    "migrated": "migration",
    "new_fields": "entries",
    "note_reading": "access",
    "open_draft": "store",
    "overview_of": "source",
    "parse_document": "document",
    "pending_readings": "access",
    "plan_move": "privacy",
    "profile_access": "store",
    "profile_folders": "store",
    "read_entry": "entries",
    "read_forgotten": "forgotten",
    "reflect": "reflecting",
    "refuse_undecided": "privacy",
    "remember": "telling",
    "remove_links": "linking",
    "restore": "linking",
    "retarget": "privacy",
    "settle_profile": "settling",
    "size_text": "export",
    "sound_forgotten": "forgotten",
    "split_name": "entries",
    "stamp_now": "places",
    "tag_name": "records",
    "text_name": "records",
    "time_text": "entries",
}

__getattr__ = loader(__name__, _HOMES)
