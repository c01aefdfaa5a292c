// Keeps what the course has fetched, so that it works offline. Files whose address has a version are
// taken from here first; pages are asked of the network first, so that none is ever stale.
const SITE = {}; // filled in when the book is made: { version, pyodide, pyodideVersion }
const OURS = `matmul-ladder ${self.registration.scope} `; // other courses may share the origin
const FILES = `${OURS}files ${SITE.version}`;
const PYTHON = `${OURS}pyodide ${SITE.pyodideVersion}`;
const PYODIDE = new URL(SITE.pyodide, self.registration.scope).href;
const LIVE = new URL("_static/live-", self.registration.scope).href;

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => event.waitUntil(tidy()));

async function tidy() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(OURS) && name !== FILES && name !== PYTHON);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

self.addEventListener("message", (event) => {
  if (event.data?.kind !== "keep") return;
  const kept = keep(event.data.urls, event.data.afresh);
  event.waitUntil(kept.then((all) => event.ports[0]?.postMessage(all)));
});

// Whether all of them are kept. `afresh`: pages may be kept as they were before.
async function keep(urls, afresh = false) {
  let all = true;
  for (const url of new Set(urls)) {
    const isPython = url.startsWith(PYODIDE);
    if (!isPython && !url.startsWith(self.registration.scope)) continue;
    const cache = await caches.open(isPython ? PYTHON : FILES);
    const isForEver = isPython || hasVersion(url);
    if (!(afresh && !isForEver) && (await cache.match(url))) continue;
    const response = await fetch(url, { cache: isForEver ? "default" : "no-cache" }).catch(() => null);
    const put = response?.ok && cache.put(url, response).then(() => true, () => false);
    all = Boolean(await put) && all;
  }
  return all;
}

function hasVersion(url) {
  const { searchParams } = new URL(url);
  return url.startsWith(LIVE) || searchParams.has("v") || searchParams.has("digest");
}

self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method !== "GET") return;
  if (url.startsWith(PYODIDE)) event.respondWith(keptFirst(PYTHON, event));
  else if (!url.startsWith(self.registration.scope)) return;
  else if (hasVersion(url)) event.respondWith(keptFirst(FILES, event));
  else event.respondWith(networkFirst(event));
});

async function keptFirst(name, event) {
  const cache = await caches.open(name);
  return (await cache.match(event.request)) ?? fetchedAndKept(cache, event);
}

async function networkFirst(event) {
  const cache = await caches.open(FILES);
  try {
    return await fetchedAndKept(cache, event);
  } catch (error) {
    const kept = await cache.match(event.request, { ignoreSearch: event.request.mode === "navigate" });
    if (kept) return kept;
    throw error;
  }
}

async function fetchedAndKept(cache, event) {
  const response = await fetch(event.request);
  // A full storage keeps nothing more, and the page works all the same.
  if (response.status === 200) event.waitUntil(cache.put(event.request, response.clone()).catch(() => {}));
  return response;
}
