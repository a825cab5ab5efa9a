// The tab of failures: the original beside the step in which it was lost, with the reason.
import { addFilters, ask, choose, dot, editor, filtered, get, go, pageData, make, nothing, outlined, thumb, turn } from "convergebench/shared.js";

const most = () => (window.innerWidth < 761 ? 8 : 24);
const params = () => [get("editor"), get("cause"), get("program"), ...filtered(), get("order", "first"), Number(get("start", 0)), most()];

function card(row) {
  const frame = (step, alt) => thumb(row.chain, step, "small", alt);
  const query = new URLSearchParams({ tab: "chains", chain: row.chain, step: row.step });
  for (const [name, key] of [["fe", "editor"], ["cause", "cause"], ["program", "program"], ["order", "order"]]) if (get(key)) query.set(name, get(key));
  return make("a", { class: "cb-card", href: `?${query}`, title: row.editor },
    make("div", { class: "cb-both" }, frame(0, "the original"), make("span", { class: "cb-outlined" }, outlined(frame(row.step, row.verdict), row.outline))),
    make("div", { class: "cb-who" }, make("b", {}, dot(row.editor), editor(row.editor).name), make("span", { class: "cb-chip" }, pageData.causes[row.cause])),
    make("div", {}, make("strong", {}, row.verdict)),
    make("small", {}, `${pageData.pictures[row.source]}: ${pageData.programs[row.program]}`));
}

export async function open() {
  const box = document.getElementById("failures");
  const isLast = turn();
  const found = await ask("failures", ...params());
  if (!isLast()) return;
  const editors = pageData.editors.map(({ id, name, baseline }) => [id, baseline ? `${name} (baseline)` : name]);
  const all = found.causes.reduce((sum, each) => sum + each.count, 0);
  addFilters("failures",
    choose("Editor", [["", "all editors"], ...editors], get("editor"), (value) => go({ editor: value, cause: null, start: null })),
    choose("Edit", [["", "all"], ...Object.entries(pageData.programs).sort((one, other) => one[1].localeCompare(other[1]))], get("program"), (value) => go({ program: value, start: null })),
    choose("Sort by", Object.entries(pageData.sorts), get("order", "first"), (value) => go({ order: value === "first" ? null : value })));
  const chip = (name, title, count) => make("button", { type: "button", "aria-pressed": String(get("cause") === name), onclick: () => go({ cause: name, start: null }) }, `${title} `, make("b", {}, String(count)));
  const causes = make("div", { class: "cb-causes", role: "group", "aria-label": "Cause" }, chip("", "All causes", all), found.causes.map(({ cause, title, count }) => chip(cause, title, count)));
  const grid = make("div", { class: "cb-cards" }, found.rows.map(card));
  const start = Number(get("start", 0));
  const page = (title, to) => make("button", { type: "button", disabled: to < 0 || to >= found.total, onclick: () => { go({ start: to || null }); window.scrollTo(0, 0); } }, title);
  const pages = make("p", { class: "cb-around cb-pages" }, page("← Previous", start - most()), make("span", {}, `${start + 1} to ${start + found.rows.length} of ${found.total}`), page("Next →", start + most()));
  box.replaceChildren(causes, found.total ? grid : nothing(pageData.groups.length ? "No failed tests match." : pageData.whyNot), found.total > most() ? pages : "");
}
