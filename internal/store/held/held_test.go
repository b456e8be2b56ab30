package held_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/store/held"
	"github.com/manychat-agent/manychat-agent/internal/store/sqlitefile"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
	"github.com/manychat-agent/manychat-agent/internal/store/tables"
	"github.com/manychat-agent/manychat-agent/internal/token"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

const (
	erased = contact.SubscriberID("900000001")
	stays  = contact.SubscriberID("900000002")
)

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// house is a database in which contacts wrote.
type house struct {
	*store.DB
	t    *testing.T
	path string // empty on PostgreSQL
	raw  *sql.DB
	made int
}

// open opens a SQLite database.
func open(t *testing.T) *house {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.db")
	h := &house{t: t, path: path}
	h.start("sqlite:" + path)
	var err error
	h.raw, err = sql.Open("sqlite", "file:"+path)
	h.check(err)
	t.Cleanup(func() { h.check(h.raw.Close()) })
	return h
}

// openPostgreSQL opens a PostgreSQL database.
func openPostgreSQL(t *testing.T) *house {
	t.Helper()
	url := postgrestest.Open(t)
	h := &house{t: t, raw: postgrestest.Raw(t, url)}
	h.start(url)
	return h
}

func (h *house) start(url string) {
	h.t.Helper()
	var err error
	h.DB, err = store.Open(h.t.Context(), store.Options{URL: url, Now: func() time.Time { return start }})
	h.check(err)
	h.t.Cleanup(func() { h.check(h.Close()) })
}

