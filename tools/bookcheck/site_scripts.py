"""Questions that a visit asks the page, as JavaScript functions."""

from __future__ import annotations

SETTLED = """async () => {
  if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
  await document.fonts.ready;
}"""
OVERFLOW = """() => {
  const PARTS = "article *, .bd-header-article *, footer *";
  const width = document.documentElement.clientWidth;
  const clipped = element => {
    for (let at = element.parentElement; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.overflowX !== "visible" || style.position === "fixed") {
        return true;
      }
    }
    return false;
  };
  return [...document.querySelectorAll(PARTS)].filter(element => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.right > width + 1 && !clipped(element);
  }).slice(0, 3).map(element => element.outerHTML.slice(0, 120));
}"""
SCROLLING_CODE = """() => [
  ...document.querySelectorAll(".cell_input pre, .cutaway-source pre")
].filter(pre => pre.scrollWidth > pre.clientWidth && pre.clientWidth > 0)
 .filter(pre => pre.innerText.split("\\n").every(line => line.length <= 80))
 .map(pre => pre.innerText.slice(0, 60))"""
IDLE_WIDGETS = """() => [...document.querySelectorAll("[data-widget]")]
  .filter(element => {
    const frame = element.closest("figure") || element;
    return !frame.matches("[data-ready]") &&
      !frame.querySelector("[data-ready]");
  }).map(element => element.dataset.widget)"""
BROKEN_IMAGES = """() => [...document.images]
  .filter(image => image.complete && !image.naturalWidth)
  .map(image => image.src)"""
FORMULA_ERRORS = """() => [...document.querySelectorAll("mjx-merror")]
  .map(error => error.dataset.mjxError || error.textContent)"""
RAW_FORMULAS = """() => [...document.querySelectorAll(".math")]
  .filter(element => !element.querySelector("mjx-container"))
  .map(element => element.textContent.slice(0, 60))"""

# Colours of code are looked at once for each kind of token on each ground.
MARK_REPEATED_CODE = """() => {
  const seen = new Set();
  for (const pre of document.querySelectorAll("article pre, article dt.sig")) {
    const frame = pre.closest(".output, .cell_input, .admonition, article");
    const keys = [...pre.querySelectorAll("span[class]")]
      .map(span => `${frame.className} ${pre.tagName} ${span.className}`);
    if (keys.length && keys.every(key => seen.has(key))) {
      pre.dataset.repeated = "";
    }
    keys.forEach(key => seen.add(key));
  }
}"""
