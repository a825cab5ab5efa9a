// The tab on the metrics: one chain through all of them, and how far they agree.
import { chart } from "convergebench/chart.js";
import { ask, choose, get, go, known, make } from "convergebench/shared.js";

let turn = 0;

export async function open() {
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
    choose("Editor", known.editors.map(({ id, name }) => [id, name]), view.editor, (value) => find(value, view.source, view.program)),
    choose("Picture", sources.map((name) => [name, known.pictures[name]]), view.source, (value) => find(view.editor, value, view.program)),
    choose("Edit", programs.map((name) => [name, known.programs[name]]), view.program, (value) => find(view.editor, view.source, value)));
  const names = [...new Set(rows.map((row) => row.metric))];
  const lines = names.map((name, place) => ({ id: name, name, place, baseline: name.includes("no reference"), points: [...(name.includes("no reference") ? [] : [[0, 1]]), ...rows.filter((row) => row.metric === name).map((row) => [row.round, row.value])] }));
  if (!lines.length) return box.replaceChildren(bar, make("p", { class: "cb-note" }, "There are no retained scores of this chain."));
  const plot = chart({ name: `metrics-${chain}`, title: `All metrics of ${view.name}`, y: "Retained", share: true, xs: [0, view.rounds], lines, csv: () => `metric,round,value\n${rows.map((row) => `${row.metric},${row.round},${row.value ?? ""}`).join("\n")}\n` });
  box.replaceChildren(bar, plot.node, plot.files);
  return plot.draw();
}
