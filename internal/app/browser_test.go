//go:build browser

package app_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// picture is the page as README.md shows it:
// go test -tags=browser -run=Browser ./internal/app -update
const picture = "../../docs/images/phone.png"

// bubbles are JavaScript for the texts of the bubbles on the phone, with the way each
// one came.
const bubbles = `[...document.querySelectorAll(".bubble:not(.typing)")].map(b => b.dataset.via + ": " + b.querySelector("p").textContent)`

// Holds docs/spec/13-sandbox.md, "The phone page (`/sandbox`)": a person asks for a
// price, slows the model down, breaks ManyChat and mends it, and adds a contact.
func TestBrowserTour(t *testing.T) {
	b := openBrowser(t, openSandbox(t))
	b.size(desk)
	b.open("/sandbox")

	b.write(question)
	b.shows(": "+question, "inline: "+price)
	b.wait(`document.querySelectorAll("article .marks")[0].innerText.includes("left in the response")`)
	b.wait(`document.activeElement.id === "text" && document.activeElement.value === ""`)

	b.latency("1.2")
	b.write("and the glaze weekend, how much is that?")
	b.wait(`document.querySelector(".typing") !== null`)
	glaze := "flow: Glaze Weekend: 155 EUR"
	b.shows(": "+question, "inline: "+price, ": and the glaze weekend, how much is that?", "inline: "+ack, glaze)
	b.wait(`document.querySelector("article .marks").innerText.includes("outbox: delivered")`)
	b.pictures("two-conversations")

	b.fault("server_error")
	b.wait(`document.getElementById("state").innerText.includes("ManyChat answers 500 on every call, until off.")`)
	b.write(question)
	b.wait(`document.querySelector(".calls").innerText.includes("500 server_error")`)
	b.wait(`document.querySelector("article .marks").innerText.includes("outbox: pending")`)
	b.pictures("fault")
	b.fault("")
	b.wait(`document.getElementById("state").innerText.includes("ManyChat works.")`)
	b.wait(`document.querySelector("article .marks").innerText.includes("outbox: delivered")`)
	b.wait(bubbles + `.slice(-1)[0] === ` + quoted("flow: "+price))

	b.do(chromedp.Click(chromedp.CSS("#new-contact")), chromedp.WaitVisible(chromedp.CSS(".chat .empty")))
	b.wait(`document.getElementById("who").innerText.includes("Contact 2") && document.querySelectorAll(".bubble").length === 0`)
	b.pictures("second-contact")
	b.do(chromedp.Click(chromedp.CSS("#contacts a")), chromedp.WaitVisible(chromedp.CSS(".bubble")))
	b.wait(bubbles + `.length === 8`)
	b.quiet()
}

// inSight is JavaScript for whether all of an element is in the window, unscrolled.
const inSight = `(e => { const r = e.getBoundingClientRect(); return scrollY === 0 && r.top >= 0 && r.bottom <= innerHeight; })`

