-- +goose Up

-- A tenant's daily budget, in tokens and micro-dollars. A day is counted from 1970 in UTC.
-- What is spent and what is leased never pass the cap together; leased is the sum of
-- the processes' leases below, and waiting how many of them have a call that waits for room.
CREATE TABLE budget_days (
    tenant_id     TEXT    NOT NULL,
    day           INTEGER NOT NULL,
    tokens_spent  INTEGER NOT NULL DEFAULT 0 CHECK (tokens_spent >= 0),
    tokens_leased INTEGER NOT NULL DEFAULT 0 CHECK (tokens_leased >= 0),
    micros_spent  INTEGER NOT NULL DEFAULT 0 CHECK (micros_spent >= 0),
    micros_leased INTEGER NOT NULL DEFAULT 0 CHECK (micros_leased >= 0),
    waiting       INTEGER NOT NULL DEFAULT 0 CHECK (waiting >= 0),
    PRIMARY KEY (tenant_id, day)
) STRICT;

-- What a process has of a day, in absolute numbers: what it spent, what it leased beyond
-- that, and how much of it comes back unspent when the process dies. A row stays until
-- its process is taken over.
CREATE TABLE budget_leases (
    tenant_id     TEXT    NOT NULL,
    owner         TEXT    NOT NULL CHECK (owner <> ''),
    day           INTEGER NOT NULL,
    tokens_spent  INTEGER NOT NULL CHECK (tokens_spent >= 0),
    tokens_leased INTEGER NOT NULL CHECK (tokens_leased >= 0),
    tokens_unused INTEGER NOT NULL CHECK (tokens_unused >= 0),
    micros_spent  INTEGER NOT NULL CHECK (micros_spent >= 0),
    micros_leased INTEGER NOT NULL CHECK (micros_leased >= 0),
    micros_unused INTEGER NOT NULL CHECK (micros_unused >= 0),
    waiting       INTEGER NOT NULL CHECK (waiting IN (0, 1)),
    PRIMARY KEY (tenant_id, owner, day),
    CONSTRAINT lease_unused_is_leased CHECK (tokens_unused <= tokens_leased AND micros_unused <= micros_leased)
) STRICT;
