/**
 * Every maximum, default and rate of the product. Nothing here decides anything: the laws and the
 * schemas read these figures, so that a text that names a limit and the code that enforces it
 * cannot disagree.
 */

export const PROJECT_KEY_CHARS_MAX = 200
export const KEY_NAME_CHARS_MAX = 100
export const PROGRAM_CHARS_MAX = 100
export const MODEL_CHARS_MAX = 100
export const TASK_DESCRIPTION_CHARS_MAX = 2_000
export const REASON_CHARS_MAX = 1_000
export const NAME_HINT_CHARS_MIN = 2
export const NAME_HINT_CHARS_MAX = 40
/** Long enough for any generated name that starts with the longest hint. */
export const AGENT_NAME_CHARS_MAX = 80

export const SUBJECT_CHARS_MAX = 200
export const BODY_CHARS_MAX = 20_000
export const RECIPIENTS_MAX = 50
export const ATTACHMENTS_MAX = 20
export const ATTACHMENTS_JSON_BYTES_MAX = 16 * 1024
export const THREAD_ID_CHARS_MAX = 128
export const THREAD_IDS_MAX = 20

export const PATTERN_CHARS_MAX = 512
export const BRACE_EXPANSIONS_MAX = 1_000
/** All expansions of a pattern together; a position is a step of the automaton, about a character. */
export const PATTERN_POSITIONS_MAX = 20_000
/**
 * What the patterns that are open in one repository may cost together: a pattern costs a base, its characters, and
 * more for bracket groups, for each of its brace expansions; plain paths cost nothing. Every edit is compared with all of
 * them. A session may hold at most a share of what the others leave, so that nobody uses it up at once.
 */
export const REPOSITORY_PATTERN_COST_MAX = 200_000
export const SESSION_PATTERN_SHARE = 1 / 8
export const PATTERN_COST_BASE = 50
export const BRACKET_GROUP_COST = 20
/** Classes such as `[:alpha:]` have hundreds of ranges. */
export const NAMED_CLASS_COST = 200
/** What a list of patterns in the hook's settings may cost: a repository brings its own. */
export const SETTINGS_PATTERN_COST_MAX = 200_000
/** Steps of comparing what one call asks for with all that is open, some 50 ms; a plain path needs no limit. */
export const COMPARISON_STEPS_MAX = 2_000_000
/** The same for naming who shares what a call was granted, which decides nothing. */
export const SHARERS_STEPS_MAX = 200_000
/** Open reservations that one pattern is compared with. */
export const COMPARED_RESERVATIONS_MAX = 20_000
/** Conflicts of one request that are looked for; that there are more is all that is said of the rest. */
export const CONFLICTS_FOUND_MAX = 100
export const RESERVATION_SECONDS_DEFAULT = 3_600
export const RESERVATION_SECONDS_MAX = 28_800
export const CLAIM_CYCLE_SECONDS_DEFAULT = 1_800
/** What is granted to whoever waited for it lapses after so long, unless it is used. */
export const WAIT_GRANT_MS = 60_000
/** Who may wait for files at a time: all of them are looked at when one that somebody waits for is released. */
export const WAITS_MAX = 200
export const FILE_PATHS_MAX = 100
export const RESERVATION_IDS_MAX = 1_000

export const INBOX_LIMIT_DEFAULT = 20
export const INBOX_LIMIT_MAX = 100
/** What a call that waits for mail shows: the first message's text, and how many others on a line each. */
export const AWAITED_BODY_CHARS_MAX = 4_000
export const AWAITED_MORE_MAX = 20
export const THREAD_MESSAGES_LIMIT_DEFAULT = 50
export const THREAD_MESSAGES_LIMIT_MAX = 200
export const SEARCH_LIMIT_DEFAULT = 20
export const SEARCH_LIMIT_MAX = 100
export const QUERY_CHARS_MAX = 2_000
/** A summary reads the latest messages of a thread, at most this many. */
export const SUMMARY_MESSAGES_MAX = 500
/** Of longer mails it reads the opening, so that all take a moment: about the characters of all together. */
export const SUMMARY_WORK_MAX = 300_000
/** Listings of agents, reservations and contacts show at most this many rows. */
export const LISTING_ROWS_MAX = 1_000
export const COMPLETIONS_MAX = 100
/** Project keys that are looked at to find those that a key permits. */
export const COMPLETION_CANDIDATES_MAX = 10_000

