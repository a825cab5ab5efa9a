// A visitor's own series: scored once, looked at in the viewer and in Compare; the threshold changes without another upload.
import { chart } from "convergebench/chart.js";
import { ask, chainOf, chains, editor, go, has, make, percent, picture, yours } from "convergebench/shared.js";

const state = { original: null, edits: [], files: [], words: ["", ""], found: null, threshold: 0.5, urls: [] };

const encode = (file) => new Promise((done, failed) => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result.split(",")[1] ?? "");
  reader.onerror = () => failed(new Error(`${file.name} cannot be read`));
  reader.readAsDataURL(file);
});

async function score() {
  const { original, files, edits, words } = state;
  const [texts, forward] = await Promise.all([files, edits].map((each) => Promise.all(each.map(encode))));
  return ask("score_files", original ? await encode(original) : "", texts, forward, [...files, ...edits].map((file) => file.name), words);
}

const verdict = () => state.found.verdicts.reduce((best, each) => (Math.abs(each.threshold - state.threshold) < Math.abs(best.threshold - state.threshold) ? each : best));

// The series as a chain of the viewer; its pictures stay in the browser.
function asChain() {
  const { titles, returns: rows, steps: told } = state.found;
  const whole = [...(state.original ? [state.original] : []), ...state.edits, ...state.files].filter((file) => !file.name.endsWith(".zip"));
  const byName = (name, files) => files.find((file) => file.name === name);
  const pictures = [state.original ?? whole.find((file) => !told.some((each) => each.name === file.name)), ...told.map((each) => byName(each.name, each.position === 1 && state.edits.length ? state.edits : state.files))];
  for (const url of state.urls) URL.revokeObjectURL(url);
  state.urls = pictures.every(Boolean) ? pictures.map((file) => URL.createObjectURL(file)) : [];
  const length = told.length / rows.length;
  const { lost_at: lost, step: lostStep, clause, cause, kept } = verdict();
  const names = Object.keys(titles);
  const blank = { status: "ok", reason: null, seed: null, type: "", width: null, height: null, bytes: 0, latency: null, cost: null, text: null, details: {}, reasons: {} };
  const retained = (row) => Object.fromEntries(names.filter((name) => has(row[`retained_${name}`])).map((name) => [name, row[`retained_${name}`]]));
  const asked = (each) => (length > 1 ? state.words[each.position - 1] || ["the edit", "the undo"][each.position - 1] : each.name);
  const steps = [{ ...blank, step: 0, round: 0, position: 0, status: "input", instruction: "", closing: false, scores: {}, retained: {} },
    ...told.map((each, place) => ({ ...blank, ...each, step: place + 1, instruction: asked(each), closing: each.position === length, scores: each.position === length ? rows[each.round - 1] : {}, retained: each.position === length ? retained(rows[each.round - 1]) : {} }))];
  const curves = Object.fromEntries(Object.keys(retained(rows[0])).map((name) => [name, rows.map((row) => row[`retained_${name}`])]));
  const view = { chain: "yours", editor: "yours", name: "Yours", source: "yours", program: "yours", run: 1, rounds: rows.length, cycle: length > 1 ? [asked(told[0]), asked(told[1])] : ["undo"], status: "complete", title: "your original", credit: "", kept,
    lost_at: lost, lost_step: lostStep, cause, clause, quality: rows.map((row) => row.quality), curves, threshold: state.threshold, metrics: Object.entries(titles).map(([name, title]) => ({ name, title, unit: "", colour: Math.max(Object.keys(curves).indexOf(name), 0) })), steps };
  yours.scored += 1;
  chains.set("yours", Promise.resolve(view));
  yours.picture = (step, kind) => (kind === "difference" ? { src: null, reason: "The difference is drawn for tests of this dataset only." } : { src: state.urls[step] });
  yours.row = { ...view, steps: steps.length - 1 };
  return view;
}

