import type { CompiledNode } from "../../core/definition/compiled.ts";
import { type CompiledPolicy, type Computed, compilePolicy } from "../../core/definition/compiled-policy.ts";
import type { DefinitionReport } from "../../core/definition/definition-report.ts";
import type { CompileTemplate } from "../../core/definition/template.ts";
import type { NodeDefinition, NodeDefinitions } from "../node/node-definition.ts";
import { thawingValidatorOf, type Validator, validatorOf } from "./validator.ts";

/** A node and the definition of its type, ready to be performed. */
export interface PreparedNode {
  readonly compiled: CompiledNode;
  readonly definition: NodeDefinition;
  /** The retry policy of the node or, if it has none, of its type; null if both have none. */
  readonly policy: CompiledPolicy | null;
  /** The longest time of one attempt, and then of the children, execution or delivery it waits for; null if the node has no `timeout`. */
  readonly timeoutMs: Computed | null;
  readonly input: Validator | null;
  readonly output: Validator | null;
  readonly resume: Validator | null;
  /** Handles that its type declares; null if it declares none. */
  readonly handles: ReadonlySet<string> | null;
}

/** Joins a node with the definition of its type; a type without an executor, and mistakes in its retry policy, are reported. */
export function prepareNode(
  compiled: CompiledNode,
  definition: NodeDefinition,
  compileTemplate: CompileTemplate,
  report: DefinitionReport,
): PreparedNode {
  const { input, output, resume, handles, retryPolicy, executor } = definition;
  if (typeof executor !== "function") report.add("TYPE", `/nodeDefinitions/${compiled.node.type}/executor`, "must be a function");
  const ofType =
    retryPolicy === undefined
      ? null
      : compilePolicy(retryPolicy, `/nodeDefinitions/${compiled.node.type}/retryPolicy`, compileTemplate, report);
  return {
    compiled,
    definition,
    policy: compiled.retryPolicy ?? ofType,
    timeoutMs: compiled.timeoutMs,
    input: input === undefined ? null : thawingValidatorOf(input),
    output: output === undefined ? null : validatorOf(output),
    resume: resume === undefined ? null : thawingValidatorOf(resume),
    handles: handles ? new Set(handles) : null,
  };
}

/** Returns the definition of a type. A member that the object only inherits does not count. */
export function definitionOf(definitions: NodeDefinitions, type: string): NodeDefinition | undefined {
  return Object.hasOwn(definitions, type) ? definitions[type] : undefined;
}