/** Of what is longer the rest is counted, not shown: conflicts in the answer of a tool, then of a command. */
export const CONFLICTS_SHOWN_MAX = 20
export const COMMAND_CONFLICTS_SHOWN_MAX = 10
export const NAMES_SHOWN_MAX = 50
export const ACTION_ITEMS_SHOWN_MAX = 30
/** Of the faults of one input. */
export const ISSUES_SHOWN_MAX = 10
/** Of the requests for overrides, the latest. */
export const OVERRIDES_SHOWN_MAX = 100
/** Of the messages around the one that is read at the command line. */
export const THREAD_NEIGHBOURS_SHOWN_MAX = 6
/** Of a message that was found, and of a message's attachments as JSON. */
/** Of what a search found beyond what it shows; a common word is in very many messages. */
export const FOUND_COUNTED_MAX = 1_000
export const MESSAGE_EXCERPT_CHARS_MAX = 120
export const LATER_EXCERPT_CHARS_MAX = 50
/** Of a message that waits when a session starts. */
export const FIRST_LINE_CHARS_MAX = 120
/** Who else is at work, what each holds, and which other projects there are, when a session starts. */
export const AT_WORK_SHOWN_MAX = 10
export const PATTERNS_HELD_SHOWN_MAX = 5
export const OTHER_PROJECTS_SHOWN_MAX = 5
export const ATTACHMENTS_SHOWN_CHARS_MAX = 2_000
/** Of what one answer of the hook tells; clients may print it twice. */
export const HOOK_CONFLICTS_SHOWN_MAX = 3
export const HOOK_RESERVATIONS_SHOWN_MAX = 8
export const HOOK_MESSAGES_TOLD_MAX = 20
/** How often an agent is kept from stopping between two prompts of its user, and what it is handed each time. */
export const TURN_PUSHES_MAX = 2
export const PUSHED_MESSAGES_MAX = 3
export const PUSHED_BODY_CHARS_MAX = 1_000

