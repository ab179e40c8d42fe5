import { isJsonObject, type Json, type JsonObject } from "../../values/json.ts";
import { nodeMembers } from "../definition.ts";
import type { DefinitionReport } from "../definition-report.ts";

/**
 * Keys of React Flow's nodes: the members of `Node` of `@xyflow/react` 12.12.1 and `NodeBase` of `@xyflow/system` 0.0.84, and those of
 * version 11. Editors store them in the same objects as Stepfold's keys; Stepfold ignores them.
 */
export const editorNodeKeys = [
  "position",
  "sourcePosition",
  "targetPosition",
  "hidden",
  "selected",
  "dragging",
  "draggable",
  "selectable",
  "connectable",
  "deletable",
  "dragHandle",
  "width",
  "height",
  "initialWidth",
  "initialHeight",
  "parentId",
  "zIndex",
  "extent",
  "expandParent",
  "ariaLabel",
  "origin",
  "handles",
  "measured",
  "style",
  "className",
  "resizing",
  "focusable",
  "ariaRole",
  "domAttributes",
  "parentNode",
  "positionAbsolute",
] as const;

/** Keys of React Flow's edges: `Edge`, `EdgeLabelOptions` and `EdgeBase` of the same versions, and the options of its edge types. */
export const editorEdgeKeys = [
  "type",
  "animated",
  "hidden",
  "deletable",
  "selectable",
  "data",
  "selected",
  "markerStart",
  "markerEnd",
  "zIndex",
  "ariaLabel",
  "interactionWidth",
  "label",
  "labelStyle",
  "labelShowBg",
  "labelBgStyle",
  "labelBgPadding",
  "labelBgBorderRadius",
  "style",
  "className",
  "reconnectable",
  "focusable",
  "ariaRole",
  "domAttributes",
  "pathOptions",
  "updatable",
  "sourceNode",
  "targetNode",
] as const;

/** Keys that editors add to a workflow: the viewport of React Flow, and the JSON Schema with which a text editor checks the file. */
export const editorWorkflowKeys = ["viewport", "$schema"] as const;

/** The keys that are expected in one kind of object. */
interface KnownKeys {
  /** Keys that Stepfold reads. */
  readonly own: readonly string[];
  /** Keys of editors. They are accepted and ignored. */
  readonly foreign?: readonly string[];
  /** Keys that are often written by mistake, each with the key that was meant. */
  readonly slips?: Readonly<Record<string, string>>;
}

const workflowKeys: KnownKeys = {
  own: [
    ...["id", "name", "description", "version", "metadata", "input", "output", "start", "finally", "code", "nodes", "edges"],
    ...["onFailure", "incident", "timeout", "concurrency", "rateLimit", "taskQueue", "variables", "workflows", "needs"],
  ],
  foreign: editorWorkflowKeys,
  slips: {
    steps: "nodes",
    tasks: "nodes",
    connections: "edges",
    links: "edges",
    startAt: "start",
    startNode: "start",
    inputSchema: "input",
    subworkflows: "workflows",
    subWorkflows: "workflows",
    vars: "variables",
    timeoutMs: "timeout",
    deadline: "timeout",
    onExit: "finally",
    always: "finally",
  },
};
const nodeKeys: KnownKeys = {
  own: [...nodeMembers, "metadata"],
  foreign: editorNodeKeys,
  slips: {
    retry: "retryPolicy",
    retries: "retryPolicy",
    retryOptions: "retryPolicy",
    timeoutMs: "timeout",
    heartbeat: "heartbeatTimeout",
    params: "data",
    parameters: "data",
    compensation: "compensate",
    undo: "compensate",
    condition: "when",
  },
};
const edgeKeys: KnownKeys = {
  own: ["id", "source", "target", "sourceHandle", "targetHandle"],
  foreign: editorEdgeKeys,
  slips: {
    from: "source",
    to: "target",
    handle: "sourceHandle",
    fromHandle: "sourceHandle",
    condition: "sourceHandle",
    when: "sourceHandle",
  },
};
const concurrencyKeys: KnownKeys = { own: ["key", "limit"], slips: { max: "limit", maxConcurrency: "limit" } };
const rateLimitKeys: KnownKeys = {
  own: ["limit", "period", "key"],
  slips: { max: "limit", per: "period", interval: "period", window: "period", duration: "period" },
};
const variableKeys: KnownKeys = {
  own: ["initial", "reducer"],
  slips: { default: "initial", initialValue: "initial", value: "initial", reduce: "reducer" },
};
const compensationKeys: KnownKeys = {
  own: ["type", "data", "retryPolicy", "timeout"],
  slips: { retry: "retryPolicy", retries: "retryPolicy" },
};
const retryPolicyKeys: KnownKeys = {
  own: ["maxAttempts", "interval", "backoff", "maxInterval", "jitter", "retryIf"],
  slips: {
    attempts: "maxAttempts",
    retries: "maxAttempts",
    maxRetries: "maxAttempts",
    delay: "interval",
    initialInterval: "interval",
    intervalMs: "interval",
    maxDelay: "maxInterval",
    strategy: "backoff",
  },
};

