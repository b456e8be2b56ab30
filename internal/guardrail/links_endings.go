package guardrail

import "strings"

// endings are what a bare host may end in and be a link: the endings of countries, those
// of more than one meaning that are common, and the short ones in other scripts. A phone
// makes a link of these in a running text.
//
// Source: the countries' and territories' codes of the IANA root zone, and of its other
// names those that addresses in messages use.
var endings = wordSet(
	`ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz
	ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr
	ga gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp
	ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt
	mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru
	rw sa sb sc sd se sg sh si sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz
	ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw` +
		` рф бел укр срб мкд мон қаз бг ею ελ ευ հայ გე 中国 中國 香港 台灣 台湾 한국 भारत ไทย امارات السعودية مصر ایران ישראל` +
		` com net org info biz name mobi asia cat tel jobs edu gov app dev shop store online site website xyz link page click
	tech club live life pro top icu vip fun space world today news blog cloud email team group company agency studio
	digital design academy media social solutions services support center bid loan win work works zone run chat pay
	money cash credit finance trade market sale deals gift gifts buzz art bar beauty best bio cafe care city community
	cool date delivery direct download education events express family fit fitness fyi gallery game games global gold
	health help host house ink institute land law legal ltd menu mom monster ninja one photo photos pics pizza plus press
	promo quest red rent rest restaurant reviews rocks sbs school show style systems tax taxi tickets tips tools tours
	training travel university video vision vote watch wedding wiki wine wtf yoga zip mov cyou cfd gle goog web lol`)

// firmEndings stay endings with a capital letter too: no sentence begins with them.
var firmEndings = wordSet("com net org info biz xyz io app")

// lettersEndings may follow a host of a single letter, as in t.me; before others it is
// an abbreviation.
var lettersEndings = wordSet("com net org me co ly cc gg io")

// notHosts are abbreviations that end as hosts do.
var notHosts = wordSet("co.kg m.in")

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}
