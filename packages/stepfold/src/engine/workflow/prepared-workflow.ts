import { compile, compileToJudge } from "../../core/definition/compile.ts";
import type { CompiledNode, CompiledWorkflow } from "../../core/definition/compiled.ts";
import { warnOfText } from "../../core/definition/compiled-policy.ts";
import { DefinitionReport } from "../../core/definition/definition-report.ts";
import type { Issue } from "../../core/errors/issue.ts";
import { safeMember } from "../../core/errors/safe-member.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isJsonObject } from "../../core/values/json.ts";
import { defaultLimits, type Limits } from "../../core/values/limits.ts";
import { pointerOf } from "../../core/values/pointer.ts";
import { expressionLanguage } from "../../expressions/expression-language.ts";
import type { NodeDefinitions } from "../node/node-definition.ts";
import { CheckBudget } from "../schema/check-run.ts";
import { checkSchemas } from "./check-schemas.ts";
import { type Library, libraryOf, linkWorkflows } from "./link-workflows.ts";
import { definitionOf, type PreparedNode, prepareNode } from "./prepared-node.ts";
import type { Validated } from "./validator.ts";

/** A workflow with the code of its nodes: all that is needed to run it. */
export interface PreparedWorkflow {
  readonly compiled: CompiledWorkflow;
  /** The nodes of the workflow and of the workflows inside it, and their compensations. Nodes of missing types are left out. */
  readonly nodes: ReadonlyMap<CompiledNode, PreparedNode>;
  /** Node types whose code is missing in this process. With missing types, executions accept commands, but cannot be performed. */
  readonly missingTypes: readonly string[];
  readonly warnings: readonly Issue[];
}

/** How a workflow is prepared. */
interface Preparing {
  /** True if a node type without code is accepted, and nothing of its nodes is checked; false if it is a mistake. */
  readonly withoutCode: boolean;
}

const noLibrary: Library = () => undefined;

/** Handles of the engine itself, which no type has to declare. */
const ownHandles = new Set(["error", "timeout"]);

/**
 * Compiles a workflow and finds the code of every node.
 *
 * @throws StepfoldError `DEFINITION_INVALID` with every mistake at once: of the definition, unknown types, constant
 * data that the type does not allow
 */
export function prepareWorkflow(
  definition: unknown,
  nodeDefinitions: NodeDefinitions,
  limits: Limits = defaultLimits,
  library: Library = noLibrary,
  preparing: Preparing = { withoutCode: false },
): PreparedWorkflow {
  const compiled = compiledWith(linkWorkflows(definition, library), nodeDefinitions, limits, preparing);
  const report = new DefinitionReport(limits);
  checkSchemas(compiled.definition, nodeDefinitions, report);
  return prepared(compiled, nodeDefinitions, report, preparing);
}

/**
 * Does the same as `prepareWorkflow` for the stored definition of executions. The definition was accepted before, so the limits of
 * definitions and its schemas are not checked again.
 */
export function prepareStored(
  definition: unknown,
  nodeDefinitions: NodeDefinitions,
  limits: Limits,
  preparing: Preparing = { withoutCode: false },
): PreparedWorkflow {
  const compiled = compile(definition, expressionLanguage, limits, { isStored: true });
  return prepared(compiled, nodeDefinitions, new DefinitionReport(limits), preparing);
}

function prepared(
  compiled: CompiledWorkflow,
  nodeDefinitions: NodeDefinitions,
  report: DefinitionReport,
  { withoutCode }: Preparing,
): PreparedWorkflow {
  report.addAll(compiled.warnings);
  const nodes = new Map<CompiledNode, PreparedNode>();
  const missing = new Set<string>();
  prepareNodes(compiled, "", nodeDefinitions, nodes, report, (type, pointer) => {
    missing.add(type);
    if (!withoutCode) reportUnknown(type, pointer, nodeDefinitions, report);
  });
  const { issues } = report;
  if (report.hasErrors) throw new StepfoldError("DEFINITION_INVALID", { workflow: compiled.definition.id, issues });
  return { compiled, nodes, missingTypes: [...missing], warnings: issues };
}

/**
 * Prepares the nodes of a workflow and of the workflows in it.
 *
 * @param at JSON pointer to the workflow
 * @param lacks called for each node whose type has no code
 */
