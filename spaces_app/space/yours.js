// A visitor's own series: scored once, looked at in the viewer and in Compare; the threshold changes without another upload.
(() => {
  const cb = window.convergebench;
  const { ask, make, get, go, has } = cb;
  const state = { original: null, files: [], found: null, threshold: 0.5, urls: [] };

  const encode = (file) => new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result.split(",")[1] ?? "");
    reader.onerror = () => failed(new Error(`${file.name} cannot be read`));
    reader.readAsDataURL(file);
  });

  async function score(files, original) {
    const texts = await Promise.all(files.map(encode));
    const first = original ? [original.name, await encode(original)] : [];
    return ask("score_files", first, files.map((file) => file.name), texts, 0.5);
  }

  const lostAt = () => state.found.returns.find((row) => has(row.quality) && row.quality < state.threshold)?.round ?? null;

  // The series as a chain of the viewer: only returns, each a round.
  function asChain() {
    const pictures = state.files.filter((file) => !file.name.endsWith(".zip"));
    const returns = state.original ? pictures : pictures.slice(1);
    const order = new Map(state.found.returns.map((row) => [row.name, row.round]));
    const ordered = [...returns].sort((a, b) => order.get(a.name) - order.get(b.name));
    for (const url of state.urls) URL.revokeObjectURL(url);
    state.urls = [state.original ?? pictures[0], ...ordered].filter(Boolean).map((file) => URL.createObjectURL(file));
    const { titles, returns: rows } = state.found;
    const lost = lostAt();
    const low = lost && Object.entries(rows[lost - 1]).filter(([name]) => name.startsWith("retained_")).reduce((best, each) => (each[1] < best[1] ? each : best));
    const clause = lost ? `${titles[low[0].slice(9)] ?? low[0].slice(9)} ${Math.min(Math.round(low[1] * 100), Math.ceil(state.threshold * 100) - 1)}% < ${cb.percent(state.threshold)}` : "";
    const blank = { status: "ok", reason: null, seed: null, type: "", width: null, height: null, bytes: 0, latency: null, cost: null, text: null, details: {}, reasons: {}, applied: null, undone: null };
    const retained = (row) => Object.fromEntries(Object.keys(titles).filter((name) => has(row[`retained_${name}`])).map((name) => [name, row[`retained_${name}`]]));
    const steps = [{ ...blank, step: 0, round: 0, position: 0, status: "input", instruction: "", closing: false, scores: {}, retained: {} },
      ...rows.map((row) => ({ ...blank, step: row.round, round: row.round, position: 1, instruction: row.name, closing: true, scores: row, retained: retained(row) }))];
    const curves = Object.fromEntries(Object.keys(retained(rows[0])).map((name) => [name, rows.map((row) => row[`retained_${name}`])]));
    const view = { chain: "yours", editor: "yours", name: "Yours", source: "yours", program: "yours", run: 1, rounds: rows.length, cycle: ["undo"], status: "complete", title: "your original", credit: "", kept: lost ? lost - 1 : rows.length,
      lost_at: lost, lost_step: lost, cause: lost ? "quality lost" : null, clause, quality: rows.map((row) => row.quality), curves, threshold: state.threshold, metrics: Object.entries(titles).map(([name, title], place) => ({ name, title, unit: "", colour: Object.keys(curves).indexOf(name) % 12 })), steps };
    cb.chains.set("yours", Promise.resolve(view));
    cb.local = (chain, step, kind) => (chain !== "yours" ? null : kind === "difference" ? { src: null, reason: "the difference is drawn for tests of the dataset only" } : { src: state.urls[step] });
    cb.addYours({ ...view, steps: rows.length });
    return view;
  }

  async function answer(box) {
    const view = asChain();
    const { returns, titles, absent } = state.found;
    const board = await ask("leaderboard", "", "all", "all", "quality", state.threshold, []);
    const names = Object.keys(titles);
    const table = make("table", { class: "cb-board" }, make("thead", {}, make("tr", {}, ["Round", "File", ...names.map((name) => titles[name]), "Retained"].map((title) => make("th", { scope: "col" }, title)))),
      make("tbody", {}, returns.map((row) => make("tr", { class: row.round === view.lost_at ? "cb-loss" : "" }, make("th", { scope: "row" }, String(row.round)), make("td", {}, row.name), names.map((name) => make("td", { class: "cb-n" }, row[name]?.toPrecision(3) ?? "–")), make("td", { class: "cb-n" }, has(row.quality) ? cb.percent(row.quality) : "–")))));
    const line = make("input", { type: "range", min: 0.05, max: 0.95, step: 0.05, value: state.threshold, "aria-label": "Failure threshold", onchange: () => { state.threshold = Number(line.value); answer(box); } });
    const looks = state.urls.length === returns.length + 1;
    const rounds = Math.max(returns.length, 1);
    const curves = (await ask("lines", "quality", "", "all", "all", "")).curves.filter((each) => !cb.editor(each.editor).baseline).map((each) => ({ ...each, ...cb.editor(each.editor) }));
    const own = { id: "yours", name: "Yours", place: 0, points: [[0, 1], ...returns.map((row) => [row.round, row.quality])], baseline: false };
    const plot = cb.chart({ name: "yours", title: "Your series beside the editors", x: "Round", y: "Retained quality", xs: [0, Math.max(rounds, ...curves.map((each) => each.points.at(-1)[0]))], ys: [0, 1], yTicks: [0, 0.25, 0.5, 0.75, 1], format: cb.percent, limit: state.threshold, lines: [own, ...curves], chosen: ["yours"], high: 360 });
    box.replaceChildren(
      make("h3", {}, view.lost_at ? `Lost in round ${view.lost_at}: ${view.clause}` : `Survived all ${returns.length} rounds`),
      make("p", { class: "cb-note" }, `By quality alone, as edits are not judged here. One series is not enough to rank an editor. ${Object.entries(absent).map(([name, reason]) => `No ${name.toUpperCase()}: ${reason}.`).join(" ")}`),
      make("div", { class: "cb-tools" }, make("label", { class: "cb-choose" }, make("span", {}, `Failure threshold ${cb.percent(state.threshold)}`), line),
        looks ? make("button", { type: "button", onclick: () => go({ tab: "chains", chain: "yours", beside: null, step: null }) }, "Open in the viewer") : null,
        looks ? make("button", { type: "button", onclick: () => go({ tab: "compare", yours: 1 }) }, "Compare with editors") : null),
      plot.node, make("div", { class: "cb-scroll", tabindex: "0", role: "region", "aria-label": "Scores of your pictures" }, table),
      make("p", { class: "cb-note" }, "By quality alone, the editors of this dataset: ", board.rows.filter((row) => row.role === "editors").slice(0, 8).map((row) => `${cb.editor(row.editor).name} ${row.rounds_kept.toFixed(1)} of ${row.last_round} rounds`).join("; ")));
    plot.draw();
  }

  cb.views["score-yours"] = () => {
    const box = document.getElementById("yours");
    if (box.firstChild) return;
    const out = make("div", { id: "answer", "aria-live": "polite" });
    const names = make("p", { class: "cb-note" });
    const tell = () => { names.textContent = [state.original && `Original: ${state.original.name}. `, state.files.length && `Returns: ${state.files.map((file) => file.name).join(", ")}`].filter(Boolean).join(""); };
    const drop = (id, label, many) => {
      const input = make("input", { type: "file", id, accept: "image/*,.zip", multiple: many, onchange: () => { if (many) state.files = [...input.files]; else state.original = input.files[0] ?? null; tell(); } });
      const zone = make("label", { class: "cb-drop" }, make("b", {}, label), make("span", {}, "drop here or choose"), input);
      zone.addEventListener("dragover", (event) => event.preventDefault());
      zone.addEventListener("drop", (event) => { event.preventDefault(); if (many) state.files = [...event.dataTransfer.files]; else state.original = event.dataTransfer.files[0]; tell(); });
      return zone;
    };
    const run = async (button) => {
      button.disabled = true;
      out.replaceChildren(make("p", { class: "cb-note" }, "Scoring ..."));
      try { state.found = await score(state.files, state.original); await answer(out); } catch (error) { out.replaceChildren(make("div", { class: "cb-error", role: "alert" }, error.message)); }
      button.disabled = false;
    };
    const button = make("button", { type: "button", class: "cb-primary", onclick: () => run(button) }, "Score");
    const example = make("button", { type: "button", onclick: async () => {
      const view = await cb.chainOf(await ask("pick", "worst", ""));
      const returns = view.steps.filter((each) => each.closing && each.status === "ok");
      const file = async (step, name) => { const found = await cb.picture(view.chain, step, "received"); const blob = await (await fetch(found.src)).blob(); return new File([blob], name, { type: blob.type }); };
      state.original = await file(0, "original.png");
      state.files = await Promise.all(returns.map((each) => file(each.step, `round${each.round}.png`)));
      tell();
      run(button);
    } }, "Try an example");
    box.replaceChildren(make("div", { class: "cb-drops" }, drop("original", "Original", false), drop("returns", "After each undo, or a zip", true), make("div", { class: "cb-tools" }, button, example)), names, out);
  };
  if (get("chain") === "yours") cb.set({ chain: null, tab: "score-yours" });
})();
