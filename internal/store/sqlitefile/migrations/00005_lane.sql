-- +goose Up

-- What an earlier version left in hand, which let turns of one contact run side by side.
-- Responses that left are over; of the others nobody knows, so their texts go out again.
UPDATE turns SET state = 'settled', pending = NULL WHERE state = 'answering' AND responded_at IS NOT NULL;
-- A later row may carry the end of the reply, and then has its actions.
INSERT INTO outbox (id, tenant_id, conversation_id, turn_id, channel, subscriber_id, kind, seq, part, payload, status,
    next_attempt_at, created_at)
SELECT lower(hex(randomblob(16))), t.tenant_id, t.conversation_id, t.id, c.channel, c.subscriber_id, 'reply', t.seq, 0,
    json_object(
        'texts', (SELECT json_group_array(value ORDER BY key) FROM json_each(t.replies)
            WHERE key < json_array_length(t.replies) - coalesce((SELECT sum(json_array_length(o.payload, '$.texts'))
                FROM outbox o WHERE o.turn_id = t.id AND o.kind = 'reply'), 0)),
        'actions', CASE WHEN NOT EXISTS (SELECT 1 FROM outbox o WHERE o.turn_id = t.id AND o.kind = 'reply') THEN json(t.pending) END),
    'pending', t.settled_at, t.received_at
FROM turns t JOIN conversations c ON c.id = t.conversation_id
WHERE t.state = 'answering';
UPDATE turns SET state = 'settled', path = 'outbox', pending = NULL WHERE state = 'answering';
UPDATE turns SET state = 'waiting' WHERE state = 'running' AND bound = 1 AND EXISTS (
    SELECT 1 FROM turns e WHERE e.conversation_id = turns.conversation_id AND e.state = 'running' AND e.bound = 1 AND e.seq < turns.seq);

-- 0 of the contact row of a duplicate: it counts for no limit.
ALTER TABLE turns ADD COLUMN counted INTEGER NOT NULL DEFAULT 1 CHECK (counted IN (0, 1));
-- Of a contact row: how many earlier messages its turn answers with it. Those are found by
-- merged_into of their turns, and their own rows are not in history.
ALTER TABLE turns ADD COLUMN merges INTEGER NOT NULL DEFAULT 0 CHECK (merges >= 0);

DROP INDEX turns_messages;
CREATE INDEX turns_messages ON turns (conversation_id, bound, seq, received_at) WHERE role = 'contact' AND counted = 1;

DROP INDEX turns_merged;
CREATE INDEX turns_merged ON turns (merged_into, seq) WHERE merged_into IS NOT NULL;

-- The lane: one turn of a contact runs at a time.
CREATE UNIQUE INDEX turns_lane ON turns (conversation_id) WHERE bound = 1 AND state IN ('running', 'answering');
CREATE INDEX turns_open ON turns (conversation_id, seq) WHERE state IN ('waiting', 'running', 'answering');
DROP INDEX turns_unfinished;
CREATE INDEX turns_unfinished ON turns (tenant_id, owner, received_at, seq) WHERE state IN ('waiting', 'running', 'answering');

-- A pause holds turns and replies from this place of the contact's order on: a handoff that
-- pauses lets its own copy go out.
ALTER TABLE conversations ADD COLUMN paused_from INTEGER NOT NULL DEFAULT 0 CHECK (paused_from >= 0);
-- When a person last marked the conversation as answered.
ALTER TABLE conversations ADD COLUMN answered_at INTEGER;
-- Whether the contact carried the tag of a person who is active, when ManyChat was last asked.
ALTER TABLE conversations ADD COLUMN tag_read_at INTEGER;
ALTER TABLE conversations ADD COLUMN tag_active INTEGER NOT NULL DEFAULT 0 CHECK (tag_active IN (0, 1));

-- How often a process has beaten: others watch it change.
ALTER TABLE processes ADD COLUMN beats INTEGER NOT NULL DEFAULT 0;

-- How many flows were sent to a contact within each ten minutes, counted from 1970.
CREATE TABLE flow_slots (
    tenant_id     TEXT    NOT NULL,
    subscriber_id TEXT    NOT NULL CHECK (length(subscriber_id) BETWEEN 1 AND 32),
    slot          INTEGER NOT NULL,
    flows         INTEGER NOT NULL CHECK (flows >= 0),
    PRIMARY KEY (tenant_id, subscriber_id, slot)
) STRICT;

-- Until when each of ManyChat's limits a second is used up, by processes that lease it in
-- blocks.
CREATE TABLE rates (
    tenant_id TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    used_to   INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, name)
) STRICT;
