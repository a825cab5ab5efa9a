// One chain, or two on the same case with their steps locked together.
(() => {
  const { make, picture, seen, clamp, remember, root } = window.convergebench;
  const GAINS = [1, 2, 4, 8, 16, 32];
  const MODES = { divider: "Divider", difference: "Difference", step: "This step" };
  let last = null; // what was seen before, to stay at the same step of the same case

  const known = (value) => value !== null && value !== undefined;
  const text = (value, digits = 3) => (!known(value) ? "–" : Number(value).toPrecision(digits).replace(/\.?0+$/, (zeros) => (zeros.includes(".") ? "" : zeros)));

  function show(viewer) {
    viewer.setAttribute("data-on", "");
    const views = JSON.parse(viewer.dataset.views);
    const size = Math.max(...views.map((view) => view.steps.length));
    const same = last && last.views[0].source === views[0].source && last.views[0].program === views[0].program;
    const asked = viewer.dataset.step === "" ? null : Number(viewer.dataset.step);
    const state = {
      views, viewer, size,
      step: clamp(asked ?? (same ? last.step : size - 1), 0, size - 1),
      mode: viewer.dataset.mode || (same ? last.mode : "divider"),
      gain: Number(viewer.dataset.gain) || (same ? last.gain : 8),
      split: same ? last.split : 50, zoom: 1, returns: same ? last.returns : false, playing: null,
    };
    last = state;
    viewer.replaceChildren();
    state.columns = views.map((view) => column(state, view));
    viewer.append(bar(state), make("div", { class: `cb-columns cb-columns-${views.length}` }, ...state.columns.map((each) => each.node)), controls(state), strip(state));
    go(state, state.step);
  }

  // Above: how to look.
  function bar(state) {
    const modes = Object.entries(MODES).map(([name, title]) =>
      make("button", { type: "button", "data-mode": name, onclick: () => { state.mode = name; go(state, state.step); } }, title));
    state.modes = modes;
    state.gains = make("select", { "aria-label": "Amplification", onchange: () => { state.gain = Number(state.gains.value); go(state, state.step); } },
      ...GAINS.map((gain) => make("option", { value: gain, selected: gain === state.gain }, `×${gain}`)));
    const zooms = [1, 2, 4].map((zoom) => make("button", { type: "button", "data-zoom": zoom, onclick: () => magnify(state, zoom) }, zoom === 1 ? "Fit" : `${zoom}×`));
    state.zooms = zooms;
    const link = make("button", { type: "button", class: "cb-link", onclick: () => copy(link) }, "Copy link");
    return make("div", { class: "cb-tools" },
      make("div", { class: "cb-group", role: "group", "aria-label": "View" }, ...modes), state.gains,
      make("div", { class: "cb-group", role: "group", "aria-label": "Zoom" }, ...zooms), link);
  }

  async function copy(button) {
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "Copied";
    } catch {
      window.prompt("The link to this view", location.href);
    }
    setTimeout(() => { button.textContent = "Copy link"; }, 1500);
  }

  // One editor: who it is, the picture beside the original, the curve, the numbers.
  function column(state, view) {
    const own = { view };
    own.before = make("img", { class: "cb-before", alt: "the original", draggable: "false" });
    own.after = make("img", { class: "cb-after", alt: "this step", draggable: "false" });
    own.empty = make("div", { class: "cb-empty" });
    own.handle = make("div", { class: "cb-handle", role: "slider", tabindex: "0", "aria-label": "Divider between original and step", "aria-valuemin": 0, "aria-valuemax": 100 });
    own.sheet = make("div", { class: "cb-sheet" }, own.before, own.after, own.handle, own.empty);
    own.stage = make("div", { class: "cb-stage" }, own.sheet);
    own.labels = make("div", { class: "cb-labels" }, make("span", {}, "original"), make("span", {}, "this step"));
    own.info = make("div", { class: "cb-info", "aria-live": "polite" });
    own.chart = chart(state, own);
    divide(state, own);
    const kept = view.kept === null ? "" : view.lost_at === null ? `kept all ${view.kept} rounds` : `kept ${view.kept} of ${view.rounds} rounds, then ${view.cause}`;
    const head = make("header", {}, make("h3", {}, view.editor), make("p", {}, kept || `${view.status}, ${view.rounds} rounds`));
    head.dataset.good = view.lost_at === null && view.kept !== null;
    own.node = make("section", { class: "cb-column", "aria-label": view.editor }, head,
      make("div", { class: "cb-pair" }, make("div", {}, own.stage, own.labels), make("div", { class: "cb-side", "data-editor": view.editor }, own.info, own.chart)));
    return own;
  }

  function divide(state, own) {
    const move = (event) => {
      const box = own.sheet.getBoundingClientRect();
      split(state, ((event.clientX - box.left) / box.width) * 100);
    };
    own.handle.addEventListener("pointerdown", (event) => {
      own.handle.setPointerCapture(event.pointerId);
      own.handle.onpointermove = move;
      event.preventDefault();
      own.handle.focus();
    });
    for (const end of ["pointerup", "pointercancel"]) own.handle.addEventListener(end, () => { own.handle.onpointermove = null; });
    own.handle.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: -2, ArrowRight: 2 }[event.key];
      if (!way) return;
      split(state, state.split + way);
      event.preventDefault();
      event.stopPropagation();
    });
  }

  function split(state, value) {
    state.split = clamp(value, 0, 100);
    for (const own of state.columns) {
      own.sheet.style.setProperty("--split", `${state.split}%`);
      own.handle.setAttribute("aria-valuenow", Math.round(state.split));
    }
  }

  function magnify(state, zoom) {
    state.zoom = zoom;
    for (const button of state.zooms) button.setAttribute("aria-pressed", Number(button.dataset.zoom) === zoom);
    for (const own of state.columns) {
      const { stage } = own;
      const [x, y] = [stage.scrollLeft + stage.clientWidth / 2, stage.scrollTop + stage.clientHeight / 2].map((value, place) => value / (place ? stage.scrollHeight : stage.scrollWidth));
      own.sheet.style.setProperty("--zoom", zoom);
      stage.scrollTo(x * stage.scrollWidth - stage.clientWidth / 2, y * stage.scrollHeight - stage.clientHeight / 2);
    }
    go(state, state.step);
  }

  // Below: which step.
  function controls(state) {
    state.slider = make("input", { type: "range", min: 0, max: state.size - 1, step: 1, "aria-label": "Step", oninput: () => go(state, Number(state.slider.value)) });
    state.where = make("output", {});
    state.play = make("button", { type: "button", "aria-label": "Play", onclick: () => play(state) }, "▶");
    const returns = make("input", { type: "checkbox", onchange: () => { state.returns = returns.checked; } });
    returns.checked = state.returns;
    return make("div", { class: "cb-controls" },
      make("button", { type: "button", "aria-label": "Step back", onclick: () => walk(state, -1) }, "←"), state.play,
      make("button", { type: "button", "aria-label": "Step on", onclick: () => walk(state, 1) }, "→"), state.slider, state.where,
      make("label", {}, returns, " after undo only"));
  }

  function walk(state, way) {
    let next = state.step + way;
    while (state.returns && next > 0 && next < state.size && !state.views[0].steps[next]?.closing) next += way;
    if (next >= 0 && next < state.size) go(state, next);
    return next >= 0 && next < state.size;
  }

  function play(state) {
    const stop = () => { clearInterval(state.playing); state.playing = null; state.play.textContent = "▶"; };
    if (state.playing) return stop();
    if (state.step === state.size - 1) go(state, 0);
    state.play.textContent = "❚❚";
    state.playing = setInterval(() => { if (!state.viewer.isConnected || !walk(state, 1)) stop(); }, 450);
  }

  function strip(state) {
    const [first] = state.views;
    state.frames = Array.from({ length: state.size }, (_, number) => {
      const step = first.steps[number] ?? state.views[1].steps[number];
      const label = number === 0 ? "original" : step.closing ? `round ${step.round}` : step.instruction;
      const image = (view) => view.steps[number] && make("img", { "data-chain": view.chain, "data-step": view.steps[number].step, alt: "", loading: "lazy", draggable: "false" });
      return make("button", { type: "button", class: step.closing || number === 0 ? "cb-frame cb-return" : "cb-frame", title: label, "aria-label": `Step ${number}: ${label}`, onclick: () => go(state, number) },
        ...state.views.map(image), make("span", {}, label));
    });
    return (state.film = make("div", { class: "cb-film", role: "group", "aria-label": "All steps" }, ...state.frames));
  }

  function go(state, number) {
    state.step = number;
    state.slider.value = number;
    for (const button of state.modes) button.setAttribute("aria-pressed", button.dataset.mode === state.mode);
    for (const button of state.zooms) button.setAttribute("aria-pressed", Number(button.dataset.zoom) === state.zoom);
    state.gains.hidden = state.mode !== "difference";
    state.frames.forEach((frame, place) => frame.toggleAttribute("data-now", place === number));
    const frame = state.frames[number];
    const left = frame.offsetLeft - state.film.offsetLeft - (state.film.clientWidth - frame.clientWidth) / 2;
    state.film.scrollTo({ left, behavior: state.playing ? "auto" : "smooth" });
    const step = state.views[0].steps[number];
    state.where.textContent = number === 0 ? "the original" : step ? `round ${step.round} of ${state.views[0].rounds}, step ${number} of ${state.size - 1}` : `step ${number} of ${state.size - 1}`;
    for (const own of state.columns) paint(state, own, number);
    split(state, state.split);
    if (state.viewer.offsetParent !== null) {
      const [view, other] = state.views;
      remember({ tab: "chains", chain: view.chain, beside: other?.chain, step: number, view: state.mode, gain: state.mode === "difference" ? state.gain : null });
    }
    for (const near of [number + 1, number - 1]) for (const view of state.views) if (view.steps[near]) fetchAhead(view, near);
  }

  function fetchAhead(view, number) {
    picture(view.chain, view.steps[number].step, "view").then((found) => { if (found.url) new Image().src = root() + found.url; });
  }

  async function paint(state, own, number) {
    const { view } = own;
    const step = view.steps[number];
    own.sheet.dataset.mode = state.mode;
    own.labels.hidden = state.mode !== "divider";
    own.handle.hidden = state.mode !== "divider";
    cursor(own, step);
    own.info.replaceChildren(...about(view, step));
    const blank = (reason) => { own.empty.textContent = reason; own.sheet.toggleAttribute("data-empty", Boolean(reason)); };
    if (!step) return blank("the chain had ended before this step");
    const kind = state.mode === "difference" ? "difference" : state.zoom > 1 ? "received" : "view";
    const size = view.steps[0];
    own.sheet.style.aspectRatio = size.width && size.height ? `${size.width} / ${size.height}` : "1";
    const wanted = [picture(view.chain, step.step, kind, state.gain), picture(view.chain, 0, kind === "received" ? "received" : "view")];
    const [now, before] = await Promise.all(wanted);
    if (state.step !== number || !own.sheet.isConnected) return undefined;
    if (before.url) own.before.src = root() + before.url;
    if (now.url) own.after.src = root() + now.url;
    own.after.alt = `${view.editor}, step ${number}: ${step.instruction || "the original"}`;
    return blank(now.url ? "" : now.reason);
  }

  // The words and numbers of a step.
  function about(view, step) {
    if (!step) return [make("p", { class: "cb-note" }, "This chain has no such step.")];
    const chips = [];
    const chip = (words, good) => chips.push(make("span", { class: "cb-chip", "data-good": good === null ? "open" : String(good) }, words));
    if (step.status !== "ok" && step.status !== "input") chip(step.status.replace("_", " "), false);
    if (known(step.applied)) chip(step.applied ? "edit carried out" : "edit not carried out", step.applied);
    if (known(step.undone)) chip(step.undone ? "undone" : "not undone", step.undone);
    const rows = view.metrics.filter(({ name }) => known(step.scores[name]) || view.curves[name]).map(({ name, title, unit }) => {
      const kept = step.closing ? step.retained[name] ?? null : null;
      const gauge = make("meter", { min: 0, max: 1, value: kept ?? 0, title: `retained ${title}`, hidden: kept === null });
      return make("tr", { "data-metric": name, title: step.reasons[name] ?? null }, make("th", { scope: "row" }, title),
        make("td", {}, text(step.scores[name]), known(step.scores[name]) && unit === "dB" ? " dB" : ""),
        make("td", {}, gauge, kept === null ? "" : ` ${Math.round(kept * 100)}%`));
    });
    if (rows.length) rows.unshift(make("tr", {}, make("th", {}, ""), make("th", { scope: "col" }, "against the original"), make("th", { scope: "col" }, step.closing ? "retained" : "")));
    const facts = [
      ["Seed", step.seed], ["Size", step.width ? `${step.width}×${step.height} ${step.type}, ${Math.round(step.bytes / 1024).toLocaleString("en")} KB` : null],
      ["Time", step.latency === null ? null : `${text(step.latency)} s`], ["Cost", step.cost === null ? null : `$${text(step.cost)}`],
    ].filter(([, value]) => known(value) && step.status !== "input");
    const whole = make("a", { href: "#", onclick: (event) => { event.preventDefault(); open(view, step); } }, "Open original file");
    return [
      make("blockquote", {}, step.instruction || view.title || "the original"),
      chips.length ? make("p", {}, ...chips) : null,
      rows.length ? make("table", { class: "cb-scores" }, make("tbody", {}, ...rows)) : null,
      facts.length ? make("dl", {}, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, String(value))])) : null,
      step.text ? make("details", { open: true }, make("summary", {}, "What the model said"), make("p", { class: "cb-said" }, step.text)) : null,
      Object.keys(step.details).length ? make("details", {}, make("summary", {}, "What else came back"), make("pre", {}, JSON.stringify(step.details, null, 1))) : null,
      make("p", { class: "cb-small" }, whole, step.status === "input" && view.credit ? ` · ${view.credit}` : ""),
    ].filter(Boolean);
  }

  async function open(view, step) {
    const page = window.open("", "_blank");
    const found = await picture(view.chain, step.step, "received");
    if (found.url) page.location = root() + found.url;
    else { page.close(); window.alert(found.reason); }
  }

  // The curve with its cursor.
  const [WIDE, HIGH, LEFT, BOTTOM] = [420, 150, 30, 22];
  const across = (own, round) => LEFT + ((WIDE - LEFT - 8) * round) / Math.max(own.view.rounds, 1);
  const up = (value) => 8 + (HIGH - BOTTOM - 8) * (1 - value);

  function chart(state, own) {
    const { curves, rounds, threshold } = own.view;
    const drawn = own.view.metrics.filter(({ name }) => curves[name]);
    if (!drawn.length) return make("p", { class: "cb-note" }, "No retained scores to draw.");
    const lines = drawn.map(({ name, colour }) => {
      const points = [[0, 1], ...curves[name].map((value, place) => [place + 1, value]).filter(([, value]) => value !== null)];
      return make("polyline", { svg: true, class: `cb-line cb-series-${colour}`, points: points.map(([round, value]) => `${across(own, round)},${up(value)}`).join(" ") });
    });
    own.cursor = make("line", { svg: true, class: "cb-cursor", y1: 4, y2: HIGH - BOTTOM });
    const label = (x, y, words, anchor = "middle") => make("text", { svg: true, x, y, "text-anchor": anchor }, words);
    const drawing = make("svg", { svg: true, viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": `Retained quality of ${own.view.editor} over ${rounds} rounds` },
      ...[0, threshold, 1].map((value) => make("line", { svg: true, class: value === threshold ? "cb-half" : "cb-grid", x1: LEFT, x2: WIDE - 8, y1: up(value), y2: up(value) })),
      label(LEFT - 6, up(1) + 4, "1", "end"), label(LEFT - 6, up(threshold) + 4, "½", "end"), label(LEFT - 6, up(0) + 4, "0", "end"),
      label(LEFT, HIGH - 6, "original", "start"), label(WIDE - 8, HIGH - 6, `round ${rounds}`, "end"), ...lines, own.cursor);
    drawing.addEventListener("click", (event) => {
      const box = drawing.getBoundingClientRect();
      const round = (((event.clientX - box.left) / box.width) * WIDE - LEFT) / ((WIDE - LEFT - 8) / rounds);
      go(state, clamp(Math.round(round) * Math.max(own.view.cycle.length, 1), 0, state.size - 1));
    });
    const key = make("p", { class: "cb-key" }, ...drawn.map(({ title, colour }) => make("span", { class: `cb-series-${colour}` }, title)), make("small", {}, " retained: 1 = identical, 0 = unrelated picture"));
    return make("figure", {}, drawing, key);
  }

  function cursor(own, step) {
    if (!own.cursor || !step) return;
    const length = Math.max(own.view.cycle.length, 1);
    const x = across(own, step.round === 0 ? 0 : step.round - 1 + step.position / length);
    own.cursor.setAttribute("x1", x);
    own.cursor.setAttribute("x2", x);
    own.cursor.dataset.step = step.step;
  }

  document.addEventListener("keydown", (event) => {
    if (!last || last.viewer.offsetParent === null || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest?.('input, textarea, select, [contenteditable="true"], [role="listbox"]')) return;
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (way) { walk(last, way); event.preventDefault(); }
  });

  window.convergebench.show = show;
})();
