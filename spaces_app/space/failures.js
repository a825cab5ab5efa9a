// The tab of failures: the original beside the step in which it was lost, with the reason.
(() => {
  const cb = window.convergebench;
  const { ask, make, get, go } = cb;
  let turn = 0;

  const params = () => [get("editor"), get("cause"), get("program"), ...cb.filtered(), get("order", "first")];

  function card(row) {
    const editor = cb.editor(row.editor);
    const frame = (step, alt) => cb.thumb(row.chain, step, "small", alt);
    const query = new URLSearchParams({ tab: "chains", chain: row.chain, step: row.step });
    for (const [name, key] of [["fe", "editor"], ["cause", "cause"], ["program", "program"], ["order", "order"]]) if (get(key)) query.set(name, get(key));
    return make("a", { class: "cb-card", href: `?${query}`, title: row.editor },
      make("div", { class: "cb-both" }, frame(0, "the original"), make("span", { class: "cb-outlined" }, cb.outlined(frame(row.step, `lost in round ${row.lost_at}`), row.outline))),
      make("div", { class: "cb-who" }, make("b", {}, cb.dot(row.editor), editor.name), make("span", { class: "cb-chip" }, cb.known.causes[row.cause])),
      make("div", {}, `Survived ${row.kept} of ${row.rounds} rounds. `, make("strong", {}, row.clause)),
      make("small", {}, `${cb.known.pictures[row.source]}: ${cb.known.programs[row.program]}`));
  }

  cb.views.failures = async () => {
    const box = document.getElementById("failures");
    const mine = (turn += 1);
    const found = await ask("failures", ...params(), 0);
    if (mine !== turn) return;
    const editors = cb.known.editors.map(({ id, name, baseline }) => [id, baseline ? `${name} (baseline)` : name]);
    const all = found.causes.reduce((sum, each) => sum + each.count, 0);
    cb.addFilters("failures",
      cb.choose("Editor", [["", "all editors"], ...editors], get("editor"), (value) => go({ editor: value, cause: null })),
      cb.choose("Edit", [["", "all"], ...Object.entries(cb.known.programs).sort((one, other) => one[1].localeCompare(other[1]))], get("program"), (value) => go({ program: value })),
      cb.choose("Sort by", Object.entries(cb.known.sorts), get("order", "first"), (value) => go({ order: value === "first" ? null : value })));
    const chip = (name, title, count) => make("button", { type: "button", "aria-pressed": String(get("cause") === name), onclick: () => go({ cause: name }) }, `${title} `, make("b", {}, String(count)));
    const causes = make("div", { class: "cb-causes", role: "group", "aria-label": "Cause" }, chip("", "All causes", all), found.causes.map(({ cause, title, count }) => chip(cause, title, count)));
    const grid = make("div", { class: "cb-cards" }, found.rows.map(card));
    const more = make("button", { type: "button", class: "cb-more", onclick: async () => {
      const next = await ask("failures", ...params(), grid.children.length);
      grid.append(...next.rows.map(card));
      more.hidden = grid.children.length >= next.total;
    } }, "Show more");
    more.hidden = found.rows.length >= found.total;
    const none = make("p", { class: "cb-note" }, "No failed tests match. ", make("button", { type: "button", "data-reset": true }, "Reset filters"));
    box.replaceChildren(causes, found.total ? grid : none, more);
  };
})();
