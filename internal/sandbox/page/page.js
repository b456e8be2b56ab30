// The page works without this script by posting its forms; with it, the parts that
// change by themselves are fetched when the service says that something happened.
"use strict";
const contact = document.body.dataset.contact;
const chat = document.getElementById("chat");
const lost = document.getElementById("lost");
let busy = false, again = false;

async function refresh() {
  if (busy) { again = true; return; }
  busy = true;
  try {
    const answer = await fetch("/sandbox/live?contact=" + encodeURIComponent(contact));
    const parts = new DOMParser().parseFromString(await answer.text(), "text/html");
    const atEnd = chat.scrollHeight - chat.scrollTop - chat.clientHeight < 80;
    for (const part of parts.querySelectorAll("[data-part]")) show(part);
    if (atEnd) chat.scrollTop = chat.scrollHeight;
  } catch { lost.hidden = false; }
  busy = false;
  if (again) { again = false; refresh(); }
}

// show replaces a part only when it changed, and keeps its details open.
function show(part) {
  const target = document.getElementById(part.dataset.part);
  if (target.dataset.shown === part.innerHTML) return;
  const open = [...target.querySelectorAll("details")].map(d => d.open);
  target.replaceChildren(...document.importNode(part, true).childNodes);
  target.querySelectorAll("details").forEach((d, i) => { d.open = open[i] || false; });
  target.dataset.shown = part.innerHTML;
}

document.addEventListener("submit", async event => {
  const form = event.target;
  if (form.id !== "composer" && !("quiet" in form.dataset)) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form));
  if (form.id === "composer") form.elements.text.value = "";
  const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/plain" } });
  if (!answer.ok) alert(await answer.text());
  refresh();
});

const events = new EventSource("/sandbox/events");
let settled;
events.addEventListener("change", () => {
  lost.hidden = true;
  refresh();
  clearTimeout(settled);
  settled = setTimeout(refresh, 700); // what the service writes down right behind a response
});
events.addEventListener("error", () => { lost.hidden = false; });
chat.scrollTop = chat.scrollHeight;
