/* Interactive figures.
 *
 * A figure on the page holds a static SVG and, in a script element of type
 * application/json, the data that the tested package computed. This script
 * builds the widget named by data-widget from that data and places it before
 * the SVG, which stays for print and for readers without JavaScript.
 *
 * Each widget is a script of its own, widget-NAME.js, loaded by the pages
 * that have one. It adds a function to cutaway.widgets that takes the data
 * and returns a node.
 *
 * No framework, no modules, no fetch: the page also works from file://.
 *
 * Most widgets show something step by step. cutaway.stepper gives them the
 * buttons, the slider, the arrow keys, Play and the sentence below:
 *
 *   const steps = stepper({
 *     label: "Merges of a word",      // names the whole, for screen readers
 *     back: "One merge back", next: "Next merge", slider: "Merges done",
 *     above: [strip],                 // nodes before the controls
 *     below: [panel("Counts", list)], // optional: between them and the sentence
 *     pace: 450,                      // optional: ms of a step of Play
 *     show(step, focused) {           // draw step 0..last
 *       strip.textContent = words[step];
 *       return { said: "What to see, as a sentence." };
 *     },
 *   });
 *   steps.reset(words.length - 1);    // so many steps from now on; draws step 0
 *   return steps.node;
 *
 * show may also return count, the words beside the slider ("2 / 7"), and
 * value, what a screen reader says to the slider's place ("2 of 7"). Its
 * second argument is the element that had the focus when a key was pressed,
 * for a widget that moves the focus along. steps.go(step) goes to a step,
 * steps.reset(last, step) also changes how many there are; both end Play.
 *
 * Others calculate. controls makes labelled selects and sliders, readings a
 * table, memoryBar a bar of weights and caches; short and whole print numbers.
 */
