-- +goose Up

-- Times are microseconds since 1970 in UTC, booleans 0 or 1, ids UUIDv7 as text.
-- docs/states.md draws the two state machines that the constraints below enforce.

CREATE TABLE conversations (
    id             TEXT    NOT NULL PRIMARY KEY,
    tenant_id      TEXT    NOT NULL,
    channel        TEXT    NOT NULL CHECK (channel IN ('whatsapp', 'instagram', 'messenger', 'telegram')),
    subscriber_id  TEXT    NOT NULL CHECK (length(subscriber_id) BETWEEN 1 AND 32),
    last_seq       INTEGER NOT NULL CHECK (last_seq >= 0), -- the order counter of the contact's rows
    last_sent_at   INTEGER,
    paused_until   INTEGER,
    offering       TEXT    NOT NULL DEFAULT '',
    stage          TEXT    NOT NULL DEFAULT ''
        CHECK (stage IN ('', 'new', 'qualifying', 'nurturing', 'offered', 'prepared', 'link_sent')),
    intent         TEXT    NOT NULL DEFAULT '' CHECK (intent IN ('', 'not_prospect', 'prospect')),
    needs_person   INTEGER NOT NULL DEFAULT 0 CHECK (needs_person IN (0, 1)),
    created_at     INTEGER NOT NULL,
    UNIQUE (tenant_id, subscriber_id, channel)
) STRICT;

-- One contact row per message and one agent row per turn; turn_id of both is the agent
-- row's id. text is what the row adds to the history that a model reads: the contact's
-- words, or what the agent said as far as it went out or is still on its way.
CREATE TABLE turns (
    id                TEXT    NOT NULL PRIMARY KEY,
    tenant_id         TEXT    NOT NULL,
    conversation_id   TEXT    NOT NULL REFERENCES conversations (id),
    turn_id           TEXT    NOT NULL REFERENCES turns (id),
    role              TEXT    NOT NULL CHECK (role IN ('contact', 'agent')),
    seq               INTEGER NOT NULL CHECK (seq > 0),
    bound             INTEGER NOT NULL CHECK (bound IN (0, 1)),
    in_history        INTEGER NOT NULL CHECK (in_history IN (0, 1)),
    text              TEXT    NOT NULL,
    received_at       INTEGER NOT NULL,

    state             TEXT CHECK (state IN ('waiting', 'running', 'answering', 'settled', 'merged')),
    owner             TEXT CHECK (owner <> ''),
    attempt           INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
    offering          TEXT NOT NULL DEFAULT '',
    merged_into       TEXT REFERENCES turns (id),
    outcome           TEXT CHECK (outcome IN ('answered', 'answered_scripted', 'escalated', 'escalated_precheck',
        'escalated_error', 'media_fallback', 'paused', 'opted_out', 'merged', 'duplicate', 'nudge_sent', 'nudge_skipped')),
    path              TEXT CHECK (path IN ('inline', 'outbox', 'silent')),
    escalation_reason TEXT CHECK (escalation_reason IN ('price_negotiation', 'complaint', 'out_of_scope',
        'explicit_request', 'low_confidence', 'payment_reported', 'keyword', 'rate_limit', 'turn_cap', 'budget',
        'media', 'overload', 'error')),
    settled_at        INTEGER,
    responded_at      INTEGER,
    replies           TEXT, -- JSON array
    model             TEXT NOT NULL DEFAULT '',
    prompt_version    TEXT NOT NULL DEFAULT '',
    playbook_version  TEXT NOT NULL DEFAULT '',
    tokens_in         INTEGER NOT NULL DEFAULT 0 CHECK (tokens_in >= 0),
    tokens_cached     INTEGER NOT NULL DEFAULT 0 CHECK (tokens_cached >= 0),
    tokens_out        INTEGER NOT NULL DEFAULT 0 CHECK (tokens_out >= 0),
    cost_micros       INTEGER NOT NULL DEFAULT 0 CHECK (cost_micros >= 0),
    timings           TEXT, -- JSON object
    confidence        REAL CHECK (confidence BETWEEN 0 AND 1),
    interventions     TEXT, -- JSON array
    actions           TEXT, -- JSON array; NULL: no tool was offered

    UNIQUE (conversation_id, seq),
    UNIQUE (turn_id, role),
    CONSTRAINT turn_row_kind CHECK ((role = 'agent') = (state IS NOT NULL)),
    CONSTRAINT turn_agent_names_itself CHECK ((role = 'agent') = (turn_id = id)),
    CONSTRAINT turn_history CHECK (in_history = 0 OR (bound = 1 AND text <> '')),
    CONSTRAINT turn_open CHECK (coalesce(state, '') NOT IN ('waiting', 'running')
        OR (outcome IS NULL AND path IS NULL AND settled_at IS NULL)),
    CONSTRAINT turn_running_started CHECK (coalesce(state, '') <> 'running' OR attempt >= 1),
    CONSTRAINT turn_answering_inline CHECK (coalesce(state, '') <> 'answering'
        OR (outcome IS NOT NULL AND path IS NOT NULL AND path = 'inline' AND settled_at IS NOT NULL)),
    CONSTRAINT turn_settled CHECK (coalesce(state, '') <> 'settled'
        OR (outcome IS NOT NULL AND path IS NOT NULL AND settled_at IS NOT NULL)),
    CONSTRAINT turn_merged CHECK (coalesce(state, '') <> 'merged'
        OR (merged_into IS NOT NULL AND merged_into <> id AND path IS NOT NULL AND path = 'silent' AND settled_at IS NOT NULL)),
    CONSTRAINT turn_merged_outcome CHECK (coalesce(state = 'merged', FALSE) = coalesce(outcome = 'merged', FALSE)),
    CONSTRAINT turn_merged_names CHECK (coalesce(state = 'merged', FALSE) = (merged_into IS NOT NULL)),
    CONSTRAINT turn_escalated CHECK ((escalation_reason IS NOT NULL)
        = (coalesce(outcome, '') IN ('escalated', 'escalated_precheck', 'escalated_error')))
) STRICT;

