import type { Duration } from "../../values/duration.ts";
import { isJsonObject, type Json } from "../../values/json.ts";
import type { CompiledEdge, CompiledNode } from "../compiled.ts";
import { type CompiledPolicy, type Computed, compileCondition, compileDuration, compilePolicy } from "../compiled-policy.ts";
import type { Node } from "../definition.ts";
import type { DefinitionReport } from "../definition-report.ts";
import type { CompileTemplate, Template } from "../template.ts";
import type { OpenNode } from "./compile-joins.ts";

/** Compiles a node: parses its durations and compiles its expressions. Mistakes are reported. The caller adds edges and joins. */
export function compileNode(
  node: Node,
  index: number,
  pointer: string,
  compileTemplate: CompileTemplate,
  report: DefinitionReport,
): OpenNode {
  const { retryPolicy, timeout, heartbeatTimeout, when, compensate } = node;
  const condition = conditionOf(node);
  const policy: CompiledPolicy | null =
    retryPolicy === undefined ? null : compilePolicy(retryPolicy, `${pointer}/retryPolicy`, compileTemplate, report);
  const duration = (value: Duration | undefined, key: string): Computed | null =>
    value === undefined ? null : compileDuration(value, `${pointer}/${key}`, compileTemplate, report);
  const next: CompiledEdge[] = [];
  const data = condition === undefined ? node.data : withoutCondition(node.data);
  return {
    node,
    index,
    edges: new Map<string, CompiledEdge[]>([["", next]]),
    next,
    data: template(data, `${pointer}/data`, compileTemplate, report),
    constant: data ?? null,
    retryPolicy: policy,
    timeoutMs: duration(timeout, "timeout"),
    heartbeatMs: duration(heartbeatTimeout, "heartbeatTimeout"),
    join: null,
    wave: null,
    when: when === undefined ? null : compileCondition(when, `${pointer}/when`, compileTemplate, report),
    completeWhen: condition === undefined ? null : compileCondition(condition, `${pointer}/data/completeWhen`, compileTemplate, report),
    compensation: compensate ? compensationOf(node, compensate, index, `${pointer}/compensate`, compileTemplate, report) : null,
  };
}

/** Compiles a compensation. It is performed like a node with the same id, but without edges and joins. */
function compensationOf(
  { id }: Node,
  { type, data, retryPolicy, timeout }: NonNullable<Node["compensate"]>,
  index: number,
  pointer: string,
  compileTemplate: CompileTemplate,
  report: DefinitionReport,
): CompiledNode {
  const node: Node = {
    id,
    type,
    ...(data !== undefined && { data }),
    ...(retryPolicy && { retryPolicy }),
    ...(timeout !== undefined && { timeout }),
  };
  return compileNode(node, index, pointer, compileTemplate, report);
}

function template(value: Json | undefined, pointer: string, compileTemplate: CompileTemplate, report: DefinitionReport): Template | null {
  if (value === undefined) return null;
  const compiled = compileTemplate(value, pointer);
  report.addAll(compiled.issues);
  return compiled.template;
}

/** Returns `completeWhen` of a map if it is text: `apply` evaluates it after every item, so it is not resolved with the other data. */
function conditionOf({ type, data }: Node): string | undefined {
  return type === "map" && isJsonObject(data) && typeof data.completeWhen === "string" ? data.completeWhen : undefined;
}

function withoutCondition(data: Json | undefined): Json {
  const { completeWhen: _, ...rest } = data as { readonly [key: string]: Json };
  return rest;
}
