package mock

import (
	"slices"
	"strings"
)

// The cue lists recognise what a contact wants; nothing here is ever said. Cues are
// folded as messages are (no case, no accents), separated by commas; a star stands
// for any ending. English, Spanish, Portuguese, French, Italian, German, Greek.
const (
	greetingCues = `hello, hi, hey, hiya, good morning, good afternoon, good evening, hola, buenas, buenos dias,
		ola, oi, bom dia, boa tarde, boa noite, bonjour, bonsoir, salut, ciao, buongiorno, buonasera, hallo, moin,
		guten tag, guten morgen, how are you, como estas, que tal, tudo bem, tudo bom, ca va, come va, wie geht s, γεια*, καλημερα*, καλησπερα*`
	closerCues = `thanks, thank you, thx, ok, okay, great, perfect, bye, goodbye, gracias, vale, perfecto, genial, adios,
		obrigad*, valeu, perfeito, beleza, tchau, merci, parfait, au revoir, grazie, perfetto, danke*, super, tschuss,
		ευχαριστω*, ενταξει, τελεια, αντιο`
	priceCues = `price*, pricing, cost*, how much, fee, fees, rates, precio*, cuesta*, cuanto, cuanta, preco*, custa*,
		quanto, quanta, valor*, prix, tarif*, combien, coute*, prezzo, prezzi, costa*, preis*, kostet, kosten, wieviel,
		wie viel, τιμη, τιμες, κοστ*, ποσο, ποσα`
	scheduleCues = `when, what time, what day*, schedule*, timetable*, date, dates, opening hours, open, start, starts,
		cuando, horario*, fecha*, empieza*, abren, quando, data, datas, comeca*, abre*, abrem, quand, horaire*, orari*, inizia, wann, uhrzeit*,
		termin*, beginnt, ποτε, ωραρι*, ωρες, προγραμμα`
	durationCues = `how long, duration, cuanto tiempo, cuanto dura, quanto tempo, quanto dura, demora*, combien de temps,
		quanto ci vuole, wie lange, ποση ωρα, ποσο διαρκ*, ποσο κραταει, διαρκεια`
	paymentCues = `pay, paying, payment*, pagar, pago, pagos, pagamento*, payer, paiement*, pagare, zahl*, bezahl*, πληρω*`
	methodCues  = `card, cards, cash, transfer, paypal, tarjeta*, efectivo, transferencia, cartao, cartoes, dinheiro, pix,
		carte, especes, virement, contanti, bonifico, karte, bargeld, uberweis*, καρτα, καρτες, μετρητα`
	linkCues = `link, url, website, web, enrol*, sign up, register*, book, booking, enlace, inscri*, reserv*, site,
		lien, iscri*, prenot*, anmeld*, buch*, συνδεσμο*, εγγραφ*, κρατηση`
	listCues = `what do you, which courses, which services, what courses, what services, options, offer, catalog*, que ofrecen, que cursos, que servicios,
		que tienen, opciones, que servicos, oferecem, quais, o que voces, que proposez, quels, cosa offrite, quali, angebot*, was bietet,
		τι προσφερ*, τι εχετε, ποιες, ποια`
	discountCues = `discount*, cheaper, lower price, best price, half price, half the price, do it for, too expensive, so expensive, very expensive, bit expensive, haggle, bargain, promo, coupon*, deal, descuento*, rebaja*, mas barato,
		muy caro, oferta, promocion, cupon*, desconto*, mais barato, muito caro, metade do preco, faz por, mitad de precio, moitie prix, meta prezzo, halber preis, zum halben preis, μιση τιμη, promocao, cupom, remise*, reduction*, moins cher, trop cher, scont*, meno caro,
		rabatt*, billiger, gunstiger, zu teuer, εκπτωση, εκπτωσεις, φθηνοτερ*, φτηνοτερ*, πιο φθην*, πιο φτην*, πολυ ακριβ*`
	planCues = `installment*, instalment*, payment plan, pay monthly, cuota*, a plazos, plazos, parcel*, prestac*, mensualit*, echeanc*, en plusieurs fois, rate mensili,
		raten*, δοσεις, δοση`
	complaintCues = `refund*, money back, complain*, terrible, awful, scam*, fraud*, unacceptable, angry, furious, worst, disgust*, lawyer, dispute,
		charged twice, charged me twice, double charged, overcharged, rude, not happy, unhappy, disappointed, dissatisfied, not satisfied,
		cobrado duas vezes, cobrada duas vezes, cobraram duas vezes, cobraram a mais, mal educad*, grosseir*, insatisfeit*, nao estou satisfeit*, cobraron dos veces, maleducad*, insatisfech*,
		no estoy content*, decepcion*, pas content*, insoddisfatt*, maleducat*, unzufrieden, enttauscht, doppelt abgebucht, unfreundlich, δυσαρεστημεν*, απογοητευ*, αγενη*,
		reclam*, queja*, estafa*, devolucion, reembols*, pesimo, horrible, inaceptable, verguenza, abogado, pessim*, absurdo, vergonha, advogado, dinheiro de volta,
		rembours*, plainte, arnaque, inadmissible, rimborso, truffa, vergogna, beschwer*, betrug, erstatt*, unverschamt, geld zuruck,
		παραπον*, απαταδικ*, απατη, απαραδεκτ*, επιστροφη χρηματων, τα λεφτα μου, χαλια`
	personCues = `human, real person, someone real, operator, representative, speak to, speak with, talk to, talk with, call me, hablar con, asesor*, humano, persona real,
		llamenme, falar com, atendente, pessoa de verdade, humana, parler a, parler avec, un conseiller, humain, parlare con, operatore,
		sprechen, mitarbeiter*, mensch, μιλησω, ανθρωπο, υπαλληλο, εκπροσωπο, συμβουλο`
	paidCues = `i paid, i have paid, i ve paid, i already paid, already paid, just paid, have just paid, sent the payment, payment sent, made the payment, made the transfer,
		sent the transfer, sent you the transfer, sent the money, sent you the money, i transferred, i have transferred, i ve transferred, just transferred,
		transferred the money, payment done, payment is done, payment made, payment complete*, made payment, i payed, pago hecho, pago realizado, transferencia hecha,
		pagamento feito, pagamento realizado, pagamento efetuado, transferencia feita, fiz pagamento, enviei o pagamento, paiement effectue, paiement fait,
		pagamento fatto, pagamento effettuato, zahlung erledigt, εκανα τη μεταφορα, η πληρωμη εγινε,
		here is the receipt, my receipt, ya pague, he pagado, acabo de pagar, ya transferi, hice la transferencia, hice el pago, comprobante, ja paguei, paguei, fiz o pagamento, fiz o pix,
		fiz a transferencia, comprovante, j ai paye, viens de payer, mon recu, ho pagato, ho gia pagato, ricevuta, habe bezahlt, habe uberwiesen, habe schon bezahlt,
		πληρωσα, εχω πληρωσει, εκανα την πληρωμη, εκανα καταθεση, αποδειξη μου`
	// These report a payment only as a whole message.
	paidAloneCues = `paid, all paid, paid now, payed, transferred, pagado, pagato, bezahlt, paye, pague`
	// A question for a human is none for a person to write.
	botCues = `are you human, are you a human, are you a person, are you a real person, are you real, is this a human, is this a real person,
		talking to a human, talking to a real person, speaking to a human, speaking with a real person, eres human*, eres una persona real, eres una persona,
		voce e human*, voce e uma pessoa de verdade, voce e uma pessoa, es tu humain*, etes vous humain*, sei uman*, bist du ein mensch, sind sie ein mensch, εισαι ανθρωπος,
		bot, robot, a machine, an ai, chatbot, una maquina, uma maquina, una ia, uma ia, une machine, una macchina, eine maschine, eine ki, ρομποτ`
	fillerCues = `possible, posible, possivel, moglich, accept*, acepta*, aceita*, accetta*, δεχεστε, κανει, κανετε, list, other, others, what, does, your, have, that, this, they, want, need, know, tell, give, like, with, from, much, many, please, could, would, about, there, where, which, these, those, think, wanted, looking, interested, information, como, para, esta, este, esse, essa, hace, pode, qual, quem, seus, suas, votre, avec, pour, wird, eine, sind, haben, quiero, quisiera,
		favor, saber, puedo, podria, tienen, tengo, informacion, interesa, sobre, gostaria, queria, poderia, voce, voces, tenho, quero, informacao, informacoes,
		voudrais, pouvez, vorrei, potete, informazioni, mochte, wurde, konnen, konnten, bitte, θελω, θελα, ηθελα, μπορω, μπορειτε, παρακαλω, πληροφοριες`
)

