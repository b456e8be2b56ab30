-- +goose Up

-- Whether the agent wrote the contact's offering; else a request named it.
ALTER TABLE conversations ADD COLUMN offering_chosen BIGINT NOT NULL DEFAULT 0 CHECK (offering_chosen IN (0, 1));
-- Whether the opening is not sent any more: the turn that found a prospect went to a person.
ALTER TABLE conversations ADD COLUMN opening_over BIGINT NOT NULL DEFAULT 0 CHECK (opening_over IN (0, 1));
-- When the contact asked not to be written to.
ALTER TABLE conversations ADD COLUMN opted_out_at BIGINT;

-- Whether a nudge may be planned, under way or on its way to the contact, whose next message calls it off.
ALTER TABLE conversations ADD COLUMN nudged BIGINT NOT NULL DEFAULT 0 CHECK (nudged IN (0, 1));

-- Of an agent row: whether it follows up on a contact who went quiet, and so answers no message.
ALTER TABLE turns ADD COLUMN nudge BIGINT NOT NULL DEFAULT 0 CHECK (nudge IN (0, 1));

-- Follow-ups that the agent scheduled. A contact has one that is open at most. turn_id is the
-- turn that scheduled it, and nudge_id the one that it became, whose owner is the nudge's.
CREATE TABLE nudges (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tenant_id       TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id),
    turn_id         TEXT COLLATE "C" NOT NULL,
    delay           TEXT NOT NULL CHECK (delay <> ''), -- its configured id
    message_at      BIGINT NOT NULL, -- the contact's last message, that the delay and the window count from
    due_at          BIGINT NOT NULL,
    state           TEXT NOT NULL CHECK (state IN ('pending', 'running', 'sent', 'skipped', 'cancelled')),
    reason          TEXT CHECK (reason IN ('contact_replied', 'escalated', 'link_sent', 'window_closing', 'human_active',
        'read_failed', 'cap_reached', 'paused', 'opted_out')),
    nudge_id        TEXT COLLATE "C",
    created_at      BIGINT NOT NULL,
    ended_at        BIGINT,
    CONSTRAINT nudge_cancelled_explained CHECK ((state = 'cancelled') = (reason IS NOT NULL)),
    CONSTRAINT nudge_ended CHECK ((state IN ('pending', 'running')) = (ended_at IS NULL)),
    CONSTRAINT nudge_running_has_turn CHECK (state NOT IN ('running', 'sent') OR nudge_id IS NOT NULL)
);

CREATE UNIQUE INDEX nudges_open ON nudges (conversation_id) WHERE state IN ('pending', 'running');
CREATE INDEX nudges_due ON nudges (tenant_id, due_at) WHERE state = 'pending';
CREATE INDEX nudges_of ON nudges (conversation_id, created_at);
CREATE INDEX nudges_over ON nudges (tenant_id, ended_at) WHERE ended_at IS NOT NULL;