/** Memories. */
export const MEMORY_CONTENT_CHARS_MAX = 32_768
export const MEMORY_TAGS_MAX = 32
export const MEMORY_TAG_CHARS_MAX = 64
export const MEMORY_SOURCE_CHARS_MAX = 512
export const MEMORY_METADATA_JSON_BYTES_MAX = 16 * 1024
export const MEMORY_QUERY_CHARS_MAX = 2_000
export const MEMORY_SEARCH_LIMIT_DEFAULT = 10
export const MEMORY_SEARCH_LIMIT_MAX = 100
export const MEMORY_HOPS_DEFAULT = 3
export const MEMORY_HOPS_MAX = 5
export const MEMORY_PAGE_DEFAULT = 20
export const MEMORY_PAGE_MAX = 100
export const WAYPOINTS_LIMIT_DEFAULT = 20
export const WAYPOINTS_LIMIT_MAX = 100
export const WAYPOINT_WEIGHT_DEFAULT = 0.75
export const PRUNE_THRESHOLD_DEFAULT = 0.1
/** A memory is hot from this salience on. */
export const HOT_SALIENCE_MIN = 0.7
/** A memory is linked to this many of its nearest, all of them above this similarity. */
export const WAYPOINTS_PER_MEMORY = 8
export const WAYPOINT_WEIGHT_MIN = 0.5
/** A memory that shares no word with a query is a match above this similarity only. */
export const MATCH_SIMILARITY_MIN = 0.5
export const STABILITY_MAX = 8
/** Days until a salience has halved. Config: `memory.halfLifeDays` in the user's config file. */
export const HALF_LIFE_DAYS_DEFAULT = {
  episodic: 45,
  semantic: 140,
  procedural: 90,
  emotional: 60,
  reflective: 700,
}
export const HALF_LIFE_DAYS_MAX = 100_000
/** Days that events are kept. Config: `events.keepDays` in the user's config file. */
export const EVENT_KEEP_DAYS_DEFAULT = 30
export const EVENT_KEEP_DAYS_MAX = 3_650
/** Ids of memories may be shortened to a beginning that no other has, at the least this long; for people at a terminal. */
export const MEMORY_ID_CHARS_MIN = 8
export const MEMORY_TYPED_ID_CHARS_MIN = 4
/** Of a line of exported memories; the longest memory fits, whatever is escaped. */
export const MEMORY_LINE_BYTES_MAX = 1024 * 1024
/** Deeper JSON would overflow the stack of a function that walks it. */
export const JSON_DEPTH_MAX = 100
/** Of one content among many, as an excerpt and where whole ones are wanted: a longer one would hide all after it. */
export const MEMORY_EXCERPT_CHARS_MAX = 400
export const MEMORY_SHOWN_CHARS_MAX = 10_000
/** Of a value as JSON: the largest metadata fits, unless it needs many escapes. */
export const MEMORY_JSON_SHOWN_CHARS_MAX = 18_000
export const ALIKE_MEMORIES_SHOWN_MAX = 3
/** Where the typed beginning of an id fits several. */
export const MEMORY_IDS_SHOWN_MAX = 5
/** Broken rules of one imported line, notes of each kind in a report, and those that the command prints. */
export const IMPORT_RULES_SHOWN_MAX = 3
export const IMPORT_NOTES_KEPT_MAX = 100
export const IMPORT_LINES_SHOWN_MAX = 20
/** Tokens of a text that one vector stands for. */
export const EMBEDDING_WINDOW_PIECES_MAX = 256

