-- +goose Up

-- Rows that nothing will be done with any more, by when they ended; a discarded one has no
-- other instant than when it was due.
CREATE INDEX outbox_over ON outbox (tenant_id, (coalesce(delivered_at, next_attempt_at)), id)
    WHERE status IN ('delivered', 'discarded');
