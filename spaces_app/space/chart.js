// Figures on the page: lines over rounds and points. What is saved as a file, the server draws.
import { clamp, editor, go, has, make, save, SHAPES } from "convergebench/shared.js";

const ruler = document.createElement("canvas").getContext("2d");
const widthOf = (words, size = 12) => { ruler.font = `500 ${size}px system-ui, sans-serif`; return ruler.measureText(words).width; };
const ticks = (low, high) => {
  const rough = (high - low) / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * unit).find((each) => each >= rough);
  return Array.from({ length: Math.floor((high - low) / step + 1e-9) + 1 }, (_, each) => low + each * step);
};
// A share of tests stays until the round in which it falls.
const stepped = (points) => points.flatMap(([x, y], place) => (place ? [[x, points[place - 1][1]], [x, y]] : [[x, y]]));

// Everything that is drawn, in the order in which it is drawn.
function parts(about, wide, high, chosen) {
  const phone = wide < 620;
  const labels = about.lines ? about.lines.map((line) => line.name) : [];
  const right = about.lines ? Math.min(Math.max(...labels.map((name) => widthOf(name)), 40) + 30, wide * (phone ? 0.4 : 0.26)) : 130;
  const box = { left: 60, right: wide - right, top: about.bare ? 12 : 14, bottom: high - 44 };
  const x = (value) => box.left + ((box.right - box.left) * (value - about.xs[0])) / (about.xs[1] - about.xs[0]);
  const y = (value) => box.bottom - ((box.bottom - box.top) * (value - about.ys[0])) / (about.ys[1] - about.ys[0]);
  const found = [];
  const text = (at, down, words, anchor = "start", colour = "muted", weight = 400, size = 12) => found.push({ text: words, x: at, y: down, anchor, colour, weight, size });
  for (const value of about.yTicks ?? ticks(...about.ys)) {
    found.push({ points: [[box.left, y(value)], [box.right, y(value)]], colour: "grid", width: 1 });
    text(box.left - 8, y(value) + 4, (about.format ?? String)(value), "end");
  }
  const every = about.xTicks ?? ticks(...about.xs);
  for (const value of every) text(x(value), box.bottom + 18, about.xFormat ? about.xFormat(value) : String(Number(value.toFixed(3))), "middle");
  text((box.left + box.right) / 2, high - 6, about.x, "middle");
  if (about.y) found.push({ text: about.y, x: 11, y: (box.top + box.bottom) / 2, anchor: "middle", colour: "muted", weight: 400, size: 12, turned: true });
  if (about.limit) found.push({ points: [[box.left, y(about.limit)], [box.right, y(about.limit)]], colour: "muted", width: 1, dash: [3, 4] });
  for (const thin of about.thin ?? []) found.push({ points: thin.points.map(([a, b]) => [x(a), y(b)]), colour: thin.place, width: 1, faint: 0.35, hit: thin });
  for (const line of about.lines ?? []) {
    const whole = line.points.filter((point) => has(point[1]));
    const path = (line.steps ? stepped(whole) : whole).map(([a, b]) => [x(a), y(b)]);
    const banded = whole.filter((point) => has(point[2]) && has(point[3]));
    if (chosen.has(line.id) && banded.length) {
      const edge = (at) => { const each = banded.map((point) => [point[0], point[at]]); return (line.steps ? stepped(each) : each).map(([a, b]) => [x(a), y(b)]); };
      found.push({ points: [...edge(3), ...edge(2).reverse()], fill: line.place, faint: 0.16, closed: true });
    }
    found.push({ points: path, colour: line.place, width: line.baseline ? 1.5 : chosen.has(line.id) ? 3.2 : 2, dash: line.baseline ? [6, 4] : null, hit: line, faint: chosen.size && !chosen.has(line.id) ? 0.55 : 1 });
    const spread = Math.max(1, Math.round(whole.length / 8));
    whole.forEach(([a, b], place) => { if (place % spread === 0 || place === whole.length - 1) found.push({ marker: line.place, x: x(a), y: y(b), hit: line }); });
  }
  for (const point of about.points ?? []) {
    const { place } = editor(point.editor);
    if (has(point.low)) found.push({ points: [[x(point.x), y(point.low)], [x(point.x), y(point.high)]], colour: place, width: 1.5 });
    found.push({ marker: place, x: x(point.x), y: y(point.y), large: true, hit: { id: point.editor, editor: point.editor } });
    const name = editor(point.editor).name;
    const left = x(point.x) + 12 + widthOf(name) > wide;
    text(x(point.x) + (left ? -10 : 10), y(point.y) + 4, name, left ? "end" : "start", "ink", 500);
  }
  // Names at the ends of the lines, pushed apart where they would lie on each other.
  const ends = (about.lines ?? []).map((line) => { const last = line.points.filter((point) => has(point[1])).at(-1); return last && { line, wanted: y(last[1]) + 4, from: [x(last[0]), y(last[1])] }; }).filter(Boolean).sort((a, b) => a.wanted - b.wanted);
  const gap = Math.min(15, (box.bottom - box.top + 10) / Math.max(ends.length, 1));
  for (const end of ends) end.y = end.wanted;
  for (let turn = 0; turn < 200; turn += 1) {
    for (let place = 1; place < ends.length; place += 1) {
      const over = gap - (ends[place].y - ends[place - 1].y);
      if (over > 0) { ends[place].y += over / 2; ends[place - 1].y -= over / 2; }
    }
    const [first, final] = [ends[0], ends.at(-1)];
    if (first) first.y = Math.max(first.y, box.top + 4);
    if (final) final.y = Math.min(final.y, box.bottom + 4);
  }
  for (const { line, y: down, from } of ends) {
    found.push({ points: [[from[0] + 6, from[1]], [box.right + 10, down - 4]], colour: line.place, width: 0.8, faint: 0.6 });
    let name = line.name;
    while (name.length > 4 && widthOf(name) > wide - box.right - 18) name = `${name.slice(0, -2)}…`;
    found.push({ text: name, x: box.right + 14, y: down, anchor: "start", colour: "ink", weight: chosen.has(line.id) ? 700 : 500, size: 12, hit: line });
  }
  return { found, box, x, y };
}