/** Documentation. A file that is larger, takes more work to read or gives more chunks is left out and reported. */
export const DOCUMENT_BYTES_MAX = 16_000_000
export const DOCUMENT_READ_MS_MAX = 10_000
/** How long one is waited for on a machine that does much else. */
export const DOCUMENT_READ_WAIT_MS_MAX = 120_000
export const DOCUMENT_CHUNKS_MAX = 10_000
/** What is larger is read by a process of its own, with so much memory; smaller ones take less than a second. */
export const DOCUMENT_READ_HERE_BYTES_MAX = 64 * 1024
export const DOCUMENT_READ_MEMORY_MB_MAX = 256
/** Of the process that goes through branches and stores what was read. */
export const INDEXING_MEMORY_MB_MAX = 512
/** How long that process is kept after its last work, and then how long it may take to end. */
export const INDEXING_IDLE_MS_MAX = 30_000
export const INDEXING_STOP_MS_MAX = 1_000
/** Files of a branch of any kind, those that are documentation, and their chunks; a branch with more is not read. */
export const BRANCH_ENTRIES_MAX = 2_000_000
export const BRANCH_DOCUMENTS_MAX = 50_000
export const BRANCH_CHUNKS_MAX = 1_000_000
/** What a folder without git holds at most, since it is looked through for every search. */
export const FOLDER_ENTRIES_MAX = 200_000
/** Commits that are gone through for the times of last changes; files of older ones have that of the indexing. */
export const HISTORY_COMMITS_MAX = 500_000
/** Vendored and generated folders, where no documentation is looked for. Config: `documentation.ignore`. */
export const IGNORED_DOCUMENTS_DEFAULT: readonly string[] = [
  "node_modules",
  "bower_components",
  "vendor",
  "third_party",
  "site-packages",
  ".git",
  ".tox",
  ".venv",
  "venv",
  "__pycache__",
  ".cache",
  ".next",
  ".nuxt",
  "dist",
  "build",
  "out",
  "target",
  "coverage",
  "_build",
].map((folder) => `**/${folder}/**`)
export const DOCUMENTATION_QUERY_CHARS_MAX = 500
export const DOCUMENTATION_LIMIT_DEFAULT = 10
export const DOCUMENTATION_LIMIT_MAX = 20
/** Agents pay for every result that they read, so a tool shows fewer than the API. */
export const DOCUMENTATION_TOOL_LIMIT_DEFAULT = 5
/** Names of repositories and branches: file systems and code hosts know no longer ones. */
export const REPOSITORY_NAME_CHARS_MAX = 255
export const BRANCHES_MAX = 50
/** No longer path can be opened. */
export const PATH_CHARS_MAX = 4_096
/** Of the text of one result, and of the results from one file. */
export const PASSAGE_CHARS_MAX = 2_000
export const PASSAGES_PER_FILE_MAX = 3
/** Of headings, and of a reason that came from elsewhere: longer ones would hide what matters. */
export const BREADCRUMB_CHARS_MAX = 300
export const DOCUMENTATION_REASON_CHARS_MAX = 300
export const COMMAND_PROBLEM_CHARS_MAX = 80
/** Notes of one answer, files of a branch that were left out, and names of repositories or branches. */
export const DOCUMENTATION_NOTES_SHOWN_MAX = 10
export const PROBLEMS_SHOWN_MAX = 10
export const DOCUMENTATION_NAMES_SHOWN_MAX = 30
/** Of a commit's hash. */
export const COMMIT_SHOWN_CHARS = 12
/** How long a search works on bringing its branch up to date before it answers with what is there. */
export const REFRESH_MS_MAX = 1_500

/** How long connecting a repository waits for its first indexing. */
export const FIRST_INDEXING_TIMEOUT_MS = 5_000
/** Rows that are removed in one transaction, a few milliseconds: others want to write, too. */
export const REMOVED_ROWS_AT_ONCE = 1_000
/** How long disconnecting a repository waits for a process that indexes it. */
export const DISCONNECT_TIMEOUT_MS = 5_000
/** How long a search waits for a model that is being loaded; then it goes by the words alone. */
export const QUERY_MODEL_TIMEOUT_MS = 5_000
/** How long `signalbox docs` waits for vectors: texts are found by their words without them. */
export const DOCS_VECTORS_TIMEOUT_MS = 10_000
/** Another process that makes no progress for so long is not waited for any more. */
export const STALLED_TIMEOUT_MS = 20_000

/** Markdown of one tool result; clients cut or spill what is longer. */
export const RESULT_CHARS_MAX = 25_000

export const AGENT_ACTIVE_WINDOW_MS = 30 * 60_000
/** What a session that has died still holds is kept for so long. */
export const DEAD_SESSION_GRACE_MS = 10 * 60_000
export const THREAD_ACTIVE_WINDOW_MS = 7 * 24 * 3_600_000
/** After a denial an agent may ask again, and again after so long each time. */
export const CONTACT_REQUEST_AGAIN_AFTER_MS = 3_600_000
export const ACK_OVERDUE_AFTER_MS = 24 * 3_600_000

/**
 * Rates of the coordination tools, then of the two HTTP APIs per plan; 0 switches one off, and a burst of
 * 0 makes the figure per minute the most at once. Config: `limits` in the user's config file.
 */
