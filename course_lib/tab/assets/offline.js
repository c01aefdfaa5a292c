// From the first use on, the page works offline: the service worker keeps what it has fetched.
const PATIENCE = 4000; // ms; without a service worker everything works, but online only

export async function prepareOffline() {
  const workers = navigator.serviceWorker; // none over plain http, but from localhost
  if (!workers) return;
  try {
    const root = new URL("../../", import.meta.url); // this script lies in _static/live-…/
    await workers.register(new URL("service-worker.js", root).href, { updateViaCache: "none" });
    await withinPatience(workers.ready);
    if (!workers.controller) {
      await withinPatience(new Promise((taken) => workers.addEventListener("controllerchange", taken, { once: true })));
    }
    const fetched = performance.getEntriesByType("resource").map((each) => each.name);
    keepForOffline([location.href.split("#")[0], ...fetched]);
  } catch {
    // The browser refuses: a private window, or a setting.
  }
}

// Have the service worker keep what these addresses have; it knows which of them are ours.
export function keepForOffline(urls) {
  navigator.serviceWorker?.controller?.postMessage({ kind: "keep", urls });
}

function withinPatience(promise) {
  return Promise.race([promise, new Promise((done) => setTimeout(done, PATIENCE))]);
}
