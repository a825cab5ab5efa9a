// What all tabs of the Space share: questions to the server, pictures on demand, the address, tabs, filters.
// Whatever a dataset says is written as text, never as HTML.
const shell = document.getElementById("cb");
export const pageData = JSON.parse(shell.dataset.page); // editors, pictures, programs, filters, and what each tab added
export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
export const has = (value) => value !== null && value !== undefined;
export const percent = (value) => `${Math.round(value * 100)}%`;

// Without a session of its own, every question makes the server describe all endpoints to itself again.
const session = Math.random().toString(36).slice(2);

export async function ask(name, ...data) {
  const answer = await fetch(`gradio_api/run/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ data, session_hash: session }),
  });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(body.error || answer.statusText);
  return body.data[0];
}

export function make(tag, about = {}, ...inside) {
  const node = document.createElementNS(about.svg ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml", tag);
  for (const [name, value] of Object.entries(about)) {
    if (name === "svg" || value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...inside.flat().filter((part) => part !== null && part !== undefined && part !== false));
  return node;
}

export function choose(label, options, value, change, about = {}) {
  const box = make("select", { "aria-label": label, onchange: () => change(box.value), ...about },
    options.map(([name, title, off]) => make("option", { value: name, selected: name === value, disabled: off }, title)));
  return make("label", { class: "cb-choose" }, make("span", {}, label), box);
}

export const tick = (label, checked, change) =>
  make("label", {}, make("input", { type: "checkbox", checked, onchange: ({ target }) => change(target.checked) }), label);
export const nothing = (words) => make("p", { class: "cb-note" }, `${words} `, make("button", { type: "button", "data-reset": true }, "Reset filters"));

// A visitor's own series, which only this browser has: its row in Compare, how often it was scored, its pictures.
export const yours = { row: null, scored: 0, picture: null };

// The last answers of the server are kept; if asking failed, it is asked again.
function once(answers, most, key, ...asked) {
  if (!answers.has(key) && answers.size > most) answers.delete(answers.keys().next().value);
  if (!answers.has(key)) answers.set(key, ask(...asked).catch((error) => { answers.delete(key); throw error; }));
  return answers.get(key);
}
// Pictures: the server makes a file when it is first asked for, and says where it is.
const files = new Map();
export function picture(chain, step, kind, gain = 8, at = "") {
  if (chain === "yours") return Promise.resolve(yours.picture(step, kind));
  const key = [chain, step, kind, kind === "difference" ? gain : 0, at].join(" ");
  return once(files, 4000, key, "picture", chain, step, kind, gain, at).then(
    (found) => ({ ...found, src: found.url?.slice(1) }), (error) => ({ src: null, reason: error.message }));
}
export const fetchAhead = (chain, step) => picture(chain, step, "view").then(({ src }) => { if (src) new Image().src = src; });

// Chains as the viewer shows them; `yours` is made in the browser.
export const chains = new Map();
export function chainOf(id) {
  const key = id === "yours" ? id : [id, ...failing()].join(" ");
  return once(chains, 60, key, "chain", id, ...failing());
}

// Choices that lead to another chain: of its editor, picture and edit.
export async function chainChoices(view, open) {
  const found = await ask("find", view.editor, view.source, view.program, view.run);
  const choice = (title, options, name) => choose(title, options, view[name], async (value) => {
    const asked = { ...view, [name]: value };
    open((await ask("find", asked.editor, asked.source, asked.program, 1)).chain, asked);
  });
  return [choice("Editor", pageData.editors.map(({ id, name }) => [id, name]), "editor"),
    choice("Picture", found.sources.map((name) => [name, pageData.pictures[name]]), "source"),
    choice("Edit", found.programs.map((name) => [name, pageData.programs[name]]), "program"),
    found.runs.length > 1 ? choose("Run", found.runs.map((each) => [each.chain, String(each.run)]), view.chain, (value) => open(value, view)) : ""];
}

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries.filter((each) => each.isIntersecting)) {
    const image = entry.target;
    seen.unobserve(image);
    picture(image.dataset.chain, Number(image.dataset.step), image.dataset.kind || "thumb", 8, image.dataset.at).then((found) => {
      if (found.src) image.src = found.src;
      else image.replaceWith(make("span", { class: "cb-none", title: found.reason }, "no picture"));
    });
  }
}, { rootMargin: "200px" });
export const thumb = (chain, step, kind = "thumb", alt = "", at = null) =>
  make("img", { "data-chain": chain, "data-step": step, "data-kind": kind, "data-at": at, alt, draggable: "false" });

// The part that was lost, drawn over a picture of this size; it is cut and scaled as the picture is.
export function outline(polygons, width, height, fit) {
  const path = polygons.map((points) => `M${points.map(([x, y]) => `${x * width} ${y * height}`).join("L")}z`).join("");
  const line = (kind) => make("path", { svg: true, d: path, class: kind, "vector-effect": "non-scaling-stroke" });
  return make("svg", { svg: true, class: "cb-outline", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: `xMidYMid ${fit}`, "aria-hidden": "true" }, line("cb-outline-under"), line("cb-outline-over"));
}
export function outlined(image, polygons) {
  if (polygons.length) image.addEventListener("load", () => image.after(outline(polygons, image.naturalWidth, image.naturalHeight, "meet")), { once: true });
  return image;
}

// The address says what is seen: a new view adds to the browser's history, a step in it does not.
const address = () => new URLSearchParams(location.search);
export const get = (name, or = "") => address().get(name) ?? or;
export const many = (name) => address().getAll(name);
function write(state, push) {
  const query = address();
  for (const [name, value] of Object.entries(state)) {
    query.delete(name);
    for (const each of Array.isArray(value) ? value : [value]) if (has(each) && each !== "") query.append(name, each);
  }
  const text = query.toString();
  const url = location.pathname + (text ? `?${text}` : "");
  if (url === location.pathname + location.search) return;
  history[push ? "pushState" : "replaceState"](null, "", url);
  tell();
}
export const set = (state) => write(state, false);
export function go(state) {
  write(state, true);
  apply();
}
const KEPT = ["group", "kind", "category", "metric", "threshold", "e"]; // by a link to another tab
// What the page is, in a link's preview, a bookmark and the frame that the Hub puts around a Space.
function tell() {
  const tab = document.querySelector("[role=tab][aria-selected=true]").textContent;
  document.title = tab === "Results" ? "ConvergeBench" : `${tab}: ConvergeBench`;
  if (window.parent !== window) window.parent.postMessage({ queryString: location.search.slice(1) }, "https://huggingface.co");
}

// An answer is shown only if nothing was opened since it was asked for.
let opened = 0;
export function turn() {
  const mine = (opened += 1);
  return () => mine === opened;
}

// Tabs: each has a module, loaded when it is first shown; its `open` reads the rest from the address.
let shown = null;
function tabName() {
  const asked = get("tab");
  if (document.getElementById(`panel-${asked}`)) return asked;
  return get("chain") ? "chains" : "leaderboard";
}
async function apply() {
  const name = tabName();
  for (const tab of document.querySelectorAll("[role=tab][data-tab]")) {
    const is = tab.dataset.tab === name;
    tab.setAttribute("aria-selected", is);
    tab.tabIndex = is ? 0 : -1;
    document.getElementById(`panel-${tab.dataset.tab}`).hidden = !is;
    if (is) tab.parentNode.scrollTo({ left: tab.offsetLeft - (tab.parentNode.clientWidth - tab.clientWidth) / 2 });
  }
  if (shown !== name) window.scrollTo(0, 0);
  shown = name;
  tell();
  trouble("");
  for (const slot of document.querySelectorAll(`#panel-${name} [data-filters]`)) showFilters(slot);
  try {
    const { open } = await import(`convergebench/${name}/tab.js`);
    await open();
  } catch (error) { trouble(error.message); }
}
export function trouble(words) {
  const box = document.getElementById("cb-trouble");
  box.textContent = words;
  box.hidden = !words;
}

// Filters that all tabs share, with what ends a test; what cannot be chosen with the others is disabled.
function showFilters(slot) {
  const { groups, groupNames, kinds, categories, together } = pageData;
  const now = { group: get("group", groups[0] ?? ""), kind: get("kind", "all"), category: get("category", "all") };
  const fits = (other) => together.some(([group, kind, category]) =>
    group === other.group && ["all", kind].includes(other.kind) && ["all", category].includes(other.category));
  const options = (name, values) => values.map((value) => [value, groupNames[value] ?? value, value !== now[name] && !fits({ ...now, [name]: value })]);
  const change = (name) => (value) => go({ [name]: value === "all" || value === groups[0] ? null : value, start: null });
  const ends = [get("metric"), get("threshold") && `threshold ${percent(get("threshold"))}`].filter(Boolean);
  const chosen = [...Object.entries(now).filter(([name, value]) => value !== (name === "group" ? groups[0] : "all")).map(([, value]) => groupNames[value] ?? value), ...ends];
  const said = make("output", {}, percent(get("threshold", pageData.threshold)));
  const limit = make("input", { type: "range", min: 0.05, max: 0.95, step: 0.05, value: get("threshold", pageData.threshold), "aria-label": "Failure threshold", oninput: () => { said.textContent = percent(limit.value); }, onchange: () => go({ threshold: Number(limit.value) === pageData.threshold ? null : limit.value }) });
  const row = make("div", { class: "cb-filters" },
    groups.length > 1 ? choose("Test type", options("group", groups), now.group, change("group")) : null,
    choose("Kind of picture", options("kind", ["all", ...kinds]), now.kind, change("kind")),
    choose("Kind of edit", options("category", ["all", ...categories]), now.category, change("category")),
    pageData.metrics.length ? menu(ends.length ? `Fails on: ${ends.join(", ")}` : "What is a failure?", choose("Fails on", pageData.metrics, get("metric", "convergence"), (value) => go({ metric: value === "convergence" ? null : value })),
      make("label", { class: "cb-choose" }, make("span", {}, "Failure threshold ", said), limit)) : null,
    chosen.length ? make("button", { type: "button", "data-reset": true }, "Reset filters") : null);
  const wide = window.matchMedia("(min-width: 761px)").matches;
  const was = slot.querySelector("details")?.open;
  slot.replaceChildren(make("details", { class: "cb-filterbox", open: wide || was },
    make("summary", {}, "Filters", chosen.length ? make("b", {}, ` (${chosen.join(", ")})`) : null), row));
}
// Controls of one tab stand in the same row as the filters that all share.
export function addFilters(panel, ...nodes) {
  const row = document.querySelector(`#panel-${panel} .cb-filters`);
  for (const old of row.querySelectorAll(":scope > .cb-own")) old.remove();
  for (const node of nodes.reverse()) { node.classList.add("cb-own"); row.prepend(node); }
}
export const filters = () => ({ group: get("group"), kind: get("kind", "all"), category: get("category", "all") });
export const failing = () => [get("metric", "convergence"), Number(get("threshold", pageData.threshold))];
export const filtered = () => [...Object.values(filters()), ...failing()];

// Editors: names, colours, markers.
export const editors = new Map(pageData.editors.map((each) => [each.id, each]));
export const editor = (id) => editors.get(id) ?? { id, name: id, place: 0, baseline: false };
const around = (count, size, turned = -Math.PI / 2) => Array.from({ length: count }, (_, each) =>
  [size * Math.cos(turned + (2 * Math.PI * each) / count), size * Math.sin(turned + (2 * Math.PI * each) / count)]);
const cross = [[-1.7, -4.6], [1.7, -4.6], [1.7, -1.7], [4.6, -1.7], [4.6, 1.7], [1.7, 1.7], [1.7, 4.6], [-1.7, 4.6], [-1.7, 1.7], [-4.6, 1.7], [-4.6, -1.7], [-1.7, -1.7]];
const star = around(10, 1).map(([x, y], each) => [x * (each % 2 ? 2.1 : 5.2), y * (each % 2 ? 2.1 : 5.2)]);
const POLYGONS = [around(24, 4.2), [[-3.7, -3.7], [3.7, -3.7], [3.7, 3.7], [-3.7, 3.7]], around(3, 5.2), around(4, 5.2), around(3, 5.2, Math.PI / 2),
  cross, cross.map(([x, y]) => [(x - y) * 0.71, (x + y) * 0.71]), star, around(5, 4.9), around(6, 4.9), around(3, 5.2, Math.PI), around(3, 5.2, 0), [[0, -4.6], [2.6, 0], [0, 4.6], [-2.6, 0]]];
export const SHAPES = POLYGONS.map((points) => `M${points.map((point) => point.map((value) => value.toFixed(2)).join(" ")).join("L")}z`);
export function dot(id) {
  const { place } = editor(id);
  return make("svg", { svg: true, class: `cb-mark cb-series-${place}`, viewBox: "-6 -6 12 12", "aria-hidden": "true" }, make("path", { svg: true, d: SHAPES[place] }));
}

// Files that a visitor takes home.
export function save(name, content, type = "text/plain") {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
// A link to what the server draws as a file.
export function fileLinks(name, query) {
  const parameters = new URLSearchParams(Object.entries(query).flatMap(([key, value]) => [value].flat().map((each) => [key, each])));
  return ["svg", "pdf", "png"].map((form) => make("a", { class: "cb-button", href: `figures/${name}.${form}?${parameters}`, download: "" }, form.toUpperCase()));
}
export const menu = (title, ...inside) => make("details", { class: "cb-menu" }, make("summary", {}, title), make("div", {}, ...inside));

document.addEventListener("click", (event) => {
  for (const box of document.querySelectorAll(".cb-menu[open]")) if (!box.contains(event.target)) box.open = false;
  if (event.target.closest("[data-theme-toggle]")) {
    const was = document.documentElement.dataset.theme ?? (window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    const theme = was === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("convergebench-theme", theme); } catch { /* private windows */ }
  }
  if (event.target.closest("[data-reset]")) go({ group: null, kind: null, category: null, metric: null, threshold: null, editor: null, cause: null, program: null, q: null, start: null });
  if (event.target.closest(".cb-skip") && tabName() !== "leaderboard") {
    event.preventDefault();
    document.querySelector(`#panel-${tabName()}`).querySelector("a, button, select, input, summary, [tabindex='0']")?.focus();
  }
  const share = event.target.closest("[data-share]")?.dataset.share;
  if (share) {
    const text = share === "link" ? location.href : `<iframe src="${location.href.replaceAll("&", "&amp;")}" title="${document.title}" width="100%" height="760" style="border:0"></iframe>`;
    navigator.clipboard.writeText(text).then(() => { document.querySelector(".cb-share output").textContent = "Copied."; }, () => trouble(`Copy this: ${text}`));
  }
  const tab = event.target.closest("[data-tab]");
  if (tab) go({ tab: tab.dataset.tab });
  if (event.target.closest('[href="#cb-method"]') && tabName() !== "leaderboard") go({ tab: "leaderboard" }); // then the browser unfolds it
  const link = event.target.closest('#cb a[href^="?"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const asked = new URLSearchParams(link.getAttribute("href"));
  const kept = [...address()].filter(([name]) => KEPT.includes(name) && !asked.has(name));
  for (const [name, value] of kept) asked.append(name, value);
  history.pushState(null, "", `${location.pathname}?${asked}`);
  apply();
});
document.addEventListener("keydown", (event) => {
  const opened = event.key === "Escape" && document.querySelector(".cb-menu[open]");
  if (opened) { opened.open = false; opened.querySelector("summary").focus(); }
  const tab = event.target.closest?.("[role=tab][data-tab]");
  const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!tab || !way) return;
  const tabs = [...document.querySelectorAll("[role=tab][data-tab]")];
  const next = tabs[(tabs.indexOf(tab) + way + tabs.length) % tabs.length];
  go({ tab: next.dataset.tab });
  next.focus();
  event.preventDefault();
});
window.addEventListener("popstate", () => apply());

function attend(node) {
  if (!(node instanceof Element)) return;
  for (const image of node.querySelectorAll("img[data-chain]:not([src])")) seen.observe(image);
  for (const slot of node.querySelectorAll("[data-marker]:empty")) slot.append(make("svg", { svg: true, viewBox: "-6 -6 12 12", "aria-hidden": "true" }, make("path", { svg: true, d: SHAPES[slot.dataset.marker] })));
}
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) for (const node of addedNodes) attend(node.parentNode ?? node);
}).observe(document.body, { childList: true, subtree: true });
try {
  const theme = localStorage.getItem("convergebench-theme") ?? get("__theme"); // the Hub's own pages ask for theirs
  if (theme) document.documentElement.dataset.theme = theme;
} catch { /* private windows */ }
attend(document.body);
apply().then(() => { shell.dataset.on = ""; });
