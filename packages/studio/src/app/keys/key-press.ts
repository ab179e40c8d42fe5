import type { KeyPress } from "./key-model.ts";

const fields = 'input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable]';
const controls = "a[href], button, summary, input";
const overlays = "dialog, [popover]";

/** Returns what decides about a key. The target is asked of the whole path, because a shadow root hides what is inside it. */
export function keyPressOf(event: KeyboardEvent): KeyPress {
  const { key, ctrlKey, metaKey, altKey } = event;
  const target = event.composedPath()[0];
  return { key, ctrlKey, metaKey, altKey, on: target instanceof Element ? surroundings(target) : "page" };
}

function surroundings(target: Element): KeyPress["on"] {
  if (target.matches(fields)) return "field";
  if (target.closest(overlays)) return "overlay";
  return target.closest(controls) ? "control" : "page";
}
