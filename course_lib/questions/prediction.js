// A prediction: take a guess, say how far off it is, and reveal what comes out only then. Any guess
// is told something, as reveals.py tells it in a notebook.
const EQUAL = 1e-9;
const FACTOR = 2; // from here on, how far off a guess is says more as a factor than as a difference

function start(card, data) {
  const sheet = decoded(data.sheet);
  const verdict = card.querySelector(".verdict");
  const radios = [...card.querySelectorAll('input[type="radio"]')];
  const entry = card.querySelector('input[type="text"]');
  const fold = card.querySelector(".fold");
  const told = fold.querySelector(".told");
  fold.replaceWith(told);
  told.hidden = true;
  const group = "guess" + Math.random(); // two copies on one page are two groups of radios
  for (const radio of radios) radio.name = group;

  function guess() {
    const given = entry ? numberFrom(entry.value, data.unit) : radios.find((each) => each.checked)?.value;
    if (given === null || given === undefined) {
      const unit = data.unit ? `in ${data.unit}` : "without a unit";
      say("", entry ? `Your guess first: a number like 8, 0.25, 1/12 or 1e9, ${unit}.` : "Choose one first.");
      entry?.focus();
      return;
    }
    const [, right, why] = sheet.rows.find(([match]) => fits(given, match)) ?? [null, false, sheet.otherwise];
    const words = entry ? `${compared(given, sheet.value, right, data.unit)} ${why}`.trim() : why;
    say(right ? "right" : "wrong", words);
    told.hidden = false;
  }

  function say(said, words) {
    verdict.replaceChildren(paragraph(words));
    verdict.dataset.said = said;
  }

  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "That is my guess";
  button.addEventListener("click", guess);
  card.querySelector(".act").append(button);
  for (const input of [...radios, entry]) {
    input?.addEventListener("keydown", (event) => { if (event.key === "Enter") guess(); });
  }
}

function compared(guess, value, right, unit) {
  if (right && close(guess, value)) return `You said ${shown(guess)}, and ${shown(value)} it is.`;
  if (right) return `You said ${shown(guess)}, which is close: it is ${shown(value)}.`;
  const counted = Number.isInteger(value) && Number.isInteger(guess);
  return `You said ${shown(guess)}; it is ${shown(value)}${unit ? off(guess, value, counted) : ""}.`;
}

function off(guess, value, counted) {
  if (Math.min(guess, value) > 0) {
    if (value >= FACTOR * guess) return `, ${times(value / guess)} times as ${counted ? "many" : "much"}`;
    if (guess >= FACTOR * value) return `, so your guess was too high by a factor of ${times(guess / value)}`;
  }
  const less = counted ? "fewer" : "less";
  return `, ${shown(Math.abs(value - guess))} ${value > guess ? "more" : less}`;
}

function times(factor) {
  if (close(factor, Math.round(factor))) return whole(factor);
  return `about ${factor >= 10 ? whole(factor) : short(factor, 2)}`;
}

function close(one, other) {
  return Math.abs(one - other) <= EQUAL * Math.max(Math.abs(one), Math.abs(other));
}

// A number as a sentence has it: 131,072 or 0.25.
function shown(value) {
  return Number.isInteger(value) ? whole(value) : short(value, 3);
}

// Halfway goes to the even number, as Python rounds.
function whole(value) {
  const down = Math.floor(value);
  const even = down % 2 === 0 ? down : down + 1;
  return (value - down === 0.5 ? even : Math.round(value)).toLocaleString("en-US");
}

// The shortest form with so many digits: 0.25, 1.23e+04; what lies halfway goes to the even digit.
function short(value, digits) {
  if (value < 0) return `-${short(-value, digits)}`;
  const [exact, power] = value.toExponential(60).split("e");
  const kept = exact.slice(0, digits + 1); // with its point
  const isHalfway = /^50*$/.test(exact.slice(digits + 1));
  const staysEven = isHalfway && Number(kept.at(-1)) % 2 === 0;
  const rounded = staysEven ? `${kept}e${power}` : value.toExponential(digits - 1);
  const [mantissa, exponent] = rounded.split("e").map(Number);
  if (exponent >= -4 && exponent < digits) return String(Number(rounded));
  return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

