// Makes the tasks and exercises of a page alive, and shows above them how far the student has come.
import { Cell } from "./cell.js";
import { Panel } from "./panel.js";

const holders = [...document.querySelectorAll(".ml-live:not(.ml-playground, [data-started])")];
const cells = holders.map((holder) => {
  holder.setAttribute("data-started", "");
  return new Cell(holder);
});
if (cells.length) new Panel(cells);
