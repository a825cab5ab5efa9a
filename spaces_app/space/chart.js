// Figures on the page: lines over rounds. What is saved as a file, the server draws.
import { clamp, go, has, make, percent, save, SHAPES } from "convergebench/shared.js";

const ruler = document.createElement("canvas").getContext("2d");
ruler.font = "500 12px system-ui, sans-serif";
const widthOf = (words) => ruler.measureText(words).width;
const ticks = (low, high) => {
  const rough = (high - low) / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * unit).find((each) => each >= rough);
  return Array.from({ length: Math.floor((high - low) / step + 1e-9) + 1 }, (_, each) => low + each * step);
};
// A share of tests stays until the round in which it falls.
const stepped = (points) => points.flatMap(([x, y], place) => (place ? [[x, points[place - 1][1]], [x, y]] : [[x, y]]));

// The drawing as SVG; what a pointer finds has a `hit`.
function draw(about, wide, high, chosen) {
  const right = Math.min(Math.max(...about.lines.map(({ name }) => widthOf(name)), 40) + 30, wide * (wide < 620 ? 0.4 : 0.26));
  const box = { left: 60, right: wide - right, top: 14, bottom: high - 44 };
  const x = (value) => box.left + ((box.right - box.left) * (value - about.xs[0])) / (about.xs[1] - about.xs[0]);
  const y = (value) => box.bottom - ((box.bottom - box.top) * (value - about.ys[0])) / (about.ys[1] - about.ys[0]);
  const nodes = [];
  const put = (tag, attributes, hit, ...inside) => {
    const node = make(tag, { svg: true, ...attributes }, ...inside);
    node.hit = hit;
    nodes.push(node);
  };
  const listed = (points) => points.map((point) => point.map((value) => value.toFixed(1)).join(",")).join(" ");
  const curve = (points, series, width, hit, more = {}) => put("polyline", { points: listed(points), class: `cb-stroke ${series}`, "stroke-width": width, ...more }, hit);
  const text = (at, down, words, anchor, more = {}, hit = undefined) => put("text", { x: at, y: down, "text-anchor": anchor, class: "cb-muted", ...more }, hit, words);
  for (const value of about.yTicks ?? ticks(...about.ys)) {
    curve([[box.left, y(value)], [box.right, y(value)]], "cb-grid-line", 1);
    text(box.left - 8, y(value) + 4, about.format(value), "end");
  }
  const [first, last] = about.xs;
  const rounds = Array.from({ length: last - first + 1 }, (_, each) => each + first).filter((round) => last < 14 || round % Math.ceil(last / 10) === 0 || round === last);
  for (const value of about.xTicks ?? rounds) text(x(value), box.bottom + 18, (about.xFormat ?? String)(value), "middle");
  text((box.left + box.right) / 2, high - 6, about.x ?? "Round", "middle");
  const middle = (box.top + box.bottom) / 2;
  text(11, middle, about.y, "middle", { transform: `rotate(-90 11 ${middle})` });
  if (about.limit) curve([[box.left, y(about.limit)], [box.right, y(about.limit)]], "cb-muted", 1, undefined, { "stroke-dasharray": "3 4" });
  const touched = [];
  const ends = [];
  for (const line of about.lines) {
    const series = `cb-series-${line.place}`;
    const measured = line.points.filter((point) => has(point[1]));
    const shaped = (points) => (line.steps ? stepped(points) : points).map(([a, b]) => [x(a), y(b)]);
    const banded = measured.filter((point) => has(point[2]) && has(point[3]));
    if (chosen.has(line.id) && banded.length) {
      const [upper, lower] = [3, 2].map((at) => shaped(banded.map((point) => [point[0], point[at]])));
      if (banded.length === 1) curve([lower[0], upper[0]], series, 1.5);
      put("polygon", { points: listed([...upper, ...lower.reverse()]), class: `cb-fill ${series}`, "fill-opacity": 0.16 });
    }
    const width = line.baseline ? 1.5 : chosen.has(line.id) ? 3.2 : 2;
    curve(shaped(measured), series, width, line, { "stroke-dasharray": line.baseline ? "6 4" : null, "stroke-opacity": chosen.size && !chosen.has(line.id) ? 0.55 : 1 });
    touched.push([shaped(measured), line]);
    const spread = Math.max(1, Math.round(measured.length / 8));
    measured.forEach(([a, b], place) => {
      if (place % spread && place < measured.length - 1) return;
      put("path", { d: SHAPES[line.place], class: `cb-fill ${series}`, transform: `translate(${x(a).toFixed(1)} ${y(b).toFixed(1)})` }, line, line.words ? make("title", { svg: true }, line.words) : null);
    });
    if (measured.length && line.name) ends.push({ line, series, from: [x(measured.at(-1)[0]), y(measured.at(-1)[1])], y: y(measured.at(-1)[1]) + 4 });
  }
  if (has(about.lost)) put("rect", { class: "cb-lost-round", x: x(about.lost) - 4, width: 8, y: box.top, height: box.bottom - box.top });
  if (about.cursor) put("line", { class: "cb-cursor", x1: x(about.cursor.round), x2: x(about.cursor.round), y1: box.top, y2: box.bottom, "data-step": about.cursor.step });
  // Names at the ends of the lines are pushed apart if they overlap.
  ends.sort((a, b) => a.y - b.y);
  const gap = Math.min(15, (box.bottom - box.top + 10) / Math.max(ends.length, 1));
  ends.forEach((end, place) => { end.y = Math.max(end.y, place ? ends[place - 1].y + gap : box.top + 4); });
  for (let place = ends.length - 1, most = box.bottom + 4; place >= 0; place -= 1, most -= gap) ends[place].y = Math.min(ends[place].y, most);
  for (const { line, series, y: down, from } of ends) {
    curve([[from[0] + 6, from[1]], [box.right + 10, down - 4]], series, 0.8, undefined, { "stroke-opacity": 0.6 });
    let name = line.name;
    while (name.length > 4 && widthOf(name) > wide - box.right - 18) name = `${name.slice(0, -2)}…`;
    text(box.right + 14, down, name, "start", { class: "cb-ink", "font-weight": chosen.has(line.id) ? 700 : 500 }, line);
  }
  // A wide, unseen line above each, so that a finger finds it.
  for (const [path, hit] of touched) put("polyline", { points: listed(path), class: "cb-touch" }, hit);
  const svg = make("svg", { svg: true, viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": about.title, class: "cb-chart" }, nodes);
  return { svg, box };
}

// A figure of lines over rounds; `links` lead to its files, `csv` gives its numbers. A share has one scale everywhere.
const SHARE = { ys: [0, 1], yTicks: [0, 0.25, 0.5, 0.75, 1], format: percent, limit: 0.5 };
export function chart(asked) {
  const about = { ...(asked.share ? SHARE : {}), ...asked };
  const box = make("div", { class: "cb-figure" });
  const readout = make("p", { class: "cb-readout", "aria-live": "polite" });
  const own = { node: make("figure", { class: "cb-plot" }, box, readout), chosen: new Set(about.chosen ?? []), pointed: null };
  const size = () => [Math.round(clamp(own.node.clientWidth || window.innerWidth - 40, 320, 1160)), about.high ?? (window.innerWidth < 761 ? 330 : 430)];
  const marked = () => new Set([...own.chosen, ...(own.pointed ? [own.pointed] : [])]);
  own.draw = () => {
    own.drawn = draw(about, ...size(), marked());
    box.replaceChildren(own.drawn.svg);
  };
  own.follow = (round, step) => { about.cursor = { round, step }; own.draw(); };
  const roundAt = (event) => {
    const frame = box.getBoundingClientRect();
    const { left, right } = own.drawn.box;
    const share = ((event.clientX - frame.left) * (size()[0] / frame.width) - left) / (right - left);
    return clamp(Math.round(about.xs[0] + share * (about.xs[1] - about.xs[0])), ...about.xs);
  };
  const say = (event) => {
    const round = roundAt(event);
    const wanted = marked();
    const values = about.lines.filter((each) => !wanted.size || wanted.has(each.id)).map((each) => [each, each.points.find(([x]) => x === round)]).filter(([, point]) => point && has(point[1])).sort((a, b) => b[1][1] - a[1][1]);
    readout.replaceChildren(make("b", {}, `Round ${round}: `), ...values.slice(0, 12).map(([each, point]) => make("span", {}, `${each.name} ${about.format(point[1])}${wanted.has(each.id) && has(point[2]) ? ` (${about.format(point[2])} to ${about.format(point[3])})` : ""}`)));
  };
  box.addEventListener("pointermove", (event) => {
    const hit = event.target.hit;
    const id = hit?.id ?? null;
    box.style.cursor = hit ? "pointer" : "";
    if (id !== own.pointed) { own.pointed = id; own.draw(); }
    say(event);
  });
  box.addEventListener("pointerleave", () => { if (own.pointed) { own.pointed = null; own.draw(); } });
  box.addEventListener("click", (event) => { const hit = event.target.hit; if (about.pick) about.pick(roundAt(event)); else if (hit?.editor) go({ tab: "failures", editor: hit.editor, cause: null }); });
  own.files = make("p", { class: "cb-files" }, "Save as ", about.links ?? null,
    about.csv ? make("button", { type: "button", onclick: () => save(`${about.name}.csv`, about.csv(), "text/csv") }, "CSV") : null);
  new ResizeObserver(() => { if (own.node.clientWidth) own.draw(); }).observe(own.node);
  own.draw();
  return own;
}
