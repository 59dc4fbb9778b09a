"""What is wrong with an installation, from the program to the agents; and what of it can be mended without a loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

from quire.layers.graph.layout import FOLDER
from quire.model.errors import QuireError
from quire.project.doctoring_agents import DoctoringAgents
from quire.project.mending import Mending
from quire.upkeep.findings import Finding, Section

if TYPE_CHECKING:
    from quire.index.catalog import Index
    from quire.upkeep.check import Checked


class Mended(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that `--fix` did, or could not do."""

    name: str
    message: str
    failed: bool = False


class Doctored(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was looked at, as it is after what was mended."""

    findings: tuple[Finding, ...]
    fixed: tuple[Mended, ...] = ()

    @property
    def is_healthy(self) -> bool:
        return not any(finding.state == "error" for finding in self.findings)


class Doctoring(DoctoringAgents, Mending):
    """Looking at everything that the memory needs in order to work."""

    def doctor(self, *, fix: bool = False) -> Doctored:
        """Look at the program, the machine, the project, the agents, the sessions and the server.

        With `fix`, what can be mended without losing anything is mended first. The network is never asked.
        """
        findings = self._findings()
        if not fix or not any(finding.fixable for finding in findings):
            return Doctored(findings=tuple(findings))
        fixed = self._fix(findings)
        return Doctored(findings=tuple(self._findings()), fixed=tuple(fixed))

    def _findings(self) -> list[Finding]:
        from quire.upkeep.installation import look_at_machine, look_at_program

        return [
            *_looked("program", lambda: look_at_program(self.world.env)),
            *_looked("machine", lambda: look_at_machine(self.world)),
            *_looked("project", self._project_findings),
            *_looked("agents", self._agent_findings),
            *_looked("sessions", self._session_findings),
            *_looked("server", self._server_findings),
        ]

    # -- the project --------------------------------------------------------------------------

    def _project_findings(self) -> list[Finding]:
        from quire.upkeep.doctor import look_at_git, look_at_index, look_at_layers, look_at_lock, look_at_transactions

        found = [Finding(section="project", name="root", message=self.root)]
        layers = look_at_layers(self.root)
        if not layers:
            said = "There is no memory here yet."
            hint = "`memory init` makes one; `-C FOLDER` names another place."
            return [*found, Finding(section="project", name="memory", state="note", message=said, hint=hint)]
        index = look_at_index(self._index_folder())
        found += look_at_git(self.root, self.git, self.world)
        found += [*layers, *look_at_transactions(self.root), *look_at_lock(self.root), index]
        if not any(finding.state == "error" for finding in layers):
            found += self._check_findings(is_index_usable=index.state == "ok")
        return found

    def _check_findings(self, *, is_index_usable: bool) -> list[Finding]:
        """What `memory check` would say, without what it does on the way: nothing is settled, no index thrown away."""
        from quire.index.opening import with_index
        from quire.upkeep.check import check_memory
        from quire.upkeep.doctor import told_check, unfinished_folders

        if unfinished_folders(self.root):
            said = "The files are not looked at before the unfinished change is completed."
            return [Finding(section="project", name="check", state="note", message=said)]
        rejections = self._rejections()

        def work(index: Index) -> Checked:
            places = self._places()
            return check_memory(self.graph, self.git, index, places, self.world.now(), self.world.home, rejections)

        folder = self._index_folder() if is_index_usable else None
        return told_check(self.in_one_state(lambda: with_index(folder, self._sources(), work)))

    # -- mending ------------------------------------------------------------------------------

    def _fix(self, findings: Iterable[Finding]) -> list[Mended]:
        """Each step only where it was found to be needed, the storage first."""
        wanted = {(finding.section, finding.name) for finding in findings if finding.fixable}
        agents = [name for section, name in wanted if section == "agents"]
        steps: list[tuple[bool, str, Callable[[], str]]] = [
            (any(section == "program" for section, _ in wanted), "commands", self._mend_commands),
            (("project", "transactions") in wanted, "transactions", self._mend_transactions),
            (("project", "lock") in wanted, "lock", self._mend_lock),
            (("project", "gitignore") in wanted, "gitignore", self._mend_ignore),
            (("project", "index") in wanted, "index", self._mend_index),
            (("project", "check") in wanted, "check", self._mend_files),
            (bool(agents), "agents", lambda: self._mend_agents(agents)),
            (("machine", "projects") in wanted, "projects", self._mend_projects),
            (("sessions", "waiting") in wanted, "sessions", self._mend_sessions),
        ]
        done = []
        for is_wanted, name, step in steps:
            if not is_wanted:
                continue
            try:
                done.append(Mended(name=name, message=step()))
            except (QuireError, OSError) as error:
                done.append(Mended(name=name, message=f"Not mended: {_said(error)}", failed=True))
        return done

    def _mend_commands(self) -> str:
        from quire.upkeep.installation import link_commands

        made = link_commands(self.world.env)
        return f"Linked the commands: {', '.join(made)}." if made else "There was nothing to link."

    def _mend_transactions(self) -> str:
        self._settle()
        return "Completed the change that a dead writer left."

    def _mend_lock(self) -> str:
        from quire.files.writing import write_access

        with write_access(self.root, FOLDER, self.world, "doctor", seconds=0.0):
            pass
        return "Removed the lock of a process that is gone."

    def _mend_ignore(self) -> str:
        from quire.upkeep.doctor import ignored_entries
        from quire.upkeep.ignore import ensure_ignored

        ensure_ignored(self.root, self.world, ignored_entries(self.root))
        return "Added the missing lines to .gitignore."

    def _mend_index(self) -> str:
        done = self.rebuild()
        return f"Made the index anew: {done.records:,} records."

    def _mend_files(self) -> str:
        done = self.repair()
        said = [f"{len(done.mends):,} fault{'' if len(done.mends) == 1 else 's'} in the memory's files"]
        if done.warnings:
            said.append(f"not all could be mended ({done.warnings[0].message})")
        if not done.name:
            return f"Nothing in the memory's files was mended: {'; '.join(said[1:]) or 'nothing had to be'}."
        return f"Mended {'; '.join(said)}. `memory check --undo {done.name}` takes it back."

    def _mend_projects(self) -> str:
        from quire.upkeep.installation import dead_projects
        from quire.upkeep.projects import Registry

        gone = dead_projects(self.world)
        for entry in gone:
            Registry(self.world).remove(entry.registry_id)
        return f"Took {len(gone):,} project{'' if len(gone) == 1 else 's'} off the list that have no memory any more."

    def _mend_sessions(self) -> str:
        done = self.collect_sessions(running=False)
        if done.busy:
            return "Somebody else is reading the sessions just now."
        unread = f"; {len(done.failed):,} could not be read" if done.failed else ""
        return f"Read {done.sessions:,} session{'' if done.sessions == 1 else 's'}: {done.proposed:,} proposed{unread}."


def _looked(section: Section, look: Callable[[], list[Finding]]) -> list[Finding]:
    """A section; what keeps it from being looked at is a finding, too, and keeps no other."""
    try:
        return look()
    except (QuireError, OSError) as error:
        hint = error.hint if isinstance(error, QuireError) else ""
        return [Finding(section=section, name=section, state="error", message=_said(error), hint=hint or "")]


def _said(error: QuireError | OSError) -> str:
    return error.message if isinstance(error, QuireError) else error.strerror or str(error)
