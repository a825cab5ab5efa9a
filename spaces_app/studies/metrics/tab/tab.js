// The tab on the metrics: one chain through all of them.
import { chart } from "convergebench/chart.js";
import { ask, chainChoices, chainOf, get, go, make, turn } from "convergebench/shared.js";

export async function open() {
  const box = document.getElementById("metrics");
  const isLast = turn();
  const chain = get("chain") || await ask("pick", "worst", get("editor"));
  const [view, rows] = await Promise.all([chainOf(chain), ask("metrics", chain)]);
  const bar = make("div", { class: "cb-filters" }, await chainChoices(view, (other) => go({ chain: other })));
  if (!isLast()) return undefined;
  const names = [...new Set(rows.map((row) => row.metric))];
  const lines = names.map((name, place) => ({ id: name, name, place, baseline: name.includes("no reference"), points: [...(name.includes("no reference") ? [] : [[0, 1]]), ...rows.filter((row) => row.metric === name).map((row) => [row.round, row.value])] }));
  if (!lines.length) return box.replaceChildren(bar, make("p", { class: "cb-note" }, "There are no retained scores of this chain."));
  const plot = chart({ name: `metrics-${chain}`, title: `All metrics of ${view.name}`, y: "Retained", share: true, xs: [0, view.rounds], lines, csv: () => `metric,round,value\n${rows.map((row) => `${row.metric},${row.round},${row.value ?? ""}`).join("\n")}\n` });
  box.replaceChildren(bar, plot.node, plot.files);
  return plot.draw();
}
