package mock_test

import (
	"testing"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/tenant/tenanttest"
)

// academy is the demo tenant, in English.
func academy(t testing.TB) *tenant.Tenant {
	t.Helper()
	loaded, err := tenant.Load(demo.FS(), tenant.Options{ID: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// frontDesk is the academy without its sale.
func frontDesk(t testing.TB) *tenant.Tenant {
	desk := academy(t)
	for i := range desk.Tools.Fields {
		f := &desk.Tools.Fields[i]
		f.Intent, f.Funnel, f.Offering = false, false, false
	}
	for i := range desk.Tools.Flows {
		f := &desk.Tools.Flows[i]
		f.OnStage, f.Offering = "", ""
	}
	return desk
}

// repairs is a business of another trade in another language, Portuguese.
func repairs() *tenant.Tenant { return tenanttest.Repairs() }

// cleaners is a business in a third script: Greek, where a question ends in ";".
func cleaners() *tenant.Tenant {
	t := repairs()
	t.ID = "cleaners"
	t.Prompt = "Είσαι η υποδοχή του καθαριστηρίου. Απάντα στα ελληνικά.\nΚλείσε με: Να περάσουμε να το πάρουμε;"
	t.Catalog = tenant.Catalog{
		BusinessName: "Καθαριστήριο Αφρός",
		Currency:     "EUR",
		Offerings: []tenant.Offering{
			{ID: "coat", Name: "Καθαρισμός παλτού", Price: tenant.Money{Amount: 1250, Currency: "EUR"}, Schedule: "Έτοιμο σε δύο ημέρες.", Description: "Στεγνό καθάρισμα και σιδέρωμα."},
			{ID: "carpet", Name: "Πλύσιμο χαλιού", Price: tenant.Money{Amount: 3000, Currency: "EUR"}, Schedule: "Έτοιμο σε μία εβδομάδα.", Description: "Με παραλαβή από το σπίτι."},
		},
		FAQ: []tenant.Question{{Question: "Πού βρίσκεστε;", Answer: "Οδός Κυμάτων 5, δίπλα στο φαρμακείο."}},
	}
	t.Rules.Timezone = "Europe/Athens"
	return t
}

// music is a business whose offerings share most of their words.
func music() *tenant.Tenant {
	t := repairs()
	offering := func(id, name, description, schedule string, euros int64) tenant.Offering {
		return tenant.Offering{ID: id, Name: name, Description: description, Schedule: schedule, Price: tenant.Money{Amount: 100 * euros, Currency: "EUR"}}
	}
	t.ID = "music"
	t.Prompt = "You are the desk of a music school. Short and friendly."
	t.Catalog = tenant.Catalog{
		BusinessName: "Allegro Music School",
		Currency:     "EUR",
		Offerings: []tenant.Offering{
			offering("piano_c", "Piano Lessons for Children", "Ages 6 to 12, one to one.", "Mondays and Wednesdays, 15:00 to 18:00.", 30),
			offering("piano_a", "Piano Lessons for Adults", "From beginner to grade eight.", "Tuesdays, 18:00 to 21:00.", 42),
			offering("guitar_c", "Guitar Lessons for Children", "Small groups of four; guitars are provided.", "Saturdays, 10:00 to 13:00.", 18),
			offering("guitar_a", "Guitar Lessons for Adults", "Acoustic and electric.", "Thursdays, 18:00 to 21:00.", 36),
			offering("choir", "Choir", "No audition.", "Fridays, 19:30.", 9),
			offering("pass", "Yearly Pass", "All group classes for twelve months.", "", 390),
		},
		FAQ: []tenant.Question{
			{Question: "Do you rent instruments?", Answer: "Yes, pianos excepted, 12 EUR a month."},
			{Question: "Is there a trial lesson?", Answer: "Yes, 30 minutes, free of charge."},
			{Question: "What are your opening hours?", Answer: "Monday to Friday, 14:00 to 20:00."},
			{Question: "Where can I park?", Answer: "In the yard behind the house."},
		},
		PaymentOptions: []tenant.PaymentOption{
			{ID: "card", Description: "By card at the desk."},
			{ID: "order", Description: "By standing order, monthly."},
			{ID: "parts", Description: "In 3 instalments for the yearly pass."},
		},
	}
	t.Rules.Timezone = "Europe/Dublin"
	return t
}
