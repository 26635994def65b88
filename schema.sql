-- The relational schema, in the subset of SQL that SQLite and PostgreSQL share: times are
-- milliseconds since 1970 in BIGINT columns named *_ms, booleans are INTEGER 0 or 1, lists and
-- objects are JSON in TEXT. Only the definition of the integer keys differs per engine.
-- Full-text indexes live in src/search/, the one part written per engine.

-- A repository that was connected: a git work tree with all its worktrees, or a plain folder.
-- identity_path tells two apart: the git common directory, or the folder itself. One that is disconnected keeps its
-- row, with another name, because its id stands in the scopes of keys and is never given to another.
CREATE TABLE repositories (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  root_path TEXT NOT NULL,
  identity_path TEXT NOT NULL UNIQUE,
  default_branch TEXT,
  ignore_case INTEGER NOT NULL CHECK (ignore_case IN (0, 1)),
  is_connected INTEGER NOT NULL CHECK (is_connected IN (0, 1)),
  created_at_ms BIGINT NOT NULL
);

-- A coordination project: the room in which agents know each other.
CREATE TABLE projects (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  created_at_ms BIGINT NOT NULL
);

-- The repositories that a project's agents work in; a repository-scoped key reaches a project
-- through this table.
CREATE TABLE project_repositories (
  project_id BIGINT NOT NULL REFERENCES projects (id),
  repository_id BIGINT NOT NULL REFERENCES repositories (id),
  PRIMARY KEY (project_id, repository_id)
);

-- An identity. name_key is the lower-case name: names are unique in a project whatever their case.
-- session is the session that speaks for the agent, live or not. An agent that only the hook has made is
-- unclaimed until the session's own agent registers and takes it over. work_tree is the root of the work tree in
-- which it was last seen at work, where that is known; gone_at_ms when its session ended, null while it is there.
CREATE TABLE agents (
  id INTEGER PRIMARY KEY,
  project_id BIGINT NOT NULL REFERENCES projects (id),
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  program TEXT NOT NULL,
  model TEXT NOT NULL,
  task_description TEXT,
  repository_id BIGINT REFERENCES repositories (id),
  contact_policy TEXT NOT NULL CHECK (contact_policy IN ('open', 'auto', 'contacts_only', 'block_all')),
  session TEXT,
  is_claimed INTEGER NOT NULL CHECK (is_claimed IN (0, 1)),
  last_active_at_ms BIGINT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  work_tree TEXT,
  gone_at_ms BIGINT,
  UNIQUE (project_id, name_key)
);
CREATE INDEX agents_by_session ON agents (session);

-- The server processes that were alive when they were last looked at. identity_mark tells a process
-- from a later one with the same pid. The process that meets a dead one removes it.
CREATE TABLE server_processes (
  id INTEGER PRIMARY KEY,
  pid BIGINT NOT NULL,
  identity_mark TEXT NOT NULL,
  session TEXT NOT NULL,
  started_at_ms BIGINT NOT NULL
);
CREATE INDEX server_processes_by_session ON server_processes (session);

-- What ties sessions together that have different names: the client's process that a server and a hook
-- were both started by, nearest first, or the session that a conversation began as.
CREATE TABLE session_anchors (
  session TEXT NOT NULL,
  anchor TEXT NOT NULL,
  position INTEGER NOT NULL,
  created_at_ms BIGINT NOT NULL,
  PRIMARY KEY (session, anchor)
);
CREATE INDEX session_anchors_by_anchor ON session_anchors (anchor);

-- What the hook has told a session, so that it tells it once; and as agent:<id> the agents that another session has
-- taken up from it, which it gets back when it returns; and as died that it was found dead.
CREATE TABLE session_notices (
  session TEXT NOT NULL,
  notice TEXT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  PRIMARY KEY (session, notice)
);

-- Of each session: how often it was handed mail before its agent stopped since its user's last prompt, when that was,
-- and the newest message that it was told of in passing.
CREATE TABLE turn_pushes (
  session TEXT PRIMARY KEY,
  pushes BIGINT NOT NULL,
  prompted_at_ms BIGINT NOT NULL,
  mentioned_to BIGINT NOT NULL
);