// Holds docs/spec/13-sandbox.md, "The phone page (`/sandbox`)": what the agent did at ManyChat
// is in sight beside the chat, as README.md promises.
func TestBrowserActs(t *testing.T) {
	b := openBrowser(t, openSandbox(t))
	b.size(desk)
	b.open("/sandbox")
	b.wait(`document.querySelectorAll(".tour li").length === 4`)
	turn := func(text string, n int) {
		b.write(text)
		b.wait(fmt.Sprintf(`document.querySelectorAll("article").length === %d && !document.querySelector("[data-unsettled], .typing") && document.querySelector("article .did") !== null`, n))
	}
	turn("the wheel course would be a gift for my sister, evenings suit her better", 1)
	b.wait(`document.getElementById("card").parentElement.innerText.includes("buys-a-gift")`)
	turn("how do I get there?", 2)
	b.wait(`document.images.length === 1 && [...document.images].every(i => i.complete && i.naturalWidth > 0)`)
	if *update {
		if err := os.WriteFile(picture, b.picture(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	turn("I was charged twice", 3)
	b.size(viewport{"screen", 1400, 800})
	card := `document.getElementById("card").parentElement`
	b.wait(inSight + `(` + card + `) && ["buys-a-gift", "needs-a-person", "evening", "reason: complaint"].every(w => ` + card + `.innerText.includes(w))`)
	b.pictures("acted")
	last := ""
	for range 12 {
		resp, err := http.Post(b.url+"/sandbox/contacts", "application/x-www-form-urlencoded", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		last = resp.Request.URL.RequestURI()
	}
	b.open(last)
	b.wait(`document.querySelectorAll("#contacts a").length === 13 && (n => n.scrollWidth <= n.clientWidth)(document.getElementById("contacts"))`)
	b.wait(`document.getElementById("chat").clientHeight > 300`)
	b.wait(`((list, own) => own.top >= list.top && own.bottom <= list.bottom)(...["#contacts", "#contacts [aria-current]"].map(s => document.querySelector(s).getBoundingClientRect()))`)
	b.pictures("many-contacts")
	b.quiet()
}

// What a form cannot take is said on the page, and what was written is not lost.
func TestBrowserSaysWhatIsWrong(t *testing.T) {
	sandbox := openSandbox(t)
	b := openBrowser(t, sandbox)
	b.size(phoneSize)
	b.open("/sandbox")
	b.do(chromedp.SendKeys(chromedp.CSS("#text"), "   \r"), chromedp.WaitVisible(chromedp.CSS("#problem")))
	b.wait(`document.getElementById("problem").innerText === "Write something first."`)
	b.write("\b\b\b" + question) // over the spaces, which are still there
	b.shows(": "+question, "inline: "+price)
	b.wait(`document.getElementById("problem").hidden`)

	sandbox.stop()
	b.wait(`document.getElementById("problem").innerText.startsWith("The sandbox does not answer.")`)
	b.write("is anyone there?")
	b.wait(`document.getElementById("text").value === "is anyone there?"`)
	b.pictures("stopped")
}

// Holds docs/spec/13-sandbox.md, "The phone page (`/sandbox`)": it works on a narrow
// screen; here without a script too.
func TestBrowserWithoutScript(t *testing.T) {
	b := openBrowser(t, openSandbox(t))
	b.size(phoneSize)
	b.noScript()
	b.open("/sandbox")
	b.do(
		chromedp.SendKeys(chromedp.CSS("#text"), question+"\r"),
		chromedp.WaitVisible(chromedp.CSS(`.bubble[data-via="inline"]`)),
		chromedp.WaitVisible(chromedp.CSS("article .marks")),
	)
	if text, err := chromedp.Run(b.ctx, chromedp.Text(chromedp.CSS(`.bubble[data-via="inline"] p`))); err != nil || text != price {
		t.Errorf("the phone shows %q, %v", text, err)
	}
	b.pictures("without-script")
	b.quiet()
}

// Whatever a contact writes, the page stays within the screen.
func TestBrowserLongTexts(t *testing.T) {
	b := openBrowser(t, openSandbox(t))
	for i, text := range []string{"Donaudampfschifffahrtsgesellschaft" + fmt.Sprintf("%0500d", 0), "مرحبا، كم سعر دورة العجلة؟", "<b>bold</b> & https://kilnbrook.example/" + fmt.Sprintf("%0300d", 0)} {
		b.size(phoneSize)
		b.open("/sandbox")
		b.write(text)
		b.wait(fmt.Sprintf(`document.querySelectorAll("article").length === %d && document.querySelectorAll(".bubble.business:not(.typing)").length === %[1]d`, i+1))
		for _, s := range []viewport{narrow, phoneSize, desk} {
			b.size(s)
			b.wait(`document.documentElement.scrollWidth <= innerWidth && document.getElementById("chat").scrollWidth <= document.getElementById("chat").clientWidth`)
		}
	}
	b.pictures("long-texts")
	b.quiet()
}

// write types a text into the box and presses Enter.
func (b *browser) write(text string) {
	b.t.Helper()
	b.do(chromedp.SendKeys(chromedp.CSS("#text"), text+"\r"))
}

// shows waits until the phone shows just these bubbles, in this order.
func (b *browser) shows(want ...string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`JSON.stringify(%s) === JSON.stringify(%s)`, bubbles, quoted(want)))
}

// latency sets the model's, in seconds.
func (b *browser) latency(seconds string) {
	b.t.Helper()
	b.do(
		chromedp.SetValue(chromedp.CSS("#model [name=latency]"), seconds),
		chromedp.Click(chromedp.CSS("#model button")),
	)
	b.wait(`document.getElementById("state").innerText.includes(` + quoted("after "+seconds+" s") + `)`)
}

// fault sets what is wrong with ManyChat.
func (b *browser) fault(kind string) {
	b.t.Helper()
	b.do(chromedp.SetValue(chromedp.CSS("#faults [name=kind]"), kind), chromedp.Click(chromedp.CSS("#faults button")))
}

// pictures saves the page as it is now, at both sizes and in both colour schemes,
// under ARTIFACTS, or artifacts at the root of the repository.
func (b *browser) pictures(name string) {
	b.t.Helper()
	folder := os.Getenv("ARTIFACTS")
	if folder == "" {
		folder = "../../artifacts"
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		b.t.Fatal(err)
	}
	for _, s := range []viewport{phoneSize, desk} {
		for _, scheme := range []string{"dark", "light"} {
			b.size(s)
			b.scheme(scheme)
			file := filepath.Join(folder, fmt.Sprintf("sandbox-%s-%s-%s.png", name, s.name, scheme))
			if err := os.WriteFile(file, b.picture(), 0o644); err != nil {
				b.t.Fatal(err)
			}
		}
	}
}
