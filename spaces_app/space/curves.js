// The tabs of curves and metrics: lines over rounds, with the editors to draw.
(() => {
  const cb = window.convergebench;
  const { ask, make, get, many, set, go } = cb;
  let turn = 0;
  let shown = null;

  const number = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString());
  // A spreadsheet takes what begins with one of these for a formula.
  const plain = (name) => JSON.stringify(/^[=+\-@\t\r]/.test(name) ? `'${name}` : name);
  const csv = (found, lines) => () => `editor,round,mean,low,high\n${lines.flatMap((line) => line.points.map((point) => [plain(line.editor), ...point.map((value) => value ?? "")].join(","))).join("\n")}\n`;

  // Those that survive most rounds.
  const best = (there, count) => there.filter((each) => !each.baseline).sort((a, b) => b.kept - a.kept).slice(0, count).map((each) => each.id);

  cb.views.curves = async () => {
    const box = document.getElementById("curves");
    const mine = (turn += 1);
    const metric = get("curve", cb.known.curves.some(([name]) => name === "quality") ? "quality" : cb.known.curves[0]?.[0] ?? "kept");
    const single = get("single");
    const found = await ask("lines", metric, ...cb.filtered(), single);
    if (mine !== turn) return;
    const chosen = many("e");
    const there = found.curves.map((each) => ({ ...each, ...cb.editor(each.editor) }));
    const drawn = there.filter((each) => (chosen.length ? chosen.includes(each.id) : !each.baseline));
    const lines = (drawn.length ? drawn : there).map((each) => ({ ...each, steps: found.steps }));
    const toggle = (id) => {
      const now = new Set(chosen.length ? chosen : lines.map((each) => each.id));
      if (now.has(id)) now.delete(id); else now.add(id);
      set({ e: [...now] });
      cb.views.curves();
    };
    const picks = make("div", { class: "cb-picks", role: "group", "aria-label": "Editors" },
      ["editors", "baselines"].map((kind) => {
        const own = there.filter((each) => each.baseline === (kind === "baselines"));
        return own.length ? make("div", {}, make("b", {}, kind === "editors" ? "Editors" : "Baselines"), own.map((each) => make("button", { type: "button", title: each.id, "aria-pressed": String(lines.some((line) => line.id === each.id)), onclick: () => toggle(each.id) }, cb.dot(each.id), each.name))) : null;
      }),
      make("div", {}, make("button", { type: "button", class: "cb-plain", onclick: () => { set({ e: null }); cb.views.curves(); } }, "All editors"),
        make("button", { type: "button", class: "cb-plain", onclick: () => { set({ e: best(there, 5) }); cb.views.curves(); } }, "Best five")));
    cb.addFilters("curves", cb.choose("Metric", cb.known.curves, metric, (value) => go({ curve: value })),
      cb.choose("Show each test of", [["", "none"], ...there.map((each) => [each.id, each.name])], single, (value) => go({ single: value })));
    if (!there.length) return box.replaceChildren(make("p", { class: "cb-note" }, "No tests match. ", make("button", { type: "button", "data-reset": true }, "Reset filters")));
    const values = lines.flatMap((line) => line.points.flatMap(([, ...each]) => each.filter(cb.has))).concat(found.chains.flatMap((each) => each.values.filter(cb.has)));
    const last = Math.max(...lines.map((line) => line.points.at(-1)[0]));
    const first = found.share ? 0 : 1;
    const title = found.title.charAt(0).toUpperCase() + found.title.slice(1);
    const plot = cb.chart({
      name: `curves-${metric.replace(/\W+/g, "-")}`, title, x: "Round", y: found.title.split(" (")[0] + (found.unit ? ` (${found.unit})` : ""),
      xs: [first, Math.max(last, first + 1)], ys: found.share ? [0, 1] : [Math.min(0, ...values), Math.max(...values) * 1.02],
      xTicks: Array.from({ length: last - first + 1 }, (_, each) => each + first).filter((round) => last < 14 || round % Math.ceil(last / 10) === 0 || round === last),
      yTicks: found.share ? [0, 0.25, 0.5, 0.75, 1] : null, format: found.share ? cb.percent : number, read: found.share ? (value) => cb.percent(value) : number,
      limit: found.share ? 0.5 : null, lines, csv: csv(found, lines),
      thin: found.chains.map((each) => ({ id: single, place: cb.editor(single).place, chain: each.chain, single: each.name, points: [...(found.share ? [[0, 1]] : []), ...each.values.map((value, place) => [place + 1, value])].filter(([, value]) => cb.has(value)) })),
    });
    const table = () => ask("table", "tex", ...cb.filtered(), "convergence", cb.known.threshold, lines.map((each) => each.id)).then((words) => cb.save("convergebench-table.tex", words));
    plot.files.append(make("button", { type: "button", onclick: table }, "LaTeX table"));
    box.replaceChildren(plot.node, picks, plot.files);
    return plot.draw();
  };

  cb.views.metrics = async () => {
    const box = document.getElementById("metrics");
    const words = document.getElementById("metrics-words");
    if (!words.firstChild) ask("metrics_page").then((text) => { words.innerHTML = text; });
    let chain = get("chain");
    if (!chain) chain = await ask("pick", "worst", get("editor"));
    const mine = (turn += 1);
    const [view, rows] = await Promise.all([ask("chain", chain), ask("metrics", chain)]);
    if (mine !== turn) return;
    const { sources, programs } = await ask("find", view.editor, view.source, view.program, view.run);
    const find = async (editor, source, program) => go({ chain: (await ask("find", editor, source, program, 1)).chain });
    const bar = make("div", { class: "cb-filters" },
      cb.choose("Editor", cb.known.editors.map(({ id, name }) => [id, name]), view.editor, (value) => find(value, view.source, view.program)),
      cb.choose("Picture", sources.map((name) => [name, cb.known.pictures[name]]), view.source, (value) => find(view.editor, value, view.program)),
      cb.choose("Edit", programs.map((name) => [name, cb.known.programs[name]]), view.program, (value) => find(view.editor, view.source, value)));
    const names = [...new Set(rows.map((row) => row.metric))];
    const lines = names.map((name, place) => ({ id: name, name, place, baseline: name.includes("no reference"), points: [...(name.includes("no reference") ? [] : [[0, 1]]), ...rows.filter((row) => row.metric === name).map((row) => [row.round, row.value])] }));
    if (!lines.length) return box.replaceChildren(bar, make("p", { class: "cb-note" }, "There are no retained scores of this chain."));
    const plot = cb.chart({ name: `metrics-${chain}`, title: `All metrics of ${view.name}`, x: "Round", y: "Retained", xs: [0, view.rounds], ys: [0, 1], yTicks: [0, 0.25, 0.5, 0.75, 1], format: cb.percent,
      xTicks: Array.from({ length: view.rounds + 1 }, (_, each) => each).filter((round) => view.rounds < 14 || round % Math.ceil(view.rounds / 10) === 0), limit: 0.5, lines, csv: csv(null, lines.map((line) => ({ ...line, editor: line.name }))) });
    box.replaceChildren(bar, plot.node, plot.files);
    return plot.draw();
  };
})();
