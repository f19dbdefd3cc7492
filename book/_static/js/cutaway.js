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

  function disable(button, off, other) {
    const focused = button === document.activeElement;
    button.disabled = off;
    if (off && focused) other.focus();
  }

  function panel(title, content) {
    const heading = el("p", { class: "cw-title" }, title);
    return el("div", { class: "cw-panel" }, heading, content);
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

  window.cutaway = { widgets, el, svg, fill, percent, calm, animator, disable, panel };

  // Deferred scripts, those of the widgets too, run before this event.
  document.addEventListener("DOMContentLoaded", start);
})();
