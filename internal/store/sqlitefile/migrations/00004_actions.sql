-- +goose Up

-- The trace of the model's tool calls, a JSON array.
ALTER TABLE turns ADD COLUMN calls TEXT;

-- The actions that wait behind a response, a JSON array with the texts of notes; NULL: none
-- wait. No other state keeps any.
ALTER TABLE turns ADD COLUMN pending TEXT
    CONSTRAINT turn_pending_answering CHECK (pending IS NULL OR coalesce(state, '') = 'answering');

-- Set before the first of a reply's actions, so that they are made once.
ALTER TABLE outbox ADD COLUMN acting INTEGER NOT NULL DEFAULT 0 CHECK (acting IN (0, 1));

-- When the business was last told of a handoff.
ALTER TABLE conversations ADD COLUMN notified_at INTEGER;

-- The flows that a contact has or may have, whatever the channel, each with the turn that
-- holds the right to it and may give it back. It outlives its turns, so that no flow goes
-- out again.
CREATE TABLE flow_sends (
    tenant_id     TEXT    NOT NULL,
    subscriber_id TEXT    NOT NULL CHECK (length(subscriber_id) BETWEEN 1 AND 32),
    flow          TEXT    NOT NULL CHECK (flow <> ''), -- its configured id
    turn_id       TEXT    CHECK (turn_id <> ''),       -- NULL: an earlier one, nobody's to give back
    sent_at       INTEGER NOT NULL,
    earlier_at    INTEGER,                             -- the send that counts again when this one is given back
    PRIMARY KEY (tenant_id, subscriber_id, flow)
) STRICT;
