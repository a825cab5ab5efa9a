// The tab that compares editors: one picture and one program, editors as rows, rounds as columns.
import { ask, choose, dot, editor, failing, fileLinks, get, go, has, pageData, make, many, percent, set, thumb, turn, yours } from "convergebench/shared.js";

const MOST = 6;

const spread = (last, count) => (last <= count ? Array.from({ length: last }, (_, each) => each + 1) : [...new Set(Array.from({ length: count }, (_, each) => Math.round(1 + (each * (last - 1)) / (count - 1))))]);

function columns(found) {
  const rounds = Math.max(...found.rows.map((row) => row.rounds));
  const [start, done, edits] = found.words;
  const shown = spread(rounds, window.innerWidth < 761 ? 3 : 7);
  return [{ label: start, step: () => 0 }, ...(edits ? [{ label: "edited 1", step: () => 1 }] : []),
    ...shown.map((round) => ({ round, label: `${done} ${round}`, step: (row) => round * row.cycle.length }))];
}

export async function open() {
  const box = document.getElementById("compare");
  const isLast = turn();
  const found = await ask("compare", get("source"), get("program"), many("e"), ...failing());
  if (!isLast()) return;
  const rows = yours.row && get("yours") ? [yours.row, ...found.rows] : found.rows;
  const chosen = found.rows.map((row) => row.editor);
  const toggle = (id) => { set({ source: found.source, program: found.program, e: chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id] }); open(); };
  const bar = make("div", { class: "cb-filters" },
    choose("Picture", found.sources.map((name) => [name, pageData.pictures[name]]), found.source, (value) => go({ source: value, program: null })),
    choose("Edit", found.programs.map((name) => [name, pageData.programs[name]]), found.program, (value) => go({ source: found.source, program: value })),
    make("span", { class: "cb-files" }, "Save as ", fileLinks("compare", { source: found.source, program: found.program, editors: chosen })));
  const picks = make("div", { class: "cb-picks", role: "group", "aria-label": "Editors, at most six" }, make("div", {}, found.editors.map((id) =>
    make("button", { type: "button", title: id, disabled: !chosen.includes(id) && chosen.length >= MOST, "aria-pressed": String(chosen.includes(id)), onclick: () => toggle(id) }, dot(id), editor(id).name))));
  const across = columns({ ...found, rows });
  const cell = (row, column) => {
    const step = column.step(row);
    const share = column.round ? row.quality[column.round - 1] : null;
    const lost = has(row.lost_at) && column.round === nearest(across, row);
    const label = lost ? `✗ fails in ${row.lost_at}` : "";
    return make("td", { class: lost ? "cb-loss" : "" }, make("a", { "aria-label": `${row.chain === "yours" ? "Yours" : editor(row.editor).name}, ${column.label}${has(share) ? `, ${percent(share)} kept` : ""}${lost ? ", fails here" : ""}`, href: `?${new URLSearchParams({ tab: "chains", chain: row.chain, step })}` },
      step <= row.steps ? thumb(row.chain, step, "small") : make("span", { class: "cb-none" }, "no picture"),
      label ? make("em", {}, label) : null, make("span", {}, has(share) ? `${percent(share)} kept` : column.label)));
  };
  const head = make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Editor"), across.map((column) => make("th", { scope: "col" }, column.label))));
  const body = make("tbody", {}, rows.map((row) => make("tr", {}, make("th", { scope: "row", title: row.editor }, row.chain === "yours" ? null : dot(row.editor), row.chain === "yours" ? "Yours" : editor(row.editor).name, make("small", {}, row.verdict)), across.map((column) => cell(row, column)))));
  const [one] = found.rows;
  box.replaceChildren(bar, picks, make("p", { class: "cb-case" }, `“${one.cycle[0]}”${one.cycle.length > 1 ? `, then “${one.cycle.at(-1)}”,` : ""} on “${pageData.pictures[found.source]}”`),
    make("div", { class: "cb-scroll", tabindex: "0", role: "region", "aria-label": "Editors beside each other" }, make("table", { class: "cb-grid-table" }, head, body)));
}

const nearest = (across, row) => across.filter((each) => each.round).reduce((best, each) => (Math.abs(each.round - row.lost_at) < Math.abs(best - row.lost_at) ? each.round : best), Infinity);
