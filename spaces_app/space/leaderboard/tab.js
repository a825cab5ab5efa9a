// The first tab: the story, and the table with its search, columns and files.
import { chart } from "convergebench/chart.js";
import { ask, editor, filtered, get, pageData, make, many, menu, save, set, tick } from "convergebench/shared.js";

// Rows stay within their part, empty values at the end.
function sort(button, down) {
  const cell = button.closest("th");
  const place = [...cell.parentNode.children].indexOf(cell);
  for (const each of cell.parentNode.children) each.removeAttribute("aria-sort");
  cell.setAttribute("aria-sort", down ? "descending" : "ascending");
  for (const body of cell.closest("table").tBodies) {
    const rows = [...body.rows].filter((row) => !row.classList.contains("cb-role"));
    const value = (row) => row.children[place].dataset.value ?? "";
    rows.sort((one, other) => {
      const [a, b] = [value(one), value(other)];
      if (a === "" || b === "") return (a === "") - (b === "");
      return (a - b || a.localeCompare(b)) * (down ? -1 : 1); // words have no difference
    });
    body.append(...rows);
  }
}

// Beside the strips: survival with its bands, and what the rounds cost; the best at their price are named.
function drawCharts() {
  const box = document.querySelector("[data-charts]");
  if (!box || box.firstChild) return;
  const { curves, prices, last } = JSON.parse(box.dataset.charts);
  const add = (title, lines, about) => {
    const plot = chart({ title, lines, chosen: lines.map(({ id }) => id), xs: [0, last], high: 134, y: "", ...about });
    plot.node.className = "cb-small-chart";
    plot.node.prepend(make("figcaption", {}, title));
    box.append(plot.node);
    plot.draw();
  };
  add("Share of tests that survive, with 95% bands", Object.entries(curves).map(([id, points]) => ({ ...editor(id), points, steps: true })), { share: true });
  if (!prices.length) return;
  let most = -1;
  const points = prices.map(([cost, mean, low, high, id]) => {
    const { name, place } = editor(id);
    const isBest = mean > most;
    most = Math.max(most, mean);
    return { id, place, name: isBest ? name : "", words: `${name}: ${mean.toFixed(1)} rounds, $${cost.toFixed(2)} for ${last}`, points: [[cost, mean, low, high]] };
  });
  const dearest = prices.at(-1)[0] * 1.05;
  add(`Rounds survived against the price of ${last} rounds`, points, { xs: [0, dearest], xTicks: [0, dearest / 2, dearest], xFormat: (value) => `$${value.toFixed(2)}`, x: `for ${last} rounds`, ys: [0, last], yTicks: [0, Math.floor(last / 2), last], format: String });
}

const board = () => document.getElementById("board");
let shown = null; // the filters that the table now shows; the page comes with the table of no filter

function arrange() {
  const wanted = [...many("columns"), ...pageData.columns.filter(([, , , isMain]) => isMain).map(([key]) => key)];
  for (const cell of board().querySelectorAll("[data-col]")) cell.hidden = !wanted.includes(cell.dataset.col);
  const words = get("q").toLowerCase();
  for (const row of board().querySelectorAll("tbody tr:not(.cb-role)")) row.hidden = words !== "" && !row.cells[0].parentNode.querySelector("th").textContent.toLowerCase().includes(words);
  const [column, way] = get("sort").split(" ");
  const heading = column && board().querySelector(`thead [data-col="${CSS.escape(column)}"] [data-sort]`);
  if (heading) sort(heading, way === "down");
}

function tools() {
  const row = document.getElementById("results-bar");
  row.hidden = !pageData.counted;
  if (row.hidden || row.querySelector(".cb-tools")) return;
  const search = make("input", { type: "search", placeholder: "Search editor", "aria-label": "Search editor", value: get("q"), oninput: () => { set({ q: search.value }); arrange(); } });
  const there = new Set([...board().querySelectorAll("thead [data-col]")].map((each) => each.dataset.col));
  const extra = pageData.columns.filter(([key, , , main]) => !main && there.has(key));
  const columns = menu("Columns", extra.map(([key, title, meaning]) => tick(make("span", {}, make("b", {}, title), " ", meaning), many("columns").includes(key), (checked) => {
    const now = many("columns").filter((each) => each !== key);
    set({ columns: checked ? [...now, key] : now });
    arrange();
  })));
  const file = (form) => ask("table", form, ...filtered(), []).then((text) => save(`convergebench-results.${form}`, text));
  const files = [["CSV", () => file("csv")], ["JSON", () => file("json")], ["LaTeX", () => file("tex")], ["BibTeX", () => save("convergebench.bib", bibtex())]];
  const rows = ["scores.csv", "scores.parquet", "chains.csv", "chains.parquet"].map((name) => make("a", { class: "cb-button", href: `rows/${name}`, download: "" }, `All ${name.replace(".", " as ").replace("csv", "CSV").replace("parquet", "Parquet")}`));
  const exported = menu("Export", files.map(([name, action]) => make("button", { type: "button", onclick: () => { exported.open = false; action(); } }, name)), rows);
  row.append(make("div", { class: "cb-tools" }, search, columns, exported));
}

const bibtex = () => `@misc{convergebench,\n  title = {ConvergeBench: How Many Rounds of Edit and Undo an Image Editor Survives},\n  author = {{The ConvergeBench Authors}},\n  year = {2026},\n  note = {Dataset ${pageData.version}},\n  url = {https://huggingface.co/spaces/convergebench/convergebench}\n}\n`;

export async function open() {
  tools();
  const asked = [...filtered(), many("e")];
  const key = JSON.stringify(asked);
  if (shown !== key && (shown !== null || key !== JSON.stringify(["", "all", "all", "convergence", pageData.threshold, []]))) {
    const [story, html, versus] = await Promise.all([ask("story", 0, ...filtered()), ...["html", "versus"].map((form) => ask("table", form, ...asked))]);
    document.getElementById("story").innerHTML = story;
    board().innerHTML = html;
    document.getElementById("versus").innerHTML = versus;
  }
  shown = key;
  drawCharts();
  arrange();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-sort]");
  if (button) {
    const cell = button.closest("th");
    const down = cell.getAttribute("aria-sort") ? cell.getAttribute("aria-sort") !== "descending" : cell.classList.contains("cb-n");
    sort(button, down);
    if (cell.closest("#board")) set({ sort: `${cell.dataset.col} ${down ? "down" : "up"}` });
  }
  const next = event.target.closest("[data-story]");
  if (next) ask("story", Number(next.dataset.story), ...filtered()).then((text) => { document.getElementById("story").innerHTML = text; drawCharts(); });
});
