package mock_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// trade is a business that the mock was not written for, and what people ask it.
type trade struct {
	name     string
	catalog  tenant.Catalog
	price    string // asks what the first offering costs
	schedule string // asks when the second takes place
	list     string // asks what there is
	payment  string // asks for the first payment option alone
	unknown  string // asks for what the catalog does not hold
	next     string // names the second offering alone
	much     string // asks how much it is, without naming it
}

func offering(id, name, description, schedule string) tenant.Offering {
	return tenant.Offering{ID: id, Name: name, Description: description, Schedule: schedule}
}

func ways(descriptions ...string) []tenant.PaymentOption {
	var out []tenant.PaymentOption
	for i, d := range descriptions {
		out = append(out, tenant.PaymentOption{ID: string(rune('a' + i)), Description: d})
	}
	return out
}

func trades() []trade {
	return []trade{
		{"dentist, Spanish", tenant.Catalog{
			BusinessName: "Clínica Dental Almendro",
			Offerings: []tenant.Offering{
				offering("limpieza", "Limpieza dental", "Ultrasonidos y pulido, unos 40 minutos.", "De lunes a viernes, de 9:00 a 14:00."),
				offering("blanqueo", "Blanqueamiento", "Con férulas a medida y luz fría.", "Martes por la tarde, con cita."),
				offering("empaste", "Empaste", "Composite del color del diente.", "Jueves, de 10:00 a 18:00."),
			},
			FAQ:            []tenant.Question{{Question: "¿Dónde está la clínica?", Answer: "Calle del Olmo, 8, primer piso."}},
			PaymentOptions: ways("Con tarjeta en recepción.", "En efectivo al terminar."),
		}, "Hola, ¿cuánto cuesta una limpieza?", "¿Qué días hacen el blanqueamiento?", "¿Qué servicios ofrecen?", "¿Aceptan tarjeta?", "¿Hacen ortodoncia?", "¿y el blanqueamiento?", "¿y cuánto vale?"},
		{"gym, Portuguese", tenant.Catalog{
			BusinessName: "Ginásio Maré",
			Offerings: []tenant.Offering{
				offering("mensal", "Passe mensal", "Acesso à sala e às aulas.", "Todos os dias, das 7h às 22h."),
				offering("natacao", "Aula de natação", "Piscina aquecida, grupos pequenos.", "Terças e quintas, às 19h."),
			},
			PaymentOptions: ways("Transferência até ao dia 5.", "Cartão na receção."),
		}, "quanto custa o passe?", "qual o horário da natação?", "o que vocês oferecem?", "posso pagar por transferência?", "vocês têm sauna?", "e a natação?", "quanto é?"},
		{"bakery, French", tenant.Catalog{
			BusinessName: "Boulangerie du Pont",
			Offerings: []tenant.Offering{
				offering("miche", "Miche au levain", "Farine de meule, cuite au feu de bois.", "Tous les matins dès 7 h."),
				offering("tarte", "Tarte aux pommes", "Pour six personnes, pâte au beurre.", "Le samedi et le dimanche."),
				offering("brioche", "Brioche tressée", "Œufs de la ferme.", "Le vendredi."),
			},
			PaymentOptions: ways("En espèces au comptoir.", "Par carte dès 5 unités."),
		}, "Bonjour, combien coûte la miche ?", "quels jours avez-vous la tarte aux pommes ?", "qu'est-ce que vous proposez ?", "je peux payer en espèces ?", "vous faites des sandwichs ?", "et la tarte aux pommes ?", "c'est combien ?"},
		{"car rental, German", tenant.Catalog{
			BusinessName: "Autoverleih Nordlicht",
			Offerings: []tenant.Offering{
				offering("klein", "Kleinwagen", "Fünf Türen, Schaltgetriebe, ein Tag.", "Täglich von 8 bis 20 Uhr."),
				offering("bus", "Kleinbus", "Neun Sitze, Dieselmotor.", "Nur von Freitag bis Montag."),
			},
			PaymentOptions: ways("Mit Kreditkarte bei der Abholung.", "Per Überweisung drei Tage vorher."),
		}, "Was kostet der Kleinwagen?", "Wann gibt es den Kleinbus?", "Was bieten Sie an?", "Kann ich mit Karte zahlen?", "Haben Sie auch Motorräder?", "und der Kleinbus?", "Wie viel kostet das?"},
		{"hotel, Italian", tenant.Catalog{
			BusinessName: "Albergo Tre Pini",
			Offerings: []tenant.Offering{
				offering("singola", "Camera singola", "Vista sul giardino, bagno con doccia.", "Arrivo dalle 14:00."),
				offering("doppia", "Camera doppia", "Balcone e vista sul lago.", "Arrivo dalle 15:00, partenza entro le 10:30."),
			},
			PaymentOptions: ways("Bonifico alla prenotazione.", "Contanti all'arrivo."),
		}, "Buongiorno, quanto costa la singola?", "che orari ha la camera doppia?", "cosa offrite?", "posso pagare con bonifico?", "avete la piscina?", "e la doppia?", "quanto costa?"},
		{"law office, Greek", tenant.Catalog{
			BusinessName: "Δικηγορικό Γραφείο Ελάτη",
			Offerings: []tenant.Offering{
				offering("gnomi", "Νομική γνωμοδότηση", "Γραπτή απάντηση σε ένα ερώτημα.", "Σε πέντε εργάσιμες ημέρες."),
				offering("simvolaio", "Σύνταξη συμβολαίου", "Μίσθωση ή αγορά ακινήτου.", "Δευτέρα και Τετάρτη, 10:00 έως 16:00."),
			},
			PaymentOptions: ways("Με κάρτα στο γραφείο.", "Με μετρητά."),
		}, "Καλημέρα, πόσο κοστίζει η γνωμοδότηση;", "πότε γίνεται η σύνταξη συμβολαίου;", "τι υπηρεσίες έχετε;", "δέχεστε κάρτα;", "αναλαμβάνετε διαζύγια;", "και η σύνταξη συμβολαίου;", "πόσο κάνει;"},
	}
}

