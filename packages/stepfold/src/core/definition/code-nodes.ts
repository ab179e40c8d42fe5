import type { UndoneBy } from "../snapshot/parts/undone-by.ts";
import type { Json } from "../values/json.ts";
import type { CompiledNode } from "./compiled.ts";
import type { CompiledPolicy } from "./compiled-policy.ts";

/** The settings of a step that code asks for. */
export interface StepSettings {
  /** Default: `step`, which no process has code for. Only what the code asks for says more. */
  readonly type?: string;
  readonly data?: Json;
  readonly retryPolicy?: CompiledPolicy | null;
  readonly timeoutMs?: number | null;
  readonly heartbeatMs?: number | null;
  /** True if the step stays open as an incident when all its attempts have failed. */
  readonly incident?: boolean;
  /** What undoes the step. */
  readonly undo?: UndoneBy | undefined;
}

/**
 * Returns the node of a step that code asks for. No edge leads from it: the code decides what comes next. Its edge `error` leads nowhere, so
 * a failure for good ends its path, and not its scope: the code gets the error.
 */
export function stepNode(id: string, settings: StepSettings = {}): CompiledNode {
  const { type = "step", data = null, retryPolicy = null, timeoutMs = null, heartbeatMs = null, incident = false, undo } = settings;
  return {
    node: incident ? { id, type, incident } : { id, type },
    index: 0,
    edges: incident ? incidentEdges : edges,
    next: noEdges,
    data: null,
    constant: data,
    retryPolicy,
    timeoutMs,
    heartbeatMs,
    join: null,
    wave: null,
    when: null,
    completeWhen: null,
    compensation: undo ? stepNode(id, { type: undo.type, ...(undo.data !== undefined && { data: undo.data }) }) : null,
  };
}

const noEdges: CompiledNode["next"] = [];
const edges: CompiledNode["edges"] = new Map([
  ["", noEdges],
  ["error", noEdges],
]);
const incidentEdges: CompiledNode["edges"] = new Map([["", noEdges]]);

/** The nodes of a workflow with code: its one node, and one for every name of a step. They come into being when they are asked for. */
export class CodeNodes extends Map<string, CompiledNode> {
  override get(id: string): CompiledNode {
    return super.get(id) ?? stepNode(id);
  }

  override has(_id: string): boolean {
    return true;
  }
}
