// One chain, or two on the same case with their steps locked together.
import { chart } from "convergebench/chart.js";
import { ask, chainChoices, chainOf, choose, clamp, dot, editor, editors, failing, fetchAhead, filtered, get, go, has, make, outline, percent, picture, set, thumb, tick, trouble, turn, yours } from "convergebench/shared.js";

const GAINS = [1, 2, 4, 8, 16, 32];
const ZOOMS = [1, 2, 4];
const MODES = { divider: "Divider", side: "Side by side", difference: "Difference", step: "This step" };
let last = null; // what is shown

const text = (value, digits = 3) => (!has(value) ? "–" : Number(value).toPrecision(digits).replace(/\.?0+$/, (zeros) => (zeros.includes(".") ? "" : zeros)));
const one = (allowed, asked, or) => (allowed.includes(Number(asked)) ? Number(asked) : or);
const key = (chain, beside) => `${chain} ${beside} ${yours.scored} ${failing()}`; // a series that is scored anew is another chain
const failureFilters = (start) => [get("fe"), get("cause"), get("program"), ...filtered(), get("order", "first"), start, 24];

export async function open() {
  const isLast = turn();
  if (get("chain") === "yours" && !yours.row) return go({ chain: null, tab: "try-yours" }); // after a reload
  const chain = get("chain") || (await ask("pick", "worst", get("editor")));
  const beside = get("beside");
  const asked = get("step") === "" ? null : Number(get("step"));
  if (last && last.key === key(chain, beside) && last.viewer.isConnected) {
    last.mode = MODES[get("view")] ? get("view") : "divider";
    return step(last, clamp(asked ?? last.first, 0, last.size - 1));
  }
  const views = await Promise.all([chain, ...(beside && beside !== chain ? [beside] : [])].map(chainOf));
  return isLast() ? show(chain, beside, views, asked) : undefined;
}

function show(chain, beside, views, asked) {
  const size = Math.max(...views.map((view) => view.steps.at(-1).step + 1));
  const [view] = views;
  // Where it was lost is what somebody came to see.
  const first = Math.min(...views.map((each) => each.lost_step ?? size - 1));
  const same = last && last.views[0].source === view.source && last.views[0].program === view.program;
  const state = {
    key: key(chain, beside), views, size, first, viewer: make("div", { class: "cb-viewer" }), playing: null,
    mode: MODES[get("view")] ? get("view") : "divider", gain: one(GAINS, get("gain"), 8), zoom: one(ZOOMS, get("zoom"), 1),
    split: same ? last.split : 50, at: [50, 50], returns: same ? last.returns : false,
  };
  last = state;
  state.columns = views.map((each) => column(state, each));
  state.viewer.append(selectors(state), tools(state), make("div", { class: `cb-columns cb-columns-${views.length}` }, state.columns.map((each) => each.node)));
  // Film and slider stand under the picture; beside two pictures, under both.
  const under = views.length === 1 ? state.columns[0].left : state.viewer;
  under.append(controls(state), strip(state));
  document.getElementById("viewer").replaceChildren(state.viewer);
  // Enlarged, the place that was lost is in the middle.
  const lost = views.map((each) => at(each, each.lost_step)?.outline?.[0]).find((points) => points?.length);
  if (lost) state.at = [0, 1].map((axis) => (100 * lost.reduce((sum, point) => sum + point[axis], 0)) / lost.length);
  magnify(state, state.zoom, first);
  step(state, clamp(asked ?? first, 0, size - 1));
  neighbours(state);
}

// Which chain.
function selectors(state) {
  const [view, other] = state.views;
  const own = view.chain === "yours";
  const open = (chain, beside) => go({ tab: "chains", chain, beside: beside || null, step: null });
  const row = make("div", { class: "cb-filters" });
  const fill = async () => {
    const { editors } = await ask("compare", view.source, view.program, [], ...failing());
    const find = async (id, { source, program, run }) => id && (await ask("find", id, source, program, run)).chain;
    row.append(...await chainChoices(view, async (chain, asked) => open(chain, await find(other?.editor, asked))),
      choose("Compare with", [["", "none"], ...editors.filter((id) => id !== view.editor).map((id) => [id, editor(id).name])], other?.editor ?? "", async (id) =>
        go({ tab: "chains", beside: (await find(id, view)) || null })));
  };
  if (!own) fill();
  const button = (title, how, about) => make("button", { type: "button", title: about, onclick: async () => open(await ask("pick", how, how === "surprise" ? "" : view.editor)) }, title);
  return make("div", { class: "cb-bar-row" }, row, own ? null : make("div", { class: "cb-tools" },
    button("Worst", "worst", "The test that this editor failed first"), button("Best", "longest", "The test that this editor survived longest"), button("Surprise me", "surprise", "Any test of any editor")));
}

