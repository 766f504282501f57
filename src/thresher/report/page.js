"use strict";
(() => {
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  const percent = (top, bottom) => (bottom ? 100 * top / bottom : NaN);

  // The table of categories: a click on a heading sorts, what is typed filters. -----------------
  const table = document.querySelector("table.sortable");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = all("thead th", table);
  const more = byId("more");
  const FEW = 25; // rows shown until more are asked for
  let isShort = true;
  const value = (row, column) => {
    const cell = row.cells[column];
    return column ? Number(cell.dataset.v ?? NaN) : cell.textContent;
  };

  function sort(column) {
    const head = heads[column];
    const first = column ? "descending" : "ascending";
    const second = column ? "ascending" : "descending";
    const order = head.getAttribute("aria-sort") === first ? second : first;
    heads.forEach((one) => one.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    rows.sort((a, b) => {
      const [x, y] = [value(a, column), value(b, column)];
      if (!column) return sign * x.localeCompare(y);
      if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y); // without a value: always last
      return sign * (x - y);
    });
    body.append(...rows);
    filter();
  }
  heads.forEach((head, column) =>
    head.querySelector("button").addEventListener("click", () => sort(column)));

  function filter() {
    const wanted = byId("find").value.trim().toLowerCase();
    const least = Number(byId("least").value) || 0;
    let matches = 0;
    for (const row of rows) {
      const fits = row.cells[0].textContent.toLowerCase().includes(wanted) && value(row, 1) >= least;
      row.hidden = !fits || (isShort && matches >= FEW);
      matches += fits;
    }
    byId("matches").textContent = matches < rows.length ? `${matches} of ${rows.length} ${table.dataset.what ?? "categories"}` : "";
    more.hidden = !isShort || matches <= FEW;
    more.textContent = `Show all ${matches}`;
  }
  more.addEventListener("click", () => {
    isShort = false;
    filter();
  });
  byId("find").addEventListener("input", filter);
  byId("least").addEventListener("input", filter);
  filter();

  // The cards: one at a time. -------------------------------------------------------------------
  const cards = all(".card");
  const pick = byId("pick");
  for (const card of cards) {
    pick.append(new Option(card.querySelector("h3").textContent, card.id));
  }

  function show(card) {
    for (const one of cards) {
      one.classList.toggle("current", one === card);
      one.open = one === card;
    }
    pick.value = card.id;
    for (const mark of all("svg.concepts a")) { // on the map, where there is one
      const isCurrent = mark.getAttribute("href") === `#${card.id}`;
      mark.classList.toggle("current", isCurrent);
      if (!isCurrent) continue;
      if (mark.closest("details")) mark.closest("details").open = true;
      all("svg.concepts > text").forEach((one) => one.remove());
      const label = mark.querySelector("text").cloneNode(true); // above all others
      label.removeAttribute("class");
      mark.parentNode.append(label);
    }
    byId("before").disabled = card === cards[0];
    byId("after").disabled = card === cards[cards.length - 1];
  }
  function showLinked() {
    const card = cards.find((one) => `#${one.id}` === location.hash);
    if (!card) return;
    show(card);
    byId("cards").scrollIntoView();
  }
  const step = (by) => show(cards[cards.findIndex((one) => one.id === pick.value) + by]);
  pick.addEventListener("change", () => show(byId(pick.value)));
  byId("before").addEventListener("click", () => step(-1));
  byId("after").addEventListener("click", () => step(1));
  addEventListener("hashchange", showLinked);
  document.addEventListener("click", (event) => { // a second click on the same link
    if (event.target.closest(`a[href="${location.hash || "#"}"]`)) showLinked();
  });
  if (cards.length) show(cards[0]);
  showLinked();

  // The sliders: what another threshold would do. -----------------------------------------------
  for (const box of all(".moving")) {
    const curve = JSON.parse(box.dataset.curve);
    const slider = box.querySelector("input");
    const cells = all("td.moved", box);
    const mark = box.querySelector("circle.moved");

    function figures(i) {
      const [n, h] = [curve.n[i], curve.h[i]];
      const values = [
        percent(h, n), percent(h, curve.p), percent(2 * h, n + curve.p),
        n, h, n - h, curve.p - h,
      ];
      if (curve.all) {
        const [n0, h0] = [curve.n[curve.at], curve.h[curve.at]];
        const [tp, fp, fn] = curve.all;
        const hits = tp + h - h0;
        values.push(percent(2 * hits, tp + fp + n - n0 + tp + fn));
      }
      return values;
    }
    const decided = figures(curve.at);
    const isCount = (k) => k > 2 && k < 7;
    const text = (x, k) => (isNaN(x) ? "–" : isCount(k) ? x.toLocaleString("en") : x.toFixed(1));
    const change = (x, k) => (Math.abs(x) < 0.05 || isNaN(x) ? "" : (x < 0 ? "−" : "+") + text(Math.abs(x), k));

    function move() {
      const i = Number(slider.value);
      const values = figures(i);
      values.forEach((x, k) => {
        const difference = document.createElement("small");
        difference.textContent = change(x - decided[k], k);
        cells[k].replaceChildren(text(x, k), difference);
        cells[k].classList.toggle("same", i === curve.at);
      });
      box.querySelector("output").textContent = curve.t[i].toPrecision(3).replace("-", "−");
      slider.setAttribute("aria-valuetext", `threshold ${curve.t[i]}, precision ` +
        `${text(values[0], 0)}, recall ${text(values[1], 1)}, F1 ${text(values[2], 2)} percent`);
      const frame = { left: 44, right: 326, top: 12, bottom: 206 };
      const precision = curve.n[i] ? values[0] : 100;
      mark.setAttribute("cx", frame.left + (frame.right - frame.left) * values[1] / 100);
      mark.setAttribute("cy", frame.bottom + (frame.top - frame.bottom) * precision / 100);
    }
    slider.addEventListener("input", move);
    box.querySelector("button").addEventListener("click", () => {
      slider.value = curve.at;
      move();
    });
    move();
  }
})();
