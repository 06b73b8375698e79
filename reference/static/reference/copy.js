// Buttons that copy the text beside them. On plain http browsers have no clipboard: then it is selected and copied so.
async function copy(text) {
  const selection = getSelection();
  selection.selectAllChildren(text);
  if (!navigator.clipboard) return document.execCommand("copy");
  await navigator.clipboard.writeText(text.textContent);
  selection.removeAllRanges();
  return true;
}

document.addEventListener("click", async ({ target }) => {
  const button = target.closest("button.copy");
  if (!button) return;
  const isCopied = await copy(button.parentElement.querySelector("code")).catch(() => false);
  button.textContent = isCopied ? "Copied" : "Selected";
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
});