async function neighbours(state) {
  const [view] = state.views;
  if (!has(view.lost_at) || view.chain === "yours") return;
  const rows = [];
  let total = 1;
  const place = () => rows.findIndex((row) => row.chain === view.chain);
  while (rows.length < Math.min(total, 600) && [-1, rows.length - 1].includes(place())) {
    const found = await ask("failures", ...failureFilters(rows.length));
    total = found.total;
    rows.push(...found.rows);
  }
  if (place() < 0 || state !== last) return;
  const button = (title, other) => make("button", { type: "button", disabled: !other, onclick: () => go({ tab: "chains", chain: other.chain, step: other.step, beside: null }) }, title);
  state.around.replaceChildren(button("← Previous failure", rows[place() - 1]), make("span", {}, `${place() + 1} of ${total}`), button("Next failure →", rows[place() + 1]));
}

// How to look.
function tools(state) {
  state.modes = Object.entries(MODES).filter(([name]) => state.views.length === 1 || name !== "side").map(([name, title]) => make("button", { type: "button", "data-mode": name, onclick: () => { state.mode = name; step(state, state.step); } }, title));
  state.gains = make("select", { "aria-label": "Amplification", onchange: () => { state.gain = Number(state.gains.value); step(state, state.step); } }, GAINS.map((gain) => make("option", { value: gain, selected: gain === state.gain }, `×${gain}`)));
  state.zooms = ZOOMS.map((zoom) => make("button", { type: "button", "data-zoom": zoom, onclick: () => magnify(state, zoom) }, zoom === 1 ? "Fit" : `${zoom}×`));
  state.around = make("div", { class: "cb-around" });
  const group = (title, buttons) => make("div", { class: "cb-group", role: "group", "aria-label": title }, buttons);
  return make("div", { class: "cb-tools" }, group("View", state.modes), state.gains, group("Zoom", state.zooms),
    tick(" Outline what changed", true, (checked) => state.viewer.toggleAttribute("data-plain", !checked)), state.around);
}

// One editor: who it is and why it was lost, the picture beside the original, the curve, the numbers.
function column(state, view) {
  const own = { view };
  [own.before, own.after] = [["cb-before", "the original"], ["cb-after", "this step"]].map(([name, alt]) => make("img", { class: name, alt, draggable: "false" }));
  own.empty = make("div", { class: "cb-empty" });
  own.handle = make("div", { class: "cb-handle", role: "slider", tabindex: "0", "aria-label": "Divider between original and step", "aria-valuemin": 0, "aria-valuemax": 100 });
  own.lost = make("div", { class: "cb-lost", hidden: true });
  own.sheet = make("div", { class: "cb-sheet" }, own.before, own.after, own.lost, own.handle, own.empty);
  own.stage = make("div", { class: "cb-stage", tabindex: "0", role: "group", "aria-label": `Picture of ${view.name}` }, own.sheet);
  own.labels = make("div", { class: "cb-labels" }, make("span", {}, view.against ?? "original"), make("span", {}, "this step"));
  own.info = make("div", { class: "cb-info", "aria-live": "polite" });
  own.curves = curves(state, view);
  move(state, own);
  const ended = has(view.kept) ? `${view.verdict}.` : `${view.status}, ${view.rounds} rounds`;
  const reason = make("p", {}, ended, has(view.lost_step) ? make("button", { type: "button", class: "cb-plain", onclick: () => step(state, view.lost_step) }, "Show it") : null);
  const head = make("header", {}, editors.has(view.editor) ? dot(view.editor) : null, make("h3", { title: view.editor }, view.name), reason);
  head.dataset.good = has(view.kept) ? !has(view.lost_at) : "none";
  own.left = make("div", {}, own.stage, own.labels);
  own.node = make("section", { class: "cb-column", "aria-label": view.name }, head,
    make("div", { class: "cb-pair" }, own.left, make("div", { class: "cb-side", "data-editor": view.name }, own.info, own.curves.node)));
  return own;
}

