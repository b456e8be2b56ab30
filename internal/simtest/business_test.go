package simtest

import (
	"fmt"
	"time"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// The names of the play's account at ManyChat.
const (
	replyField = "ai_message"
	tokenField = "ai_token"
	replyFlow  = "content20260101000000_900000"
	noticeTag  = "needs-a-person"
	secret     = "the-secret-between-the-play-and-its-service"
	apiToken   = "100000000000001:the-key-of-the-play"
	host       = "agent.example"
)

func flowNs(place int) string { return fmt.Sprintf("content20260101000000_%06d", place) }

// configure reads the environment of the play's processes. Beats and sweeps have paces that
// never coincide.
func configure(w *World) (config.Config, error) {
	return config.Load(config.Source{Mode: config.Serve, Environ: []string{
		"DATABASE_URL=sqlite:" + w.folder + "/agent.db", "AGENT_MODEL=mock:demo", "PUBLIC_BASE_URL=https://" + host,
		"MANYCHAT_SHARED_SECRET=" + secret, "MANYCHAT_API_TOKEN=" + apiToken, "MANYCHAT_REPLY_FLOW_NS=" + replyFlow,
		"PROCESS_LEASE_MS=13700", "OUTBOX_MAX_ATTEMPTS=6", "MANYCHAT_RPS_SCALE=100", "AGENT_MAX_OUTPUT_TOKENS=8000",
		fmt.Sprint("SHUTDOWN_GRACE_MS=", 3000+w.dice.below("grace", 9000)),
	}})
}

// furnish makes the business: the demo academy, with a tag, a flow and a value for each
// message of the play.
func furnish(w *World) (*tenant.Tenant, error) {
	business, err := tenant.Load(demo.FS(), tenant.Options{ID: w.config.Tenant.ID})
	if err != nil {
		return nil, err
	}
	business.Rules.Messages.Closer, business.Rules.BusinessHours, business.Rules.EscalationQuietMinutes = "", nil, 0
	business.Rules.MaxTurnsPerConversation = 1000
	if w.dice.chance("quiet", 0.2) {
		business.Rules.EscalationQuietMinutes = 1
	}
	if w.dice.chance("poor", 0.15) {
		business.Rules.Budget.DailyTokenCap = int64(40_000 + w.dice.below("poor", 200_000))
	}
	tools := &tenant.Tools{
		Fields: []tenant.Field{{ID: "choice", Field: "choice", Description: "What they chose."}},
		Notes: []tenant.Note{
			{ID: "summary", Field: "summary", MaxLength: 200, NeverRendered: true, Description: "What they want."},
			{ID: "handoff", Field: "handoff", MaxLength: 200, NeverRendered: true, Description: "Why a person is needed.", OnEscalation: true},
		},
	}
	for i := range places {
		settles := []float64{0, 0, 1.5, 6}
		tools.Tags = append(tools.Tags, tenant.Tag{ID: fmt.Sprintf("tag%02d", i), Tag: fmt.Sprintf("tag-%02d", i), Description: "About a message."})
		tools.Fields[0].Values = append(tools.Fields[0].Values, fmt.Sprintf("value%02d", i))
		tools.Flows = append(tools.Flows, tenant.Flow{
			ID: fmt.Sprintf("flow%02d", i), FlowNs: flowNs(i), Description: "About a message.",
			SettleSeconds: settles[w.dice.below("settles", len(settles))], Repeatable: w.dice.chance("repeatable", 0.5),
		})
	}
	tools.Nudge = w.delays()
	if w.dice.chance("sells", sellsIn) {
		sell(tools)
	}
	business.Tools = tools
	return business, nil
}

// openAccount makes the account, with all that the business names, and its contacts.
func openAccount(w *World) (*manychattest.Server, error) {
	account, err := manychattest.New(manychattest.Config{
		Channel: manychat.Channel(w.config.Tenant.Channel), Token: apiToken, Now: time.Now, Unlimited: true,
		Client: newClient(w), Hosts: map[string]string{host: "http://127.0.0.1:3000"},
		Entry: manychattest.Entry{
			URL: "https://" + host + inbound.ContactPath, FullContactData: true,
			Header: map[string]string{"Authorization": "Bearer " + secret, "Content-Type": "application/json"},
		},
	})
	if err != nil {
		return nil, err
	}
	for _, field := range []string{replyField, tokenField, "choice", "summary", "handoff"} {
		if _, err := account.DefineField(field, phone.Text); err != nil {
			return nil, err
		}
	}
	for i := range places {
		if _, err := account.DefineTag(fmt.Sprintf("tag-%02d", i)); err != nil {
			return nil, err
		}
		account.DefineFlow(manychattest.Flow{NS: flowNs(i), Name: fmt.Sprint("flow ", i), Steps: []manychattest.Step{{Text: fmt.Sprintf("A flow, number %02d.", i)}}})
	}
	if err := furnishSale(account); err != nil {
		return nil, err
	}
	if _, err := account.DefineTag(noticeTag); err != nil {
		return nil, err
	}
	account.DefineFlow(manychattest.Flow{NS: replyFlow, Name: "reply", Steps: []manychattest.Step{
		{Delay: w.dice.span("flow delay", time.Millisecond, 1500*time.Millisecond), Text: "{{" + replyField + "}}"},
	}})
	for i := range contacts {
		if _, err := account.AddContact(somebody(i)); err != nil {
			return nil, err
		}
	}
	return account, nil
}

// somebody is a contact whose profile holds everything that a profile can.
func somebody(i int) manychattest.Contact {
	return manychattest.Contact{
		ID: subscriber(i), FirstName: "Zerbinetta", LastName: "Quillfeather", Phone: fmt.Sprintf("+49 170 555019%d", i),
		WhatsAppPhone: fmt.Sprintf("49170555019%d", i), Email: fmt.Sprintf("zerbinetta%d@quillfeather.example", i),
	}
}
