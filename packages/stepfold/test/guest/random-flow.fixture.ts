import { type Chance, chance } from "../reference/random-graph.fixture.ts";
import type { Flow } from "./guest-flows.fixture.ts";

/** A random workflow whose result does not depend on the order of its steps: forks, full joins, retries, timers, sub-workflows and maps. */
export function randomFlow(seed: number): Flow {
  const random = chance(seed);
  return { workflow: graph(random, "root", 9, true), more: [graph(random, "part", 4, false)], input: [1, 2, 3] };
}

function graph(random: Chance, id: string, most: number, nests: boolean): Flow["workflow"] {
  const size = 2 + Math.floor(random() * (most - 1));
  const edges: { readonly source: string; readonly target: string }[] = [];
  for (let target = 1; target < size; target++) {
    const sources = new Set([Math.floor(random() * target)]);
    if (random() < 0.4) sources.add(Math.floor(random() * target));
    for (const source of sources) edges.push({ source: `n${source}`, target: `n${target}` });
  }
  const nodes = Array.from({ length: size }, (_, i) => ({
    id: `n${i}`,
    ...(edges.filter(({ target }) => target === `n${i}`).length > 1 && { join: "all" }),
    ...work(random, nests),
  }));
  return { id, nodes, edges, output: "done" };
}

function work(random: Chance, nests: boolean): object {
  const kind = random();
  if (kind < 0.15) return { type: "wait", data: { for: `${1 + Math.floor(random() * 5)}s` } };
  if (nests && kind < 0.25) return { type: "workflow", data: { workflow: "part", input: 1 } };
  if (nests && kind < 0.35)
    return { type: "map", data: { workflow: "part", items: "{{ input }}", concurrency: 1 + Math.floor(random() * 3) } };
  const fails = random() < 0.3 ? 1 + Math.floor(random() * 2) : 0;
  const retryPolicy = { maxAttempts: 3, interval: `${1 + Math.floor(random() * 3)}s`, backoff: "exponential" };
  return { type: "work", data: { fails, takesMs: Math.floor(random() * 40) }, retryPolicy };
}