// The divider follows a click or a drag anywhere; enlarged, a drag moves the picture and the handle the divider.
function move(state, own) {
  const { stage, sheet, handle } = own;
  let start = null;
  const divide = (event) => { const box = sheet.getBoundingClientRect(); split(state, ((event.clientX - box.left) / box.width) * 100); };
  stage.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    const divides = state.mode === "divider" && (state.zoom === 1 || event.target === handle);
    if (!divides && state.zoom === 1) return;
    start = { divides, from: state.at, x: event.clientX, y: event.clientY, left: stage.scrollLeft, top: stage.scrollTop };
    stage.setPointerCapture(event.pointerId);
    if (divides) { divide(event); handle.focus({ preventScroll: true }); }
    event.preventDefault();
  });
  stage.addEventListener("pointermove", (event) => {
    if (!start) return;
    if (start.divides) divide(event);
    else if (state.mode === "side") look(state, start.from[0] - (200 * (event.clientX - start.x)) / sheet.clientWidth / (state.zoom - 1), start.from[1] - (100 * (event.clientY - start.y)) / sheet.clientHeight / (state.zoom - 1));
    else for (const each of state.columns) each.stage.scrollTo(start.left + start.x - event.clientX, start.top + start.y - event.clientY);
  });
  for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, () => { start = null; });
  handle.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: state.split - 2, ArrowRight: state.split + 2, PageDown: state.split - 10, PageUp: state.split + 10, Home: 0, End: 100 }[event.key];
    if (!has(to)) return;
    split(state, to);
    event.preventDefault();
  });
}

function split(state, value) {
  state.split = clamp(value, 0, 100);
  const share = Math.round(state.split);
  state.viewer.style.setProperty("--split", `${state.split}%`);
  for (const { handle } of state.columns) {
    handle.setAttribute("aria-valuenow", share);
    handle.setAttribute("aria-valuetext", `original on the left ${share}%`);
  }
}

// Side by side, both halves show the same place, given in percent of the picture.
function look(state, x, y) {
  state.at = [clamp(x, 0, 100), clamp(y, 0, 100)];
  state.viewer.style.setProperty("--x", `${state.at[0]}%`);
  state.viewer.style.setProperty("--y", `${state.at[1]}%`);
}

function magnify(state, zoom, number = state.step) {
  const before = state.zoom;
  look(state, ...state.at);
  state.zoom = zoom;
  for (const { stage, sheet } of state.columns) {
    const [x, y] = [stage.clientWidth / 2, stage.clientHeight / 2];
    const [left, top] = [((stage.scrollLeft + x) * zoom) / before - x, ((stage.scrollTop + y) * zoom) / before - y];
    sheet.style.setProperty("--zoom", zoom);
    stage.toggleAttribute("data-large", zoom > 1);
    stage.scrollTo(left, top);
  }
  if (state.step !== undefined) step(state, number);
}

// Which step.
function controls(state) {
  state.slider = make("input", { type: "range", min: 0, max: state.size - 1, step: 1, "aria-label": "Step", list: "cb-lost", oninput: () => step(state, Number(state.slider.value)) });
  const marks = make("datalist", { id: "cb-lost" }, [...new Set(state.views.map((view) => view.lost_step).filter(has))].map((value) => make("option", { value })));
  state.where = make("output", {});
  state.play = make("button", { type: "button", "aria-label": "Play", onclick: () => play(state) }, "▶");
  const arrow = (title, way, sign) => make("button", { type: "button", "aria-label": title, onclick: () => walk(state, way) }, sign);
  return make("div", { class: "cb-tools cb-controls" }, arrow("Previous step", -1, "←"), state.play, arrow("Next step", 1, "→"), state.slider, marks, state.where,
    tick(" ends of rounds only", state.returns, (checked) => { state.returns = checked; }));
}

function walk(state, way) {
  let next = state.step + way;
  while (state.returns && next > 0 && next < state.size && !at(state.views[0], next)?.closing) next += way;
  if (next >= 0 && next < state.size) step(state, next);
  return next >= 0 && next < state.size;
}

function play(state) {
  const stop = () => { clearInterval(state.playing); state.playing = null; state.play.textContent = "▶"; };
  if (state.playing) return stop();
  if (state.step === state.size - 1) step(state, 0);
  state.play.textContent = "❚❚";
  state.playing = setInterval(() => { if (!state.viewer.isConnected || !walk(state, 1)) stop(); }, 450);
  return undefined;
}

const at = (view, number) => view.steps.find((each) => each.step === number);

