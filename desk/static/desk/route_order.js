// Reorders a model's routes by dragging: priorities become 10, 20, 30 and so on. By keyboard, use the number fields.

let dragged = null;

function renumber(body) {
  body.querySelectorAll("input[name$='-priority']").forEach((field, place) => {
    field.value = (place + 1) * 10;
  });
}

function below(row, event) {
  const box = row.getBoundingClientRect();
  return event.clientY > box.top + box.height / 2;
}

for (const body of document.querySelectorAll("fieldset:not(:disabled) [data-order]")) {
  for (const handle of body.querySelectorAll("[data-order-handle]")) {
    const row = handle.closest("[data-order-row]");
    handle.hidden = false;
    handle.addEventListener("pointerdown", () => (row.draggable = true));
    handle.addEventListener("pointerup", () => (row.draggable = false));
  }
  body.addEventListener("dragstart", (event) => {
    dragged = event.target.closest("[data-order-row]");
    event.dataTransfer.effectAllowed = "move";
  });
  body.addEventListener("dragover", (event) => {
    const row = event.target.closest("[data-order-row]");
    if (!dragged || dragged.parentElement !== body) return;
    event.preventDefault();
    if (row && row !== dragged) row[below(row, event) ? "after" : "before"](dragged);
  });
  body.addEventListener("dragend", () => {
    dragged.draggable = false;
    dragged = null;
    renumber(body);
  });
}
