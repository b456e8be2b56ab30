-- +goose Up

-- Everything up to this version, at once: the first that PostgreSQL was supported at. Later
-- ones expand it, so that a replica of the version before goes on while they are applied.
-- Text that is compared by order is compared byte by byte, as SQLite does, whatever the
-- database's language.

-- Times are microseconds since 1970 in UTC, booleans 0 or 1, ids UUIDv7 as text.
-- docs/states.md draws the two state machines that the constraints below enforce.

CREATE TABLE conversations (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tenant_id      TEXT COLLATE "C" NOT NULL,
    channel        TEXT    NOT NULL CHECK (channel IN ('whatsapp', 'instagram', 'messenger', 'telegram')),
    subscriber_id  TEXT COLLATE "C" NOT NULL CHECK (length(subscriber_id) BETWEEN 1 AND 32),
    last_seq       BIGINT NOT NULL CHECK (last_seq >= 0), -- the order counter of the contact's rows
    last_sent_at   BIGINT,
    paused_until   BIGINT,
    offering       TEXT    NOT NULL DEFAULT '',
    stage          TEXT    NOT NULL DEFAULT ''
        CHECK (stage IN ('', 'new', 'qualifying', 'nurturing', 'offered', 'prepared', 'link_sent')),
    intent         TEXT    NOT NULL DEFAULT '' CHECK (intent IN ('', 'not_prospect', 'prospect')),
    needs_person   BIGINT NOT NULL DEFAULT 0 CHECK (needs_person IN (0, 1)),
    history_from   BIGINT NOT NULL DEFAULT 0 CHECK (history_from >= 0), -- the first place that the contact's history holds
    handoff_said_at BIGINT, -- when the contact was last told that a person takes over
    notified_at    BIGINT, -- when the business was last told of a handoff
    paused_from    BIGINT NOT NULL DEFAULT 0 CHECK (paused_from >= 0), -- the first place of the contact's order that a pause holds
    answered_at    BIGINT, -- when a person last marked the conversation as answered
    tag_read_at    BIGINT, -- when ManyChat was last asked for the tag of an active person
    tag_active     BIGINT NOT NULL DEFAULT 0 CHECK (tag_active IN (0, 1)), -- whether the contact carried it then
    created_at     BIGINT NOT NULL,
    UNIQUE (tenant_id, subscriber_id, channel)
);

-- One contact row per message and one agent row per turn; turn_id of both is the agent
-- row's id. text is what the row adds to the history that a model reads: the contact's
-- words, or what the agent said as far as it went out or is still on its way.
CREATE TABLE turns (
    id                TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tenant_id         TEXT COLLATE "C" NOT NULL,
    conversation_id   TEXT COLLATE "C" NOT NULL REFERENCES conversations (id),
    turn_id           TEXT COLLATE "C" NOT NULL REFERENCES turns (id),
    role              TEXT    NOT NULL CHECK (role IN ('contact', 'agent')),
    seq               BIGINT NOT NULL CHECK (seq > 0),
    bound             BIGINT NOT NULL CHECK (bound IN (0, 1)),
    in_history        BIGINT NOT NULL CHECK (in_history IN (0, 1)),
    text              TEXT    NOT NULL,
    received_at       BIGINT NOT NULL,

    state             TEXT CHECK (state IN ('waiting', 'running', 'answering', 'settled', 'merged')),
    owner             TEXT COLLATE "C" CHECK (owner <> ''),
    attempt           BIGINT NOT NULL DEFAULT 0 CHECK (attempt >= 0),
    offering          TEXT NOT NULL DEFAULT '',
    merged_into       TEXT COLLATE "C" REFERENCES turns (id),
    outcome           TEXT CHECK (outcome IN ('answered', 'answered_scripted', 'escalated', 'escalated_precheck',
        'escalated_error', 'media_fallback', 'paused', 'opted_out', 'merged', 'duplicate', 'nudge_sent', 'nudge_skipped')),
    path              TEXT CHECK (path IN ('inline', 'outbox', 'silent')),
    escalation_reason TEXT CHECK (escalation_reason IN ('price_negotiation', 'complaint', 'out_of_scope',
        'explicit_request', 'low_confidence', 'payment_reported', 'keyword', 'rate_limit', 'turn_cap', 'budget',
        'media', 'overload', 'error')),
    settled_at        BIGINT,
    responded_at      BIGINT,
    replies           TEXT, -- JSON array
    model             TEXT NOT NULL DEFAULT '',
    prompt_version    TEXT NOT NULL DEFAULT '',
    playbook_version  TEXT NOT NULL DEFAULT '',
    tokens_in         BIGINT NOT NULL DEFAULT 0 CHECK (tokens_in >= 0),
    tokens_cached     BIGINT NOT NULL DEFAULT 0 CHECK (tokens_cached >= 0),
    tokens_out        BIGINT NOT NULL DEFAULT 0 CHECK (tokens_out >= 0),
    cost_micros       BIGINT NOT NULL DEFAULT 0 CHECK (cost_micros >= 0),
    timings           TEXT, -- JSON object
    confidence        DOUBLE PRECISION CHECK (confidence BETWEEN 0 AND 1),
    interventions     TEXT, -- JSON array
    actions           TEXT, -- JSON array; NULL: no tool was offered
    first_name        TEXT NOT NULL DEFAULT '', -- kept only where the tenant's rules use it, for a turn that runs again
    calls             TEXT, -- the trace of the model's tool calls, a JSON array
    counted           BIGINT NOT NULL DEFAULT 1 CHECK (counted IN (0, 1)), -- 0 of the contact row of a duplicate
    merges            BIGINT NOT NULL DEFAULT 0 CHECK (merges >= 0), -- of a contact row: messages that its turn answers with it
    pending           TEXT, -- the actions that wait behind a response, a JSON array; NULL: none wait

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
    CONSTRAINT turn_pending_answering CHECK (pending IS NULL OR coalesce(state, '') = 'answering'),
    CONSTRAINT turn_escalated CHECK ((escalation_reason IS NOT NULL)
        = (coalesce(outcome, '') IN ('escalated', 'escalated_precheck', 'escalated_error')))
);

