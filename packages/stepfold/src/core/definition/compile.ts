import type { Issue } from "../errors/issue.ts";
import { safeMember } from "../errors/safe-member.ts";
import { StepfoldError } from "../errors/stepfold-error.ts";
import { isJsonObject, type Json } from "../values/json.ts";
import { defaultLimits, type Limits } from "../values/limits.ts";
import { similar } from "../values/similar.ts";
import { plainJson } from "../values/to-json.ts";
import { checkDefinition } from "./check-definition.ts";
import { compileJoins, type OpenNode, type PlacedEdge } from "./compile-joins.ts";
import { compileNode } from "./compile-node.ts";
import type { CompiledEdge, CompiledWorkflow } from "./compiled.ts";
import type { Edge, WorkflowDefinition } from "./definition.ts";
import { definitionHash } from "./definition-hash.ts";
import { lintGraph } from "./lint-graph.ts";
import type { ExpressionLanguage, Template } from "./template.ts";

/**
 * Makes a definition ready to run.
 *
 * @param definition untrusted; it is copied
 * @param language of the `{{ }}`: `expressionLanguage` of `stepfold/expressions`
 * @throws StepfoldError `DEFINITION_INVALID` with every mistake at once, each with a code, a JSON pointer and a message
 *
 * ```ts
 * const workflow = compile({ id: "hello", nodes: [{ id: "greet", type: "noop" }], edges: [] }, expressionLanguage);
 * workflow.starts; // ["greet"]
 * ```
 */
export function compile(definition: unknown, language: ExpressionLanguage, limits: Limits = defaultLimits): CompiledWorkflow {
  const { built, issues } = build(definition, language, limits);
  if (!built) throw new StepfoldError("DEFINITION_INVALID", { workflow: nameOf(definition), issues });
  return built;
}

/** Every mistake and every doubt about a definition, as data; empty if there is nothing to say. */
export function check(definition: unknown, language: ExpressionLanguage, limits: Limits = defaultLimits): readonly Issue[] {
  return build(definition, language, limits).issues;
}

interface Building {
  readonly language: ExpressionLanguage;
  readonly limits: Limits;
  readonly issues: Issue[];
}

function build(definition: unknown, language: ExpressionLanguage, limits: Limits): { built: CompiledWorkflow | null; issues: Issue[] } {
  let plain: unknown;
  try {
    // only single values of a definition are bounded: the whole may be large
    plain = plainJson(definition, "The definition", { ...limits, keys: limits.keys * 10, valueBytes: limits.executionBytes }).value;
  } catch (error) {
    const { pointer = "" } = (error as StepfoldError<"VALUE_NOT_JSON" | "LIMIT_EXCEEDED">).details;
    return { built: null, issues: [{ severity: "error", code: "NOT_JSON", pointer, message: (error as Error).message }] };
  }
  const issues = checkDefinition(plain, limits);
  if (issues.some(isError)) return { built: null, issues };
  const built = buildWorkflow(plain as WorkflowDefinition, "", { language, limits, issues });
  share(built, new Map());
  checkNames(built, "", issues);
  return { built: issues.some(isError) ? null : built, issues };
}

/** A workflow that is not linked to the workflows around it yet. */
type Unshared = Omit<CompiledWorkflow, "workflows" | "compensates"> & {
  readonly workflows: Map<string, CompiledWorkflow>;
  compensates: boolean;
};

function buildWorkflow(definition: WorkflowDefinition, pointer: string, building: Building): Unshared {
  const { language, limits, issues } = building;
  const { nodes, placed } = buildNodes(definition, pointer, building);
  const entered = new Set(definition.edges.filter(({ source, target }) => source !== target).map(({ target }) => target));
  const starts =
    definition.start === undefined ? definition.nodes.map(({ id }) => id).filter((id) => !entered.has(id)) : [definition.start];
  const joins = compileJoins([...nodes.values()], placed, starts);
  lintGraph(definition, nodes, starts, pointer, issues);
  const inner = Object.entries(definition.workflows ?? {}).map(
    ([name, workflow]) => [name, buildWorkflow(workflow, `${pointer}/workflows/${name}`, building)] as const,
  );
  return {
    definition,
    hash: definitionHash(definition),
    nodes,
    starts,
    output: definition.output === undefined ? null : templateOf(definition.output, `${pointer}/output`, building),
    concurrency: concurrencyOf(definition, pointer, building),
    joins,
    holds: definition.nodes.some(({ mutex, when }) => mutex !== undefined || when !== undefined),
    compensates: definition.nodes.some(({ compensate }) => compensate) || inner.some(([, { compensates }]) => compensates),
    workflows: new Map(inner),
    warnings: issues,
    language,
    limits,
  };
}

