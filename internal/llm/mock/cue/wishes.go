package cue

// Wish is something that a contact may want besides an answer.
type Wish struct {
	Asked []string // what a contact says who wants it
	Kept  []string // what, besides, a description of the thing says
	Facts []string // what, besides, a question of the FAQ says that answers in its place
}

// Holds reports whether a padded description is of what fulfils the wish.
func (w *Wish) Holds(padded string) bool { return Has(padded, w.Asked) || Has(padded, w.Kept) }

// Answers reports whether a padded question of the FAQ is about the wish.
func (w *Wish) Answers(padded string) bool { return Has(padded, w.Asked) || Has(padded, w.Facts) }

// readWishes splits the lists of the wishes that things may fulfil.
func readWishes() []Wish {
	return []Wish{
		{Asked: split(payAskedCues), Kept: split(payKeptCues)},
		{Asked: split(readingCues)},
		{Asked: split(routeCues), Kept: split(routeKeptCues), Facts: split(locationCues)},
		{Asked: split(pictureCues)},
		{Asked: split(filmCues)},
		{Asked: split(doubtCues), Kept: split(doubtKeptCues), Facts: split(doubtFactCues)},
		{Asked: split(giftCues), Kept: split(giftKeptCues)},
	}
}

const (
	payAskedCues = `payment link, link to pay, link for the payment, pay link, link to the payment, payment page, sign me up, ready to sign up, want to sign up, like to sign up, ready to pay, want to pay, like to pay now,
		ready to book, want to book, i ll take it, count me in, enlace de pago, link de pago, quiero pagar, quiero inscribirme, quiero apuntarme, me apunto, link de pagamento, link para pagar, link do pagamento,
		quero pagar, quero fechar, quero reservar, quero me inscrever, lien de paiement, lien pour payer, je veux payer, je m inscris, link per pagare, link di pagamento, voglio pagare, voglio iscrivermi,
		zahlungslink, link zum bezahlen, mochte bezahlen, mochte buchen, mochte mich anmelden, συνδεσμο πληρωμης, θελω να πληρωσω`
	payKeptCues = `link to the payment page, checkout, pagina de pago, pagina de pagamento, page de paiement, pagina di pagamento, bezahlseite, σελιδα πληρωμης`
	readingCues = `brochure*, leaflet*, flyer*, booklet*, pdf, handout*, syllabus, something to read, more details, any details, some details, details about, details of, details on, in detail, asks for details,
		folleto*, temario, algo para leer, mas detalles, folheto*, panfleto*, algo para ler, mais detalhes, depliant*, quelque chose a lire, plus de details, opuscol*, qualcosa da leggere, piu dettagli,
		broschure*, prospekt*, infomaterial, etwas zu lesen, mehr einzelheiten, φυλλαδι*, κατι να διαβασω, περισσοτερες λεπτομερειες`
	routeCues = `how do i get there, how do we get there, how to get there, how can i get there, how do i get to, how do we get to, how to get to, how do i find you, how to find you, get there from, directions, map, route,
		como llego, como llegar, como se llega, mapa, como chego, como chegar, como se chega, comment venir, comment y aller, comment on vient, itineraire, plan d acces, come arrivo, come arrivare, come ci si arriva, mappa,
		wie komme ich, wie kommen wir, anfahrt*, wegbeschreibung, stadtplan, πως ερχομαι, πως φτανω, πως θα ερθω, χαρτη*`
	routeKeptCues = `the way to, the way from, el camino, o caminho, le chemin, la strada, der weg`
	pictureCues   = `photo*, picture*, gallery, images, foto*, imagenes, galeria, imagens, photos, galerie, immagini, galleria, bilder, φωτογραφι*, εικονες`
	filmCues      = `film, films, video*, clip, pelicula, filme, βιντεο`
	doubtCues     = `not sure i can, not sure if i can, not sure that i can, not sure whether i can, don t think i can, don t know if i can, doubt*, no talent, not talented, clumsy, never done, never tried, too hard for me, too difficult for me,
		am afraid, i m afraid, no se si puedo, no se si podre, tengo dudas, nunca he, nao sei se consigo, sera que consigo, tenho duvida*, tenho medo, nunca fiz, nunca tentei, je doute, pas sure de, j ai peur, jamais fait,
		non so se, ho paura, mai fatto, bin nicht sicher, zweif*, noch nie gemacht, δεν ξερω αν μπορω, φοβαμαι, αμφιβαλλ*`
	doubtKeptCues = `hesitat*, unsure, duda*, vacila*, inseguro*, hesite*, hesita*, dubbi*, dubita*, unsicher, διστα*`
	doubtFactCues = `experience, talent, experiencia, talento, esperienza, erfahrung, εμπειρια`
	giftCues      = `gift*, a present, as present, regalo*, regalar*, presente*, presentear, cadeau*, regal*, geschenk*, verschenk*, schenk*, δωρο*`
	giftKeptCues  = `somebody else, someone else, outra pessoa, otra persona, quelqu un d autre, qualcun altro, jemand anderen`

	// What says that one of several times, places or ways is the contact's own.
	suitsCues = `suit me better, suits me better, suit me best, suits me best, suit*, works for me, work for me, works better, work better, works best, work best, better for me, best for me, is better, are better, i prefer, prefer the, would prefer, d prefer, i can only, can only come, i only have time,
		i am free, i m free, prefiero, me viene bien, me vienen bien, me va bien, me conviene, mejor por, solo puedo, prefiro, melhor para mim, fica melhor, melhor de, so posso, so consigo, para mim e melhor,
		je prefere, m arrange, me convient, je peux seulement, preferisco, mi va bene, mi va meglio, meglio per me, posso solo, passt mir, passt es mir, ware mir lieber, ist mir lieber, kann nur, προτιμ*, με βολευ*, μπορω μονο`
	// What tells that the contact was here before.
	earlierCues = `last year, last time, years ago, months ago, i was in your, i did your, i took your, i have been with you, been to you before, came before, been before, already did your, former student, as a student of yours, i was your,
		ano pasado, la ultima vez, ya hice, ya estuve, ano passado, da ultima vez, da outra vez, ja fiz, ja consertei, ja fui, ja sou cliente, sou cliente, l annee derniere, la derniere fois, j ai deja fait, l anno scorso, l ultima volta, ho gia fatto,
		letztes jahr, letztes mal, war schon, περυσι, την τελευταια φορα`
	// What a note is said to be for that people read who take over.
	handingCues = `handing, handover, handoff, colleague*, takes over, take over, taking over, human, escalat*, needs a person, colega*, equipe, atendente*, humano*, assumir, equipo, agente, companero*, collegue*, prend le relais, humain*, colleg*, operator*, umano,
		kolleg*, mitarbeiter*, ubernimmt, ubergabe, συναδελφ*, υπαλληλ*`
)