CREATE INDEX turns_history ON turns (conversation_id, seq) WHERE in_history = 1;
CREATE INDEX turns_messages ON turns (conversation_id, bound, seq, received_at) WHERE role = 'contact' AND counted = 1;
CREATE INDEX turns_merged ON turns (merged_into, seq) WHERE merged_into IS NOT NULL;
CREATE INDEX turns_unfinished ON turns (tenant_id, owner, received_at, seq)
    WHERE state IN ('waiting', 'running', 'answering');

-- The lane: one turn of a contact runs at a time.
CREATE UNIQUE INDEX turns_lane ON turns (conversation_id) WHERE bound = 1 AND state IN ('running', 'answering');
CREATE INDEX turns_open ON turns (conversation_id, seq) WHERE state IN ('waiting', 'running', 'answering');

CREATE TABLE outbox (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tenant_id       TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL, -- its turn's
    turn_id         TEXT COLLATE "C" NOT NULL REFERENCES turns (id),
    channel         TEXT    NOT NULL CHECK (channel IN ('whatsapp', 'instagram', 'messenger', 'telegram')),
    subscriber_id   TEXT COLLATE "C" NOT NULL CHECK (length(subscriber_id) BETWEEN 1 AND 32),
    kind            TEXT    NOT NULL CHECK (kind IN ('reply', 'contact_token', 'handoff_notice')),
    seq             BIGINT NOT NULL CHECK (seq > 0),
    part            BIGINT NOT NULL CHECK (part >= 0),
    payload         TEXT    NOT NULL, -- JSON object
    sent            BIGINT NOT NULL DEFAULT 0 CHECK (sent >= 0),
    unknown         BIGINT NOT NULL DEFAULT 0 CHECK (unknown >= 0),
    acting          BIGINT NOT NULL DEFAULT 0 CHECK (acting IN (0, 1)), -- set before the first of a reply's actions
    status          TEXT    NOT NULL
        CHECK (status IN ('pending', 'delivering', 'delivered', 'dead', 'withheld', 'discarded')),
    reason          TEXT    CHECK (reason IN ('rejected', 'unknown', 'exhausted', 'stale')),
    attempts        BIGINT NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    next_attempt_at BIGINT NOT NULL,
    last_error      TEXT    NOT NULL DEFAULT '',
    owner           TEXT COLLATE "C" CHECK (owner <> ''),
    created_at      BIGINT NOT NULL, -- when it was last queued: a retry by hand resets it
    delivered_at    BIGINT,

    UNIQUE (turn_id, kind, part),
    CONSTRAINT outbox_delivering_owned CHECK ((status = 'delivering') = (owner IS NOT NULL)),
    CONSTRAINT outbox_delivering_counted CHECK (status <> 'delivering' OR attempts >= 1),
    CONSTRAINT outbox_delivered_dated CHECK ((status = 'delivered') = (delivered_at IS NOT NULL)),
    CONSTRAINT outbox_dead_explained CHECK ((status = 'dead') = (reason IS NOT NULL))
);

CREATE INDEX outbox_due ON outbox (kind, next_attempt_at, seq) WHERE status = 'pending'; -- each kind is claimed for itself
CREATE INDEX outbox_order ON outbox (conversation_id, seq, part)
    WHERE kind = 'reply' AND status IN ('pending', 'delivering');
CREATE INDEX outbox_delivering ON outbox (tenant_id) WHERE status = 'delivering';
CREATE INDEX outbox_tokens ON outbox (tenant_id, subscriber_id)
    WHERE kind = 'contact_token' AND status IN ('pending', 'delivering');
