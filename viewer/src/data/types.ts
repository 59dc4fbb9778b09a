/** What the server answers with: one type for every answer, the same words as in `src/quire/fields/viewing.py`. */

export type Layer = "graph" | "facts" | "profile" | "journal";
export type VerdictState = "fresh" | "changed" | "moved" | "orphaned" | "unanchored" | "unverifiable";
export type Stage = "idea" | "building" | "shipped" | "paused" | "dead";

/** One record in a list. */
export interface Item {
  ref: string;
  layer: Layer;
  kind: string;
  title: string;
  status: string;
  /** Whether it is said of the product as it is now. */
  live: boolean;
  stage: Stage | null;
  /** The part of its layer that it stands in; empty where there is none. */
  section: string;
  /** Null for what has no verdict: other layers, and what is retired. */
  verdict: VerdictState | null;
  because: string;
  created_at: string;
  updated_at: string;
  tags: string[];
  /** The first words of its text. */
  excerpt: string;
}

export interface Session {
  version: string;
  /** Whether records may be changed. */
  write: boolean;
  /** Whether this is an export: no server, nothing that changes. */
  exported: boolean;
  /** The project that the page was opened in; empty where there is none. */
  project: string;
  now: string;
}

// -- projects -----------------------------------------------------------------------------------

export interface ProjectEntry {
  id: string;
  name: string;
  root: string;
  current: boolean;
  available: boolean;
  /** Why it is not. */
  problem: string;
}

export interface ProjectList {
  registry_path: string;
  projects: ProjectEntry[];
}

export interface GitState {
  available: boolean;
  branch: string | null;
  commit: string | null;
}

export interface ProjectSummary {
  name: string;
  root: string;
  stages: Record<Stage, number>;
  /** Live nodes of the graph by kind. */
  kinds: Record<string, number>;
  /** Records by layer; a layer that is not there is left out. */
  layers: Partial<Record<Layer, number>>;
  open_questions: number;
  /** How many live nodes need a look: changed, moved, orphaned. */
  stale: number;
  verdicts: Partial<Record<VerdictState, number>>;
  /** Proposals that wait. */
  inbox: number;
  /** Files that cannot be read. */
  unreadable: number;
  last_activity: string | null;
  last_sync: string | null;
  git: GitState;
}

// -- today --------------------------------------------------------------------------------------

export interface Change {
  item: Item;
  how: "created" | "updated" | "closed" | "retired" | "drifted";
  at: string;
}

export interface Note {
  number: number;
  text: string;
  at: string;
}

export interface Evidence {
  quote: string;
  by: string;
  where: string;
  at: string;
}

export interface Proposal {
  id: string;
  into: string;
  kind: string;
  text: string;
  origin: string;
  source: string;
  by: string;
  proposed_at: string;
  evidence: Evidence[];
  fields: { name: string; value: string }[];
  /** What its own file says of it: nothing, `open` or `over`; and in which words. */
  standing: string;
  said: string;
  /** The record that it changes, if any. */
  updates: string;
}

export interface InboxPage {
  pending: number;
  offset: number;
  items: Proposal[];
  /** What is pending by source and kind, in the order of the items. */
  groups: { source: string; kind: string; count: number }[];
}

export interface Today {
  since: string;
  until: string;
  /** What changed, the newest first; at most so many as are worth showing. */
  changed: Change[];
  changed_total: number;
  /** How many of each: created, updated, closed, retired, drifted, decisions, questions_opened. */
  digest: Record<string, number>;
  attention: Item[];
  attention_total: number;
  focus: Item[];
  next_steps: Item[];
  pins: Item[];
  notes: Note[];
  building: Item[];
  questions: Item[];
  inbox: InboxPage;
  /** Files that cannot be read. */
  problems: Problem[];
}

export interface Problem {
  code: string;
  message: string;
  path?: string;
  hint?: string | null;
  severity?: string;
}

// -- map and lists ------------------------------------------------------------------------------

export interface Shelf {
  total: number;
  items: Item[];
}

export interface ProductMap {
  project: Item | null;
  /** In the order of the board: idea, building, shipped, paused, dead. */
  stages: (Shelf & { stage: Stage })[];
  decisions: Shelf;
  gotchas: Shelf;
  /** Open ones first. */
  questions: Shelf;
}

export interface RecordPage {
  total: number;
  offset: number;
  items: Item[];
  /** How many there are of each value, within the other choices. */
  facets: Record<"layer" | "kind" | "status" | "stage" | "section" | "verdict", Record<string, number>>;
}

