// Dialogs as they open and close. Touches the dialog that is named. Knows no contents.

/**
 * Opens or closes a dialog. Escape and a press beside it close it. Returns whether it was opened now.
 * @param {string} id
 * @param {boolean} isWanted
 * @param {() => void} close
 */
export function showDialog(id, isWanted, close) {
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById(id));
  const isNew = isWanted && !dialog.open;
  if (isNew) dialog.showModal();
  if (!isWanted && dialog.open) dialog.close();
  dialog.onclose = close;
  dialog.onclick = (event) => {
    if (event.target === dialog) close();
  };
  return isNew;
}
