import type { CompiledWorkflow } from "stepfold";

/** The largest width of the column. */
const widest = 28;

/** The width of the column of addresses: it fits the addresses of a workflow, up to a limit. */
export function nodeWidth(workflow: CompiledWorkflow | null): number {
  return workflow ? Math.min(widest, widthIn(workflow, 1)) : 0;
}

/** The width that these addresses need. */
export function widthOf(addresses: Iterable<string>): number {
  let width = 0;
  for (const { length } of addresses) width = Math.max(width, length);
  return Math.min(widest, width);
}

function widthIn(workflow: CompiledWorkflow, depth: number): number {
  let width = 0;
  for (const [id, { node }] of workflow.nodes) {
    width = Math.max(width, id.length);
    const data = node.data as { readonly workflow?: unknown } | undefined;
    const inner = node.type === "map" || node.type === "workflow" ? workflow.workflows.get(String(data?.workflow)) : undefined;
    // a workflow may run itself, so only two levels of sub-workflows are measured
    if (inner && depth < 3) width = Math.max(width, `${id}${node.type === "map" ? "[0]" : ""}/`.length + widthIn(inner, depth + 1));
  }
  return width;
}