// -- one record ---------------------------------------------------------------------------------

/** Text with structure: strings, and elements as [tag, attributes, children]. Only these tags are ever made. */
export type Prose = (string | [string, Record<string, string>, Prose])[];

export interface Field {
  name: string;
  value: string;
  /** How to show it: `ref` leads to a record, `path` is a file, `commit` is a commit. */
  as: "text" | "time" | "ref" | "path" | "commit" | "code" | "number";
}

export interface CommitView {
  id: string;
  short: string;
  date: string;
  author: string;
  subject: string;
}

export interface AnchorView {
  anchor: string;
  verdict: VerdictState;
  because: string;
  /** How many commits changed it, and which most; empty where that says no more than `because`. */
  explained: string;
  files: string[];
  files_count: number;
  dirty: string[];
  commit: CommitView | null;
  to: string[];
}

export interface VerdictView {
  verdict: VerdictState;
  because: string;
  /** The commit that was current when someone last looked. */
  since: CommitView | null;
  anchors: AnchorView[];
}

export interface RelationView {
  ref: string;
  predicate: string;
  direction: "out" | "in";
  /** Such as "depends on" or "is depended on by". */
  says: string;
  status: string;
  confidence: string | null;
  /** The record at the other end; null where there is none of that name. */
  other: Item | null;
  other_ref: string;
}

export interface RecordEvidence {
  kind: string;
  label: string;
  /** A record, a file or a commit that it leads to; empty where it leads nowhere. */
  ref: string;
  path: string;
  commit: string;
}

export interface RecordDetail {
  item: Item;
  /** The file that holds it, from the project's root. */
  path: string;
  body: string;
  prose: Prose;
  verdict: VerdictView | null;
  anchors: string[];
  relations: RelationView[];
  evidence: RecordEvidence[];
  /** Who said it, when, from what. */
  provenance: Field[];
  /** What else its layer keeps of it. */
  fields: Field[];
  /** What branches disagree on: a field with all its values, such as `stage: paused | building`. */
  /** What branches disagree on: of each field the value that is used, then the others. */
  contested: { field: string; values: string[] }[];
  superseded_by: Item | null;
  /** What may be done with it: confirm, stale, supersede, edit, stage. Empty where nothing may. */
  may: string[];
  /** What is stored now, in short: an edit says which text it was made of. */
  revision: string;
}

export interface HistoryEntry {
  at: string;
  /** commit: git; event: the log of the memory. */
  how: "commit" | "event" | "uncommitted";
  title: string;
  by: string;
  commit: CommitView | null;
  /** What changed, in words: "stage: idea → building". */
  changes: string[];
}

export interface RecordHistory {
  ref: string;
  entries: HistoryEntry[];
  /** Whether older ones were left out. */
  cut: boolean;
}

export interface DiffFile {
  path: string;
  /** Before, where it was called otherwise; else empty. */
  old_path: string;
  binary: boolean;
  hunks: { header: string; lines: [" " | "+" | "-", string][] }[];
  cut: boolean;
}

export interface Diff {
  title: string;
  files: DiffFile[];
  /** Whether whole files were left out. */
  cut: boolean;
}

// -- graph --------------------------------------------------------------------------------------

/** Columns, so that thousands of nodes stay small. Numbers point into `words`. */
export interface GraphData {
  words: Record<"layer" | "kind" | "status" | "stage" | "verdict" | "folder" | "predicate", string[]>;
  refs: string[];
  titles: string[];
  layer: number[];
  kind: number[];
  status: number[];
  /** -1 where there is none. */
  stage: number[];
  verdict: number[];
  folder: number[];
  live: (0 | 1)[];
  edges: { source: number[]; target: number[]; predicate: number[]; live: (0 | 1)[] };
  /** How many records there are; more than are given, where `cut`. */
  total: number;
  cut: boolean;
}

// -- search -------------------------------------------------------------------------------------

export interface SearchHit extends Item {
  /** Whether it clearly answers, or only may. */
  tier: "answer" | "possible";
  score: number;
  why: string;
  anchors: string[];
  files: string[];
  explain: Record<string, number>;
}

