package cue

// Sale are the cues by which the desk tells how somebody stands to buying.
type Sale struct {
	Elsewhere []string // comes for something else than to buy
	Customer  []string // has bought before
	Agrees    []string
	Nothing   []string // has no question left
	Later     []string // puts the decision off
	Fits      []string // asks which offering fits
}

func readSale() Sale {
	return Sale{
		Elsewhere: split(elsewhereCues), Customer: split(customerCues), Agrees: split(agreesCues), Nothing: split(nothingCues),
		Later: split(laterCues), Fits: split(fitsCues),
	}
}

const (
	elsewhereCues = `we supply, we are a supplier, i supply, supplier*, wholesale*, we manufacture, we distribute, we sell, i sell, on behalf of our company, our company offers, we would like to present, partnership, collaboration, sponsor*,
		looking for work, looking for a job, a job, any jobs, job opening*, vacanc*, are you hiring, hiring, work for you, my cv, my resume, internship, wrong number, not who i was looking for,
		somos proveedores, proveedor*, vendemos, busco trabajo, empleo, numero equivocado, somos fornecedores, fornecedor*, vaga*, emprego, trabalhar com voces, meu curriculo, numero errado, fournisseur*, nous vendons, cherche un emploi, faux numero,
		fornitor*, vendiamo, cerco lavoro, numero sbagliato, lieferant*, wir verkaufen, suche arbeit, falsche nummer, προμηθευτ*, πουλαμε, ψαχνω δουλεια, λαθος αριθμο`
	customerCues = `already enrolled, i m enrolled, i am enrolled, already signed up, i signed up, i am signed up, already registered, already booked, i booked, i have booked, i ve booked, already a customer, already your customer, my booking, my order,
		ya estoy inscrit*, ya me inscribi, ya reserve, ya soy cliente, ja estou inscrit*, ja me inscrevi, ja reservei, ja sou cliente, deja inscrit*, deja reserve, sono gia iscritt*, ho gia prenotato, schon angemeldet, schon gebucht, εχω ηδη κλεισει`
	agreesCues  = `yes, yeah, yep, sure, sounds good, sounds great, sounds perfect, great, perfect, that works, works for me, si, claro, vale, perfecto, sim, pode ser, perfeito, beleza, oui, d accord, parfait, va bene, perfetto, certo, ja, gerne, klingt gut, ναι, τελεια, βεβαιως`
	nothingCues = `no, nothing, nothing else, that s all, that is all, that was all, that s everything, that is everything, no questions, no more questions, all clear, nope, nada, nada mas, nada mais, eso es todo, so isso, e so isso, nao, rien, rien d autre, c est tout, non, niente, e tutto, nein, nichts, das ist alles, alles klar, οχι, τιποτα`
	laterCues   = `think about it, think it over, let me think, need to think, sleep on it, decide later, decide tomorrow, let you know, get back to you, come back to you, ask my, talk to my, check with my, lo pienso, pensarlo, pensarmelo, consultarlo, te aviso, vou pensar, preciso pensar, depois te falo, depois eu falo, falar com meu, falar com minha,
		vais reflechir, j y reflechis, je reviens vers vous, ci penso, devo pensarci, vi faccio sapere, uberlege, uberlegen, melde mich, θα το σκεφτω, να το σκεφτω`
	fitsCues = `which one, which would, which fits, what fits, would suit, right for me, best for, recommend*, suggest*, cual me, que me recomiend*, qual voce, recomend*, lequel, laquelle, conseill*, quale mi, consigli*, welcher passt, empfehl*, ποιο μου, προτειν*`
)
