import { useSyncExternalStore } from "react";

const query = "(max-width: 720px)";

/** Whether the window is narrow: the same width at which styles change. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}

function subscribe(listener: () => void): () => void {
  const list = matchMedia(query);
  list.addEventListener("change", listener);
  return () => list.removeEventListener("change", listener);
}
