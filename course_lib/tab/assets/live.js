// Makes the tasks and exercises of a page alive, and shows above them how far the student has come.
import { Cell } from "./cell.js";
import { Panel } from "./panel.js";
import { wakeWhenIdle } from "./python.js";

const holders = [...document.querySelectorAll(".ml-live:not(.ml-playground, [data-started])")];
const cells = holders.map((holder) => {
  holder.setAttribute("data-started", "");
  return new Cell(holder);
});
if (cells.length) {
  new Panel(cells);
  skipTo(cells[0]);
  wakeWhenIdle();
}

// A second link beside the theme's own, for whoever goes by keyboard: past the menus, to the editor.
function skipTo(cell) {
  const link = document.createElement("a");
  link.href = `#${cell.holder.id ||= `task-${cell.id}`}`;
  link.textContent = "Skip to the first task";
  link.addEventListener("click", (event) => (event.preventDefault(), cell.editor.focus()));
  document.querySelector("#pst-skip-link")?.append(link);
}
