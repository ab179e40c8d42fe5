import { useEffect } from "react";

const hiddenMs = 10_000;

/**
 * Keeps something open as long as the component is shown and the tab is seen: in a tab that has been hidden for ten seconds it is closed, and it is
 * opened again when somebody looks.
 *
 * @param open opens it and returns what closes it; always the same function
 */
export function useWhileSeen(open: () => () => void): void {
  useEffect(() => {
    let close: (() => void) | null = open();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hide = (): void => {
      close?.();
      close = null;
    };
    const change = (): void => {
      clearTimeout(timer);
      if (document.visibilityState === "hidden") timer = setTimeout(hide, hiddenMs);
      else close ??= open();
    };
    document.addEventListener("visibilitychange", change);
    return () => {
      document.removeEventListener("visibilitychange", change);
      clearTimeout(timer);
      hide();
    };
  }, [open]);
}
