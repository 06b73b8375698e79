// Adds rows from a list's <template> and removes them. Without it, the form's spare rows serve.

const COUNT = "input[name$='-TOTAL_FORMS']";

function next(list) {
  const count = list.querySelector(COUNT);
  const number = Number(count ? count.value : list.dataset.next);
  if (count) count.value = number + 1;
  list.dataset.next = number + 1;
  return number;
}

function add(list, button) {
  const row = list.querySelector("template").content.firstElementChild.cloneNode(true);
  const number = next(list);
  for (const field of [row, ...row.querySelectorAll("*")]) {
    for (const name of ["name", "id", "for"]) {
      const value = field.getAttribute(name);
      if (value) field.setAttribute(name, value.replace("__n__", number).replace("__prefix__", number));
    }
  }
  const into = button.dataset.rowsAdd ? document.getElementById(button.dataset.rowsAdd) : null;
  (into || list.querySelector("[data-rows-into]")).append(row);
  prepare(row);
  row.querySelector("select, input:not([type=hidden])")?.focus();
}

function remove(row) {
  for (const field of row.querySelectorAll("input[type=text]")) field.value = "";
  const mark = row.querySelector("input[name$='-DELETE']");
  if (mark) mark.checked = true;
  const list = row.closest("[data-rows]");
  row.hidden = true;
  list.querySelector("[data-rows-add]").focus();
}

function prepare(part) {
  for (const button of part.querySelectorAll("[data-rows-add], [data-row-remove]")) button.hidden = false;
}

document.addEventListener("click", (event) => {
  const adds = event.target.closest("[data-rows-add]");
  const removes = event.target.closest("[data-row-remove]");
  if (adds) add(adds.closest("[data-rows]"), adds);
  if (removes) remove(removes.closest("[data-row]"));
});

prepare(document);