-- Who asked whom for contact, one row a direction; asking again reopens the row.
CREATE TABLE contacts (
  id INTEGER PRIMARY KEY,
  project_id BIGINT NOT NULL REFERENCES projects (id),
  requester_id BIGINT NOT NULL REFERENCES agents (id),
  recipient_id BIGINT NOT NULL REFERENCES agents (id),
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied')),
  reason TEXT NOT NULL,
  response TEXT,
  requested_at_ms BIGINT NOT NULL,
  responded_at_ms BIGINT,
  UNIQUE (requester_id, recipient_id)
);
CREATE INDEX contacts_by_recipient ON contacts (recipient_id);

-- A block stops mail from blocked to blocker, nothing else.
CREATE TABLE blocks (
  blocker_id BIGINT NOT NULL REFERENCES agents (id),
  blocked_id BIGINT NOT NULL REFERENCES agents (id),
  reason TEXT,
  created_at_ms BIGINT NOT NULL,
  PRIMARY KEY (blocker_id, blocked_id)
);

-- A thread; key is the thread id that agents see. The two counters are kept by the one statement
-- that adds a message. A notice holds one notification, which is its recipient's business alone.
CREATE TABLE threads (
  id INTEGER PRIMARY KEY,
  project_id BIGINT NOT NULL REFERENCES projects (id),
  key TEXT NOT NULL,
  subject TEXT NOT NULL,
  is_notice INTEGER NOT NULL CHECK (is_notice IN (0, 1)),
  message_count BIGINT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  last_message_at_ms BIGINT NOT NULL,
  UNIQUE (project_id, key)
);

-- Mail, stored verbatim. Messages are never changed and never deleted.
CREATE TABLE messages (
  id INTEGER PRIMARY KEY,
  project_id BIGINT NOT NULL REFERENCES projects (id),
  thread_id BIGINT NOT NULL REFERENCES threads (id),
  parent_id BIGINT REFERENCES messages (id),
  sender_id BIGINT NOT NULL REFERENCES agents (id),
  subject TEXT NOT NULL,
  body_md TEXT NOT NULL,
  importance TEXT NOT NULL CHECK (importance IN ('normal', 'high', 'urgent')),
  ack_required INTEGER NOT NULL CHECK (ack_required IN (0, 1)),
  attachments TEXT NOT NULL,
  created_at_ms BIGINT NOT NULL
);
CREATE INDEX messages_by_thread ON messages (thread_id, id);
CREATE INDEX messages_by_sender ON messages (sender_id, created_at_ms);

-- Who got a message and what became of it there.
CREATE TABLE message_recipients (
  message_id BIGINT NOT NULL REFERENCES messages (id),
  agent_id BIGINT NOT NULL REFERENCES agents (id),
  kind TEXT NOT NULL CHECK (kind IN ('to', 'cc', 'bcc')),
  read_at_ms BIGINT,
  acked_at_ms BIGINT,
  PRIMARY KEY (message_id, agent_id)
);
-- An inbox is read unread first, then newest first.
CREATE INDEX message_recipients_inbox ON message_recipients (
  agent_id, (CASE WHEN read_at_ms IS NULL THEN 0 ELSE 1 END), message_id DESC
);

-- Unread mail that an agent was told of by a call that waits for mail.
CREATE TABLE mail_marks (
  agent_id BIGINT NOT NULL REFERENCES agents (id),
  message_id BIGINT NOT NULL REFERENCES messages (id),
  PRIMARY KEY (agent_id, message_id)
);