// Holds docs/spec/04-agent.md, "The mock": it answers from the CATALOG in any tenant's
// words, whatever the trade, the language and the amounts.
func TestDeskOfAnyTrade(t *testing.T) {
	for _, tt := range trades() {
		t.Run(tt.name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				tn := repairs()
				tn.ID, tn.Prompt, tn.Catalog = "trade", "Short and friendly.", tt.catalog
				tn.Catalog.Currency = tenant.Currency(rapid.SampledFrom([]string{"EUR", "BRL", "MXN", "JPY"}).Draw(r, "currency"))
				tn.Catalog.Offerings = append([]tenant.Offering(nil), tt.catalog.Offerings...)
				var list []string
				for i := range tn.Catalog.Offerings {
					o := &tn.Catalog.Offerings[i]
					o.Price = tenant.Money{Amount: rapid.Int64Range(1, 10_000_000).Draw(r, "price"), Currency: tn.Catalog.Currency}
					list = append(list, o.Name+": "+priceLabel(t, tn, i))
				}
				c, second := newChat(t, tn), tn.Catalog.Offerings[1]
				for _, ask := range []struct{ text, want string }{
					{tt.price, list[0]},
					{tt.schedule, second.Name + ": " + second.Schedule},
					{tt.list, strings.Join(list, "\n")},
					{tt.payment, tt.catalog.PaymentOptions[0].Description},
					{tt.unknown, ""},
				} {
					c.history = nil
					v := c.says(t, ask.text)
					checkSource(t, tn, ask.text, v)
					switch got := strings.Join(v.Messages, "\n"); {
					case ask.want == "" && v.Reason != conversation.OutOfScope:
						r.Errorf("%q: reason %q, want out_of_scope (%q)", ask.text, v.Reason, got)
					case ask.want != "" && got != ask.want:
						r.Errorf("%q: %s %q, want %q", ask.text, v.Reason, got, ask.want)
					}
				}
			})
		})
	}
}

// Holds docs/spec/04-agent.md, "The mock": it reads the history as a real model does.
func TestAnyTradeCarriesContext(t *testing.T) {
	for _, tt := range trades() {
		t.Run(tt.name, func(t *testing.T) {
			tn := repairs()
			tn.Catalog, tn.Catalog.Currency = tt.catalog, "EUR"
			for i := range tn.Catalog.Offerings {
				tn.Catalog.Offerings[i].Price = tenant.Money{Amount: int64(1100 * (i + 1)), Currency: "EUR"}
			}
			c, second := newChat(t, tn), tn.Catalog.Offerings[1].Name
			for _, text := range []string{tt.price, tt.next, tt.unknown, tt.much} {
				v := c.says(t, text)
				checkSource(t, tn, text, v)
				got := strings.Join(v.Messages, "\n")
				if (text == tt.next || text == tt.much) && (!strings.Contains(got, second) || !strings.Contains(got, "22 EUR") || strings.Contains(got, "11 EUR")) {
					t.Errorf("%q: %q does not quote %s alone", text, got, second)
				}
			}
		})
	}
}

// priceLabel is the price of an offering as the prompt has it.
func priceLabel(t *testing.T, tn *tenant.Tenant, i int) string {
	t.Helper()
	label, _, _ := strings.Cut(strings.Split(stated(tn), "\nPrice: ")[i+1], "\n")
	return label
}
