import { checkDefinition } from "./check-definition.ts";
import type { CompiledEdge, CompiledNode, CompiledWorkflow } from "./compiled.ts";
import { type CompiledPolicy, type Computed, compileDuration, compilePolicy } from "./compiled-policy.ts";
import type { Edge, Node, WorkflowDefinition } from "./definition.ts";
import { definitionHash } from "./definition-hash.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { safeMember } from "./safe-member.ts";
import { StepfoldError } from "./stepfold-error.ts";
import type { CompileTemplate, ExpressionLanguage, Issue, Template } from "./template.ts";
import { plainJson } from "./to-json.ts";

interface Building {
  readonly definition: WorkflowDefinition;
  readonly nodes: Map<string, CompiledNode>;
  readonly output: Template | null;
  readonly starts: readonly string[];
}

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
  const { built, issues } = build(definition, language.compileTemplate, limits);
  if (!built) throw new StepfoldError("DEFINITION_INVALID", { workflow: nameOf(definition), issues });
  const { definition: frozen, nodes, output, starts } = built;
  return { definition: frozen, hash: definitionHash(frozen), nodes, output, starts, warnings: issues, language };
}

/** Every mistake and every doubt about a definition, as data; empty if there is nothing to say. */
export function check(definition: unknown, language: ExpressionLanguage, limits: Limits = defaultLimits): readonly Issue[] {
  return build(definition, language.compileTemplate, limits).issues;
}

function build(definition: unknown, compileTemplate: CompileTemplate, limits: Limits): { built: Building | null; issues: Issue[] } {
  let plain: unknown;
  try {
    // a definition is as large as its nodes are many: only one value of it is bounded
    plain = plainJson(definition, "The definition", { ...limits, keys: limits.keys * 10, valueBytes: limits.executionBytes }).value;
  } catch (error) {
    const { pointer = "" } = (error as StepfoldError<"VALUE_NOT_JSON" | "LIMIT_EXCEEDED">).details;
    return { built: null, issues: [{ severity: "error", code: "NOT_JSON", pointer, message: (error as Error).message }] };
  }
  const issues = checkDefinition(plain, limits);
  if (issues.some(isError)) return { built: null, issues };
  const sound = plain as WorkflowDefinition;
  const template = (value: WorkflowDefinition["output"], pointer: string): Template | null => {
    if (value === undefined) return null;
    const compiled = compileTemplate(value, pointer);
    issues.push(...compiled.issues);
    return compiled.template ?? (pointer === "/output" && compiled.issues.length === 0 ? constant(value) : null);
  };
  const nodes = buildNodes(sound, template, compileTemplate, issues);
  const output = template(sound.output, "/output");
  const entered = new Set(sound.edges.filter(({ source, target }) => source !== target).map(({ target }) => target));
  const starts = sound.start === undefined ? sound.nodes.map(({ id }) => id).filter((id) => !entered.has(id)) : [sound.start];
  warnUnreachable(sound, nodes, starts, issues);
  return { built: issues.some(isError) ? null : { definition: sound, nodes, output, starts }, issues };
}

function buildNodes(
  { nodes, edges }: WorkflowDefinition,
  template: (value: Node["data"], pointer: string) => Template | null,
  compileTemplate: CompileTemplate,
  issues: Issue[],
): Map<string, CompiledNode> {
  const built = new Map<string, CompiledNode>();
  nodes.forEach((node, i) => {
    const pointer = `/nodes/${i}`;
    const retryPolicy: CompiledPolicy | null =
      node.retryPolicy === undefined ? null : compilePolicy(node.retryPolicy, `${pointer}/retryPolicy`, compileTemplate, issues);
    const timeoutMs: Computed | null =
      node.timeout === undefined ? null : compileDuration(node.timeout, `${pointer}/timeout`, compileTemplate, issues);
    const next: CompiledEdge[] = [];
    built.set(node.id, {
      node,
      edges: new Map<string, CompiledEdge[]>([["", next]]),
      next,
      data: template(node.data, `${pointer}/data`),
      retryPolicy,
      timeoutMs,
    });
  });
  for (const edge of edges) {
    const from = built.get(edge.source)!.edges as Map<string, CompiledEdge[]>;
    const handle = edge.sourceHandle ?? "";
    if (!from.has(handle)) from.set(handle, []);
    from.get(handle)?.push({ via: viaOf(edge), target: built.get(edge.target)! });
  }
  return built;
}

/** A constant output is a template that reads nothing. */
function constant(value: NonNullable<WorkflowDefinition["output"]> | null): Template {
  return { reads: [], evaluate: () => value };
}

function viaOf({ id, source, target, sourceHandle }: Edge): string {
  return id ?? `${source}>${target}${sourceHandle ? `@${sourceHandle}` : ""}`;
}

function warnUnreachable(
  definition: WorkflowDefinition,
  nodes: ReadonlyMap<string, CompiledNode>,
  starts: readonly string[],
  issues: Issue[],
): void {
  const reached = new Set<string>();
  const queue = starts.map((id) => nodes.get(id)!);
  for (const { node, edges } of queue) {
    if (reached.has(node.id)) continue;
    reached.add(node.id);
    for (const leaving of edges.values()) for (const { target } of leaving) queue.push(target);
  }
  definition.nodes.forEach(({ id }, i) => {
    if (!reached.has(id))
      issues.push({
        severity: "warning",
        code: "NODE_UNREACHABLE",
        pointer: `/nodes/${i}`,
        message: `no path leads to "${id}" from ${starts.map((start) => `"${start}"`).join(", ") || "a first node"}`,
      });
  });
}

function isError(issue: Issue): boolean {
  return issue.severity === "error";
}

function nameOf(definition: unknown): string {
  const id = safeMember(definition, "id");
  return typeof id === "string" ? id.slice(0, 128) : "?";
}