export interface SearchAnswer {
  question: string;
  results: SearchHit[];
  connected: { ref: string; title: string; relation: string; score: number }[];
  withheld: { ref: string; title: string; reason: string }[];
  /** What an agent would have been told, and what it costs. */
  markdown: string;
  tokens: number;
  truncated: boolean;
  milliseconds: number;
  /** Whether the page searched by itself: words only, no engine. */
  words_only: boolean;
}

// -- timeline -----------------------------------------------------------------------------------

export type Lane = "session" | "decision" | "record" | "commit";

export interface Mark {
  at: string;
  lane: Lane;
  layer: Layer | "";
  kind: string;
  /** The record, where there is one; empty for a commit. */
  ref: string;
  title: string;
  commit: string;
}

export interface Timeline {
  from: string;
  to: string;
  lanes: { lane: Lane; total: number }[];
  /** The newest of each lane, the oldest first. */
  marks: Mark[];
  cut: boolean;
  /** Everything, counted by day (in UTC), the oldest first; days without anything are left out. */
  days: { day: string; counts: Partial<Record<Lane, number>> }[];
}

// -- health -------------------------------------------------------------------------------------

export interface AnchorHealth {
  now: Partial<Record<VerdictState, number>>;
  /** Of the nodes that are live now: how many were there at that time, and how many of them had drifted. */
  series: { at: string; fresh: number; drifted: number }[];
  /** Those that drifted first, and nobody looked at since. */
  oldest: { item: Item; at: string; commit: string }[];
}

/** One thing that a change means for the records. */
export interface Finding {
  code: string;
  level: "block" | "warn" | "note";
  message: string;
  ref: string;
  title: string;
  details: string[];
  path: string;
  line: number;
  owners: string[];
  /** Why a commit lets it pass. */
  waived: string;
}

export interface ReviewedBranch {
  change: string;
  outcome: "passed" | "blocked" | "not checked";
  /** Why nothing can be said of the branch. */
  reason: string;
  files: number;
  records: number;
  findings: Finding[];
  more: number;
  titles: Record<string, string>;
}

export interface CoverNode {
  name: string;
  path: string;
  files: number;
  covered: number;
  bytes: number;
  /** The worst verdict of what covers it; empty where nothing does. */
  verdict: VerdictState | "";
  /** Features that cover it, at most a few. */
  refs: string[];
  children: CoverNode[];
}

export interface CoverageHealth {
  root: CoverNode;
  files: number;
  covered: number;
  cut: boolean;
  /** What the features are called that nodes name. */
  titles: Record<string, string>;
}

export interface ReceiptHealth {
  answers: number;
  tokens: number;
  days: { day: string; answers: number; tokens: number; included: number; trimmed: number; withheld: number }[];
  by_client: Record<string, { answers: number; tokens: number }>;
  by_event: Record<string, { answers: number; tokens: number }>;
  most_told: { ref: string; title: string; times: number; tokens: number }[];
  recent: {
    at: string;
    client: string;
    event: string;
    session: string;
    considered: number;
    included: number;
    trimmed: number;
    withheld: number;
    tokens: number;
    budget: number;
    milliseconds: number;
    note: string;
  }[];
}

export interface LayerFiles {
  layer: Layer;
  folder: string;
  present: boolean;
  records: number;
  files: number;
  bytes: number;
  /** Whether git keeps it; null where there is no git. */
  tracked: boolean | null;
  /** Files of it that differ from the last commit. */
  changed: number;
  newest: string;
  problems: Problem[];
}

export interface FileHealth {
  layers: LayerFiles[];
  index: { path: string; bytes: number };
}

// -- acting -------------------------------------------------------------------------------------

export type Act =
  | { action: "confirm"; ref: string; reason?: string }
  | { action: "stale"; ref: string; reason: string }
  | { action: "supersede"; ref: string; by?: string; title?: string; body?: string; reason?: string }
  | { action: "edit"; ref: string; revision: string; title?: string; body?: string; stage?: Stage }
  | { action: "accept"; id: string }
  | { action: "reject"; id: string; reason?: string };

export interface Done {
  /** What undo takes; empty where it cannot be undone. */
  undo: string;
  action: string;
  ref: string;
  title: string;
  /** A sentence: "Marked stale: Retry queue". */
  message: string;
  at: string;
  warnings: Problem[];
}

export interface DoneList {
  actions: Done[];
}

/** What is sent when something on disk changed. */
export interface Pulse {
  project: string;
  version: string;
}

export interface ErrorAnswer {
  code: string;
  message: string;
  hint: string | null;
  details?: Record<string, unknown> | null;
}