function prepareNodes(
  compiled: CompiledWorkflow,
  at: string,
  nodeDefinitions: NodeDefinitions,
  nodes: Map<CompiledNode, PreparedNode>,
  report: DefinitionReport,
  lacks: (type: string, pointer: string) => void,
): void {
  const prepare = (node: CompiledNode, pointer: string): void => {
    const { type } = node.node;
    const nodeDefinition = definitionOf(nodeDefinitions, type);
    if (!nodeDefinition) {
      lacks(type, `${pointer}/type`);
      return;
    }
    const prepared = prepareNode(node, nodeDefinition, expressionLanguage.compileTemplate, report);
    nodes.set(node, prepared);
    checkData(prepared, `${pointer}/data`, compiled.limits, report);
    checkHandles(prepared, pointer, report);
    checkConditions(prepared, `${pointer}/data`, report);
  };
  compiled.definition.nodes.forEach(({ id }, i) => {
    const node = compiled.nodes.get(id)!;
    prepare(node, `${at}/nodes/${i}`);
    if (node.compensation) prepare(node.compensation, `${at}/nodes/${i}/compensate`);
  });
  for (const name of Object.keys(compiled.definition.workflows ?? {}))
    prepareNodes(compiled.workflows.get(name)!, `${at}/workflows/${name}`, nodeDefinitions, nodes, report, lacks);
}

/** Compiles a workflow. If the definition has mistakes, unknown node types are reported together with them. */
function compiledWith(definition: unknown, nodeDefinitions: NodeDefinitions, limits: Limits, { withoutCode }: Preparing): CompiledWorkflow {
  try {
    return compileToJudge(definition, expressionLanguage, limits);
  } catch (error) {
    if (!StepfoldError.is(error, "DEFINITION_INVALID")) throw error;
    const nodes = safeMember(definition, "nodes");
    const report = new DefinitionReport(limits);
    report.addAll(error.details.issues);
    for (const [i, node] of (Array.isArray(nodes) ? nodes : []).slice(0, limits.nodes).entries()) {
      const type = safeMember(node, "type");
      if (!withoutCode && typeof type === "string" && !definitionOf(nodeDefinitions, type))
        reportUnknown(type, `/nodes/${i}/type`, nodeDefinitions, report);
    }
    throw new StepfoldError("DEFINITION_INVALID", { workflow: error.details.workflow, issues: report.issues });
  }
}

/** Every error and warning about a workflow and the types of its nodes, as data; empty if there is none. */
export function checkWorkflow(
  definition: unknown,
  nodeDefinitions: NodeDefinitions,
  limits?: Limits,
  workflows: readonly unknown[] = [],
): readonly Issue[] {
  try {
    return prepareWorkflow(definition, nodeDefinitions, limits, libraryOf(workflows)).warnings;
  } catch (error) {
    if (StepfoldError.is(error, "DEFINITION_INVALID")) return error.details.issues;
    throw error;
  }
}

function reportUnknown(type: string, pointer: string, nodeDefinitions: NodeDefinitions, report: DefinitionReport): void {
  report.add(
    "NODE_TYPE_UNKNOWN",
    pointer,
    `no node definition is called "${type}"${report.suggestionOrList(type, Object.keys(nodeDefinitions))}`,
  );
}

/** Checks data without expressions, which is known before the node runs. */
function checkData({ compiled, input }: PreparedNode, pointer: string, limits: Limits, report: DefinitionReport): void {
  if (compiled.data || !input) return;
  let result: Validated | Promise<Validated>;
  try {
    result = input(compiled.node.data ?? null, new CheckBudget(limits));
  } catch (error) {
    report.add("DATA_INVALID", pointer, `cannot be checked: ${(error as Error).message}`);
    return;
  }
  if (result instanceof Promise) {
    // an asynchronous schema is checked when the node runs
    result.catch(() => undefined);
    return;
  }
  for (const { pointer: inside, message } of result.issues ?? []) report.add("DATA_INVALID", pointer + inside, message);
}

/** Warns of edges that are never taken. */
function checkHandles({ compiled, handles }: PreparedNode, pointer: string, report: DefinitionReport): void {
  const { type } = compiled.node;
  const warn = (message: string): void => report.warn("HANDLE_UNKNOWN", pointer, message);
  for (const [handle, edges] of (compiled as CompiledNode).edges) {
    if (edges.length === 0) continue;
    if (!handles || ownHandles.has(handle) || handles.has(handle)) continue;
    if (handle === "") {
      const known = [...handles].join(", ");
      warn(`an edge leaves by no handle, and type "${type}" ${known ? `leaves by: ${known}. Set its "sourceHandle"` : "ends the path"}`);
      continue;
    }
    warn(`an edge leaves by "${handle}", which type "${type}" does not declare${report.suggestion(handle, handles)}`);
  }
}

/** Warns of conditions that are text, because a text is always true. */
function checkConditions({ compiled, definition }: PreparedNode, pointer: string, report: DefinitionReport): void {
  const { data } = compiled.node;
  for (const member of definition.conditions ?? []) {
    const at = pointer + pointerOf([member]);
    const value = isJsonObject(data) && Object.hasOwn(data, member) ? data[member] : undefined;
    if (compiled.data?.texts?.includes(at)) warnOfText(at, report);
    else if (typeof value === "string" && value !== "" && !value.includes("{{"))
      report.warn("CONDITION_CONSTANT", at, `is text, which is always true: for an expression write "{{ ${value.slice(0, 100)} }}"`);
  }
}
