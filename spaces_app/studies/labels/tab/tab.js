// The tab of labels: one picture after the other, answered by one key; answers stay in this browser until they are saved.
import { ask, choose, clamp, fetchAhead, get, go, has, pageData, make, picture, save, turn } from "convergebench/shared.js";

const STORE = "convergebench-labels";
const FORMAT = 1;
const AHEAD = 3; // items whose pictures are fetched before they are shown
let labels = null; // by person and item
let kept = true; // whether this browser keeps them
let rater = "";
let queue = { question: "", items: [], total: 0, at: 0 };
let shown = 0; // when the item came

const place = (label) => [label.question, label.chain, label.step, label.other_chain ?? "", label.other_step ?? ""].join(" ");
const key = (label) => `${label.rater}\n${place(label)}`;
const text = () => JSON.stringify({ format: FORMAT, labels: [...labels.values()] }, null, 1);

const ifKept = (use) => { try { use(); kept = true; } catch { kept = false; } };
const remember = () => ifKept(() => {
  localStorage.setItem(STORE, text());
  localStorage.setItem(`${STORE}-rater`, rater);
});
function recall() {
  if (labels) return;
  labels = new Map();
  ifKept(() => {
    rater = localStorage.getItem(`${STORE}-rater`) ?? "";
    for (const label of JSON.parse(localStorage.getItem(STORE))?.labels ?? []) labels.set(key(label), label);
  });
}
const asked = () => pageData.questions.find((each) => each.code === queue.question);
const item = () => queue.items[queue.at];
const mine = (one) => (one ? labels.get(`${rater}\n${place({ question: queue.question, ...one })}`) : null);

async function fetchUpTo(end) {
  for (let start = Math.floor(queue.items.length / 60) * 60; start <= end && (queue.total === 0 || start < queue.total); start += 60) {
    const { question } = queue;
    const found = await ask("label_items", question, start);
    if (question !== queue.question) return;
    queue.total = found.total;
    found.items.forEach((each, number) => { queue.items[start + number] = each; });
    if (!found.items.length) return;
  }
}
async function toFirstOpen() {
  for (queue.at = 0; ; queue.at += 1) {
    if (queue.at >= queue.items.length) await fetchUpTo(queue.at);
    if (queue.at >= queue.total || !mine(item())) return;
  }
}

function frame(chain, step, words) {
  const box = make("figure", {}, make("div", { class: "cb-label-picture" }), make("figcaption", {}, words));
  picture(chain, step, "view").then((found) => box.firstChild.replaceChildren(
    found.src ? make("img", { src: found.src, alt: words }) : make("span", { class: "cb-none" }, found.reason || "no picture")));
  return box;
}
// The pictures of an item with their captions: the one before, and the result or the two that are compared.
const pictures = (one) => [[one.chain, 0, one.before], ...(one.other_chain
  ? [[one.chain, one.step, "left (1)"], [one.other_chain, one.other_step, "right (2)"]] : [[one.chain, one.step, "result"]])];

const say = (words) => { document.getElementById("cb-label-said").textContent = words; };
function counts() {
  const all = [...labels.values()];
  const own = all.filter((label) => label.rater === rater && label.question === queue.question).length;
  const people = new Set(all.map((label) => label.rater)).size;
  return `${own} of ${queue.total} answered; ${all.length} ${all.length === 1 ? "label" : "labels"} of ${people} ${people === 1 ? "person" : "people"} in this browser${kept ? "" : ", which does not keep them: save them"}.`;
}

async function answer(code) {
  if (!item()) return;
  if (!rater) {
    document.getElementById("cb-rater").focus();
    say("Give a name first: it tells your answers from others'.");
    return;
  }
  const place = ["chain", "step", "sha256", "other_chain", "other_step"].map((name) => [name, item()[name]]).filter(([, value]) => has(value));
  const label = { rater, question: queue.question, answer: code, ...Object.fromEntries(place), seconds: Math.round((performance.now() - shown) / 10) / 100, at: new Date().toISOString() };
  labels.set(key(label), label);
  remember();
  await move(1);
}
async function move(by) {
  queue.at = clamp(queue.at + by, 0, queue.total);
  if (queue.at >= queue.items.length && queue.at < queue.total) await fetchUpTo(queue.at);
  draw();
}

function saveLabels() {
  if (!labels.size) return say("There is nothing to save yet.");
  const name = (rater || "labels").replace(/[^\w.-]+/g, "-").slice(0, 40);
  save(`labels-${name}.json`, text(), "application/json");
  return say(`Saved ${labels.size} labels.`);
}

