-- +goose Up

-- What is known of a contact whatever the channel: ManyChat keeps one token field for all
-- of them. token is what internal/token knows of it, hashes and times as a JSON object,
-- never a token. has_token repeats whether one is known to have reached the field, for
-- lists.
CREATE TABLE contacts (
    tenant_id     TEXT    NOT NULL,
    subscriber_id TEXT    NOT NULL CHECK (length(subscriber_id) BETWEEN 1 AND 32),
    token         TEXT    NOT NULL,
    has_token     INTEGER NOT NULL CHECK (has_token IN (0, 1)),
    PRIMARY KEY (tenant_id, subscriber_id)
) STRICT;

-- The first place of the contact's order that their history holds.
ALTER TABLE conversations ADD COLUMN history_from INTEGER NOT NULL DEFAULT 0 CHECK (history_from >= 0);

-- When the contact was last told that a person takes over.
ALTER TABLE conversations ADD COLUMN handoff_said_at INTEGER;

-- Kept only where the tenant's rules use it, for a turn that runs again.
ALTER TABLE turns ADD COLUMN first_name TEXT NOT NULL DEFAULT '';

CREATE INDEX turns_messages ON turns (conversation_id, bound, seq, received_at) WHERE role = 'contact';

CREATE INDEX outbox_tokens ON outbox (tenant_id, subscriber_id)
    WHERE kind = 'contact_token' AND status IN ('pending', 'delivering');

-- Each kind is claimed for itself, so that tokens of new contacts hold up no reply.
DROP INDEX outbox_due;
CREATE INDEX outbox_due ON outbox (kind, next_attempt_at, seq) WHERE status = 'pending';
