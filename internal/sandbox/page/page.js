// The page works without this script by posting its forms; with it, the parts that
// change by themselves are fetched when the service says that something happened.
"use strict";
const contact = document.body.dataset.contact;
const chat = document.getElementById("chat");
const problem = document.getElementById("problem");
const lost = "The sandbox does not answer. Is it still running? The page reconnects by itself.";
let busy = false, again = false, unsettled, behind;

function say(text) {
  if (problem.textContent !== text) problem.textContent = text;
  problem.hidden = !text;
}

async function refresh() {
  if (busy) { again = true; return; }
  busy = true;
  try {
    const answer = await fetch("/sandbox/live?contact=" + encodeURIComponent(contact));
    if (answer.redirected) { location.assign("/sandbox"); return; } // the contact is gone
    if (!answer.ok) throw new Error(await answer.text());
    const parts = new DOMParser().parseFromString(await answer.text(), "text/html");
    const atEnd = chat.scrollHeight - chat.scrollTop - chat.clientHeight < 80;
    for (const part of parts.querySelectorAll("[data-part]")) show(part, document.getElementById(part.dataset.part));
    if (atEnd) chat.scrollTop = chat.scrollHeight;
    if (problem.textContent === lost) say("");
  } catch { say(lost); }
  busy = false;
  clearTimeout(unsettled);
  if (again) { again = false; refresh(); }
  else if (document.querySelector("[data-unsettled]")) unsettled = setTimeout(refresh, 500);
}

// chosen is what a person opened or closed; the rest is as it comes.
const chosen = new Map();
document.addEventListener("click", event => {
  const details = event.target.closest("summary")?.parentElement;
  if (details) chosen.set(details.id, !details.open);
});

// show keeps what is the same at the beginning of a part and replaces the rest, so that
// a screen reader hears a new bubble alone; what a person opened and what has the focus stays.
function show(part, target) {
  for (const [id, open] of chosen) part.querySelector("#" + CSS.escape(id))?.toggleAttribute("open", open);
  const focus = target.contains(document.activeElement) && document.activeElement.closest("[id]");
  const old = [...target.childNodes], fresh = [...part.childNodes];
  let same = 0;
  while (same < old.length && same < fresh.length && old[same].isEqualNode(fresh[same])) same++;
  old.slice(same).forEach(n => n.remove());
  target.append(...fresh.slice(same));
  if (!focus || focus.isConnected) return;
  const now = document.getElementById(focus.id);
  (now?.querySelector("summary") || now)?.focus({ preventScroll: true });
}

document.addEventListener("submit", async event => {
  const form = event.target, text = form.elements.text;
  if (form.id !== "composer" && !("quiet" in form.dataset)) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form)), written = text?.value;
  if (text) text.value = "";
  chat.scrollTop = chat.scrollHeight;
  let failed = "";
  try {
    const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/plain" } });
    if (!answer.ok) failed = await answer.text();
  } catch { failed = lost; }
  if (failed && text && !text.value) text.value = written;
  say(failed);
  if (failed !== lost) refresh();
});

const events = new EventSource("/sandbox/events");
events.addEventListener("change", () => {
  refresh();
  clearTimeout(behind);
  behind = setTimeout(refresh, 500); // what the service writes down right behind a response
});
events.addEventListener("error", () => say(lost));
document.querySelector("#contacts [aria-current]")?.scrollIntoView({ block: "nearest" });
chat.scrollTop = chat.scrollHeight;