// A refused step keeps its place; the step in which a chain was lost is marked.
function strip(state) {
  state.frames = Array.from({ length: state.size }, (_, number) => {
    const found = state.views.map((view) => at(view, number));
    const there = found.find(Boolean);
    const label = there?.label ?? `step ${number}`;
    const image = (each, place) => (each && ["ok", "input"].includes(each.status) ? thumb(state.views[place].chain, number) : make("span", { class: "cb-none" }, each ? each.status.replace("_", " ") : "ended"));
    const lost = state.views.some((view) => view.lost_step === number);
    return make("button", { type: "button", class: there?.closing || number === 0 ? "cb-frame cb-return" : "cb-frame", title: label, "data-lost": lost, "aria-label": `Step ${number}: ${label}${lost ? ", fails here" : ""}`, onclick: () => step(state, number) },
      found.map(image), make("span", {}, lost ? make("b", {}, "✗ ") : null, label));
  });
  return (state.film = make("div", { class: "cb-film", role: "group", "aria-label": "All steps" }, state.frames));
}

function step(state, number) {
  state.step = number;
  state.slider.value = number;
  for (const button of state.modes) button.setAttribute("aria-pressed", button.dataset.mode === state.mode);
  for (const button of state.zooms) button.setAttribute("aria-pressed", Number(button.dataset.zoom) === state.zoom);
  state.gains.hidden = state.mode !== "difference";
  state.frames.forEach((frame, place) => frame.toggleAttribute("data-now", place === number));
  const frame = state.frames[number];
  state.film.scrollTo({ left: frame.offsetLeft - state.film.offsetLeft - (state.film.clientWidth - frame.clientWidth) / 2, behavior: state.playing ? "auto" : "smooth" });
  const [view, other] = state.views;
  const now = at(view, number) ?? (other && at(other, number));
  state.where.textContent = number === 0 ? `the ${view.steps[0].label ?? "original"}` : now ? `round ${now.round} of ${view.rounds}, step ${number} of ${state.size - 1}` : `step ${number} of ${state.size - 1}`;
  state.slider.setAttribute("aria-valuetext", state.where.textContent);
  for (const own of state.columns) paint(state, own, number);
  split(state, state.split);
  set({ tab: "chains", chain: view.chain, beside: other?.chain, step: number, view: state.mode === "divider" ? null : state.mode, gain: state.mode === "difference" ? state.gain : null, zoom: state.zoom > 1 ? state.zoom : null });
  for (const near of [number + 1, number - 1]) for (const each of state.views) if (at(each, near)) fetchAhead(each.chain, near);
}

async function paint(state, own, number) {
  const { view } = own;
  const now = at(view, number);
  own.sheet.dataset.mode = state.mode;
  own.labels.hidden = !["divider", "side"].includes(state.mode);
  own.handle.hidden = state.mode !== "divider";
  own.lost.hidden = true;
  if (now) own.curves.follow(now.round === 0 ? 0 : now.round - 1 + now.position / Math.max(view.cycle.length, 1), now.step);
  own.info.replaceChildren(...about(view, now));
  const blank = (reason) => { own.empty.textContent = reason; own.sheet.toggleAttribute("data-empty", Boolean(reason)); };
  if (!now) return blank("the chain had ended before this step");
  const kind = state.mode === "difference" ? "difference" : state.zoom > 1 ? "received" : "view";
  const size = view.steps[0];
  const ratio = size.width && size.height ? size.width / size.height : 1;
  own.sheet.style.setProperty("--ratio", state.mode === "side" ? 2 * ratio : ratio);
  const [found, before] = await Promise.all([picture(view.chain, number, kind, state.gain), picture(view.chain, 0, has(view.against) && view.against !== "original" ? "reference" : kind === "received" ? "received" : "view")]);
  if (state.step !== number || !own.sheet.isConnected) return undefined;
  if (before.src) own.before.src = before.src;
  if (found.src) own.after.src = found.src;
  own.after.alt = `${view.name}, step ${number}: ${now.instruction || "the original"}`;
  blank(found.src ? "" : found.reason);
  if (found.src && now.outline?.length) {
    own.lost.replaceChildren(outline(now.outline, now.width || 1, now.height || 1, "meet"), make("span", {}, "area lost"));
    own.lost.hidden = false;
  }
  return undefined;
}

