package store_test
import ("testing";"time";"path/filepath";"github.com/manychat-agent/manychat-agent/internal/store")
func TestZZ(t *testing.T){
 path := filepath.Join(t.TempDir(), "agent.db")
 open(t, store.Options{URL: "sqlite:" + path, Now: time.Now})
 ex := rawExec(t, path)
 for _, q := range []string{"`UPDATE turns SET pending = '[]' WHERE id = 'turn-000001'"[1:],
 `INSERT INTO flow_sends (conversation_id, flow, turn_id) SELECT id, 'f', 't' FROM conversations`,
 `INSERT INTO flow_sends (conversation_id, flow, turn_id, sent_at) SELECT id, '', 't', 1 FROM conversations`,
`INSERT INTO flow_sends (conversation_id, flow, turn_id, sent_at) SELECT id, 'f', 't', n FROM conversations, (SELECT 1 AS n UNION SELECT 2)`,
`INSERT INTO flow_sends (conversation_id, flow, turn_id, sent_at) SELECT id, 'f', 't', 1 FROM conversations`} { t.Log(q, ex(q)) }
}