// cues are the lists above, split once.
type cues struct {
	greeting, closer, price, schedule, duration, payment, method, link, list []string
	discount, plan, complaint, person, paid, paidAlone, bot                  []string

	// vocabulary holds the words that tell what is asked, not what it is asked of.
	vocabulary vocabulary
}

func readCues() cues {
	c := cues{
		greeting: split(greetingCues), closer: split(closerCues), price: split(priceCues),
		schedule: split(scheduleCues), duration: split(durationCues), payment: split(paymentCues),
		method: split(methodCues), link: split(linkCues), list: split(listCues),
		discount: split(discountCues), plan: split(planCues), complaint: split(complaintCues),
		person: split(personCues), paid: split(paidCues), paidAlone: split(paidAloneCues), bot: split(botCues),
	}
	c.vocabulary = newVocabulary(c.greeting, c.closer, c.price, c.schedule, c.duration, c.payment,
		c.method, c.link, c.list, split(fillerCues))
	return c
}

// vocabulary is every word of some cues.
type vocabulary struct {
	words map[string]bool
	stems []string // beginnings of words
}

func newVocabulary(lists ...[]string) vocabulary {
	v := vocabulary{words: map[string]bool{}}
	for _, cue := range slices.Concat(lists...) {
		if !strings.HasSuffix(cue, " ") {
			v.stems = append(v.stems, cue[1:])
			continue
		}
		for word := range strings.FieldsSeq(cue) {
			v.words[word] = true
		}
	}
	return v
}