/** Links every workflow to itself and those around it. A workflow of its own with the same name comes first. */
function share(workflow: Unshared, around: ReadonlyMap<string, CompiledWorkflow>): void {
  const { workflows, definition } = workflow;
  const own = [...workflows.values()] as Unshared[];
  if (!workflows.has(definition.id)) workflows.set(definition.id, workflow);
  for (const [name, outer] of around) if (!workflows.has(name)) workflows.set(name, outer);
  for (const inner of own) share(inner, workflows);
  workflow.compensates ||= [...around.values()].some(({ compensates }) => compensates);
}

/** Checks that nodes which run other workflows name one that exists and has one first node. */
function checkNames({ definition, workflows }: CompiledWorkflow, at: string, issues: Issue[]): void {
  for (const [i, { type, data }] of definition.nodes.entries()) {
    if ((type !== "map" && type !== "workflow") || !isJsonObject(data) || data.detached === true) continue;
    const { workflow: name } = data;
    if (typeof name !== "string" || name.includes("{{")) continue;
    const pointer = `${at}/nodes/${i}/data/workflow`;
    const starts = workflows.get(name)?.starts.length;
    if (starts === undefined)
      issues.push({
        severity: "error",
        code: "WORKFLOW_UNKNOWN",
        pointer,
        message: `there is no workflow "${name}"${meant(name, workflows)}`,
      });
    else if (starts !== 1)
      issues.push({ severity: "error", code: "START_UNKNOWN", pointer, message: `"${name}" has ${starts} first nodes: set its "start"` });
  }
  for (const name of Object.keys(definition.workflows ?? {})) checkNames(workflows.get(name)!, `${at}/workflows/${name}`, issues);
}

function meant(name: string, workflows: ReadonlyMap<string, unknown>): string {
  const found = similar(name, workflows.keys());
  return found ? `. Did you mean "${found}"?` : `. Known: ${[...workflows.keys()].slice(0, 20).join(", ")}`;
}

function templateOf(value: Json, pointer: string, { language, issues }: Building): Template | null {
  const { template, issues: found } = language.compileTemplate(value, pointer);
  issues.push(...found);
  // a constant is a template that reads nothing
  return template ?? (found.length === 0 ? { reads: [], evaluate: () => value } : null);
}

function concurrencyOf({ concurrency }: WorkflowDefinition, pointer: string, building: Building): CompiledWorkflow["concurrency"] {
  if (!concurrency) return null;
  const key = templateOf(concurrency.key, `${pointer}/concurrency/key`, building);
  return key && { key, limit: concurrency.limit ?? 1 };
}

function buildNodes(
  { nodes, edges }: WorkflowDefinition,
  pointer: string,
  { language, issues }: Building,
): { nodes: Map<string, OpenNode>; placed: PlacedEdge[] } {
  const built = new Map<string, OpenNode>();
  nodes.forEach((node, index) => {
    built.set(node.id, compileNode(node, index, `${pointer}/nodes/${index}`, language.compileTemplate, issues));
  });
  const vias = new Set<string>();
  const placed = edges.map((edge): PlacedEdge => {
    const source = built.get(edge.source)!;
    const from = source.edges as Map<string, CompiledEdge[]>;
    const handle = edge.sourceHandle ?? "";
    if (!from.has(handle)) from.set(handle, []);
    const compiled: CompiledEdge = { via: viaOf(edge, vias), target: built.get(edge.target)! };
    from.get(handle)!.push(compiled);
    return { source: source.index, edge: compiled };
  });
  return { nodes: built, placed };
}

function viaOf({ id, source, target, sourceHandle }: Edge, taken: Set<string>): string {
  const name = id ?? `${source}>${target}${sourceHandle ? `@${sourceHandle}` : ""}`;
  let via = name;
  for (let i = 2; taken.has(via); i++) via = `${name}#${i}`;
  taken.add(via);
  return via;
}

function isError(issue: Issue): boolean {
  return issue.severity === "error";
}

function nameOf(definition: unknown): string {
  const id = safeMember(definition, "id");
  return typeof id === "string" ? id.slice(0, 128) : "?";
}
