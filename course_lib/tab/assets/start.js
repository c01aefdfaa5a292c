// Runs on every page, and wakes its live parts where it has any. A page opened as a file cannot load them: browsers
// give files no modules, no workers and no storage of their own. Then one sentence says what to do.
(() => {
  const here = document.currentScript.src;
  const parts = { ".ml-live": "live.js", ".ml-playground": "playground.js" };
  // What is wider than a phone is reached by keyboard, too, as far as it has to be scrolled.
  const wide = new ResizeObserver((changed) => {
    for (const { target } of changed) {
      target.toggleAttribute("tabindex", false);
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    }
  });
  const start = () => {
    for (const picture of document.querySelectorAll(".ml-picture")) wide.observe(picture);
    for (const [holders, script] of Object.entries(parts)) {
      const found = [...document.querySelectorAll(holders)];
      if (!found.length) continue;
      if (location.protocol === "file:") found.forEach(sayHow);
      else import(new URL(script, here).href);
    }
  };
  function sayHow(holder) {
    const said = document.createElement("p");
    said.className = "said";
    said.textContent = "To check your code here, serve the site: run `python3 -m http.server` in its "
      + "folder, and open http://localhost:8000.";
    holder.append(said);
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