-- File reservations. prefix_key is the pattern's leading literal folders: two patterns can overlap
-- only when one's prefix_key begins with the other's, which makes it the key for finding candidates.
-- A row is open until ended_at_ms is set: released, or found expired.
CREATE TABLE reservations (
  id INTEGER PRIMARY KEY,
  project_id BIGINT NOT NULL REFERENCES projects (id),
  repository_id BIGINT NOT NULL REFERENCES repositories (id),
  agent_id BIGINT NOT NULL REFERENCES agents (id),
  path_pattern TEXT NOT NULL,
  prefix_key TEXT NOT NULL,
  exclusive INTEGER NOT NULL CHECK (exclusive IN (0, 1)),
  reason TEXT,
  created_at_ms BIGINT NOT NULL,
  expires_at_ms BIGINT NOT NULL,
  ended_at_ms BIGINT
);
CREATE INDEX reservations_open ON reservations (repository_id, prefix_key) WHERE ended_at_ms IS NULL;
CREATE INDEX reservations_open_by_agent ON reservations (agent_id) WHERE ended_at_ms IS NULL;
CREATE INDEX reservations_open_by_expiry ON reservations (expires_at_ms) WHERE ended_at_ms IS NULL;
CREATE INDEX reservations_by_project ON reservations (project_id) WHERE ended_at_ms IS NULL;

-- Who waits for files that others hold, the longest first, and the process that waits for it, by pid and identity_mark:
-- once that is gone, or until_at_ms is past, the row counts for nothing. reservation_id is what came of it, which lapses
-- soon unless it is used: then it lasts for duration_seconds.
CREATE TABLE reservation_waits (
  id INTEGER PRIMARY KEY,
  repository_id BIGINT NOT NULL REFERENCES repositories (id),
  agent_id BIGINT NOT NULL REFERENCES agents (id),
  path_pattern TEXT NOT NULL,
  exclusive INTEGER NOT NULL CHECK (exclusive IN (0, 1)),
  duration_seconds INTEGER NOT NULL,
  pid BIGINT NOT NULL,
  identity_mark TEXT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  until_at_ms BIGINT NOT NULL,
  reservation_id BIGINT REFERENCES reservations (id),
  used_at_ms BIGINT
);
CREATE INDEX reservation_waits_by_repository ON reservation_waits (repository_id);

-- What happened, append-only, each row written in the transaction of the change that it tells of; the source of
-- get-latest-updates too. id grows with the order of the commits and is never given twice: the newest row is
-- never deleted. agent_id is who did it, actor names who did when that is no agent. party_id is the agent on
-- the other side: the recipient of a contact request, the holder of what was overridden. subject_id is the id of
-- what the kind is about: a message, a reservation, an override, a contact request, a key, an agent. data is an
-- object of ids, names and figures. What nobody but one may know of is never written here: nothing of bcc.
CREATE TABLE events (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  project_id BIGINT REFERENCES projects (id),
  repository_id BIGINT REFERENCES repositories (id),
  agent_id BIGINT REFERENCES agents (id),
  actor TEXT,
  party_id BIGINT REFERENCES agents (id),
  subject_id BIGINT,
  data TEXT NOT NULL,
  created_at_ms BIGINT NOT NULL
);
-- What get-latest-updates tells of.
CREATE INDEX events_activity ON events (project_id, id)
  WHERE kind IN ('message.sent', 'message.acknowledged', 'reservation.granted', 'reservation.renewed', 'reservation.released');
-- Whether the same was told a moment ago.
CREATE INDEX events_refused ON events (agent_id, created_at_ms)
  WHERE kind IN ('reservation.refused', 'edit.blocked');
-- What was refused anybody lately.
CREATE INDEX events_refused_lately ON events (created_at_ms)
  WHERE kind IN ('reservation.refused', 'edit.blocked');

-- Up to which id what happened is no longer there, or stems from before a restore; who asks for what came after an
-- earlier id is told so.
CREATE TABLE event_horizon (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  told_after BIGINT NOT NULL
);
INSERT INTO event_horizon (id, told_after) VALUES (1, 0);

