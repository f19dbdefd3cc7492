/* What the book's pages do beyond the theme. Loaded with "defer"; a classic
   script, since modules are blocked on file:// pages. */
(function () {
  "use strict";

  /* The search shows an excerpt of each page it finds by fetching the page,
     which a browser refuses to do for files on disk. */
  if (
    location.protocol === "file:" &&
    typeof DOCUMENTATION_OPTIONS !== "undefined"
  ) {
    DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  }

  /* Whatever scrolls sideways can be reached and scrolled by keyboard. */
  const SCROLLERS =
    ".bd-article pre, .bd-article .output, mjx-container[display='true'], " +
    ".pst-scrollable-table-container";

  function markScrollers() {
    document.querySelectorAll(SCROLLERS).forEach(function (element) {
      if (element.scrollWidth > element.clientWidth) {
        element.tabIndex = 0;
      } else {
        element.removeAttribute("tabindex");
      }
    });
  }

  function watchScrollers() {
    const article = document.querySelector(".bd-article");
    if (!article) return;
    new ResizeObserver(function () {
      requestAnimationFrame(markScrollers);
    }).observe(article);
  }

  /* A link to a source shows the source's entry while it is pointed at. */
  let popover = null;

  function hidePopover() {
    if (!popover) return;
    popover.link.removeAttribute("aria-describedby");
    popover.box.remove();
    popover = null;
  }

  function showPopover(event) {
    const link = event.currentTarget;
    hidePopover();
    const box = document.createElement("div");
    box.className = "citation-popover";
    box.id = "citation-popover";
    box.setAttribute("role", "tooltip");
    box.textContent = link.dataset.citation;
    document.body.append(box);
    const place = link.getBoundingClientRect();
    const width = document.documentElement.clientWidth;
    const left = Math.min(place.left, width - box.offsetWidth - 16);
    const below = place.bottom + 6;
    const fits = below + box.offsetHeight < window.innerHeight;
    const top = fits ? below : place.top - box.offsetHeight - 6;
    box.style.left = Math.max(16, left) + window.scrollX + "px";
    box.style.top = Math.max(6, top) + window.scrollY + "px";
    link.setAttribute("aria-describedby", box.id);
    popover = { link: link, box: box };
  }

  function addPopovers() {
    document.querySelectorAll("a[data-citation]").forEach(function (link) {
      link.addEventListener("mouseenter", showPopover);
      link.addEventListener("focus", showPopover);
      link.addEventListener("mouseleave", hidePopover);
      link.addEventListener("blur", hidePopover);
    });
    document.addEventListener("keydown", function (event) {
      if (event.key === "Escape") hidePopover();
    });
  }

  /* Paper is white, whatever the theme. */
  function printLight() {
    const data = document.documentElement.dataset;
    let theme = data.theme;
    matchMedia("print").addEventListener("change", function (event) {
      if (event.matches) theme = data.theme;
      data.theme = event.matches ? "light" : theme;
    });
  }

  watchScrollers();
  printLight();
  addPopovers();
})();
