package storetest

import "testing"

// Holds docs/spec/03-turn.md, "States of the agent row", and docs/states.md: the
// database itself refuses states that the machines do not have.
func testConstraints(t *testing.T, f *fixture) {
	f.deferred(t, "700001", "one") // turn-000001
	f.say(t, "700002", "hello")    // turn-000002
	for _, c := range []struct{ name, set string }{
		{"unknown state", `turns SET state = 'thinking'`},
		{"running without a start", `turns SET state = 'running', outcome = NULL, path = NULL, settled_at = NULL, attempt = 0`},
		{"running with an outcome", `turns SET state = 'running'`},
		{"waiting with a path", `turns SET state = 'waiting', outcome = NULL, settled_at = NULL`},
		{"settled without an outcome", `turns SET outcome = NULL`},
		{"settled without a path", `turns SET path = NULL`},
		{"settled without an instant", `turns SET settled_at = NULL`},
		{"answering through the outbox", `turns SET state = 'answering'`},
		{"answering without an outcome", `turns SET state = 'answering', path = 'inline', outcome = NULL`},
		{"merged into nothing", `turns SET state = 'merged', path = 'silent', outcome = 'merged'`},
		{"merged into itself", `turns SET state = 'merged', path = 'silent', outcome = 'merged', merged_into = id`},
		{"merged and answered", `turns SET state = 'merged', path = 'silent', merged_into = 'turn-000002'`},
		{"merged with a reply", `turns SET state = 'merged', outcome = 'merged', merged_into = 'turn-000002'`},
		{"merged only by outcome", `turns SET outcome = 'merged'`},
		{"merged only by name", `turns SET merged_into = 'turn-000002'`},
		{"escalated without a reason", `turns SET outcome = 'escalated'`},
		{"a reason without escalation", `turns SET escalation_reason = 'media'`},
		{"an unknown reason", `turns SET outcome = 'escalated', escalation_reason = 'bored'`},
		{"an agent row without a state", `turns SET state = NULL`},
		{"an agent row of another's turn", `turns SET turn_id = 'turn-000002'`},
		{"unbound history", `turns SET bound = 0`},
		{"empty history", `turns SET text = ''`},
		{"confidence above one", `turns SET confidence = 1.5`},
		{"another's place", `turns SET seq = 1`},
		{"an unknown status", `outbox SET status = 'lost'`},
		{"delivering without an owner", `outbox SET status = 'delivering', attempts = 1`},
		{"delivering without an attempt", `outbox SET status = 'delivering', owner = 'process-a'`},
		{"pending with an owner", `outbox SET owner = 'process-a'`},
		{"delivered without an instant", `outbox SET status = 'delivered'`},
		{"pending with an instant", `outbox SET delivered_at = 1`},
		{"dead without a reason", `outbox SET status = 'dead'`},
		{"pending with a reason", `outbox SET reason = 'stale'`},
		{"withheld with a reason", `outbox SET status = 'withheld', reason = 'stale'`},
		{"an unknown turn", `outbox SET turn_id = 'turn-x'`},
		{"an unknown stage", `conversations SET stage = 'won'`},
		{"an unknown channel", `conversations SET channel = 'fax'`},
	} {
		where := map[byte]string{'t': ` WHERE id = 'turn-000001'`, 'o': ` WHERE turn_id = 'turn-000001'`, 'c': ``}[c.set[0]]
		if err := f.exec(`UPDATE ` + c.set + where); err == nil {
			t.Errorf("the database accepts %s", c.name)
		}
	}
	for _, set := range []string{
		`turns SET state = 'merged', outcome = 'merged', path = 'silent', merged_into = 'turn-000002' WHERE id = 'turn-000001'`,
		`outbox SET status = 'dead', reason = 'stale' WHERE turn_id = 'turn-000001'`,
	} {
		if err := f.exec(`UPDATE ` + set); err != nil {
			t.Errorf("the database refuses %s: %v", set, err)
		}
	}
	if err := f.exec(`INSERT INTO outbox SELECT 'again', tenant_id, conversation_id, turn_id, channel, subscriber_id, kind, seq,
        part, payload, sent, unknown, status, reason, attempts, next_attempt_at, last_error, owner, created_at, delivered_at
        FROM outbox`); err == nil {
		t.Error("the database accepts a second row for a turn, kind and part")
	}
}