-- Where events are sent to, by whatever process listens, in their order. url and secret are kept as they are: who may
-- read this file may read them. kinds is a list of names and beginnings of kinds, as JSON, empty for all. cursor_id is
-- the event up to which all is done. failures counts tries in a row; pause_reason is null where a person paused it.
CREATE TABLE webhooks (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  secret TEXT NOT NULL,
  kinds TEXT NOT NULL,
  format TEXT NOT NULL CHECK (format IN ('json', 'slack', 'discord', 'ntfy')),
  includes_content INTEGER NOT NULL CHECK (includes_content IN (0, 1)),
  allows_private INTEGER NOT NULL CHECK (allows_private IN (0, 1)),
  cursor_id BIGINT NOT NULL,
  is_paused INTEGER NOT NULL CHECK (is_paused IN (0, 1)),
  pause_reason TEXT,
  failures INTEGER NOT NULL,
  next_attempt_at_ms BIGINT NOT NULL,
  last_error TEXT,
  last_delivered_at_ms BIGINT,
  created_at_ms BIGINT NOT NULL
);

-- Requests to take a path away from whoever holds it.
CREATE TABLE overrides (
  id INTEGER PRIMARY KEY,
  project_id BIGINT NOT NULL REFERENCES projects (id),
  repository_id BIGINT NOT NULL REFERENCES repositories (id),
  requester_id BIGINT NOT NULL REFERENCES agents (id),
  path TEXT NOT NULL,
  reason TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied')),
  requested_at_ms BIGINT NOT NULL,
  decided_at_ms BIGINT
);

-- Every request, decision and effect of an override, append-only. actor is an agent's name or who decided.
CREATE TABLE audit_log (
  id INTEGER PRIMARY KEY,
  override_id BIGINT NOT NULL REFERENCES overrides (id),
  kind TEXT NOT NULL CHECK (kind IN ('requested', 'approved', 'denied', 'released')),
  actor TEXT NOT NULL,
  reservation_id BIGINT REFERENCES reservations (id),
  created_at_ms BIGINT NOT NULL
);
CREATE INDEX audit_log_by_override ON audit_log (override_id);

-- A model that turns texts into vectors. Vectors of different models are never compared: search uses those
-- of the active one, while those of the one that is being built are made beside them. midpoint and slope
-- map its cosines to similarities.
CREATE TABLE embedding_models (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  source TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  midpoint DOUBLE PRECISION NOT NULL,
  slope DOUBLE PRECISION NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('active', 'building', 'retired')),
  created_at_ms BIGINT NOT NULL
);

-- The last number that a memory, an embedding or a state of documentation got: numbers grow with time and are never
-- given twice.
CREATE TABLE memory_numbers (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  last_number BIGINT NOT NULL
);
INSERT INTO memory_numbers (id, last_number) VALUES (1, 0);

-- Memories, stored verbatim; the repository is the tenant. The three salience columns say what the salience
-- was at its anchor and how fast it fades; fading itself is computed when it is read. content_version grows
-- with every change of the content, so that a vector of an older one is never stored. stored_bytes is what
-- the memory takes up in rows and indexes, word_count the words in its index entry.
CREATE TABLE memories (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  repository_id BIGINT NOT NULL REFERENCES repositories (id),
  content TEXT NOT NULL,
  content_version BIGINT NOT NULL,
  sector TEXT NOT NULL CHECK (sector IN ('episodic', 'semantic', 'procedural', 'emotional', 'reflective')),
  salience_base DOUBLE PRECISION NOT NULL,
  salience_anchor_ms BIGINT NOT NULL,
  salience_stability DOUBLE PRECISION NOT NULL,
  access_count BIGINT NOT NULL,
  tags TEXT NOT NULL,
  source TEXT,
  metadata TEXT NOT NULL,
  stored_bytes BIGINT NOT NULL,
  word_count BIGINT NOT NULL,
  created_at_ms BIGINT NOT NULL,
  updated_at_ms BIGINT NOT NULL,
  last_accessed_at_ms BIGINT
);
CREATE INDEX memories_newest ON memories (repository_id, created_at_ms, id);
-- Everything that statistics, pruning and filters by salience ask for, without the texts.
CREATE INDEX memories_salience ON memories (
  repository_id, sector, salience_base, salience_anchor_ms, salience_stability, stored_bytes
);

