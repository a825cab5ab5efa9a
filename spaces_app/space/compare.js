// The tab that compares editors: one picture and one program, editors as rows, rounds as columns; saved as a PNG.
(() => {
  const cb = window.convergebench;
  const { ask, make, get, many, set, go, has } = cb;
  const MOST = 6;
  let turn = 0;
  let yours = null; // a row of the visitor's own series
  cb.addYours = (row) => { yours = row; };

  const spread = (last, count) => (last <= count ? Array.from({ length: last }, (_, each) => each + 1) : [...new Set(Array.from({ length: count }, (_, each) => Math.round(1 + (each * (last - 1)) / (count - 1))))]);

  function columns(found) {
    const rounds = Math.max(...found.rows.map((row) => row.rounds));
    const first = found.rows[0].cycle.length;
    const shown = spread(rounds, window.innerWidth < 761 ? 3 : 7);
    return [{ label: "original", step: () => 0 }, ...(first > 1 ? [{ label: "edited 1", step: () => 1 }] : []),
      ...shown.map((round) => ({ round, label: `undone ${round}`, step: (row) => round * row.cycle.length }))];
  }

  cb.views.compare = async () => {
    const box = document.getElementById("compare");
    const mine = (turn += 1);
    const found = await ask("compare", get("source"), get("program"), many("e"));
    if (mine !== turn) return;
    const rows = yours && get("yours") ? [yours, ...found.rows] : found.rows;
    const chosen = found.rows.map((row) => row.editor);
    const toggle = (id) => { set({ source: found.source, program: found.program, e: chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id] }); cb.views.compare(); };
    const bar = make("div", { class: "cb-filters" },
      cb.choose("Picture", found.sources.map((name) => [name, cb.known.pictures[name]]), found.source, (value) => go({ source: value, program: null })),
      cb.choose("Edit", found.programs.map((name) => [name, cb.known.programs[name]]), found.program, (value) => go({ source: found.source, program: value })),
      make("button", { type: "button", onclick: () => png(found, rows) }, "Save as PNG"));
    const picks = make("div", { class: "cb-picks", role: "group", "aria-label": "Editors, at most six" }, make("div", {}, found.editors.map((id) =>
      make("button", { type: "button", title: id, disabled: !chosen.includes(id) && chosen.length >= MOST, "aria-pressed": String(chosen.includes(id)), onclick: () => toggle(id) }, cb.dot(id), cb.editor(id).name))));
    const across = columns({ rows });
    const cell = (row, column) => {
      const step = column.step(row);
      const share = column.round ? row.quality[column.round - 1] : null;
      const lost = has(row.lost_at) && column.round === nearest(across, row);
      const label = lost && column.round !== row.lost_at ? `lost in ${row.lost_at}` : lost ? "lost" : "";
      return make("td", { class: lost ? "cb-loss" : "" }, make("a", { "aria-label": `${row.chain === "yours" ? "Yours" : cb.editor(row.editor).name}, ${column.label}${has(share) ? `, ${cb.percent(share)}` : ""}${lost ? ", lost" : ""}`, href: `?${new URLSearchParams({ tab: "chains", chain: row.chain, step })}` },
        step <= row.steps ? cb.thumb(row.chain, step, "small") : make("span", { class: "cb-none" }, "no picture"),
        make("span", {}, has(share) ? cb.percent(share) : column.label, label ? make("em", {}, ` ${label}`) : null)));
    };
    const head = make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Editor"), across.map((column) => make("th", { scope: "col" }, column.label))));
    const body = make("tbody", {}, rows.map((row) => make("tr", {}, make("th", { scope: "row", title: row.editor }, row.chain === "yours" ? null : cb.dot(row.editor), row.chain === "yours" ? "Yours" : cb.editor(row.editor).name, make("small", {}, ended(row))), across.map((column) => cell(row, column)))));
    const [one] = found.rows;
    box.replaceChildren(bar, picks, make("p", { class: "cb-case" }, `“${one.cycle[0]}”${one.cycle.length > 1 ? `, then “${one.cycle.at(-1)}”,` : ""} on “${cb.known.pictures[found.source]}”`),
      make("div", { class: "cb-scroll", tabindex: "0", role: "region", "aria-label": "Editors beside each other" }, make("table", { class: "cb-grid-table" }, head, body)));
  };

  const ended = (row) => (!has(row.lost_at) ? (has(row.kept) ? `survived all ${row.rounds} rounds` : "") : `lost in round ${row.lost_at}: ${row.clause}`);
  const nearest = (across, row) => across.filter((each) => each.round).reduce((best, each) => (Math.abs(each.round - row.lost_at) < Math.abs(best - row.lost_at) ? each.round : best), Infinity);

  // The same as a picture with captions.
  async function png(found, rows) {
    const across = columns({ rows });
    const [side, head, left] = [220, 62, 190];
    const canvas = Object.assign(document.createElement("canvas"), { width: left + across.length * (side + 8), height: head + rows.length * (side + 34) });
    const pen = canvas.getContext("2d");
    const say = (words, x, y, size, ink = "#1b2330", bold = false) => { pen.font = `${bold ? "bold " : ""}${size}px sans-serif`; pen.fillStyle = ink; pen.fillText(words, x, y); };
    pen.fillStyle = "#ffffff";
    pen.fillRect(0, 0, canvas.width, canvas.height);
    say(`${found.rows[0].cycle.join(" / ")}: ${cb.known.pictures[found.source]}`, 10, 24, 17, "#1b2330", true);
    across.forEach((column, place) => say(column.label, left + place * (side + 8), 52, 15, "#566070"));
    for (const [line, row] of rows.entries()) {
      const top = head + line * (side + 34);
      say(row.chain === "yours" ? "Yours" : cb.editor(row.editor).name, 10, top + 24, 16, "#1b2330", true);
      ended(row).match(/.{1,24}(\s|$)/g)?.forEach((part, each) => say(part, 10, top + 48 + 18 * each, 13, "#566070"));
      for (const [place, column] of across.entries()) {
        const step = column.step(row);
        const x = left + place * (side + 8);
        const answer = step <= row.steps ? await cb.picture(row.chain, step, "small") : {};
        if (answer.src) {
          const image = new Image();
          image.src = answer.src;
          await image.decode();
          const scale = Math.min(side / image.naturalWidth, side / image.naturalHeight);
          pen.drawImage(image, x, top, image.naturalWidth * scale, image.naturalHeight * scale);
        } else say("no picture", x + 20, top + side / 2, 14, "#566070");
        const share = column.round ? row.quality[column.round - 1] : null;
        if (has(share)) say(cb.percent(share), x, top + side + 18, 14, share < 0.5 ? "#b84900" : "#566070");
      }
    }
    canvas.toBlob((blob) => cb.save(`compare-${found.source}-${found.program}.png`, blob));
  }
})();
