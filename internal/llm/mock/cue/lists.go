package cue

// The cue lists recognise what a contact wants; nothing here is ever said, and nothing
// is of a trade. Cues are folded as messages are (no case, no accents), separated by
// commas; a star stands for any ending. English, Spanish, Portuguese, French, Italian,
// German, Greek.
const (
	greetingCues = `hello, hi, hey, hiya, good morning, good afternoon, good evening, hola, buenas, buenos dias,
		ola, oi, bom dia, boa tarde, boa noite, bonjour, bonsoir, salut, ciao, salve, buongiorno, buonasera, hallo, moin,
		guten tag, guten morgen, guten abend, how are you, como estas, que tal, tudo bem, tudo bom, ca va, come va, wie geht s, γεια*, καλημερα*, καλησπερα*`
	closerCues = `thanks, thank you, thx, ok, okay, great, perfect, bye, goodbye, see you, gracias, vale, perfecto, genial, adios, hasta luego,
		obrigad*, obg, valeu, vlw, perfeito, beleza, tchau, ate logo, ta bom, merci, parfait, d accord, au revoir, grazie, perfetto, arrivederci,
		danke*, super, tschuss, auf wiedersehen, ευχαριστω*, ενταξει, τελεια, αντιο`
	priceCues = `price*, pricing, cost*, how much, fee, fees, rates, precio*, cuesta*, cuanto, cuanta, cuanto vale, preco*, custa*,
		quanto, quanta, valor*, prix, tarif*, combien, coute*, prezzo, prezzi, costa*, preis*, kostet, kosten, wieviel,
		wie viel, τιμη, τιμες, κοστ*, στοιχιζ*, ποσο, ποσα`
	// How many: no question for a price.
	countCues = `combien de, combien d`
	// What asks for all prices, whatever the conversation was about.
	allCues      = `prices, fees, rates, price list, cheapest, both, everything, precios, los dos, las dos, precos, as duas, os dois, tarifs, les deux, prezzi, preise, beide, τιμες, και τα δυο`
	scheduleCues = `when, what time, what day*, which day*, schedule*, timetable*, date, dates, start, starts,
		cuando, a que hora, que dia*, horario*, fecha*, empieza*, quando, que horas, quais dias, data, datas, comeca*, quand, quelle heure, quels jours, horaire*,
		orari*, che ora, che giorn*, inizia, wann, uhrzeit*, termin*, beginnt, welchen tag*, ποτε, ωραρι*, ωρες, τι ωρα, ποιες μερες, προγραμμα`
	openingCues = `opening hours, open, opens, close, closes, closing time, abre, abren, abierto*, cierra, cierran, abrem, aberto*, fecham,
		ouvert*, ouvrez, ouvre, fermez, ferme, apert*, aprite, apre, chiudete, chiude, geoffnet, offnet, offnen, offnungszeit*, schliesst, horario de atencion, horario de funcionamento, horaires d ouverture, orari di apertura, ανοιγετε, ανοιχτα, ανοιχτοι, κλεινετε`
	durationCues = `how long, how many hours, how many days, duration, cuanto tiempo, cuanto dura, cuantas horas, quanto tempo, quanto dura, quantas horas, demora*,
		combien de temps, combien d heures, dure, duree, quanto ci vuole, quante ore, durata, wie lange, wie viele stunden, wieviel zeit, dauer*,
		ποση ωρα, ποσες ωρες, ποσο διαρκ*, ποσο κραταει, διαρκεια`
	locationCues = `where, address, location, located, directions, donde, direccion, ubicacion, onde, endereco, localizacao, ou est, ou etes, ou se, ou vous,
		adresse, dove, indirizzo, wo, standort, anschrift, που, διευθυνση`
	// What a question of the FAQ begins with that is about doing something.
	doingCues   = `can i, can we, do i, should i, puedo, podemos, posso, podemos, je peux, puis je, on peut, possiamo, kann ich, konnen wir, kann man, μπορω, μπορουμε`
	paymentCues = `pay, paying, payment*, pagar, pago, pagos, pagamento*, payer, paiement*, pagare, zahl*, bezahl*, πληρω*`
	// Ways to pay, a line each: every word of a line means the same.
	methodCues = `card, cards, credit card, debit card, tarjeta*, cartao, cartoes, carte, cartes, carta, carte di credito, karte, kreditkarte, ec karte, καρτα, καρτες
		cash, efectivo, en metalico, dinheiro, especes, en liquide, contanti, in bar, bar zahlen, bar bezahlen, bargeld, μετρητα
		transfer, bank transfer, wire, transferencia*, virement*, bonific*, uberweis*, εμβασμα, μεταφορα
		pix
		paypal
		bizum
		cheque*, assegn*, scheck, επιταγη
		invoice, factura*, fatura, facture, fattura, rechnung, τιμολογιο`
	linkCues = `link, url, website, web, enrol*, sign up, register*, book, booking, enlace, inscri*, reserv*, site,
		lien, iscri*, prenot*, anmeld*, buch*, συνδεσμο*, εγγραφ*, κρατηση`
	listCues = `what do you, do you have, do you offer, do you do, do you sell, you offer, options, offer, offers, catalog*, service, services, product*, cheapest, ofrece*, servicio*, producto*, tienen, teneis, que hacen, opciones,
		oferece*, servico*, produto*, quais, o que voces, voces tem, que tem, tem, propose*, proposez, produit*, quels, quelles, qu est ce que vous, avez vous, vous avez quoi, offrite, servizi*, prodott*, quali, avete, cosa fate,
		angebot*, leistung*, produkt*, bieten sie, bietet, haben sie, προσφερ*, υπηρεσι*, προιον*, εχετε, τι κανετε, ποιες, ποια, ποιους`
	discountCues = `discount*, cheaper, lower price, best price, half price, half the price, do it for, get it for, have it for, give it to me for, let me have, too expensive, so expensive, very expensive, bit expensive, haggle, bargain, promo, coupon*, deal, descuento*, rebaja*, mas barato,
		muy caro, es caro, esta caro, ta caro, e caro, c est cher, tres cher, ist teuer, sehr teuer, oferta, promocion, cupon*, desconto*, mais barato, muito caro, metade do preco, faz por, deixa por, me lo deja*, vous me le faites, me lo fai, machen sie es fur, machst du es fur, mitad de precio, moitie prix, meta prezzo, halber preis, zum halben preis, μιση τιμη, promocao, cupom, remise*, reduction*, moins cher, trop cher, scont*, meno caro, troppo caro,
		rabatt*, billiger, gunstiger, zu teuer, εκπτωση, εκπτωσεις, φθηνοτερ*, φτηνοτερ*, πιο φθην*, πιο φτην*, πολυ ακριβ*`
	// What tells a comparison of several offerings, and a haggle without them.
	compareCues = `cheaper, mas barat*, mais barat*, moins cher*, meno car*, gunstiger, billiger, φθηνοτερ*, φτηνοτερ*, πιο φθην*, πιο φτην*`
	planCues    = `installment*, instalment*, payment plan, pay monthly, cuota*, a plazos, plazos, parcel*, prestac*, mensualit*, echeanc*, en plusieurs fois, rate mensili, a rate,
		raten*, δοσεις, δοση`
	complaintCues = `refund*, money back, complain*, terrible, awful, scam*, fraud*, unacceptable, angry, furious, worst, disgust*, lawyer, dispute,
		charged twice, charged me twice, double charged, overcharged, rude, not happy, unhappy, disappointed, dissatisfied, not satisfied, did not like, didn t like, no me gusto, nao gostei,
		cobrado duas vezes, cobrada duas vezes, cobraram duas vezes, cobraram a mais, mal educad*, grosseir*, insatisfeit*, nao estou satisfeit*, cobraron dos veces, maleducad*, insatisfech*,
		no estoy content*, decepcion*, pas content*, insoddisfatt*, maleducat*, unzufrieden, enttauscht, doppelt abgebucht, unfreundlich, δυσαρεστημεν*, απογοητευ*, αγενη*,
		reclam*, queja*, estafa*, devolucion, reembols*, pesimo, horrible, inaceptable, verguenza, abogado, pessim*, absurdo, vergonha, advogado, dinheiro de volta,
		rembours*, plainte, arnaque, inadmissible, rimborso, truffa, vergogna, beschwer*, betrug, erstatt*, unverschamt, geld zuruck,
		παραπον*, απαταδικ*, απατη, απαραδεκτ*, επιστροφη χρηματων, τα λεφτα μου, χαλια`
	personCues = `human, real person, someone real, operator, representative, speak to, speak with, talk to, talk with, call me, llamame, me liga, me ligue, hablar con, asesor*, humano, persona real,
		llamenme, falar com, atendente, pessoa de verdade, humana, parler a, parler avec, un conseiller, humain, parlare con, operatore,
		sprechen, mitarbeiter*, mensch, μιλησω, ανθρωπο, υπαλληλο, εκπροσωπο, συμβουλο`
	// What asks for another offering than the one that was offered.
	changeCues = `switch to, change to, move to, swap, change my, cambiar a, cambiarme a, cambiar al, mudar para, passar para, passer a, passer au, changer pour,
		cambiare con, passare a, wechseln, να αλλαξω, αλλαγη σε`
	paidCues = `i paid, i have paid, i ve paid, i already paid, already paid, just paid, have just paid, sent the payment, payment sent, made the payment, made the transfer,
		sent the transfer, sent you the transfer, sent the money, sent you the money, i transferred, i have transferred, i ve transferred, just transferred,
		transferred the money, transfer done, transfer made, transfer sent, transfer is done, payment done, payment is done, payment made, payment complete*, made payment, i payed, pago hecho, pago realizado, transferencia hecha,
		pagamento feito, pagamento realizado, pagamento efetuado, transferencia feita, fiz pagamento, enviei o pagamento, paiement effectue, paiement fait,
		pagamento fatto, pagamento effettuato, zahlung erledigt, εκανα τη μεταφορα, η πληρωμη εγινε,
		here is the receipt, my receipt, ya pague, he pagado, acabo de pagar, ya transferi, hice la transferencia, hice el pago, comprobante, ja paguei, paguei, fiz o pagamento, fiz o pix,
		fiz a transferencia, comprovante, j ai paye, viens de payer, mon recu, ho pagato, ho gia pagato, ricevuta, habe bezahlt, habe uberwiesen, habe schon bezahlt, habe schon uberwiesen, schon bezahlt, schon uberwiesen,
		πληρωσα, εχω πληρωσει, εκανα την πληρωμη, εκανα καταθεση, αποδειξη μου`
	// These report a payment only as a whole message.
	paidAloneCues = `paid, all paid, paid now, payed, transferred, pagado, pagato, bezahlt, paye, pague`
	// A question for a human is none for a person to write.
	botCues = `are you human, are you a human, are you a person, are you a real person, are you real, is this a human, is this a real person,
		talking to a human, talking to a real person, speaking to a human, speaking with a real person, eres human*, eres una persona real, eres una persona,
		voce e human*, voce e uma pessoa de verdade, voce e uma pessoa, es tu humain*, etes vous humain*, sei uman*, bist du ein mensch, sind sie ein mensch, εισαι ανθρωπος,
		who are you, quien eres, quem e voce, qui etes vous, chi sei, wer bist du, wer sind sie, ποιος εισαι,
		bot, robot, robo, roboter, a machine, an ai, chatbot, una maquina, uma maquina, una ia, uma ia, une machine, una macchina, eine maschine, eine ki, ρομποτ`
	// Questions about what the conversation is about, whatever word they go on with.
	pronounCues = `is it, is that, is this, does it, does that, can it, es para, e para, serve para, sirve para, est ce que c est, c est pour, e adatto, e per, ist das, ist es, ειναι για`
)

