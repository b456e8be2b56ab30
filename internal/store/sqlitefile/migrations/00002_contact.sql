-- +goose Up

-- token is what internal/token knows of the contact's token: hashes and times as a JSON
-- object, never a token. NULL: none was ever issued. has_token repeats whether one is
-- known to have reached the contact's field, for lists.
ALTER TABLE conversations ADD COLUMN token TEXT;
ALTER TABLE conversations ADD COLUMN has_token INTEGER NOT NULL DEFAULT 0 CHECK (has_token IN (0, 1));

-- The first place of the contact's order that their history holds.
ALTER TABLE conversations ADD COLUMN history_from INTEGER NOT NULL DEFAULT 0 CHECK (history_from >= 0);

-- When the contact was last told that a person takes over.
ALTER TABLE conversations ADD COLUMN handoff_said_at INTEGER;

-- Kept only where the tenant's rules use it, for a turn that runs again.
ALTER TABLE turns ADD COLUMN first_name TEXT NOT NULL DEFAULT '';

CREATE INDEX turns_messages ON turns (conversation_id, bound, seq, received_at) WHERE role = 'contact';

CREATE INDEX outbox_tokens ON outbox (conversation_id)
    WHERE kind = 'contact_token' AND status IN ('pending', 'delivering');
