import type { GraphLayout } from "./graph-layout.ts";
import type { LayoutRequest } from "./layout-request.ts";

/** The most layouts that are kept. */
const maxKept = 20;
const kept = new Map<string, Promise<GraphLayout>>();

/**
 * Lays out a graph in a thread of its own. The layouts of the last definitions are kept.
 *
 * @param hash the hash of the definition
 * @returns rejects if the graph cannot be laid out
 */
export function layoutFor(hash: string, request: LayoutRequest): Promise<GraphLayout> {
  const known = kept.get(hash);
  if (known) return known;
  const layout = laidOut(request);
  kept.set(hash, layout);
  if (kept.size > maxKept) kept.delete(kept.keys().next().value!);
  layout.catch(() => kept.delete(hash));
  return layout;
}

function laidOut(request: LayoutRequest): Promise<GraphLayout> {
  const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
  return new Promise<GraphLayout>((resolve, reject) => {
    worker.addEventListener("message", ({ data }: MessageEvent<GraphLayout>) => resolve(data));
    worker.addEventListener("error", (event) => reject(event));
    worker.postMessage(request);
  }).finally(() => worker.terminate());
}
