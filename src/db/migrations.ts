/**
 * The steps from one released schema to the next, oldest first. A new one is added here together
 * with the same change in schema.sql: a blank database and a migrated one must end identical.
 */

export interface Migration {
  /** The schema version that this step produces; versions rise by one. */
  version: number
  /** SQL, run in one transaction with the change of the version. */
  sql: string
}

/** The version of schema.sql. */
export const SCHEMA_VERSION = 3

const MAIL_MARKS = `
  CREATE TABLE mail_marks (
    agent_id BIGINT NOT NULL REFERENCES agents (id),
    message_id BIGINT NOT NULL REFERENCES messages (id),
    PRIMARY KEY (agent_id, message_id)
  );
`

/** The table of activity becomes the one of events; who reads on from an id has none of these yet. */
const EVENTS = `
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
  CREATE INDEX events_activity ON events (project_id, id)
    WHERE kind IN ('message.sent', 'message.acknowledged', 'reservation.granted', 'reservation.renewed', 'reservation.released');
  CREATE INDEX events_refused ON events (agent_id, created_at_ms)
    WHERE kind IN ('reservation.refused', 'edit.blocked');
  CREATE INDEX events_refused_lately ON events (created_at_ms)
    WHERE kind IN ('reservation.refused', 'edit.blocked');

  CREATE TABLE event_horizon (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    told_after BIGINT NOT NULL
  );
  INSERT INTO event_horizon (id, told_after) VALUES (1, 0);

  INSERT INTO events (id, kind, project_id, repository_id, agent_id, subject_id, data, created_at_ms)
  SELECT x.id,
    CASE x.kind WHEN 'message_sent' THEN 'message.sent' WHEN 'message_acknowledged' THEN 'message.acknowledged'
      WHEN 'files_reserved' THEN 'reservation.granted' ELSE 'reservation.released' END,
    x.project_id, r.repository_id, x.agent_id, coalesce(x.message_id, x.reservation_id), '{}', x.created_at_ms
  FROM activity x LEFT JOIN reservations r ON r.id = x.reservation_id;
  UPDATE event_horizon SET told_after = (SELECT coalesce(max(id), 0) FROM events);
  DROP TABLE activity;
`

/** Where events are sent to. */
const WEBHOOKS = `
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
`

const TURN_PUSHES = `
  CREATE TABLE turn_pushes (
    session TEXT PRIMARY KEY,
    pushes BIGINT NOT NULL,
    prompted_at_ms BIGINT NOT NULL,
    mentioned_to BIGINT NOT NULL
  );
`

/** Who waits for files. */
const WAITS = `
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
`

/** What sessions of the older protocol over HTTP follow. */
const SUBSCRIPTIONS = `
  CREATE TABLE mcp_subscriptions (
    key_id BIGINT NOT NULL REFERENCES api_keys (id),
    session TEXT NOT NULL,
    uri TEXT NOT NULL,
    state TEXT NOT NULL,
    seen_at_ms BIGINT NOT NULL,
    PRIMARY KEY (key_id, session, uri)
  );
  CREATE INDEX mcp_subscriptions_by_age ON mcp_subscriptions (seen_at_ms);
`

export const MIGRATIONS: readonly Migration[] = [
  { version: 2, sql: "ALTER TABLE agents ADD COLUMN work_tree TEXT;" },
  {
    version: 3,
    sql: `ALTER TABLE agents ADD COLUMN gone_at_ms BIGINT;${EVENTS}${WEBHOOKS}${TURN_PUSHES}${MAIL_MARKS}${WAITS}${SUBSCRIPTIONS}`,
  },
]