CREATE INDEX outbox_dead ON outbox (id) WHERE status = 'dead';

-- A row per process, its heartbeat in beat_at.
CREATE TABLE processes (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tenant_id  TEXT COLLATE "C" NOT NULL,
    started_at BIGINT NOT NULL,
    beat_at    BIGINT NOT NULL,
    beats      BIGINT NOT NULL DEFAULT 0 -- how often it has beaten: others watch it change
);

-- What is known of a contact whatever the channel: ManyChat keeps one token field for all
-- of them. token is what internal/token knows of it, hashes and times as a JSON object,
-- never a token. has_token repeats whether one is known to have reached the field, for
-- lists.
CREATE TABLE contacts (
    tenant_id     TEXT COLLATE "C" NOT NULL,
    subscriber_id TEXT COLLATE "C" NOT NULL CHECK (length(subscriber_id) BETWEEN 1 AND 32),
    token         TEXT    NOT NULL,
    has_token     BIGINT NOT NULL CHECK (has_token IN (0, 1)),
    PRIMARY KEY (tenant_id, subscriber_id)
);

-- A tenant's daily budget, in tokens and micro-dollars. A day is counted from 1970 in UTC.
-- What is spent and what is leased never pass the cap together; leased is the sum of
-- the processes' leases below, and waiting how many of them have a call that waits for room.
CREATE TABLE budget_days (
    tenant_id     TEXT COLLATE "C" NOT NULL,
    day           BIGINT NOT NULL,
    tokens_spent  BIGINT NOT NULL DEFAULT 0 CHECK (tokens_spent >= 0),
    tokens_leased BIGINT NOT NULL DEFAULT 0 CHECK (tokens_leased >= 0),
    micros_spent  BIGINT NOT NULL DEFAULT 0 CHECK (micros_spent >= 0),
    micros_leased BIGINT NOT NULL DEFAULT 0 CHECK (micros_leased >= 0),
    waiting       BIGINT NOT NULL DEFAULT 0 CHECK (waiting >= 0),
    PRIMARY KEY (tenant_id, day)
);

-- What a process has of a day, in absolute numbers: what it spent, what it leased beyond
-- that, and how much of it comes back unspent when the process dies. A row stays until
-- its process is taken over.
CREATE TABLE budget_leases (
    tenant_id     TEXT COLLATE "C" NOT NULL,
    owner         TEXT COLLATE "C" NOT NULL CHECK (owner <> ''),
    day           BIGINT NOT NULL,
    tokens_spent  BIGINT NOT NULL CHECK (tokens_spent >= 0),
    tokens_leased BIGINT NOT NULL CHECK (tokens_leased >= 0),
    tokens_unused BIGINT NOT NULL CHECK (tokens_unused >= 0),
    micros_spent  BIGINT NOT NULL CHECK (micros_spent >= 0),
    micros_leased BIGINT NOT NULL CHECK (micros_leased >= 0),
    micros_unused BIGINT NOT NULL CHECK (micros_unused >= 0),
    waiting       BIGINT NOT NULL CHECK (waiting IN (0, 1)),
    PRIMARY KEY (tenant_id, owner, day),
    CONSTRAINT lease_unused_is_leased CHECK (tokens_unused <= tokens_leased AND micros_unused <= micros_leased)
);

-- The flows that a contact has or may have, whatever the channel, each with the turn that
-- holds the right to it and may give it back. It outlives its turns, so that no flow goes
-- out again.
CREATE TABLE flow_sends (
    tenant_id     TEXT COLLATE "C" NOT NULL,
    subscriber_id TEXT COLLATE "C" NOT NULL CHECK (length(subscriber_id) BETWEEN 1 AND 32),
    flow          TEXT COLLATE "C" NOT NULL CHECK (flow <> ''), -- its configured id
    turn_id       TEXT COLLATE "C" CHECK (turn_id <> ''),       -- NULL: an earlier one, nobody's to give back
    sent_at       BIGINT NOT NULL,
    earlier_at    BIGINT,                             -- the send that counts again when this one is given back
    PRIMARY KEY (tenant_id, subscriber_id, flow)
);

-- How many flows were sent to a contact within each ten minutes, counted from 1970.
CREATE TABLE flow_slots (
    tenant_id     TEXT COLLATE "C" NOT NULL,
    subscriber_id TEXT COLLATE "C" NOT NULL CHECK (length(subscriber_id) BETWEEN 1 AND 32),
    slot          BIGINT NOT NULL,
    flows         BIGINT NOT NULL CHECK (flows >= 0),
    PRIMARY KEY (tenant_id, subscriber_id, slot)
);

-- Until when each of ManyChat's limits a second is used up, by processes that lease it in
-- blocks.
CREATE TABLE rates (
    tenant_id TEXT COLLATE "C" NOT NULL,
    name      TEXT COLLATE "C" NOT NULL,
    used_to   BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, name)
);
