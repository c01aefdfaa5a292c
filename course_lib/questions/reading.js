function fits(answer, match) {
  if (typeof answer === "number") return match[0] <= answer && answer <= match[1];
  return Array.isArray(match) ? match.includes(answer) : match === answer;
}

// A paragraph whose `backticked` parts are code, with an opening in bold.
function paragraph(text, opening) {
  const made = document.createElement("p");
  if (opening) {
    const strong = document.createElement("strong");
    strong.textContent = opening;
    made.append(strong, " ");
  }
  text.split("`").forEach((part, place) => {
    const piece = document.createElement(place % 2 ? "code" : "span");
    piece.textContent = part;
    made.append(piece);
  });
  return made;
}

function decoded(text) {
  const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

function plain(words) {
  return words.toLowerCase().replace(/[\s`'"“”]/g, "").replace(/[.;]+$/, "");
}

// 1,024 and 1 024 are one number, so are 0.25 and 0,25, and 1/12 is one; null for anything else.
function numberFrom(words, unit) {
  let text = words.trim().toLowerCase();
  if (unit && text.endsWith(unit.toLowerCase())) text = text.slice(0, -unit.length);
  const parts = text.split("/").map(decimal);
  if (parts.length > 2 || parts.includes(null) || parts[1] === 0) return null;
  const number = parts[0] / (parts.length === 2 ? parts[1] : 1);
  return Number.isFinite(number) ? number : null;
}

function decimal(words) {
  let text = words.replace(/[\s_'’]/g, "");
  const grouped = /^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(text);
  text = text.replaceAll(",", grouped ? "" : ".");
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/.test(text) ? Number(text) : null;
}
