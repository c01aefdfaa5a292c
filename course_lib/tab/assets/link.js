// A link that carries a kernel and its launch in its fragment: JSON, deflated, in letters of a URL.
const LONGEST = 64_000; // characters of what a link may unfold to
const NAMES = ["text", "kernel", "grid", "block"];

export async function packed(state) {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream("deflate-raw"));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// Rejects where the fragment holds no such thing. What comes out is text and nothing else.
export async function unpacked(fragment) {
  const letters = atob(fragment.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (each) => each.charCodeAt(0));
  const state = JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"))));
  const args = state.args.map(({ name, made }) => ({ name: String(name), made: String(made) }));
  return { ...Object.fromEntries(NAMES.map((name) => [name, String(state[name])])), args };
}

async function through(bytes, stream) {
  const pieces = [];
  let length = 0;
  const out = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  for (let piece = await out.read(); !piece.done; piece = await out.read()) {
    length += piece.value.length;
    if (length > LONGEST) throw new RangeError("too long");
    pieces.push(piece.value);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}
