// Lists chosen or dropped images with name, size and thumbnail. Thumbnails are drawn on a canvas, as the content security
// policy blocks images made of local bytes.
const SIDE = 112;

function size(bytes) {
  return bytes < 1024 * 1024 ? `${Math.max(1, Math.round(bytes / 1024))} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

async function draw(canvas, file) {
  try {
    const bitmap = await createImageBitmap(file);
    const scale = Math.max(SIDE / bitmap.width, SIDE / bitmap.height);
    const [width, height] = [bitmap.width * scale, bitmap.height * scale];
    canvas.getContext("2d").drawImage(bitmap, (SIDE - width) / 2, (SIDE - height) / 2, width, height);
    bitmap.close();
  } catch {
    canvas.hidden = true;
  }
}

function item(file) {
  const row = document.createElement("li");
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = SIDE;
  canvas.setAttribute("aria-hidden", "true");
  const words = document.createElement("span");
  const name = document.createElement("bdi");
  name.textContent = file.name;
  words.append(name, ` ${size(file.size)}`);
  row.append(canvas, words);
  draw(canvas, file);
  return row;
}

function list(slot, input) {
  slot.querySelector("[data-chosen]").replaceChildren(...[...input.files].map(item));
}

// Dropped files are added to the chosen ones if the slot accepts several.
function take(slot, input, dropped) {
  const kept = new DataTransfer();
  const files = input.multiple ? [...input.files, ...dropped] : dropped.slice(0, 1);
  files.slice(0, Number(slot.dataset.most)).forEach((file) => kept.items.add(file));
  input.files = kept.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

function prepare(slot) {
  const input = slot.querySelector("input[type=file]");
  const over = (is) => slot.classList.toggle("is-over", is);
  input.addEventListener("change", () => list(slot, input));
  slot.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    over(true);
  });
  slot.addEventListener("dragleave", () => over(false));
  slot.addEventListener("drop", (event) => {
    over(false);
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    take(slot, input, [...event.dataTransfer.files].filter((file) => file.type.startsWith("image/")));
  });
}

export function takeDrops(form) {
  form.querySelectorAll("[data-drop]").forEach(prepare);
}
