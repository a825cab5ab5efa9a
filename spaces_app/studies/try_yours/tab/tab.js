// A visitor's own series: scored once, looked at in the viewer and in Compare; the threshold changes without another upload.
import { chart } from "convergebench/chart.js";
import { ask, chains, editor, go, has, make, percent, yours } from "convergebench/shared.js";

const state = { original: null, edits: [], files: [], words: ["", ""], found: null, threshold: 0.5, urls: [] };

const encode = (file) => new Promise((done, failed) => {
  const reader = Object.assign(new FileReader(), { onload: () => done(reader.result.split(",")[1] ?? ""), onerror: () => failed(new Error(`${file.name} cannot be read`)) });
  reader.readAsDataURL(file);
});

async function score() {
  const { original, files, edits, words } = state;
  const [texts, forward] = await Promise.all([files, edits].map((each) => Promise.all(each.map(encode))));
  return ask("score_yours", original ? await encode(original) : "", texts, forward, words, [...files, ...edits].map((file) => file.name));
}

// The series as a chain of the viewer; its pictures stay in the browser.
function asChain() {
  const { found, threshold } = state;
  const verdict = found.verdicts.find((each) => Math.abs(each.threshold - threshold) < 0.02);
  const view = { ...found, ...verdict, name: "Yours", title: "your original", credit: "" };
  const files = found.steps.map(({ name, step, closing }) => (!step && state.original) || (step && !closing ? state.edits : state.files).find((file) => file.name === name));
  for (const url of state.urls) URL.revokeObjectURL(url);
  state.urls = files.every(Boolean) ? files.map((file) => URL.createObjectURL(file)) : [];
  yours.scored += 1;
  chains.set("yours", Promise.resolve(view));
  yours.picture = (step, kind) => (kind === "difference" ? { src: null, reason: "The difference is drawn for tests of this dataset only." } : { src: state.urls[step] });
  yours.row = { ...view, steps: view.steps.length - 1 };
  return view;
}

async function answer(box) {
  const view = asChain();
  const returns = view.steps.filter((step) => step.closing);
  const whole = view.cycle.length > 1;
  const board = await ask("leaderboard", "", "all", "all", whole ? "convergence" : "quality", state.threshold, []);
  const survive = board.rows.filter((row) => row.role === "editors").map((row) => `${editor(row.editor).name} ${row.rounds_kept.toFixed(1)}`);
  const cell = (words) => make("td", { class: "cb-n" }, words);
  const shares = returns.map((step) => view.quality[step.round - 1]);
  const table = make("table", { class: "cb-board" }, make("thead", {}, make("tr", {}, ["Round", "File", ...view.metrics.map((each) => each.title), "Quality retained"].map((title) => make("th", { scope: "col" }, title)))),
    make("tbody", {}, returns.map((step, place) => make("tr", { class: step.round === view.lost_at ? "cb-loss" : "" }, make("th", { scope: "row" }, String(step.round)), make("td", {}, step.name),
      view.metrics.map(({ name }) => cell(step.scores[name]?.toPrecision(3) ?? "–")), cell(has(shares[place]) ? percent(shares[place]) : "–")))));
  const line = make("input", { type: "range", min: 0.05, max: 0.95, step: 0.05, value: state.threshold, "aria-label": "Failure threshold", onchange: () => { state.threshold = Number(line.value); answer(box); } });
  const curves = (await ask("curves", "quality", "", "all", "all", "convergence", state.threshold)).curves.filter((each) => !editor(each.editor).baseline).map((each) => ({ ...each, ...editor(each.editor) }));
  const own = { id: "yours", name: "Yours", place: 0, points: [[0, 1], ...shares.map((share, place) => [place + 1, share])], baseline: false };
  const plot = chart({ name: "yours", title: "Your series beside the editors", y: "Retained quality", share: true, xs: [0, Math.max(returns.length, ...curves.map((each) => each.points.at(-1)[0]))], limit: state.threshold, lines: [own, ...curves], chosen: ["yours"], high: 360 });
  const open = (title, address) => make("button", { type: "button", onclick: () => go(address) }, title);
  box.replaceChildren(
    make("h3", {}, `Your series ${view.verdict}`),
    make("p", { class: "cb-note" }, `${whole ? "Checked like every test of this dataset: edits, undos, quality and lost areas." : "Quality and lost areas were checked. Add the pictures after each edit to have edits and undos checked too."} One series is not enough to rank an editor. ${Object.entries(view.absent).map(([name, reason]) => `No ${name.toUpperCase()}: ${reason}.`).join(" ")}`),
    make("div", { class: "cb-tools" }, make("label", { class: "cb-choose" }, make("span", {}, `Failure threshold ${percent(state.threshold)}`), line),
      state.urls.length ? [open("Open in the viewer", { tab: "chains", chain: "yours", beside: null, step: null }), open("Compare with editors", { tab: "compare", yours: 1 })] : null),
    plot.node, make("div", { class: "cb-scroll", tabindex: "0", role: "region", "aria-label": "Scores of your pictures" }, table),
    ...(survive.length ? [make("p", { class: "cb-note" }, `${whole ? "On all checks" : "On quality alone"} the editors of this dataset survive, of ${board.rows[0].last_round} rounds: ${survive.join("; ")}.`)] : []));
  plot.draw();
}

export function open() {
  const box = document.getElementById("yours");
  if (box.firstChild) return;
  const out = make("div", { id: "answer", "aria-live": "polite" });
  const drop = (id, label, take) => {
    const chosen = () => take([...input.files].sort((one, other) => one.name.localeCompare(other.name, "en", { numeric: true })));
    const input = make("input", { type: "file", id, accept: "image/*", multiple: id !== "original", onchange: chosen });
    return make("label", { class: "cb-drop", ondragover: (event) => event.preventDefault(), ondrop: (event) => { event.preventDefault(); input.files = event.dataTransfer.files; chosen(); } },
      make("b", {}, label), make("span", {}, "Drop a file here, or choose one."), input);
  };
  const run = async () => {
    button.disabled = true;
    out.replaceChildren(make("p", { class: "cb-note" }, "Scoring ..."));
    try { state.found = await score(); await answer(out); } catch (error) { out.replaceChildren(make("div", { class: "cb-error", role: "alert" }, error.message)); }
    button.disabled = false;
  };
  const button = make("button", { type: "button", class: "cb-primary", onclick: run }, "Score");
  const asked = ["What you asked for (optional)", "How you asked to undo it (optional)"].map((label, place) => {
    const box = make("input", { type: "text", id: `words-${place}`, placeholder: ["add a red ball", "remove the red ball"][place], oninput: () => { state.words[place] = box.value.trim(); } });
    return make("label", { class: "cb-choose" }, make("span", {}, label), box);
  });
  box.replaceChildren(make("div", { class: "cb-drops" }, drop("original", "Original", ([file]) => { state.original = file ?? null; }), drop("edits", "After each edit (optional)", (files) => { state.edits = files; }), drop("returns", "After each undo", (files) => { state.files = files; })),
    make("div", { class: "cb-filters" }, asked, button), out);
}