/** Shorter keys of Stepfold are not compared letter by letter, because too many other words differ from them by one letter. */
const minLength = 4;

/**
 * Reports the unknown keys of a definition. A key that is probably a misspelt key of Stepfold is an error, because its value would be
 * ignored: it differs only in case, by one letter or by two swapped letters, or is in the list of frequent mistakes (`slips`). Every other
 * unknown key gets a warning, except the keys of editors.
 */
export function checkKeys(definition: unknown, report: DefinitionReport, at = ""): void {
  if (!isJsonObject(definition)) return;
  judge(definition, at, workflowKeys, report);
  const { nodes, edges, concurrency, rateLimit, variables, workflows } = definition;
  judge(concurrency, `${at}/concurrency`, concurrencyKeys, report);
  judge(rateLimit, `${at}/rateLimit`, rateLimitKeys, report);
  if (isJsonObject(variables))
    for (const [name, variable] of Object.entries(variables)) judge(variable, `${at}/variables/${name}`, variableKeys, report);
  for (const [i, node] of listOf(nodes).entries()) checkNodeKeys(node, `${at}/nodes/${i}`, report);
  for (const [i, edge] of listOf(edges).entries()) judge(edge, `${at}/edges/${i}`, edgeKeys, report);
  if (isJsonObject(workflows)) for (const [name, inner] of Object.entries(workflows)) checkKeys(inner, report, `${at}/workflows/${name}`);
}

function checkNodeKeys(node: Json, at: string, report: DefinitionReport): void {
  if (!isJsonObject(node)) return;
  const { retryPolicy, compensate } = node;
  judge(node, at, nodeKeys, report);
  judge(retryPolicy, `${at}/retryPolicy`, retryPolicyKeys, report);
  judge(compensate, `${at}/compensate`, compensationKeys, report);
  if (isJsonObject(compensate)) judge(compensate.retryPolicy, `${at}/compensate/retryPolicy`, retryPolicyKeys, report);
}

function judge(value: Json | undefined, at: string, { own, foreign = [], slips = {} }: KnownKeys, report: DefinitionReport): void {
  for (const key of Object.keys(isJsonObject(value) ? value : ({} as JsonObject))) {
    if (own.includes(key) || foreign.includes(key)) continue;
    const meant = Object.hasOwn(slips, key) ? slips[key]! : own.find((known) => isSlipOf(key, known));
    if (meant !== undefined) report.add("KEY_UNKNOWN", `${at}/${key}`, `is unknown. Did you mean "${meant}"?`);
    else report.warn("KEY_UNKNOWN", `${at}/${key}`, 'is unknown and is ignored. Keep your own data in "metadata"');
  }
}

function isSlipOf(key: string, known: string): boolean {
  return key.toLowerCase() === known.toLowerCase() || (known.length >= minLength && isOneEdit(key, known));
}

/** True if two words differ by one added, missing or changed letter, or by two neighbouring letters that are swapped. */
function isOneEdit(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false;
  let begin = 0;
  while (begin < one.length && one[begin] === other[begin]) begin++;
  const [rest, others] = [one.slice(begin), other.slice(begin)];
  const isSwapped = rest[0] === others[1] && rest[1] === others[0] && rest.slice(2) === others.slice(2);
  return isSwapped || rest.slice(1) === others.slice(1) || rest.slice(1) === others || rest === others.slice(1);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}