async function answer(box) {
  const view = asChain();
  const { returns, titles, absent } = state.found;
  const whole = state.edits.length > 0;
  const board = await ask("leaderboard", "", "all", "all", whole ? "convergence" : "quality", state.threshold, []);
  const survive = board.rows.filter((row) => row.role === "editors").map((row) => `${editor(row.editor).name} ${row.rounds_kept.toFixed(1)}`);
  const names = Object.keys(titles);
  const table = make("table", { class: "cb-board" }, make("thead", {}, make("tr", {}, ["Round", "File", ...names.map((name) => titles[name]), "Quality retained"].map((title) => make("th", { scope: "col" }, title)))),
    make("tbody", {}, returns.map((row) => make("tr", { class: row.round === view.lost_at ? "cb-loss" : "" }, make("th", { scope: "row" }, String(row.round)), make("td", {}, row.name), names.map((name) => make("td", { class: "cb-n" }, row[name]?.toPrecision(3) ?? "–")), make("td", { class: "cb-n" }, has(row.quality) ? percent(row.quality) : "–")))));
  const line = make("input", { type: "range", min: 0.05, max: 0.95, step: 0.05, value: state.threshold, "aria-label": "Failure threshold", onchange: () => { state.threshold = Number(line.value); answer(box); } });
  const looks = state.urls.length > 0;
  const rounds = Math.max(returns.length, 1);
  const curves = (await ask("lines", "quality", "", "all", "all", "")).curves.filter((each) => !editor(each.editor).baseline).map((each) => ({ ...each, ...editor(each.editor) }));
  const own = { id: "yours", name: "Yours", place: 0, points: [[0, 1], ...returns.map((row) => [row.round, row.quality])], baseline: false };
  const plot = chart({ name: "yours", title: "Your series beside the editors", y: "Retained quality", share: true, xs: [0, Math.max(rounds, ...curves.map((each) => each.points.at(-1)[0]))], limit: state.threshold, lines: [own, ...curves], chosen: ["yours"], high: 360 });
  box.replaceChildren(
    make("h3", {}, view.lost_at ? `Lost in round ${view.lost_at}: ${view.clause}` : `Survived all ${returns.length} rounds`),
    make("p", { class: "cb-note" }, `${state.edits.length ? "Checked like every test of this dataset: edits, undos, quality and lost areas." : "Quality and lost areas were checked. Add the pictures after each edit to have edits and undos checked too."} One series is not enough to rank an editor. ${Object.entries(absent).map(([name, reason]) => `No ${name.toUpperCase()}: ${reason}.`).join(" ")}`),
    make("div", { class: "cb-tools" }, make("label", { class: "cb-choose" }, make("span", {}, `Failure threshold ${percent(state.threshold)}`), line),
      looks ? make("button", { type: "button", onclick: () => go({ tab: "chains", chain: "yours", beside: null, step: null }) }, "Open in the viewer") : null,
      looks ? make("button", { type: "button", onclick: () => go({ tab: "compare", yours: 1 }) }, "Compare with editors") : null),
    plot.node, make("div", { class: "cb-scroll", tabindex: "0", role: "region", "aria-label": "Scores of your pictures" }, table),
    ...(survive.length ? [make("p", { class: "cb-note" }, `${whole ? "On all checks" : "On quality alone"} the editors of this dataset survive, of ${board.rows[0].last_round} rounds: ${survive.join("; ")}.`)] : []));
  plot.draw();
}

export function open() {
  const box = document.getElementById("yours");
  if (box.firstChild) return;
  const out = make("div", { id: "answer", "aria-live": "polite" });
  const names = make("p", { class: "cb-note" });
  const tell = () => {
    const told = [["Original", state.original ? [state.original] : []], ["After each edit", state.edits], ["After each undo", state.files]].filter(([, files]) => files.length);
    names.textContent = told.map(([title, files]) => `${title}: ${files.map((file) => file.name).join(", ")}. `).join("");
  };
  const drop = (id, label, take) => {
    const many = id !== "original";
    const input = make("input", { type: "file", id, accept: "image/*,.zip", multiple: many, onchange: () => { take([...input.files]); tell(); } });
    const zone = make("label", { class: "cb-drop" }, make("b", {}, label), make("span", {}, "Drop a file here, or choose one."), input);
    zone.addEventListener("dragover", (event) => event.preventDefault());
    zone.addEventListener("drop", (event) => { event.preventDefault(); take([...event.dataTransfer.files]); tell(); });
    return zone;
  };
  const run = async (button) => {
    button.disabled = true;
    out.replaceChildren(make("p", { class: "cb-note" }, "Scoring ..."));
    try { state.found = await score(); await answer(out); } catch (error) { out.replaceChildren(make("div", { class: "cb-error", role: "alert" }, error.message)); }
    button.disabled = false;
  };
  const button = make("button", { type: "button", class: "cb-primary", onclick: () => run(button) }, "Score");
  const asked = ["What you asked for (optional)", "How you asked to undo it (optional)"].map((label, place) => {
    const box = make("input", { type: "text", id: `words-${place}`, placeholder: ["add a red ball", "remove the red ball"][place], oninput: () => { state.words[place] = box.value.trim(); } });
    return make("label", { class: "cb-choose" }, make("span", {}, label), box);
  });
  const example = make("button", { type: "button", onclick: async () => {
    const view = await chainOf(await ask("pick", "worst", ""));
    const whole = view.steps.filter((each) => each.status === "ok" && view.steps.some((other) => other.round === each.round && other.closing && other.status === "ok"));
    const file = async (step, name) => { const found = await picture(view.chain, step, "received"); const blob = await (await fetch(found.src)).blob(); return new File([blob], name, { type: blob.type }); };
    const all = (closing, name) => Promise.all(whole.filter((each) => each.closing === closing).map((each) => file(each.step, `${name}${each.round}.png`)));
    state.original = await file(0, "original.png");
    state.files = await all(true, "undone");
    state.edits = view.cycle.length === 2 ? await all(false, "edited") : [];
    state.words = view.cycle.length === 2 ? [...view.cycle] : ["", ""];
    asked.forEach((label, place) => { label.lastChild.value = state.words[place]; });
    tell();
    run(button);
  } }, "Try an example");
  box.replaceChildren(make("div", { class: "cb-drops" }, drop("original", "Original", ([file]) => { state.original = file ?? null; }), drop("edits", "After each edit (optional), or a zip", (files) => { state.edits = files; }), drop("returns", "After each undo, or a zip", (files) => { state.files = files; })),
    make("div", { class: "cb-filters" }, asked, button, example), names, out);
}