-- How many memories a repository has, and how many words they have together; kept with every write, because
-- every search needs both.
CREATE TABLE memory_totals (
  repository_id BIGINT PRIMARY KEY REFERENCES repositories (id),
  memory_count BIGINT NOT NULL,
  word_count BIGINT NOT NULL
);

-- The tags of memories once more, for finding memories by tag.
CREATE TABLE memory_tags (
  repository_id BIGINT NOT NULL REFERENCES repositories (id),
  tag TEXT NOT NULL,
  memory_id BIGINT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
  PRIMARY KEY (repository_id, tag, memory_id)
);
CREATE INDEX memory_tags_by_memory ON memory_tags (memory_id, tag);

-- What became of embedding a memory with a model. With the active model every memory has a row, with the one
-- that is being built those that are done. A text of which the model knows nothing is completed with no window.
CREATE TABLE memory_embeddings (
  memory_id BIGINT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
  model_id BIGINT NOT NULL REFERENCES embedding_models (id),
  status TEXT NOT NULL CHECK (status IN ('pending', 'completed', 'failed')),
  window_count INTEGER NOT NULL,
  number BIGINT NOT NULL,
  PRIMARY KEY (memory_id, model_id)
);
-- What was embedded since the last look.
CREATE INDEX memory_embeddings_by_number ON memory_embeddings (model_id, number);
CREATE INDEX memory_embeddings_pending ON memory_embeddings (model_id, memory_id) WHERE status = 'pending';
CREATE INDEX memory_embeddings_by_model ON memory_embeddings (model_id, status);

-- How many vectors were made for a repository on each day of UTC, counted in days since 1970.
CREATE TABLE embedding_days (
  repository_id BIGINT NOT NULL REFERENCES repositories (id),
  day BIGINT NOT NULL,
  vector_count BIGINT NOT NULL,
  PRIMARY KEY (repository_id, day)
);

-- Memories that are about the same, by a model's judgement: two rows a pair, one from each end.
CREATE TABLE memory_waypoints (
  from_id BIGINT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
  model_id BIGINT NOT NULL REFERENCES embedding_models (id),
  to_id BIGINT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
  weight DOUBLE PRECISION NOT NULL,
  repository_id BIGINT NOT NULL REFERENCES repositories (id),
  PRIMARY KEY (from_id, model_id, to_id)
);
-- Deleting a memory looks for what leads to it.
CREATE INDEX memory_waypoints_by_end ON memory_waypoints (to_id);
CREATE INDEX memory_waypoints_by_repository ON memory_waypoints (repository_id, model_id);

-- A repository whose documentation is searched. clone_url is where signalbox cloned it from, null for
-- what was there before; last_number is the last number that one of its chunks got: they are never given
-- twice. vectors_version is a new number (memory_numbers) whenever chunks get vectors. work says what is
-- being done with it, as JSON; problem what kept the last look at it from succeeding. is_wanted is 0 when
-- somebody has let it go: nothing of it is then kept.
CREATE TABLE documentation_repositories (
  repository_id BIGINT PRIMARY KEY REFERENCES repositories (id),
  is_wanted INTEGER NOT NULL CHECK (is_wanted IN (0, 1)),
  clone_url TEXT,
  remote_url TEXT,
  last_number BIGINT NOT NULL,
  vectors_version BIGINT NOT NULL,
  work TEXT,
  problem TEXT
);

-- A branch whose documentation is searched: the set of its files in documentation_files, as of commit_hash. While
-- it is read for the first time its files come in one by one and is_complete is 0. version is a new number whenever
-- the set changes. rules names what decided which files count and how they were read.
CREATE TABLE documentation_branches (
  id INTEGER PRIMARY KEY,
  repository_id BIGINT NOT NULL REFERENCES repositories (id),
  name TEXT NOT NULL,
  commit_hash TEXT,
  rules TEXT NOT NULL,
  is_complete INTEGER NOT NULL CHECK (is_complete IN (0, 1)),
  version BIGINT NOT NULL,
  indexed_at_ms BIGINT,
  UNIQUE (repository_id, name)
);

