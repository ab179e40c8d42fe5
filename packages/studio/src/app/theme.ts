import type { TextStorage } from "../session/safe-storage.ts";

/** Light or dark as chosen here, or as the system is. */
export type Theme = "system" | "light" | "dark";

const storageKey = "stepfold.theme";

/** Returns the theme that was chosen in this browser. */
export function readTheme(storage: TextStorage): Theme {
  const stored = storage.getItem(storageKey);
  return stored === "light" || stored === "dark" ? stored : "system";
}

/** Keeps the theme in this browser. */
export function writeTheme(storage: TextStorage, theme: Theme): void {
  storage.setItem(storageKey, theme);
}

/** Shows a theme in everything inside an element. */
export function applyTheme(element: HTMLElement, theme: Theme): void {
  if (theme === "system") delete element.dataset.theme;
  else element.dataset.theme = theme;
}
