// The tab of failures: the original beside the step in which it was lost, with the reason.
import { addFilters, ask, choose, dot, editor, filtered, get, go, known, make, nothing, outlined, thumb, turn } from "convergebench/shared.js";

const params = () => [get("editor"), get("cause"), get("program"), ...filtered(), get("order", "first")];

function card(row) {
  const frame = (step, alt) => thumb(row.chain, step, "small", alt);
  const query = new URLSearchParams({ tab: "chains", chain: row.chain, step: row.step });
  for (const [name, key] of [["fe", "editor"], ["cause", "cause"], ["program", "program"], ["order", "order"]]) if (get(key)) query.set(name, get(key));
  return make("a", { class: "cb-card", href: `?${query}`, title: row.editor },
    make("div", { class: "cb-both" }, frame(0, "the original"), make("span", { class: "cb-outlined" }, outlined(frame(row.step, `lost in round ${row.lost_at}`), row.outline))),
    make("div", { class: "cb-who" }, make("b", {}, dot(row.editor), editor(row.editor).name), make("span", { class: "cb-chip" }, known.causes[row.cause])),
    make("div", {}, `Survived ${row.kept} of ${row.rounds} rounds. `, make("strong", {}, row.clause)),
    make("small", {}, `${known.pictures[row.source]}: ${known.programs[row.program]}`));
}

export async function open() {
  const box = document.getElementById("failures");
  const isLast = turn();
  const found = await ask("failures", ...params(), 0);
  if (!isLast()) return;
  const editors = known.editors.map(({ id, name, baseline }) => [id, baseline ? `${name} (baseline)` : name]);
  const all = found.causes.reduce((sum, each) => sum + each.count, 0);
  addFilters("failures",
    choose("Editor", [["", "all editors"], ...editors], get("editor"), (value) => go({ editor: value, cause: null })),
    choose("Edit", [["", "all"], ...Object.entries(known.programs).sort((one, other) => one[1].localeCompare(other[1]))], get("program"), (value) => go({ program: value })),
    choose("Sort by", Object.entries(known.sorts), get("order", "first"), (value) => go({ order: value === "first" ? null : value })));
  const chip = (name, title, count) => make("button", { type: "button", "aria-pressed": String(get("cause") === name), onclick: () => go({ cause: name }) }, `${title} `, make("b", {}, String(count)));
  const causes = make("div", { class: "cb-causes", role: "group", "aria-label": "Cause" }, chip("", "All causes", all), found.causes.map(({ cause, title, count }) => chip(cause, title, count)));
  const grid = make("div", { class: "cb-cards" }, found.rows.map(card));
  const more = make("button", { type: "button", class: "cb-more", onclick: async () => {
    const next = await ask("failures", ...params(), grid.children.length);
    grid.append(...next.rows.map(card));
    more.hidden = grid.children.length >= next.total;
  } }, "Show more");
  more.hidden = found.rows.length >= found.total;
  box.replaceChildren(causes, found.total ? grid : nothing("No failed tests match."), more);
}