-- The content of a file, read once for all paths and branches that have it; key names the content and how it was
-- read. Its chunks have the numbers from first_number on, and chunk_lengths their lengths in words, as JSON.
-- problem says why there is nothing to search in it. model_id is the model that its chunks have vectors of.
CREATE TABLE documentation_blobs (
  id INTEGER PRIMARY KEY,
  repository_id BIGINT NOT NULL REFERENCES repositories (id),
  key TEXT NOT NULL,
  title TEXT,
  first_number BIGINT NOT NULL,
  chunk_count INTEGER NOT NULL,
  chunk_lengths TEXT NOT NULL,
  problem TEXT,
  model_id BIGINT REFERENCES embedding_models (id),
  UNIQUE (repository_id, key)
);
CREATE INDEX documentation_blobs_by_model ON documentation_blobs (model_id, repository_id) WHERE chunk_count > 0;

-- The files of a branch. changed_at_ms is the time of the last commit that touched it; null while not known.
CREATE TABLE documentation_files (
  branch_id BIGINT NOT NULL REFERENCES documentation_branches (id),
  path TEXT NOT NULL,
  blob_id BIGINT NOT NULL REFERENCES documentation_blobs (id),
  changed_at_ms BIGINT,
  PRIMARY KEY (branch_id, path)
);
CREATE INDEX documentation_files_by_blob ON documentation_files (blob_id);

-- What is found: some lines of a file with the headings above them, as JSON. context is what is searched with
-- them but stands elsewhere; gap counts the line breaks after the chunk before, null where more stands between. Words and vectors lie in the index, by repository and number.
CREATE TABLE documentation_chunks (
  repository_id BIGINT NOT NULL REFERENCES repositories (id),
  number BIGINT NOT NULL,
  blob_id BIGINT NOT NULL REFERENCES documentation_blobs (id),
  line_start BIGINT NOT NULL,
  line_end BIGINT NOT NULL,
  headings TEXT NOT NULL,
  context TEXT NOT NULL,
  content TEXT NOT NULL,
  gap BIGINT,
  PRIMARY KEY (repository_id, number)
);

-- API keys. Only a SHA-256 of a key is stored; the local key's own text stands in a file beside the
-- database that its owner alone may read.
CREATE TABLE api_keys (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  environment TEXT NOT NULL CHECK (environment IN ('live', 'test')),
  hash TEXT NOT NULL UNIQUE,
  last_four TEXT NOT NULL,
  scopes TEXT NOT NULL,
  plan TEXT NOT NULL CHECK (plan IN ('starter', 'pro', 'enterprise')),
  is_local INTEGER NOT NULL CHECK (is_local IN (0, 1)),
  created_at_ms BIGINT NOT NULL,
  expires_at_ms BIGINT,
  revoked_at_ms BIGINT,
  last_used_at_ms BIGINT
);

-- What each key has used of each rate limit in its current window.
CREATE TABLE rate_buckets (
  subject TEXT NOT NULL,
  bucket TEXT NOT NULL,
  window_started_at_ms BIGINT NOT NULL,
  used BIGINT NOT NULL,
  PRIMARY KEY (subject, bucket)
);

-- What a session of the older protocol over HTTP follows, so that it outlives the process that listens. session is
-- the id that the client was given; state names what the resource showed when that was last told; seen_at_ms is when
-- the session last was there: long after it the row goes.
CREATE TABLE mcp_subscriptions (
  key_id BIGINT NOT NULL REFERENCES api_keys (id),
  session TEXT NOT NULL,
  uri TEXT NOT NULL,
  state TEXT NOT NULL,
  seen_at_ms BIGINT NOT NULL,
  PRIMARY KEY (key_id, session, uri)
);
CREATE INDEX mcp_subscriptions_by_age ON mcp_subscriptions (seen_at_ms);