function draw() {
  const stage = document.getElementById("cb-label-stage");
  const [one, question] = [item(), asked()];
  document.getElementById("cb-label-counts").textContent = counts();
  if (!one) {
    stage.replaceChildren(make("p", { class: "cb-note" }, queue.total ? "All are answered. Save your labels, or choose another question." : "This dataset has no picture for this question."));
    return;
  }
  const before = mine(one);
  const times = one.round > 1 ? `, ${one.round} times over` : "";
  const words = one.words.length ? `, asked: ${one.words.map((each) => `“${each}”`).join(", then ")}${times}` : ", before anything was asked";
  stage.replaceChildren(
    make("p", { class: "cb-label-asked" }, `${queue.at + 1} of ${queue.total}. “${one.picture}”${words}.${queue.question === "count" ? ` To count: ${one.thing}.` : ""}`),
    make("div", { class: "cb-label-frames" }, pictures(one).map((each) => frame(...each))),
    make("p", { class: "cb-label-words", id: "cb-label-question" }, question.words),
    make("div", { class: "cb-label-answers", role: "group", "aria-labelledby": "cb-label-question" }, question.most === null ? null : number(question, before), question.answers.map((each) =>
      make("button", { type: "button", "aria-pressed": String(before?.answer === each.code), "aria-keyshortcuts": each.key, onclick: () => answer(each.code) },
        make("kbd", {}, each.key), ` ${each.words}`, each.level && each.level !== "none" ? make("small", {}, ` ${each.level}`) : null))));
  if (rater && document.activeElement === document.body) document.getElementById("cb-label-number")?.focus({ preventScroll: true });
  shown = performance.now();
  for (const [chain, step] of queue.items.slice(queue.at + 1, queue.at + 1 + AHEAD).flatMap(pictures)) fetchAhead(chain, step);
}
// A number is typed, and Enter gives it.
function number(question, before) {
  const digits = (text) => text.replace(/\D/g, "");
  const box = make("input", {
    id: "cb-label-number", inputmode: "numeric", autocomplete: "off", maxlength: "3", size: "4", "aria-labelledby": "cb-label-question", value: digits(before?.answer ?? ""),
    onfocus: () => box.select(), // another number takes its place
    oninput: () => { box.value = digits(box.value); },
    onkeydown: (event) => { if (event.key === "Enter") { event.preventDefault(); give(); } },
  });
  const give = () => (box.value && Number(box.value) <= question.most ? answer(String(Number(box.value))) : say(`It is a number from 0 to ${question.most}.`));
  return [box, make("button", { type: "button", onclick: give }, make("kbd", {}, "Enter"), " gives the number")];
}

export async function open() {
  const box = document.getElementById("labels");
  const isLast = turn();
  recall();
  const question = pageData.questions.some((each) => each.code === get("question")) ? get("question") : pageData.questions[0].code;
  if (queue.question !== question) queue = { question, items: [], total: 0, at: 0 };
  if (!document.getElementById("cb-label-stage")) {
    const name = make("input", {
      type: "text", id: "cb-rater", maxlength: "60", autocomplete: "off", placeholder: "any name", value: rater,
      oninput: () => { rater = name.value.trim(); },
      onchange: async () => { remember(); await toFirstOpen(); draw(); },
      onkeydown: (event) => { if (event.key === "Enter") name.blur(); },
    });
    box.replaceChildren(
      make("div", { class: "cb-filters" },
        make("label", { class: "cb-choose" }, make("span", {}, "Your name"), name),
        choose("Question", pageData.questions.map((each) => [each.code, each.title]), question, (value) => go({ question: value }), { id: "cb-label-choose" }),
        make("button", { type: "button", onclick: saveLabels, "aria-keyshortcuts": "s" }, "Save (s)")),
      make("div", { id: "cb-label-stage" }),
      make("p", { class: "cb-note" }, "Keys: the number answers (where things are counted, Enter gives it), ← goes back, → skips, s saves."),
      make("p", { class: "cb-note", id: "cb-label-counts" }),
      make("p", { class: "cb-note", id: "cb-label-said", role: "status" }));
  }
  document.getElementById("cb-label-choose").value = question; // not made again: who chooses by keys keeps the focus
  await fetchUpTo(0);
  if (!isLast()) return;
  await toFirstOpen();
  draw();
}

document.addEventListener("keydown", (event) => {
  const panel = document.getElementById("panel-labels");
  if (!panel || panel.hidden || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const writes = /^(\d|Backspace|Delete|Enter|Tab|Home|End)$/.test(event.key); // into the field of a number, where all other keys do what they do beside it
  if (event.target.closest?.("input, select, textarea") && (event.target.id !== "cb-label-number" || writes)) return;
  const box = document.getElementById("cb-label-number");
  if (box && /^\d$/.test(event.key)) { box.focus(); return; } // the digit goes where it belongs
  const found = asked()?.answers.find((each) => each.key === event.key);
  const onTab = event.target.closest?.("[role=tab]");
  if (found) answer(found.code);
  else if (event.key === "ArrowLeft" && !onTab) move(-1);
  else if (event.key === "ArrowRight" && !onTab) move(1);
  else if (event.key === "s") saveLabels();
  else return;
  event.preventDefault();
});