CREATE INDEX turns_history ON turns (conversation_id, seq) WHERE in_history = 1;
CREATE INDEX turns_merged ON turns (merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX turns_unfinished ON turns (tenant_id, received_at, seq)
    WHERE state IN ('waiting', 'running', 'answering');

CREATE TABLE outbox (
    id              TEXT    NOT NULL PRIMARY KEY,
    tenant_id       TEXT    NOT NULL,
    conversation_id TEXT    NOT NULL, -- its turn's
    turn_id         TEXT    NOT NULL REFERENCES turns (id),
    channel         TEXT    NOT NULL CHECK (channel IN ('whatsapp', 'instagram', 'messenger', 'telegram')),
    subscriber_id   TEXT    NOT NULL CHECK (length(subscriber_id) BETWEEN 1 AND 32),
    kind            TEXT    NOT NULL CHECK (kind IN ('reply', 'contact_token', 'handoff_notice')),
    seq             INTEGER NOT NULL CHECK (seq > 0),
    part            INTEGER NOT NULL CHECK (part >= 0),
    payload         TEXT    NOT NULL, -- JSON object
    sent            INTEGER NOT NULL DEFAULT 0 CHECK (sent >= 0),
    unknown         INTEGER NOT NULL DEFAULT 0 CHECK (unknown >= 0),
    status          TEXT    NOT NULL
        CHECK (status IN ('pending', 'delivering', 'delivered', 'dead', 'withheld', 'discarded')),
    reason          TEXT    CHECK (reason IN ('rejected', 'unknown', 'exhausted', 'stale')),
    attempts        INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    next_attempt_at INTEGER NOT NULL,
    last_error      TEXT    NOT NULL DEFAULT '',
    owner           TEXT    CHECK (owner <> ''),
    created_at      INTEGER NOT NULL, -- when it was last queued: a retry by hand resets it
    delivered_at    INTEGER,

    UNIQUE (turn_id, kind, part),
    CONSTRAINT outbox_delivering_owned CHECK ((status = 'delivering') = (owner IS NOT NULL)),
    CONSTRAINT outbox_delivering_counted CHECK (status <> 'delivering' OR attempts >= 1),
    CONSTRAINT outbox_delivered_dated CHECK ((status = 'delivered') = (delivered_at IS NOT NULL)),
    CONSTRAINT outbox_dead_explained CHECK ((status = 'dead') = (reason IS NOT NULL))
) STRICT;

CREATE INDEX outbox_due ON outbox (next_attempt_at, seq) WHERE status = 'pending';
CREATE INDEX outbox_order ON outbox (conversation_id, seq, part)
    WHERE kind = 'reply' AND status IN ('pending', 'delivering');
CREATE INDEX outbox_delivering ON outbox (tenant_id) WHERE status = 'delivering';
CREATE INDEX outbox_dead ON outbox (id) WHERE status = 'dead';

-- A row per process, its heartbeat in beat_at.
CREATE TABLE processes (
    id         TEXT    NOT NULL PRIMARY KEY,
    tenant_id  TEXT    NOT NULL,
    started_at INTEGER NOT NULL,
    beat_at    INTEGER NOT NULL
) STRICT;
