package redact

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/redact/glyph"
	"github.com/manychat-agent/manychat-agent/internal/redact/ordinary"
)

// hostStart is where the host name begins that ends at end. A name in ASCII does not
// run into the letters of a script that puts no space before it.
func hostStart(t string, end int) int {
	start := end
	letters := glyph.Alnum | glyph.Beyond
	if end > 0 && glyph.Is(t[end-1], glyph.Alnum) {
		letters = glyph.Alnum
	}
	for start > 0 && (glyph.Is(t[start-1], letters|glyph.Dot) || t[start-1] == '-' || t[start-1] == glyph.Alphabetic) {
		start--
	}
	for start < end && !glyph.Is(t[start], glyph.Alnum|glyph.Beyond) {
		start++
	}
	return start
}

// isHost reports whether a host name stands there, of at least two parts, and not
// behind the @ of an e-mail address. Within a file's path only the commonest endings
// count.
func (f *finder) isHost(start, end int) bool {
	t := f.text
	last := strings.LastIndexByte(t[start:end], '.')
	if last < 1 || strings.Contains(t[start:end], "..") {
		return false
	}
	switch ending := strings.ToLower(t[start+last+1 : end]); {
	case loopback(t[start:]) > 0, strings.HasSuffix(t[:start], "@"):
		return false
	case ordinary.Quad(t[:end], start) == end: // with a path, and not with the size of a network
		return strings.HasPrefix(t[end:], "/") && end+1 < len(t) && glyph.Is(t[end+1], glyph.Letter)
	case start == 0, strings.HasSuffix(t[:start], "//"), !glyph.In(`/\`, t[start-1]):
		return f.isEnding(start+last+1, end)
	default:
		return strings.Contains(" com net org me io co app link page ly ", " "+ending+" ")
	}
}

// isEnding reports whether a top-level domain stands there.
func (f *finder) isEnding(start, end int) bool {
	ending := strings.ToLower(f.text[start:end])
	if ending == "" {
		return false
	}
	if strings.HasPrefix(ending, "xn--") {
		return true
	}
	if glyph.Run(f.text, start, glyph.Upper|glyph.Lower) == end {
		return strings.Contains(countries, " "+ending+" ") || strings.Contains(endings, " "+ending+" ")
	}
	from, to := f.origin(start, end)
	return strings.Contains(ownScript, " "+strings.ToLower(f.source[from:to])+" ")
}

// The top-level domains that make two words with a dot between them, and a slash behind
// them, a link. The first are all countries'; of the others those that are in use by
// businesses and by links that people send each other, and those that stand for none.
const (
	countries = " ac ad ae af ag ai al am ao ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz " +
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
		"example test invalid local localhost internal lan home onion "
	ownScript = " рф рус укр бел срб мкд бг қаз онлайн сайт дети орг ком москва ελ ευ 中国 中國 香港 台灣 台湾 公司 网络 한국 " +
		"भारत السعودية امارات مصر المغرب ایران عمان الاردن קום ไทย みんな "
)