// fillerCues are words that tell nothing of what is asked for.
const fillerCues = `a, an, the, and, or, but, not, any, some, one, ones, it, its, you, your, yours, me, my, we, our, us, am, is, are, was, be, do, does, did, has, have, had, can, could, may, will, would, should,
	in, on, at, of, to, for, from, by, with, about, into, if, so, too, also, all, each, every, just, how, what, who, why, which, where, this, that, these, those, there, here, then, now, again,
	possible, accept*, list, other, others, another, want, wanted, need, know, tell, give, send, show, get, like, rather, much, many, more, please, think, looking, interested, information, question, questions,
	something, anything, thing, everything, someone, next, available, maybe, actually, really, well, fine, sounds, nice, cool, hmm, long, ask, see, take, last, time, both, lot, very, good,
	el, la, los, las, un, una, unos, unas, y, o, de, del, al, en, por, para, con, sin, que, como, cual, cuales, es, son, esta, este, esto, estan, estas, hay, hace, hacen, tiene, tienen, tengo, quiero, quisiera,
	me, te, se, lo, le, les, su, sus, mi, mis, tu, muy, mas, posible, acepta*, favor, saber, puedo, puede*, podria*, informacion, interesa, sobre, mandas, mandar, enviar, envias, muchas, mucho, cada, hoy, algo, otro*, tambien,
	os, as, um, uma, uns, umas, e, ou, do, da, dos, das, no, na, nos, nas, ao, com, sem, mais, qual, quem, esse, essa, isso, ele, ela, pode, posso, podem, possivel, gostaria, queria, poderia, voce, voces, vcs, vc, tem, tenho, quero, preciso,
	informacao, informacoes, aceita*, seus, suas, seu, sua, meu, minha, fica, ficam, faz, fazem, fazer, leva, levam, sai, manda, mandar, mande, muito, hoje, tambem, gente,
	le, les, des, du, et, au, aux, dans, sur, pour, par, avec, sans, ce, ca, c, est, sont, on, il, elle, nous, vous, votre, vos, je, j, ai, moi, mon, ma, mes, peut, peux, pouvez, puis, voudrais, veux, avez, prenez, faites, fait, quel, quelle, jour, jours, plus, aussi, beaucoup, ,
	il, lo, gli, uno, di, del, dello, della, dei, delle, da, nel, nella, su, per, tra, che, chi, cosa, si, mi, ci, vi, ho, ha, avete, fate, sono, posso, puo, potete, vorrei, informazioni, accetta*, accettate, vostr*, molto, anche,
	der, die, das, den, dem, ein, eine, einen, einer, und, oder, fur, mit, von, vom, zu, zum, zur, im, am, auf, bei, ist, sind, wird, wie, was, wer, wo, welche*, ich, wir, sie, ihr, ihre, mir, es, man, kann, konnen, konnten, mochte, wurde, haben, hat, habe, habt, nehmt, gibt, bitte, mich, nehmen, auch, noch, sehr, moglich, akzeptier*,
	ο, η, το, οι, τα, τον, την, του, της, των, στο, στη, στην, στον, σε, με, για, απο, και, ή, να, θα, δεν, ειναι, εχω, εχετε, εχει, κανει, κανετε, τι, πως, ποιος, ποιο, μου, μας, σας, σου, ενα, μια, εναν, θελω, θελα, ηθελα, μπορω, μπορειτε, δεχεστε, παρακαλω, πληροφοριες, υπαρχει, υπαρχουν`