(function () {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const widgets = {};

  /** Make an element: el("p", {class: "x"}, "text", child, ...). */
  function el(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
  }

  function svg(tag, attributes, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, children);
  }

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  }

  /** 0.505 -> "50.5 %": three significant digits, as in the data. */
  function percent(p) {
    return p < 1e-5 ? "< 0.001 %" : `${(100 * p).toPrecision(3)} %`;
  }

  function calm() {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  /** Call draw(0..1) until a new call replaces this one. */
  function animator(draw) {
    let frame = 0;
    return function () {
      cancelAnimationFrame(frame);
      if (calm()) return draw(1);
      const start = performance.now();
      const tick = (now) => {
        const t = Math.min(1, Math.max(0, (now - start) / 260));
        draw(1 - (1 - t) ** 3);
        if (t < 1) frame = requestAnimationFrame(tick);
      };
      frame = requestAnimationFrame(tick);
    };
  }

  /** Disable a button; the focus moves on rather than getting lost. */
  function disable(button, off, other) {
    const focused = button === document.activeElement;
    button.disabled = off;
    if (off && focused) other.focus();
  }

  function panel(title, content) {
    const heading = el("p", { class: "cw-title" }, title);
    return el("div", { class: "cw-panel" }, heading, content);
  }

  /* Calculators: controls, a table of readings, a bar of memory ----------- */

  /** Three significant digits, with separators: 1,340 or 0.0268. */
  function short(value) {
    const rounded = Number(value.toPrecision(3));
    return rounded.toLocaleString("en-GB", { maximumSignificantDigits: 3 });
  }

  function whole(value) {
    return Math.round(value).toLocaleString("en-GB");
  }

  const prefixes = {};

  /** Labelled controls that call update; their ids begin with a prefix. */
  function controls(name, update) {
    prefixes[name] = (prefixes[name] || 0) + 1;
    const idOf = (label) =>
      `${name}-${prefixes[name]}-${label.replaceAll(" ", "-")}`;

    function field(label, input, ...rest) {
      const text = el("label", { for: input.id }, label);
      return el("div", { class: "cw-field" }, text, input, ...rest);
    }

    /** A choice between entries that have a name. */
    function select(label, entries, chosen) {
      const node = el("select", { id: idOf(label) });
      entries.forEach((entry, index) => {
        node.append(el("option", { value: index }, entry.name));
      });
      node.selectedIndex = chosen;
      node.addEventListener("change", update);
      return { node: field(label, node), chosen: () => entries[node.selectedIndex] };
    }

    /** A slider over 1, 2, 4, ... 2^most. */
    function powers(label, most, start) {
      const input = el("input", {
        id: idOf(label), type: "range", min: 0, max: most, step: 1,
        value: Math.log2(start),
      });
      const shown = el("output", { for: input.id });
      input.addEventListener("input", update);
      return {
        node: field(label, input, shown),
        limit(most) {
          input.max = Math.floor(Math.log2(most));
        },
        value() {
          const number = 2 ** Number(input.value);
          shown.textContent = whole(number);
          input.setAttribute("aria-valuetext", whole(number));
          return number;
        },
      };
    }

    return { idOf, field, select, powers };
  }

  /** A table: lines of a name and a function from a column's data to text. */
  function readings(columns, lines) {
    const body = el("tbody");
    const head = el("tr", {}, el("th", { scope: "col" }));
    for (const name of columns) head.append(el("th", { scope: "col" }, name));
    const node = el("table", { class: "cw-table" }, el("thead", {}, head), body);
    const cells = lines.map(([name]) => {
      const row = columns.map(() => el("td"));
      body.append(el("tr", {}, el("th", { scope: "row" }, name), ...row));
      return row;
    });
    function show(data) {
      lines.forEach(([, read], line) => {
        data.forEach((one, column) => {
          cells[line][column].textContent = read(one);
        });
      });
    }
    return { node, show };
  }

  /** Weights and caches against the memory there is. */
  function memoryBar() {
    const weights = el("span", { class: "cw-weights" });
    const caches = el("span", { class: "cw-caches" });
    const text = el("p", { class: "cw-fit" });
    const bar = el(
      "div", { class: "cw-memory", "aria-hidden": "true" }, weights, caches
    );
    function show(held, memory) {
      const total = held.weights + held.caches;
      const scale = 100 / Math.max(total, memory);
      weights.style.width = `${held.weights * scale}%`;
      caches.style.width = `${held.caches * scale}%`;
      bar.style.setProperty("--cw-full", `${memory * scale}%`);
      const fits = total <= memory;
      bar.classList.toggle("is-over", !fits);
      const key = (kind) => el("span", { class: `cw-key ${kind}`, "aria-hidden": "true" });
      text.classList.toggle("is-over", !fits);
      text.replaceChildren(
        key("cw-weights"), `${short(held.weights / 1e9)} GB of weights, `,
        key("cw-caches"), `${short(held.caches / 1e9)} GB of caches: ` +
        `${fits ? "fits into" : "does not fit into"} ${short(memory / 1e9)} GB`
      );
    }
    return { node: el("div", {}, bar, text), show };
  }

  /* Steppers: see the top of this file ------------------------------------ */

  const TYPED_IN = "textarea, select, input:not([type=range])";

  function stepper(options) {
    const { label, show, above = [], below = [], pace = 450 } = options;
    let current = 0;
    let last = 0;
    let playing = 0;

    const round = (sign, name) =>
      el("button", { type: "button", class: "cw-nav", "aria-label": name }, sign);
    const back = round("‹", options.back);
    const next = round("›", options.next);
    const play = el("button", { type: "button", class: "cw-play" }, "Play");
    const slider = el("input", {
      type: "range", min: 0, max: 1, step: 1, "aria-label": options.slider,
    });
    const count = el("span", { class: "cw-count", "aria-hidden": "true" });
    const said = el("p", { class: "cw-said", "aria-live": "polite" });
    const controls = el(
      "div", { class: "cw-controls" }, back, slider, next, count, play
    );
    const node = el(
      "div", { class: "cw", role: "group", "aria-label": label },
      ...above, controls, ...below, said
    );

    back.addEventListener("click", () => go(current - 1));
    next.addEventListener("click", () => go(current + 1));
    slider.addEventListener("input", () => go(Number(slider.value)));
    play.addEventListener("click", () => (playing ? pause() : start()));
    node.addEventListener("keydown", (event) => {
      const target = {
        ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: last,
      }[event.key];
      const modified = event.ctrlKey || event.metaKey || event.altKey;
      if (target === undefined || modified) return;
      if (event.target.matches(TYPED_IN)) return;
      event.preventDefault();
      go(target, event.target);
    });

    function start() {
      if (current === last) draw(0);
      if (calm()) return draw(last);
      play.textContent = "Pause";
      said.setAttribute("aria-live", "off"); // or each step interrupts the last
      playing = setInterval(() => {
        if (current + 1 >= last) pause();
        draw(current + 1);
      }, pace);
    }

    function pause() {
      clearInterval(playing);
      playing = 0;
      play.textContent = "Play";
      said.setAttribute("aria-live", "polite");
    }

    function go(step, focused) {
      pause();
      draw(step, focused);
    }

    function reset(newLast, step = 0) {
      last = newLast;
      slider.max = Math.max(1, last);
      slider.disabled = play.disabled = last === 0;
      go(step);
    }

    function draw(step, focused) {
      current = Math.min(last, Math.max(0, step));
      const shown = show(current, focused);
      slider.value = current;
      slider.setAttribute("aria-valuetext", shown.value || `${current} of ${last}`);
      count.textContent = shown.count || `${current} / ${last}`;
      said.textContent = shown.said;
      disable(back, current === 0, next);
      disable(next, current === last, back);
    }

    return { node, go, reset };
  }

  /* Build every widget of the page ---------------------------------------- */

  function start() {
    for (const script of document.querySelectorAll("script[data-widget]")) {
      const figure = script.closest(".cutaway-widget");
      const build = widgets[script.dataset.widget];
      if (!figure || !build) {
        console.error(`cutaway: no widget ${script.dataset.widget}`);
        continue;
      }
      try {
        figure.prepend(build(JSON.parse(script.textContent)));
        figure.dataset.ready = "";
      } catch (error) {
        console.error(`cutaway: ${script.dataset.widget}:`, error);
      }
    }
  }

  window.cutaway = {
    widgets, el, svg, percent, animator, panel, stepper,
    short, whole, controls, readings, memoryBar,
  };

  // Deferred scripts, those of the widgets too, run before this event.
  document.addEventListener("DOMContentLoaded", start);
})();