func (v vocabulary) has(word string) bool {
	return v.words[word] || slices.ContainsFunc(v.stems, func(stem string) bool { return strings.HasPrefix(word, stem) })
}

// split turns a list into the strings that a padded message is searched for.
func split(list string) []string {
	var out []string
	for cue := range strings.SplitSeq(list, ",") {
		cue = " " + strings.ReplaceAll(strings.TrimSpace(cue), "ς", "σ") + " "
		if stem, open := strings.CutSuffix(cue, "* "); open {
			cue = stem
		}
		out = append(out, cue)
	}
	return out
}

// has reports whether a padded message (one space round every word) holds any cue.
func has(padded string, cues []string) bool {
	for _, cue := range cues {
		if strings.Contains(padded, cue) {
			return true
		}
	}
	return false
}

// only reports whether a padded message holds a cue, and at most spare words beside.
func only(padded string, cues []string, spare int) bool {
	return has(padded, cues) && len(strings.Fields(without(padded, cues))) <= spare
}

// without takes the cues out of a padded message; a stem goes with its ending.
func without(padded string, cues []string) string {
	for _, cue := range cues {
		for strings.Contains(padded, cue) {
			before, after, _ := strings.Cut(padded, cue)
			if !strings.HasSuffix(cue, " ") {
				_, after, _ = strings.Cut(after, " ")
			}
			padded = before + " " + after
		}
	}
	return padded
}