// The words and numbers of a step.
function about(view, now) {
  if (!now) return [make("p", { class: "cb-note" }, "This chain has no such step.")];
  const chips = [];
  const chip = (words, good) => chips.push(make("span", { class: "cb-chip", "data-good": String(good) }, words));
  if (now.step === view.lost_step) chip(`fails here: ${view.clause}`, false);
  if (now.status !== "ok" && now.status !== "input") chip(now.status.replace("_", " "), false);
  if (has(now.changed)) chip(now.changed ? "something changed" : "nothing changed", now.changed);
  if (has(now.as_asked)) chip(now.as_asked ? "as asked" : "not as asked", now.as_asked);
  if (has(now.undone)) chip(now.undone ? "undone" : "not undone", now.undone);
  if (now.part_lost) chip("area lost", false);
  const rows = view.metrics.filter(({ name }) => has(now.scores[name]) || view.curves[name]).map(({ name, title, unit }) => {
    const kept = now.closing ? now.retained[name] ?? null : null;
    const gauge = make("meter", { min: 0, max: 1, value: kept ?? 0, "aria-label": `retained ${title}`, hidden: kept === null });
    return make("tr", { title: now.reasons[name] ?? null, "data-low": has(kept) && kept < view.threshold }, make("th", { scope: "row" }, title),
      make("td", {}, text(now.scores[name]), has(now.scores[name]) && unit === "dB" ? " dB" : ""), make("td", {}, gauge, kept === null ? "" : ` ${percent(kept)}`));
  });
  if (has(now.undo_ratio)) rows.push(make("tr", {}, make("th", { scope: "row" }, "Edit left after undo"), make("td", {}, percent(now.undo_ratio)), make("td", {})));
  if (rows.length) rows.unshift(make("tr", {}, make("td", {}), make("th", { scope: "col" }, `compared with the ${view.against ?? "original"}`), make(now.closing ? "th" : "td", now.closing ? { scope: "col" } : {}, now.closing ? "retained" : "")));
  const facts = [["Seed", now.seed], ["Size", now.width ? `${now.width}×${now.height} ${now.type}, ${Math.round(now.bytes / 1024).toLocaleString("en")} KB` : null],
    ["Time", has(now.latency) ? `${text(now.latency)} s` : null], ["Cost", has(now.cost) ? `$${text(now.cost)}` : null]].filter(([, value]) => has(value) && now.status !== "input");
  const openFile = async (event) => {
    event.preventDefault();
    const page = window.open("", "_blank");
    const found = await picture(view.chain, now.step, "received");
    if (found.src) page.location = found.src; else { page.close(); trouble(found.reason); }
  };
  const whole = make("a", { href: "#", onclick: openFile }, "Open original file");
  return [make("blockquote", {}, now.instruction || view.title || "the original"), chips.length ? make("p", {}, chips) : null,
    rows.length ? make("table", { class: "cb-scores" }, make("tbody", {}, rows)) : null,
    facts.length ? make("dl", {}, facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, String(value))])) : null,
    now.text ? make("details", {}, make("summary", {}, "What the model said"), make("p", { class: "cb-said" }, now.text)) : null,
    Object.keys(now.details).length ? make("details", {}, make("summary", {}, "What else came back"), make("pre", {}, JSON.stringify(now.details, null, 1))) : null,
    make("p", { class: "cb-small" }, view.chain === "yours" ? "" : whole, now.status === "input" && view.credit ? ` · ${view.credit}` : "")].filter(Boolean);
}

// The curves of a chain; the cursor follows the step, and a click leads to its round.
function curves(state, view) {
  const lines = view.metrics.filter(({ name }) => view.curves[name]).map(({ name, title, colour }) =>
    ({ id: name, name: title, place: colour, points: [[0, 1], ...view.curves[name].map((value, place) => [place + 1, value])] }));
  if (!lines.length) return { node: make("p", { class: "cb-note" }, "No retained scores to draw."), follow() {} };
  const pick = (round) => step(state, clamp(round * Math.max(view.cycle.length, 1), 0, state.size - 1));
  return chart({ title: `Retained quality of ${view.name} over ${view.rounds} rounds`, y: "Retained", share: true, xs: [0, view.rounds], limit: view.threshold, lines, lost: view.lost_at, high: 190, pick });
}

document.addEventListener("keydown", (event) => {
  if (!last || last.viewer.offsetParent === null || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.target.closest?.('input, textarea, select, [role="tab"], [role="slider"]')) return;
  const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const to = { Home: 0, End: last.size - 1 }[event.key];
  if (way) walk(last, way);
  else if (to !== undefined) step(last, to);
  else return;
  event.preventDefault();
});