const CLASSES = { grid: "cb-grid-line", muted: "cb-muted", ink: "cb-ink" };
const line = (points) => points.map((point) => point.map((value) => value.toFixed(1)).join(",")).join(" ");
function svgOf(drawn, wide, high, title) {
  const nodes = drawn.found.map((part) => {
    const series = (value) => (typeof value === "number" ? `cb-series-${value}` : CLASSES[value]);
    let node;
    if (part.text !== undefined) node = make("text", { svg: true, x: part.x, y: part.y, "text-anchor": part.anchor, "font-weight": part.weight, class: series(part.colour), transform: part.turned ? `rotate(-90 ${part.x} ${part.y})` : null }, part.text);
    else if (part.marker !== undefined) node = make("path", { svg: true, d: SHAPES[part.marker], class: `cb-fill cb-series-${part.marker}`, transform: `translate(${part.x.toFixed(1)} ${part.y.toFixed(1)})${part.large ? " scale(1.5)" : ""}` });
    else if (part.closed) node = make("polygon", { svg: true, points: line(part.points), class: `cb-fill ${series(part.fill)}`, "fill-opacity": part.faint });
    else node = make("polyline", { svg: true, points: line(part.points), class: `cb-stroke ${series(part.colour)}`, "stroke-width": part.width, "stroke-dasharray": part.dash?.join(" ") ?? null, "stroke-opacity": part.faint ?? null });
    if (part.hit) node.hit = part.hit;
    return node;
  });
  // A wide, unseen line above each, so that a finger finds it.
  const touch = drawn.found.filter((part) => part.hit && part.points && !part.closed).map((part) => { const node = make("polyline", { svg: true, points: line(part.points), class: "cb-touch" }); node.hit = part.hit; return node; });
  return make("svg", { svg: true, viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": title, class: "cb-chart" }, nodes, touch);
}

// A figure; `links` lead to its files, `csv` gives its numbers.
export function chart(about) {
  const box = make("div", { class: "cb-figure" });
  const readout = make("p", { class: "cb-readout", "aria-live": "polite" });
  const own = { node: make("figure", { class: "cb-plot" }, box, readout), about, chosen: new Set(about.chosen ?? []), pointed: null };
  const size = () => [Math.round(clamp(own.node.clientWidth || window.innerWidth - 40, 320, 1160)), window.innerWidth < 761 ? 330 : about.high ?? 430];
  const marked = () => new Set([...own.chosen, ...(own.pointed ? [own.pointed] : [])]);
  own.draw = (changed = {}) => {
    Object.assign(about, changed);
    const [wide, high] = size();
    own.drawn = parts(about, wide, high, marked());
    box.replaceChildren(svgOf(own.drawn, wide, high, about.title));
  };
  const say = (event) => {
    if (!about.lines || !own.drawn) return;
    const frame = box.getBoundingClientRect();
    const [wide] = size();
    const { box: inside } = own.drawn;
    const at = about.xs[0] + (((event.clientX - frame.left) * (wide / frame.width) - inside.left) / (inside.right - inside.left)) * (about.xs[1] - about.xs[0]);
    const round = clamp(Math.round(at), about.xs[0], about.xs[1]);
    const wanted = marked();
    const values = about.lines.filter((each) => !wanted.size || wanted.has(each.id)).map((each) => [each, each.points.find(([x]) => x === round)]).filter(([, point]) => point && has(point[1])).sort((a, b) => b[1][1] - a[1][1]);
    const text = (value) => (about.read ?? about.format ?? String)(value);
    readout.replaceChildren(make("b", {}, `Round ${round}: `), ...values.slice(0, 12).map(([each, point]) => make("span", {}, `${each.name} ${text(point[1])}${wanted.has(each.id) && has(point[2]) ? ` (${text(point[2])} to ${text(point[3])})` : ""}`)));
  };
  box.addEventListener("pointermove", (event) => {
    const hit = event.target.hit;
    const id = hit?.id ?? null;
    box.style.cursor = hit ? "pointer" : "";
    if (id !== own.pointed) { own.pointed = id; own.draw(); }
    if (hit?.single) readout.replaceChildren(make("b", {}, hit.single));
    else say(event);
  });
  box.addEventListener("pointerleave", () => { if (own.pointed) { own.pointed = null; own.draw(); } });
  box.addEventListener("click", (event) => { const hit = event.target.hit; if (hit?.chain) go({ tab: "chains", chain: hit.chain, step: null }); else if (hit?.editor) go({ tab: "failures", editor: hit.editor, cause: null }); });
  own.files = make("p", { class: "cb-files" }, "Save as ", about.links ?? null,
    about.csv ? make("button", { type: "button", onclick: () => save(`${about.name}.csv`, about.csv(), "text/csv") }, "CSV") : null);
  new ResizeObserver(() => { if (own.node.clientWidth) own.draw(); }).observe(own.node);
  own.draw();
  return own;
}
