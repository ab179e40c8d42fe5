import type { WorkflowDefinition } from "../definition.ts";

/** Returns the sources of the edges into each node. A source with several edges to a node is listed once for each of them. */
export function sourcesOf({ edges }: WorkflowDefinition): Map<string, string[]> {
  const sources = new Map<string, string[]>();
  for (const { source, target } of edges) {
    if (!sources.has(target)) sources.set(target, []);
    sources.get(target)!.push(source);
  }
  return sources;
}
