// A figure of the student's own kernel: HTML with a script, in a frame that can reach neither the
// page nor the network. It follows the page's theme, and is as high as what it shows.
const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

const INSIDE = `
const tell = () => parent.postMessage({ mlHeight: Math.ceil(document.body.getBoundingClientRect().height) }, "*");
new ResizeObserver(tell).observe(document.body);
addEventListener("message", ({ data }) => {
  if (typeof data?.mlTheme !== "string") return;
  document.documentElement.dataset.theme = data.mlTheme;
  document.documentElement.style.colorScheme = data.mlTheme;
});`;

export function framed(html, title) {
  const frame = document.createElement("iframe");
  frame.title = title;
  frame.setAttribute("sandbox", "allow-scripts");
  frame.srcdoc = `<!doctype html><html lang="en" data-theme="${theme()}" style="color-scheme: ${theme()}">`
    + `<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}">`
    + "<style>body { margin: 0; overflow-x: auto; overflow-y: hidden; display: flow-root; background: transparent } .ml { margin: 0 !important; border: 0 !important; padding: 6px 2px !important; max-width: none !important }</style>"
    + `<body>${html}<script>${INSIDE}</script></body></html>`;
  const follow = ({ source, data }) => {
    if (!frame.isConnected && frame.dataset.shown) window.removeEventListener("message", follow);
    else if (source === frame.contentWindow && Number.isFinite(data?.mlHeight)) {
      frame.dataset.shown = "";
      frame.style.height = `${data.mlHeight}px`;
    }
  };
  window.addEventListener("message", follow);
  return frame;
}

function theme() {
  const said = document.documentElement.dataset.theme;
  if (said === "dark" || said === "light") return said;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

new MutationObserver(() => {
  for (const frame of document.querySelectorAll(".ml-live iframe, .ml-playground iframe")) {
    frame.contentWindow?.postMessage({ mlTheme: theme() }, "*");
  }
}).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
