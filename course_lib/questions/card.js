// A quick check: read the answer, look it up in the sheet, say the reason. judging.py does the same.
function start(card, data) {
  const sheet = decoded(data.sheet);
  const verdict = card.querySelector(".verdict");
  const radios = [...card.querySelectorAll('input[type="radio"]')];
  const entry = card.querySelector('input[type="text"]');
  let wrongTries = 0;

  const group = "answer" + Math.random(); // two copies on one page are two groups of radios
  for (const radio of radios) radio.name = group;
  card.querySelector(".fallback").hidden = true;

  function check() {
    const answer = read();
    if (answer === null) return;
    const [, right, why] =
      sheet.rows.find(([match]) => fits(answer, match)) || [null, false, sheet.otherwise];
    if (!right) wrongTries += 1;
    const help = !right && wrongTries >= 2 ? sheet.hint : "";
    say(right ? "right" : "wrong", right ? "✓ Right." : "✗ Not yet.", why, help);
  }

  function read() {
    if (entry) {
      const number = data.kind === "number" ? numberFrom(entry.value, data.unit) : null;
      if (data.kind === "words" && plain(entry.value)) return plain(entry.value);
      if (number !== null) return number;
      const unit = data.unit ? `in ${data.unit}` : "without a unit";
      say("", "", data.kind === "words" || !entry.value.trim() ? "Write your answer first."
        : `This is not a number that I can read. Write it like 8, 0.25, 1/12 or 1e9, ${unit}.`);
      entry.focus();
      return null;
    }
    const chosen = radios.find((radio) => radio.checked);
    if (chosen) return chosen.value;
    say("", "", data.kind === "line" ? "Choose a line first." : "Choose an answer first.");
    return null;
  }

  function say(said, opening, why, help) {
    unmark();
    verdict.dataset.said = said;
    verdict.append(paragraph(why, opening));
    if (help) verdict.append(paragraph(help, "Hint:"));
    const chosen = radios.find((radio) => radio.checked);
    if (chosen && said) chosen.closest("label").dataset.said = said;
  }

  function unmark() {
    verdict.replaceChildren();
    for (const label of card.querySelectorAll("label")) delete label.dataset.said;
  }

  // Made here, not in the HTML: where scripts do not run, no button that does nothing.
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Check my answer";
  button.addEventListener("click", check);
  card.querySelector(".act").append(button);
  card.addEventListener("input", () => { verdict.dataset.said = ""; unmark(); });
  for (const input of [...radios, entry]) {
    if (input) input.addEventListener("keydown", (event) => { if (event.key === "Enter") check(); });
  }
}

