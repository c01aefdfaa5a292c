// Start every card of this kind that no script has started yet.
for (const card of document.querySelectorAll(".ml-KIND:not([data-started])")) {
  card.setAttribute("data-started", "");
  start(card, JSON.parse(card.querySelector(":scope > .ml-data").textContent));
  // JupyterLab takes arrow keys and letters for its own shortcuts, unless the element that has
  // the focus says no.
  for (const element of card.querySelectorAll("button, input, select, summary, [tabindex]")) {
    element.setAttribute("data-lm-suppress-shortcuts", "");
  }
  // Colab shows an output in a frame, whose height must follow when the card grows.
  const colab = window.google && window.google.colab && window.google.colab.output;
  if (colab && colab.resizeIframeToContent) {
    new ResizeObserver(() => colab.resizeIframeToContent()).observe(card);
  }
}
