// The tab of curves: a metric over rounds, with the editors to draw.
import { chart } from "convergebench/chart.js";
import { addFilters, ask, choose, dot, editor, fileLinks, filtered, filters, get, go, has, pageData, make, many, nothing, save, set, turn } from "convergebench/shared.js";

const number = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString());
// A spreadsheet takes what begins with one of these for a formula.
const plain = (name) => JSON.stringify(/^[=+\-@\t\r]/.test(name) ? `'${name}` : name);
const csv = (lines) => () => `editor,round,mean,low,high\n${lines.flatMap((line) => line.points.map((point) => [plain(line.editor), ...point.map((value) => value ?? "")].join(","))).join("\n")}\n`;

// Those that survive most rounds.
const best = (there, count) => there.filter((each) => !each.baseline).sort((a, b) => b.kept - a.kept).slice(0, count).map((each) => each.id);

export async function open() {
  const box = document.getElementById("curves");
  const isLast = turn();
  const metric = get("curve", pageData.curves.some(([name]) => name === "quality") ? "quality" : pageData.curves[0]?.[0] ?? "quality");
  const found = await ask("curves", metric, ...filtered());
  if (!isLast()) return undefined;
  const chosen = many("e");
  const there = found.curves.map((each) => ({ ...each, ...editor(each.editor) }));
  const drawn = there.filter((each) => (chosen.length ? chosen.includes(each.id) : !each.baseline));
  const lines = (drawn.length ? drawn : there).map((each) => ({ ...each, steps: found.steps }));
  const toggle = (id) => {
    const now = new Set(chosen.length ? chosen : lines.map((each) => each.id));
    if (now.has(id)) now.delete(id); else now.add(id);
    set({ e: [...now] });
    open();
  };
  const picks = make("div", { class: "cb-picks", role: "group", "aria-label": "Editors" },
    ["editors", "baselines"].map((kind) => {
      const own = there.filter((each) => each.baseline === (kind === "baselines"));
      return own.length ? make("div", {}, make("b", {}, kind === "editors" ? "Editors" : "Baselines"), own.map((each) => make("button", { type: "button", title: each.id, "aria-pressed": String(lines.some((line) => line.id === each.id)), onclick: () => toggle(each.id) }, dot(each.id), each.name))) : null;
    }),
    make("div", {}, make("button", { type: "button", class: "cb-plain", onclick: () => { set({ e: null }); open(); } }, "All editors"),
      make("button", { type: "button", class: "cb-plain", onclick: () => { set({ e: best(there, 5) }); open(); } }, "Best five")));
  addFilters("curves", choose("Metric", pageData.curves, metric, (value) => go({ curve: value })));
  if (!there.length) return box.replaceChildren(nothing(pageData.groups.length ? "No tests match." : pageData.whyNot));
  const values = lines.flatMap((line) => line.points.flatMap(([, ...each]) => each.filter(has)));
  const last = Math.max(...lines.map((line) => line.points.at(-1)[0]));
  const first = found.share ? 0 : 1;
  const title = found.title.charAt(0).toUpperCase() + found.title.slice(1);
  const plot = chart({
    name: `curves-${metric.replace(/\W+/g, "-")}`, title, y: found.title.split(" (")[0] + (found.unit ? ` (${found.unit})` : ""),
    share: found.share, xs: [first, Math.max(last, first + 1)], ...(found.share ? {} : { ys: [Math.min(0, ...values), Math.max(...values) * 1.02], format: number }),
    lines, csv: csv(lines), links: fileLinks("curves", { ...filters(), fails_on: get("metric", "convergence"), threshold: get("threshold"), metric, editors: lines.map((each) => each.id) }),
  });
  const table = () => ask("table", "tex", ...filtered(), lines.map((each) => each.id)).then((words) => save("convergebench-table.tex", words));
  plot.files.append(make("button", { type: "button", onclick: table }, "LaTeX table"));
  box.replaceChildren(plot.node, picks, plot.files);
  return plot.draw();
}
