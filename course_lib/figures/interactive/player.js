// Show the state that the controls name. Every state was worked out in Python: here things are
// only looked up and set.
function start(card, data) {
  const controls = data.controls.map((control, number) => ({
    ...control,
    at: control.start,
    box: card.querySelectorAll(".ml-control")[number],
  }));
  const named = new Map();
  for (const element of card.querySelectorAll("[data-name]")) {
    named.set(element.getAttribute("data-name"), element);
  }
  const words = card.querySelector(".ml-words");

  // The row of a table for the positions of its controls: rows are in order, last control fastest.
  function rowOf(table) {
    return table.controls.reduce((row, number) => {
      return row * controls[number].values.length + controls[number].at;
    }, 0);
  }

  function numberAt(codes, width, row) {
    let number = 0;
    for (const digit of codes.slice(row * width, (row + 1) * width)) {
      number = number * data.digits.length + data.digits.indexOf(digit);
    }
    return number;
  }

  // A column with pages keeps each stretch of rows once; `pages` says which stretch is where.
  function lookUp([, , values, width, codes, page, pageWidth, pages], row) {
    if (page) {
      row = numberAt(pages, pageWidth, Math.floor(row / page)) * page + (row % page);
    }
    return values[numberAt(codes, width, row)];
  }

  function paint(layer) {
    const row = rowOf(layer);
    for (const column of layer.columns) {
      const [name, attribute] = column;
      const element = named.get(name);
      const value = lookUp(column, row);
      if (attribute === "text") {
        element.textContent = value;
      } else if (value === null) {
        element.removeAttribute(attribute);
      } else {
        element.setAttribute(attribute, value);
      }
    }
  }

  function say() {
    const sentences = data.words.map((table) => lookUp(table.columns[0], rowOf(table)));
    words.textContent = sentences.filter((sentence) => sentence).join(" ");
  }

  function showPosition(control) {
    const field = control.box.querySelector("select, input");
    const value = control.values[control.at];
    if (field.tagName === "SELECT") {
      field.selectedIndex = control.at;
    } else {
      field.value = control.at;
      field.setAttribute("aria-valuetext", value);
      control.box.querySelector(".ml-value").textContent = value;
    }
  }

  function set(number, at) {
    controls[number].at = Math.max(0, Math.min(at, controls[number].values.length - 1));
    showPosition(controls[number]);
    for (const layer of data.layers) {
      if (layer.controls.includes(number)) paint(layer);
    }
    for (const [element, control, target] of targets) {
      if (control === number) element.setAttribute("aria-pressed", controls[number].at === target);
    }
    say();
  }

  // Parts of the picture that set a control: for the mouse, and for Tab with Enter or Space.
  const targets = data.clicks.map(([name, control, at]) => [named.get(name), control, at]);
  for (const [element, number, at] of targets) {
    const control = controls[number];
    // Where Tab would stop too often, the keyboard has the control itself.
    const crowd = targets.filter(([, other]) => other === number).length > 32;
    element.setAttribute("tabindex", crowd ? "-1" : "0");
    element.setAttribute("role", "button");
    element.setAttribute("data-click", "");
    element.setAttribute("aria-pressed", control.at === at);
    if (!element.hasAttribute("aria-label")) {
      element.setAttribute("aria-label", `${control.label}: ${control.values[at]}`);
    }
    element.addEventListener("click", () => { stop(); set(number, at); });
    element.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        stop();
        set(number, at);
      }
    });
  }

  // Back, play and step belong to the one control of steps, the one followed by buttons.
  const buttons = card.querySelector(".ml-buttons");
  const steps = controls.findIndex((control) => buttons && control.box.nextElementSibling === buttons);
  let timer = null;

  function stop() {
    if (timer === null) return;
    clearInterval(timer);
    timer = null;
    words.setAttribute("aria-live", "polite");
    showPlaying(false);
  }

  function showPlaying(playing) {
    const button = buttons.querySelector(".ml-play");
    button.textContent = playing ? "pause" : "play";
    button.setAttribute("aria-pressed", playing);
  }

  function play() {
    const { at, values } = controls[steps];
    if (at === values.length - 1) set(steps, 0);
    words.setAttribute("aria-live", "off"); // a reader's voice could not keep up
    showPlaying(true);
    timer = setInterval(() => {
      set(steps, controls[steps].at + 1);
      if (!card.isConnected || controls[steps].at === values.length - 1) stop();
    }, 1200);
  }

  if (buttons) {
    const press = (name, action) => buttons.querySelector(name).addEventListener("click", action);
    press(".ml-back", () => { stop(); set(steps, controls[steps].at - 1); });
    press(".ml-step", () => { stop(); set(steps, controls[steps].at + 1); });
    press(".ml-play", () => (timer === null ? play() : stop()));
  }

  controls.forEach((control, number) => {
    const field = control.box.querySelector("select, input");
    field.addEventListener("input", () => {
      stop();
      set(number, field.tagName === "SELECT" ? field.selectedIndex : Number(field.value));
    });
  });

  // An id holds for the whole page: number the patterns of this copy.
  const copy = document.querySelectorAll(".ml-figure[data-started]").length;
  const svg = card.querySelector("svg");
  for (const pattern of svg.querySelectorAll("pattern")) {
    pattern.id = `${pattern.id}-${copy}`;
    svg.style.setProperty(`--${pattern.getAttribute("data-pattern")}`, `url(#${pattern.id})`);
  }
  controls.forEach(showPosition);
  card.querySelector(".ml-controls").hidden = false;
}
