// Package domain knows the top-level domains that make words with points between them the
// name of a host.
package domain

import "strings"

// Known reports whether an ending, in small letters, is one.
func Known(ending string) bool {
	return in(countries, ending) || in(endings, ending) || in(ownScript, ending)
}

// InPath reports whether an ending makes a host also of a part of a file's path.
func InPath(ending string) bool { return in(" com net org me io co app link page ly ", ending) }

// Firm reports whether an ending is one with a capital letter too: no sentence begins
// with it.
func Firm(ending string) bool { return in(" com net org info biz io app xyz ", ending) }

// OfLetter reports whether an ending makes a host of a single letter, as in t.me; before
// others it is an abbreviation.
func OfLetter(ending string) bool { return in(" com net org me co ly cc gg io ", ending) }

func in(list, ending string) bool { return strings.Contains(list, " "+ending+" ") }

// The top-level domains that make two words with a dot between them, and a slash behind
// them, a link. The first are all countries'; of the others those that are in use by
// businesses and by links that people send each other, and those that stand for none.
const (
	countries = " ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz " +
		"ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr " +
		"ga gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp " +
		"ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt " +
		"mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru " +
		"rw sa sb sc sd se sg sh si sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz " +
		"ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw "
	endings = " com net org info biz name pro mobi edu gov int app dev page link links click site website online store shop " +
		"shopping market sale deals boutique fashion beauty salon spa fitness yoga dance art gallery photo photos photography " +
		"studio design media video film music band events party wedding gifts flowers cafe restaurant bar pub pizza food " +
		"kitchen catering hotel travel tours holiday rent house homes estate properties realty construction clinic dental " +
		"health care doctor vet academy school college university education training coach courses institute expert guru " +
		"consulting agency marketing digital solutions services company business enterprises group team network systems " +
		"technology tech software cloud host hosting email chat social club community center foundation world global " +
		"international today news blog press live life love fun games space zone city town land xyz top vip win work works " +
		"jobs career finance money bank cash loan credit tax legal law lawyer insurance cat eus gal scot berlin hamburg koeln " +
		"wien swiss london paris madrid barcelona miami nyc tokyo africa asia lat rio " +
		"tel icu support bid run pay trade gift buzz best bio cool date delivery direct download express family fit fyi game gold " +
		"help ink ltd menu mom monster ninja one pics plus promo quest red rest reviews rocks sbs show style taxi tickets tips " +
		"tools vision vote watch wiki wine wtf zip mov cyou cfd gle goog web lol " +
		"example test invalid local localhost internal lan home onion "
	ownScript = " рф рус укр бел срб мкд бг қаз онлайн сайт дети орг ком москва ελ ευ 中国 中國 香港 台灣 台湾 公司 网络 한국 " +
		"भारत السعودية امارات مصر المغرب ایران عمان الاردن קום ไทย みんな "
)
