// From the first visit on, the course works offline: the service worker keeps what pages have
// fetched, and then the whole site, file by file.
import { keepOffline, offline } from "./storage.js";
import site from "./site.js";

const ROOT = new URL("../../", import.meta.url); // this script lies in _static/live-…/
export const FILES = `matmul-ladder ${ROOT} files ${site.version}`; // the service worker's store
const PATIENCE = 4000; // ms; without a service worker everything works, but online only

export async function prepareOffline() {
  const workers = navigator.serviceWorker; // none over plain http, but from localhost
  if (!workers) return;
  try {
    await workers.register(new URL("service-worker.js", ROOT).href, { updateViaCache: "none" });
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

// Does the reader's browser ask to be spared downloads, or is the line a slow one?
export function savesData() {
  const line = navigator.connection; // Chromium alone has it
  return Boolean(line?.saveData) || /2g/.test(line?.effectiveType ?? "");
}

// What the whole course comes to: { version, bytes, files } as the book was made, `isHere` whether this
// browser has it; null where nothing can be kept.
export async function wholeCourse() {
  if (!navigator.serviceWorker?.controller) return null;
  const response = await fetch(new URL("offline.json", ROOT), { cache: "no-cache" }).catch(() => null);
  if (!response?.ok) return null;
  const whole = await response.json();
  return { ...whole, isHere: offline() === whole.version };
}

// Have all of it kept; whether that has come about.
export async function keepWhole({ version, files }) {
  const { port1, port2 } = new MessageChannel();
  const done = new Promise((resolve) => { port1.onmessage = ({ data }) => resolve(data); });
  const urls = files.map((name) => new URL(name, ROOT).href);
  navigator.serviceWorker.controller.postMessage({ kind: "keep", urls, afresh: true }, [port2]);
  const isHere = await done;
  if (isHere) keepOffline(version);
  return isHere;
}

function withinPatience(promise) {
  return Promise.race([promise, new Promise((done) => setTimeout(done, PATIENCE))]);
}
