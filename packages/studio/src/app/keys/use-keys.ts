import { useEffect, useRef } from "react";
import { useStudio } from "../studio-context.ts";
import type { KeyBinding } from "./key-model.ts";

/** Adds single keys as long as the component is shown. */
export function useKeys(bindings: readonly KeyBinding[]): void {
  const { keys } = useStudio();
  const latest = useRef(bindings);
  latest.current = bindings;
  const names = bindings.map(({ keys: names }) => names).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the names decide
  useEffect(() => {
    // what they do may change with every rendering, the keys themselves hardly do
    const stable = latest.current.map(({ keys: pressed, does }, index) => ({
      keys: pressed,
      does,
      act: () => latest.current[index]?.act(),
    }));
    return keys.add(stable);
  }, [keys, names]);
}