export const RATES_DEFAULT = {
  tool_calls_per_minute: 60,
  resource_reads_per_minute: 120,
  searches_per_minute: 30,
  sends_per_hour: 100,
  reservations_per_minute: 600,
  memory_starter_per_minute: 60,
  memory_pro_per_minute: 300,
  memory_enterprise_per_minute: 1_000,
  documentation_starter_per_minute: 60,
  documentation_starter_per_hour: 1_000,
  documentation_starter_per_day: 10_000,
  documentation_starter_burst: 100,
  documentation_pro_per_minute: 120,
  documentation_pro_per_hour: 5_000,
  documentation_pro_per_day: 50_000,
  documentation_pro_burst: 200,
  documentation_enterprise_per_minute: 300,
  documentation_enterprise_per_hour: 15_000,
  documentation_enterprise_per_day: 0,
  documentation_enterprise_burst: 500,
}
export type Rates = typeof RATES_DEFAULT

/** How long a writer waits for other writers before it gives up, far beyond any honest wait. */
export const DATABASE_WAIT_MS_MAX = 60_000
/** Daily backups beside the database, and how old the newest has to be for the next one. */
export const DAILY_BACKUPS_KEPT = 3
export const DAILY_BACKUP_AFTER_MS = 24 * 3_600_000
/** How long a listener leaves it alone after a backup that failed. */
export const DAILY_BACKUP_RETRY_MS = 3_600_000
/** What a backup leaves free on the disk, for those who write meanwhile. */
export const DISK_RESERVE_BYTES = 100_000_000
/** What is deleted leaves room in the file; from so much on it is given back to the disk, a little at a time. */
export const RECLAIMED_BYTES_MIN = 4_000_000
/** How long a step of that may keep others from writing: about this, and never more pages than these. */
export const RECLAIM_STEP_MS = 6
export const RECLAIM_STEP_PAGES_MAX = 512
/** How long nobody may have written before it begins. */
export const IDLE_MS_MIN = 5_000
/** How long a copy waits for a process that is just recovering or closing the database file. */
export const BACKUP_BUSY_TIMEOUT_MS = 5_000
/** How long a server that lost its client goes on answering what it had accepted. */
export const DRAIN_MS_MAX = 1_500

/** The port that the HTTP listener asks for first, and how many after it when strangers have it. */
export const LISTENER_PORT_DEFAULT = 4_747
export const LISTENER_PORTS_TRIED = 20
export const PORT_MAX = 65_535
/** A body of a request over HTTP; the hook's holds whole files. */
export const BODY_BYTES_MAX = 1024 * 1024
export const HOOK_BODY_BYTES_MAX = 16 * 1024 * 1024
/** Of a config file of the user or of a project. */
export const CONFIG_BYTES_MAX = 64 * 1024
/** Of the hook's payload. A session's id that is longer is none: cut short, two sessions could become one. */
export const HOOK_SESSION_CHARS_MAX = 200
export const HOOK_EVENT_NAME_CHARS_MAX = 200
/** Files of one edit: all of them are reserved at once, while no other process can write. */
export const HOOK_PATHS_MAX = 5_000
export const HOOK_RESERVATION_SECONDS_DEFAULT = 7_200
/** How long a client of the listener may take for the headers and for a whole request. */
export const REQUEST_HEADERS_MS_MAX = 5_000
export const REQUEST_MS_MAX = 10_000
/** How long a connection without a request is kept. */
export const CONNECTION_IDLE_MS_MAX = 5_000
/** How long a connection may stand still in the middle of an answer, and how many there may be. */
export const CONNECTION_STALLED_MS_MAX = 30_000
export const CONNECTIONS_MAX = 256
/** How long a listener that ends goes on answering what it had accepted. */
export const LISTENER_DRAIN_MS_MAX = 1_000
/** How long a command waits for the listener before it looks for itself. */
export const LISTENER_ANSWER_TIMEOUT_MS = 1_000
/** How long `signalbox doctor` waits for the database, the listener and the hook. */
export const DOCTOR_DATABASE_TIMEOUT_MS = 2_000
export const DOCTOR_LISTENER_TIMEOUT_MS = 2_000
export const DOCTOR_HOOK_TIMEOUT_MS = 5_000
