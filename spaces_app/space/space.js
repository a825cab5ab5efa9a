// The parts of the Space that run in the browser: pictures on demand, tables that sort, and the view of a chain.
// Whatever a dataset says is written as text, never as HTML.
(() => {
  const root = () => (window.gradio_config?.root ?? "").replace(/\/$/, "");
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  // Without a session of its own, every question makes the server describe all components to itself again.
  const session = Math.random().toString(36).slice(2);

  async function ask(name, ...data) {
    const answer = await fetch(`${root()}/gradio_api/run/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ data, session_hash: session }),
    });
    const body = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(body.error || answer.statusText);
    return body.data[0];
  }

  function make(tag, about = {}, ...inside) {
    const node = document.createElementNS(about.svg ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml", tag);
    for (const [name, value] of Object.entries(about)) {
      if (name === "svg" || value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...inside.filter((part) => part !== null && part !== undefined));
    return node;
  }

  // Pictures: the server makes a file when it is first asked for, and says where it is.
  const known = new Map();
  function picture(chain, step, kind, gain = 8) {
    const key = [chain, step, kind, kind === "difference" ? gain : 0].join(" ");
    if (!known.has(key)) {
      if (known.size > 4000) known.delete(known.keys().next().value);
      const answer = ask("picture", chain, step, kind, gain).catch((error) => {
        known.delete(key);
        return { url: null, reason: error.message };
      });
      known.set(key, answer);
    }
    return known.get(key);
  }

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((each) => each.isIntersecting)) {
      const image = entry.target;
      seen.unobserve(image);
      picture(image.dataset.chain, Number(image.dataset.step), image.dataset.kind || "thumb").then((found) => {
        if (found.url) image.src = root() + found.url;
        else image.replaceWith(make("span", { class: "cb-none", title: found.reason }, "no picture"));
      });
    }
  }, { rootMargin: "200px" });

  // Tables: rows stay within their part, empty values at the end.
  function sort(button) {
    const cell = button.closest("th");
    const place = [...cell.parentNode.children].indexOf(cell);
    const down = cell.getAttribute("aria-sort") !== "descending";
    for (const each of cell.parentNode.children) each.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    for (const body of cell.closest("table").tBodies) {
      const rows = [...body.rows].filter((row) => !row.classList.contains("cb-role"));
      const value = (row) => row.children[place].dataset.value ?? "";
      const number = (text) => (text === "" ? NaN : Number(text));
      rows.sort((one, other) => {
        const [a, b] = [value(one), value(other)];
        if (a === "" || b === "") return (a === "") - (b === "");
        const numbers = Number.isNaN(number(a)) || Number.isNaN(number(b));
        return (numbers ? a.localeCompare(b) : number(a) - number(b)) * (down ? -1 : 1);
      });
      body.append(...rows);
    }
  }

  // The address always opens what is seen.
  function remember(state) {
    const query = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(state)) {
      if (value === null || value === undefined || value === "") query.delete(name);
      else query.set(name, value);
    }
    history.replaceState(null, "", `${location.pathname}?${query}`);
  }

  // Gradio selects the first tab by itself while the page loads; only a visitor's choice belongs into the address.
  let touched = false;
  for (const name of ["pointerdown", "keydown"]) document.addEventListener(name, () => { touched = true; }, true);
  const tab = (name) => { if (touched) remember({ tab: name }); };

  window.convergebench = { ask, make, picture, seen, sort, clamp, remember, tab, root };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-sort]");
    if (button) sort(button);
    if (event.target.closest("[data-theme-toggle]")) document.body.classList.toggle("dark");
  });

  function attend(node) {
    if (!(node instanceof Element)) return;
    for (const image of node.querySelectorAll("img[data-chain]:not([src]):not([data-own])")) seen.observe(image);
    for (const viewer of node.querySelectorAll(".cb-viewer:not([data-on])")) window.convergebench.show(viewer);
  }
  function begin() {
    attend(document.body);
    new MutationObserver((changes) => {
      for (const { type, target, attributeName, addedNodes } of changes) {
        for (const node of addedNodes) attend(node.parentNode ?? node);
        if (type !== "attributes") continue;
        // Another chain may come into the element that is there already: Gradio changes it in place.
        if (attributeName === "data-views") target.removeAttribute("data-on");
        attend(target.parentNode);
      }
    }).observe(document.body, { childList: true, subtree: true, attributeFilter: ["data-views", "data-on"] });
  }
  if (document.body) begin();
  else document.addEventListener("DOMContentLoaded", begin);
})();
