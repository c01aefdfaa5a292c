// The snapshot of Python's memory, as it is after its first start, kept in this browser: the next
// start is a copy of it. Where the browser keeps nothing, Python starts as it did
// the first time.

// `place` says where: { cache, url }.
export async function kept({ cache, url }) {
  try {
    const found = await (await caches.open(cache)).match(url);
    if (!found) return null;
    const plain = found.body.pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(plain).arrayBuffer());
  } catch {
    return null;
  }
}

export async function keep({ cache, url }, memory) {
  try {
    const packed = new Blob([memory]).stream().pipeThrough(new CompressionStream("deflate"));
    await (await caches.open(cache)).put(url, new Response(await new Response(packed).blob()));
  } catch {
    // The storage is full, or there is none.
  }
}

export async function forget({ cache, url }) {
  await (await caches.open(cache)).delete(url);
}