// onEach runs a test on each database.
func onEach(t *testing.T, test func(t *testing.T, h *house)) {
	t.Run("SQLite", func(t *testing.T) { test(t, open(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { test(t, openPostgreSQL(t)) })
}

func (h *house) check(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func who(id contact.SubscriberID) held.Who { return held.Who{TenantID: "demo", ID: id} }

func key(id contact.SubscriberID, channel contact.Channel) contact.Key {
	return contact.Key{TenantID: "demo", Channel: channel, SubscriberID: id}
}

// say records a message of a contact, whose text names the contact.
func (h *house) say(k contact.Key) turn.Recorded {
	h.t.Helper()
	h.made++
	r, err := h.Record(h.t.Context(), turn.Arrival{
		TurnID: fmt.Sprintf("turn-%s-%d", k.SubscriberID, h.made), Key: k, Owner: "process", Text: "words of " + string(k.SubscriberID),
		FirstName: "Name" + string(k.SubscriberID), ReceivedAt: start, Window: turn.Window{HistorySince: start.AddDate(0, 0, -30), HistoryLimit: 10, RecentLimit: 10},
		Token: token.Request{Candidate: token.HashOf(string(k.SubscriberID)), Enforced: true},
	})
	h.check(err)
	return r
}

// reply settles a turn with a late reply, a note and a notice.
func (h *house) reply(r turn.Recorded) string {
	h.t.Helper()
	id := string(r.Turn.Key.SubscriberID)
	s := turn.Settlement{Turn: r.Turn}
	s.Turn.Outcome, s.Turn.Path, s.Turn.Reason = conversation.Escalated, conversation.Outbox, conversation.Complaint
	s.Turn.Replies, s.Turn.SettledAt = []string{"reply to " + id}, start
	s.Turn.Actions = []action.Record{{Tool: action.WriteNote, ID: "summary", Status: action.Staged}}
	s.Turn.Calls = []action.Call{{Tool: "write_note"}}
	s.Row = &outbox.Row{ID: "row-" + r.Turn.ID, Payload: outbox.Payload{Texts: s.Turn.Replies,
		Actions: []action.Pending{{Place: 0, Text: "note about " + id}}}}
	s.Notices = []outbox.Row{{Part: 0, Payload: outbox.Payload{Actions: []action.Pending{{Place: 0}}}}}
	h.check(h.Settle(h.t.Context(), s))
	return s.Row.ID
}

// live gives a contact something in every table: turns on two channels, one of which still
// runs, and rows of the outbox in every status.
func (h *house) live(id contact.SubscriberID) (running turn.Recorded) {
	h.t.Helper()
	first := h.say(key(id, contact.WhatsApp))
	h.check(h.ClaimFlow(h.t.Context(), action.Claim{ConversationID: first.Conversation.ID, TurnID: first.Turn.ID, Flow: "opening"}))
	h.reply(first)
	for _, status := range []string{"'withheld'", "'dead', reason = 'rejected', last_error = 'refused " + string(id) + "'", "'delivered', delivered_at = 1", "'discarded'"} {
		row := h.reply(h.say(key(id, contact.Instagram)))
		_, err := h.raw.ExecContext(h.t.Context(), `UPDATE outbox SET status = `+status+` WHERE id = $1`, row)
		h.check(err)
	}
	for table, statement := range more {
		if h.columns()[table] != nil {
			_, err := h.raw.ExecContext(h.t.Context(), statement, string(id))
			h.check(err)
		}
	}
	return h.say(key(id, contact.WhatsApp))
}

// more fills tables that nothing above writes.
var more = map[string]string{
	"flow_slots": `INSERT INTO flow_slots (tenant_id, subscriber_id, slot, flows) VALUES ('demo', $1, 3, 1)`,
	"nudges": `INSERT INTO nudges (id, tenant_id, conversation_id, turn_id, delay, message_at, due_at, state, created_at)
        SELECT 'nudge-' || id, 'demo', id, 'turn-1', 'two_hours', 1, 2, 'pending', 1 FROM conversations WHERE subscriber_id = $1`,
}

// columns are those of every table, read in another way than the program does.
func (h *house) columns() map[string][]string {
	h.t.Helper()
	query := `SELECT m.tbl_name, c.name FROM sqlite_schema m, pragma_table_xinfo(m.tbl_name) c WHERE m.type = 'table'`
	if h.path == "" {
		query = `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'`
	}
	rows, err := h.raw.QueryContext(h.t.Context(), query)
	h.check(err)
	defer rows.Close()
	all := map[string][]string{}
	for rows.Next() {
		var table, name string
		h.check(rows.Scan(&table, &name))
		all[table] = append(all[table], name)
	}
	h.check(rows.Err())
	return all
}

// traces are the columns in which any of the texts stands, by table.
func (h *house) traces(texts ...string) (found map[string][]string) {
	h.t.Helper()
	found = map[string][]string{}
	for table, columns := range h.columns() {
		for _, name := range columns {
			for _, text := range texts {
				var n int
				h.check(h.raw.QueryRowContext(h.t.Context(), `SELECT count(*) FROM "`+table+`" WHERE CAST("`+name+`" AS TEXT) LIKE '%' || CAST($1 AS TEXT) || '%'`, text).Scan(&n))
				if n > 0 {
					found[table] = append(found[table], name)
				}
			}
		}
	}
	return found
}

// hashed is a token's hash as it is kept.
func hashed(id contact.SubscriberID) string {
	text, _ := token.HashOf(string(id)).MarshalText() // never fails
	return string(text)
}

// words are what leads to a contact: id, texts, names, and the ids of conversations.
func (h *house) words(id contact.SubscriberID) []string {
	h.t.Helper()
	texts := []string{string(id), hashed(id)}
	for _, channel := range []contact.Channel{contact.WhatsApp, contact.Instagram} {
		c, err := h.Conversation(h.t.Context(), key(id, channel))
		h.check(err)
		texts = append(texts, c.ID)
	}
	return texts
}

// Holds docs/spec/15-storage.md, "Storage and scale": contact erase removes everything,
// cancels what is queued and leaves no trace, in the file neither. Every column of every
// table is searched, and every table that may name a contact has a row beforehand.
func TestEraseLeavesNoTrace(t *testing.T) { onEach(t, testEraseLeavesNoTrace) }

func testEraseLeavesNoTrace(t *testing.T, h *house) {
	h.live(stays)
	h.live(erased)
	words := h.words(erased)
	before := h.traces(words...)
	about, err := tables.Of(t.Context(), h.DB.DB)
	h.check(err)
	for _, table := range about {
		if (table.Has("subscriber_id") || table.Has("conversation_id")) && before[table.Name] == nil {
			t.Errorf("table %s has no row about the contact in this test: add one", table.Name)
		}
	}
	others := h.count(stays)
	_, err = h.raw.ExecContext(t.Context(), `INSERT INTO conversations (id, tenant_id, channel, subscriber_id, last_seq, created_at) VALUES ('other', 'other', 'whatsapp', $1, 1, 1)`, string(erased))
	h.check(err)

	got, err := held.Erase(t.Context(), h.DB.DB, who(erased))
	h.check(err)
	want := map[outbox.Status]int64{"pending": 7, "withheld": 1, "dead": 1, "delivered": 1, "discarded": 1}
	if d := cmp.Diff(want, got.Outbox); d != "" || got.Running != 1 || got.Rows["turns"] != 12 || got.Rows["conversations"] != 2 {
		t.Errorf("Erase counts %+v (-want +got):\n%s", got, d)
	}
	_, err = h.raw.ExecContext(t.Context(), `DELETE FROM conversations WHERE id = 'other'`) // another tenant's was left alone
	h.check(err)
	if found := h.traces(words...); len(found) > 0 {
		t.Errorf("after the erase there are traces in %v", found)
	}
	if d := cmp.Diff(others, h.count(stays)); d != "" {
		t.Errorf("rows of another contact (-before +after):\n%s", d)
	}
	_, err = held.Erase(t.Context(), h.DB.DB, who(erased)) // nobody is no error, and the deleted row of another tenant goes
	h.check(err)
	if h.path == "" {
		return // what is left of PostgreSQL's bytes is the server's to remove
	}
	for _, name := range []string{h.path, h.path + "-wal"} {
		content, err := os.ReadFile(name)
		h.check(err)
		for _, word := range words {
			if n := bytes.Count(content, []byte(word)); n > 0 {
				t.Errorf("%s is %d times in %s", word, n, filepath.Base(name))
			}
		}
		if bytes.Count(content, []byte(stays)) == 0 && name == h.path {
			t.Error("the file lacks the other contact")
		}
	}
}

// count is how many rows each table has of a contact.
func (h *house) count(id contact.SubscriberID) map[string]int {
	h.t.Helper()
	export, err := held.Export(h.t.Context(), h.DB.DB, who(id))
	h.check(err)
	n := map[string]int{}
	for table, rows := range export {
		n[table] = len(rows)
	}
	return n
}

// Pages that were divided keep copies of rows that moved, which secure_delete does not
// reach.
func TestEraseReachesDividedPages(t *testing.T) {
	h := open(t)
	for n := range 400 {
		for _, id := range []contact.SubscriberID{stays, erased} {
			r := h.say(key(id, contact.WhatsApp))
			s := turn.Settlement{Turn: r.Turn}
			s.Turn.Outcome, s.Turn.Path, s.Turn.SettledAt = conversation.Answered, conversation.Inline, start
			s.Turn.Replies = []string{strings.Repeat("reply to "+string(id)+" ", 1+n%20)}
			h.check(h.Settle(t.Context(), s))
			h.check(h.Stamp(t.Context(), turn.Stamp{TurnID: r.Turn.ID, ConversationID: r.Conversation.ID, At: start}))
		}
	}
	_, err := held.Erase(t.Context(), h.DB.DB, who(erased))
	h.check(err)
	content, err := os.ReadFile(h.path)
	h.check(err)
	if n := bytes.Count(content, []byte(erased)); n > 0 {
		t.Errorf("the contact is %d times in the file", n)
	}
}

// Holds docs/spec/15-storage.md, "Storage and scale": what is under way while a contact is
// erased finds nothing, fails as if another process had taken it over, and writes nothing
// about the contact again.
func TestEraseMeanwhile(t *testing.T) { onEach(t, testEraseMeanwhile) }

func testEraseMeanwhile(t *testing.T, h *house) {
	ctx := t.Context()
	running := h.live(erased)
	answering := h.say(key(erased, contact.Messenger))
	s := turn.Settlement{Turn: answering.Turn}
	s.Turn.Outcome, s.Turn.Path, s.Turn.Replies, s.Turn.SettledAt = conversation.Answered, conversation.Inline, []string{"hi"}, start
	h.check(h.Settle(ctx, s))
	rows, err := h.Claim(ctx, outbox.Claim{Owner: "worker", Now: start.Add(time.Hour), Room: map[outbox.Kind]int{outbox.Reply: 1, outbox.ContactToken: 1}})
	h.check(err)
	if len(rows) != 2 {
		t.Fatalf("%d rows in hand", len(rows))
	}
	words := h.words(erased)
	got, err := held.Erase(ctx, h.DB.DB, who(erased))
	h.check(err)
	if got.Outbox[outbox.Delivering] != 2 || got.Running != 2 {
		t.Errorf("Erase counts %+v", got)
	}

	s = turn.Settlement{Turn: running.Turn, Row: &outbox.Row{Payload: outbox.Payload{Texts: []string{"late"}}}}
	s.Turn.Outcome, s.Turn.Path, s.Turn.Replies = conversation.Answered, conversation.Outbox, []string{"late"}
	claim := action.Claim{ConversationID: running.Conversation.ID, TurnID: running.Turn.ID, Flow: "course"}
	delivery := token.Delivery{Who: rows[0].Key, Generation: 1}
	released := rows[1]
	released.Status, released.DeliveredAt = outbox.Delivered, start
	for name, c := range map[string]struct {
		err  func() error
		want error
	}{
		"settle": {func() error { return h.Settle(ctx, s) }, turn.ErrNotOwner},
		"note a flow": {func() error {
			return h.NoteFlow(ctx, turn.FlowNote{TurnID: running.Turn.ID, Owner: "process", Attempt: 1, Claim: claim, Actions: []action.Record{{Tool: action.SendFlow, ID: "course", Status: action.Sending}}})
		}, turn.ErrNotOwner},
		"stamp": {func() error {
			return h.Stamp(ctx, turn.Stamp{TurnID: answering.Turn.ID, ConversationID: answering.Conversation.ID, At: start})
		}, nil},
		"reroute":      {func() error { return h.Reroute(ctx, answering.Turn.ID, outbox.Row{}) }, turn.ErrNotOwner},
		"acted":        {func() error { return h.Acted(ctx, answering.Turn.ID, nil) }, turn.ErrNotOwner},
		"claim a flow": {func() error { return h.ClaimFlow(ctx, claim) }, action.ErrSent},
		"give it back": {func() error { return h.ReleaseFlow(ctx, claim) }, nil},
		"progress":     {func() error { return h.Progress(ctx, rows[0], start) }, outbox.ErrNotOwner},
		"release":      {func() error { return h.Release(ctx, released, nil) }, outbox.ErrNotOwner},
		"resolve": {func() error {
			return h.ResolveToken(ctx, token.Resolution{Who: delivery.Who, Hash: token.HashOf("x"), Result: token.Written, RowID: rows[1].ID})
		}, nil},
		"mint": {func() error {
			minted, err := h.MintToken(ctx, delivery, token.HashOf("x"))
			if minted != token.Void {
				t.Errorf("a token was minted: %s", minted)
			}
			return err
		}, nil},
	} {
		if err := c.err(); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s returns %v, want %v", name, err, c.want)
		}
	}
	if found := h.traces(words...); len(found) > 0 {
		t.Errorf("what was under way left traces in %v", found)
	}
	again := h.say(key(erased, contact.WhatsApp))
	if again.Binding != token.Bound || again.TokenRow == "" || len(again.History) > 0 || len(again.Recent) > 0 || len(again.Sent) > 0 || again.QueuedAhead {
		t.Errorf("the contact's next message starts from %+v", again)
	}
}

// Holds docs/spec/15-storage.md, "Storage and scale": export is a JSON of everything held.
// No table is forgotten, and no token's hash is in it.
func TestExport(t *testing.T) { onEach(t, testExport) }

func testExport(t *testing.T, h *house) {
	h.live(stays)
	h.live(erased)
	export, err := held.Export(t.Context(), h.DB.DB, who(erased))
	h.check(err)
	for table := range h.traces(h.words(erased)...) {
		if len(export[table]) == 0 {
			t.Errorf("the export lacks table %s", table)
		}
	}
	text, err := json.MarshalIndent(export, "", " ")
	h.check(err)
	for _, want := range []string{
		`"text": "words of 900000001"`, `"first_name": "Name900000001"`, `"text": "note about 900000001"`, `"last_error": "refused 900000001"`,
		`"flow": "opening"`, `"status": "withheld"`, `"channel": "instagram"`, `"tool": "write_note"`, `"received_at": "2026-03-02T09:00:00Z"`,
		`"madeAt": "2026-03-02T09:00:00Z"`, `"issued": "2026-03-02T09:00:00Z"`,
	} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the export lacks %s", want)
		}
	}
	for _, never := range []string{string(stays), hashed(erased), `"hash"`} {
		if bytes.Contains(text, []byte(never)) {
			t.Errorf("the export holds %s", never)
		}
	}
	if found := regexp.MustCompile(`"\w+": "[\[{].*`).Find(text); found != nil {
		t.Errorf("a column of JSON is shown as text: %s", found)
	}
	if nobody, err := held.Export(t.Context(), h.DB.DB, who("900000003")); err != nil || len(nobody) > 0 {
		t.Errorf("the export of nobody is %v, %v", nobody, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := held.Export(ended, h.DB.DB, who(erased)); err == nil {
		t.Error("an export that was interrupted succeeds")
	}
}

// Holds docs/spec/15-storage.md, "Storage and scale": a contact who goes on writing while they
// are erased, again and again, breaks nothing, and the last erase leaves nothing.
func TestEraseWhileWriting(t *testing.T) { onEach(t, testEraseWhileWriting) }

func testEraseWhileWriting(t *testing.T, h *house) {
	ctx := t.Context()
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for _, channel := range []contact.Channel{contact.WhatsApp, contact.Instagram, contact.Messenger, contact.Telegram} {
		writers.Go(func() {
			for round := 0; ; round++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := h.converse(ctx, key(erased, channel), fmt.Sprintf("%s-%d", channel, round)); err != nil {
					t.Errorf("while the contact is erased: %v", err)
					return
				}
			}
		})
	}
	for range 8 {
		if _, err := held.Erase(ctx, h.DB.DB, who(erased)); err != nil && !errors.Is(err, sqlitefile.ErrRemains) {
			t.Errorf("Erase: %v", err)
		}
	}
	close(stop)
	writers.Wait()
	_, err := held.Erase(ctx, h.DB.DB, who(erased))
	h.check(err)
	if found := h.traces(string(erased)); len(found) > 0 {
		t.Errorf("there are traces in %v", found)
	}
}

// converse has the contact write, queues the answer and delivers what is due, whatever an
// erase takes away in between.
func (h *house) converse(ctx context.Context, k contact.Key, name string) error {
	r, err := h.Record(ctx, turn.Arrival{
		TurnID: "turn-" + name, Key: k, Owner: "process", Text: "words of " + string(erased), ReceivedAt: start,
		Token: token.Request{Candidate: token.HashOf(name), Enforced: true},
	})
	if err != nil {
		return err
	}
	s := turn.Settlement{Turn: r.Turn, Row: &outbox.Row{Payload: outbox.Payload{Texts: []string{"reply"}}}}
	s.Turn.Outcome, s.Turn.Path, s.Turn.Replies, s.Turn.SettledAt = conversation.Answered, conversation.Outbox, []string{"reply"}, start
	if err := h.Settle(ctx, s); err != nil && !errors.Is(err, turn.ErrNotOwner) {
		return err
	}
	rows, err := h.Claim(ctx, outbox.Claim{Owner: name, Now: start.Add(time.Hour), Room: map[outbox.Kind]int{outbox.Reply: 2, outbox.ContactToken: 2}})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Kind == outbox.ContactToken {
			if _, err := h.MintToken(ctx, token.Delivery{Who: row.Key, Generation: row.Payload.Generation}, token.HashOf(name)); err != nil {
				return err
			}
		} else if err := h.Progress(ctx, row, start); err != nil && !errors.Is(err, outbox.ErrNotOwner) {
			return err
		}
		row.Status, row.DeliveredAt = outbox.Delivered, start
		if err := h.Release(ctx, row, nil); err != nil && !errors.Is(err, outbox.ErrNotOwner) {
			return err
		}
	}
	return nil
}
