package simtest

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// sellsIn is how many plays are of a business that sells.
const sellsIn = 0.4

// once are the flows that a contact gets once, whatever happens, with what they show.
func once() map[string]string {
	return map[string]string{
		"content20260202000000_000001": "This is the opening.", "content20260202000000_000002": "This is the tour.",
		"content20260202000000_000003": "Told that they choose.", "content20260202000000_000004": "Told that they pay.",
	}
}

const payLink = "content20260202000000_000005"

// sell makes the business sell: an opening, a flow of a stage, a link to pay and two events.
func sell(tools *tenant.Tools) {
	tools.Fields = append(tools.Fields,
		tenant.Field{ID: "intent", Field: "intent", Values: []string{"not_prospect", "prospect"}, Description: "Whether they want to buy.", Intent: true},
		tenant.Field{ID: "stage", Field: "stage", Values: []string{"new", "qualifying", "nurturing", "offered", "prepared", "link_sent"}, Description: "How far it is.", Funnel: true})
	tools.Flows = append(tools.Flows,
		tenant.Flow{ID: "hello", FlowNs: "content20260202000000_000001", Description: "Hello.", Role: tenant.RoleOpening, SettleSeconds: 1.5},
		tenant.Flow{ID: "tour", FlowNs: "content20260202000000_000002", Description: "The tour.", OnStage: contact.Nurturing},
		tenant.Flow{ID: "pay", FlowNs: payLink, Description: "The link to pay.", Role: tenant.RolePaymentLink})
	tools.Events = []tenant.Event{
		{ID: "chooses", Stage: contact.Nurturing, FlowNs: "content20260202000000_000003"}, {ID: "pays", Stage: contact.LinkSent, FlowNs: "content20260202000000_000004"},
	}
}

// furnishSale gives the account what that names.
func furnishSale(account *manychattest.Server) error {
	for _, field := range []string{"intent", "stage"} {
		if _, err := account.DefineField(field, phone.Text); err != nil {
			return err
		}
	}
	account.DefineFlow(manychattest.Flow{NS: payLink, Name: "pay", Steps: []manychattest.Step{{Text: "Pay here."}}})
	for ns, text := range once() {
		account.DefineFlow(manychattest.Flow{NS: ns, Name: text, Steps: []manychattest.Step{{Text: text}}})
	}
	return nil
}

// selling are the calls about the sale that begin a plan. They are drawn from a stream of their own.
func (w *World) selling(own string, try int) (calls []llm.ToolCall) {
	if w.business.Tools.IntentField() == nil {
		return nil
	}
	w.dice.fresh("sale "+own, func(r *rand.Rand) {
		add := func(chance float64, name, arguments string) {
			if r.Float64() < chance {
				id := fmt.Sprintf("call_t%d_sale_%d", try, len(calls))
				calls = append(calls, llm.ToolCall{ID: id, Name: name, Arguments: []byte(arguments)})
			}
		}
		add(0.7, "set_field", `{"field":"intent","value":"prospect"}`)
		for _, stage := range contact.FunnelStages()[1:5] {
			add(0.2, "set_field", fmt.Sprintf(`{"field":"stage","value":"%s"}`, stage))
		}
		add(0.25, "send_flow", `{"flow":"pay","contactAsked":true}`)
	})
	return calls
}

// saleRow is a turn's record, and what its conversation came to know of the contact.
type saleRow struct {
	contact int
	known   contact.Sale
	record  []action.Record
}

const selectSales = `
SELECT c.subscriber_id, c.intent, c.stage, coalesce(a.actions, '[]')
FROM turns a JOIN conversations c ON c.id = a.conversation_id
WHERE a.role = 'agent' ORDER BY a.conversation_id, a.seq`

func (r *records) sales() (all []saleRow) {
	err := each(context.Background(), r.w.db.Read(), selectSales, func(rows *sql.Rows) error {
		var s saleRow
		var id, record string
		if err := rows.Scan(&id, &s.known.Intent, &s.known.Stage, &record); err != nil {
			return err
		}
		s.contact = numberOf(id)
		err := json.Unmarshal([]byte(record), &s.record)
		all = append(all, s)
		return err
	})
	if err != nil {
		r.w.t.Fatal(err)
	}
	return all
}

// salesAddUp: what is known of a contact as a buyer is what their turns' records say was performed,
// whoever died meanwhile.
func salesAddUp(r *records) {
	var performed, known [contacts]contact.Sale
	for _, s := range r.sales() {
		known[s.contact] = s.known
		for _, e := range s.record {
			if e.Status == action.Performed {
				performed[s.contact] = performed[s.contact].Moved(e.Mark, e.Value)
			}
		}
	}
	for i := range contacts {
		if known[i] != performed[i] {
			r.w.violate("c%d is known as %+v, and what was performed makes them %+v", i, known[i], performed[i])
		}
	}
}

// linksAreFollowed: behind the first link to pay that a contact has, or may have, when it was performed stands
// the write of the last stage and its event; and what follows is performed only behind what was.
func linksAreFollowed(r *records) {
	var had [contacts]bool
	for _, s := range r.sales() {
		for place, e := range s.record {
			link := e.Tool == action.SendFlow && e.ID == "pay" && e.Status == action.Performed
			if link && !had[s.contact] {
				behind := s.record[place+1:]
				if len(behind) < 2 || behind[0].Value != string(contact.LinkSent) || behind[1].Tool != action.SendEvent {
					r.w.violate("behind a link that went out to c%d comes %+v", s.contact, behind)
				}
			}
			// A contact who may have the link is sent it again as such, without what followed.
			had[s.contact] = had[s.contact] || e.ID == "pay" && e.CountsAsSent()
			follows := e.Tool == action.SendEvent || e.Value == string(contact.LinkSent)
			if follows && e.Status == action.Performed && (place == 0 || s.record[place-1].Status != action.Performed) {
				r.w.violate("%s %s of c%d was performed behind %+v", e.Tool, e.ID, s.contact, s.record[:place])
			}
		}
	}
}

// onceIsOnce: no contact gets the opening, the flow of a stage or an event twice, unless ManyChat said
// that it did not take what it took.
func onceIsOnce(r *records) {
	for i := range contacts {
		for _, text := range once() {
			shown := len(slices.DeleteFunc(slices.Clone(r.bubbles[i]), func(b bubble) bool { return b.text != text }))
			if shown > 1 && !r.lies[i] {
				r.w.violate("c%d got %q %d times", i, text, shown)
			}
		}
	}
}
