import type { WorkflowDefinition } from "../../packages/stepfold/src/core/definition/definition.ts";
import type { CompletedEvent, ContinuedEvent, Event, SpawnedEvent } from "../../packages/stepfold/src/core/snapshot/event.ts";
import type { Snapshot } from "../../packages/stepfold/src/core/snapshot/snapshot.ts";
import { canonicalJson } from "../../packages/stepfold/src/core/values/canonical-json.ts";
import type { Json } from "../../packages/stepfold/src/core/values/json.ts";
import type { Read } from "./nodes.ts";

/** The values that a variable was set to, oldest first. */
type Values = { readonly version: number; readonly value: Json }[];

/** A scope as the model knows it from the events alone. */
interface Scope {
  /** Null: the scope was begun in another execution, so nothing is known of it. */
  readonly definition: WorkflowDefinition | null;
  /** The values of each variable that was set in this scope. */
  readonly values: Map<string, Values>;
  /** The version at which each node was last left. */
  readonly leftAt: Map<string, number>;
  /** The version at which the scope began. Null: the execution goes on from another one, so the origin of its paths is not known. */
  readonly beganAt: number | null;
  readonly parent: Scope | null;
  /** The version at which the parent's path had arrived at the node that runs this scope. Null: not known. */
  readonly arrivedAt: number | null;
}

/** The variables of executions that were checked. An execution that goes on from one of them begins with its variables. */
export type KnownVariables = Map<string, ReadonlyMap<string, Values>>;

/**
 * I20: variables have the values that result from their reducers and the steps that set them, in the order of versions; and each step
 * has read the values of the version at which its path arrived. The model knows the graph and the events, but neither the engine nor
 * the snapshot.
 *
 * @param definitionOf returns the definition with a hash
 * @param known the executions that were checked before; this one is added
 */
export function* wrongVariables(
  { workflowId, variables = {} }: Snapshot,
  events: readonly Event[],
  definitionOf: (hash: string) => WorkflowDefinition | undefined,
  known: KnownVariables,
): Generator<string> {
  const [started] = events;
  const from = started?.type === "started" ? started.checkpoint?.from : undefined;
  const before = from && known.get(from.workflowId);
  // the execution that this one goes on from has not ended, so it was not checked
  if (from && !before) return;
  const definition = started?.type === "started" ? definitionOf(started.definition.hash) : undefined;
  if (!definition) return;
  let scopes = new Map([["", rootOf(definition, from ? from.version : null, before)]]);
  // the values of all runs, for a fork that was made in an earlier one
  const all = new Map<string, Values>();
  const keep = ({ values }: Scope): void => {
    for (const [name, own] of values) all.set(name, [...(all.get(name) ?? []), ...own]);
  };
  for (const event of events) {
    if (event.type === "continued") {
      keep(scopes.get("")!);
      yield* wrongCarried(scopes.get("")!, event);
      const next = definitionOf(event.definition.hash);
      if (!next) return;
      scopes = new Map([["", runOf(next, event)]]);
    }
    if (event.type === "spawned") spawn(scopes, event);
    const scope = scopes.get(placeOf(event));
    if (!scope) continue;
    if (event.type === "completed" && event.variables) yield* wrongStep(scope, event);
    const left = leftBy(event);
    if (left !== null) scope.leftAt.set(left, event.version);
  }
  const root = scopes.get("")!;
  keep(root);
  known.set(workflowId, all);
  for (const [name, values] of root.values) {
    const stored = variables[name]?.at(-1)?.value;
    if (!isSame(stored, values.at(-1)?.value)) yield `I20 ${name} is ${text(stored)}, not ${text(values.at(-1)?.value)}`;
  }
}

/**
 * Returns the scope of the execution itself.
 * @param goesOnAt the version of the origin, if the execution goes on from one; its own versions count from 0
 */
function rootOf(definition: WorkflowDefinition, goesOnAt: number | null, before: ReadonlyMap<string, Values> = new Map()): Scope {
  const values = new Map<string, Values>();
  for (const [name, all] of before) {
    const kept = all.filter(({ version }) => goesOnAt !== null && version <= goesOnAt);
    if (kept.length > 0) values.set(name, [{ version: 0, value: kept.at(-1)!.value }]);
  }
  return { definition, values, leftAt: new Map(), beganAt: goesOnAt === null ? 0 : null, parent: null, arrivedAt: null };
}

/** Returns the scope of the execution itself in a further run, which begins with the latest values. */
function runOf(definition: WorkflowDefinition, { version, variables = {} }: ContinuedEvent): Scope {
  const values = new Map(Object.entries(variables).map(([name, value]) => [name, [{ version, value }]]));
  return { definition, values, leftAt: new Map(), beganAt: version, parent: null, arrivedAt: null };
}

function* wrongCarried({ values }: Scope, { version, variables = {} }: ContinuedEvent): Generator<string> {
  for (const [name, all] of values)
    if (!isSame(variables[name], all.at(-1)?.value))
      yield `I20 version ${version} carries ${name} as ${text(variables[name])}, not ${text(all.at(-1)?.value)}`;
}

function spawn(scopes: Map<string, Scope>, { scope: place = "", pathId, nodeId, visit, version, children }: SpawnedEvent): void {
  const parent = scopes.get(place);
  const key = `${place === "" ? "" : `${place}>`}${pathId}#${visit}`;
  const definition = parent?.definition?.workflows?.[children.workflow] ?? null;
  const count = children.map ? children.map.items.length : 1;
  for (let item = 0; item < count; item++)
    scopes.set(`${key}/${item}`, {
      ...{ definition, values: new Map(), leftAt: new Map(), beganAt: version },
      parent: parent ?? null,
      arrivedAt: parent ? arrivalAt(parent, nodeId) : null,
    });
}

/** Returns the version at which a path had arrived at a node: when the last node before it was left. Null: not known. */
function arrivalAt({ definition, leftAt, beganAt }: Scope, nodeId: string): number | null {
  if (!definition || definition.code) return null;
  const before = definition.edges.filter(({ target }) => target === nodeId).map(({ source }) => source);
  // paths leave these nodes by events of their children
  const isHidden = definition.nodes.some(({ id, type, data }) => before.includes(id) && isFolded(type, data));
  if (isHidden) return null;
  const left = before.flatMap((id) => leftAt.get(id) ?? []);
  return left.length > 0 ? Math.max(...left) : definition.start === nodeId || before.length === 0 ? beganAt : null;
}

function isFolded(type: string, data: unknown): boolean {
  return type === "map" || (type === "workflow" && (data as { readonly detached?: boolean }).detached !== true);
}

/** Returns the node that a path leaves with an event, or null. */
function leftBy(event: Event): string | null {
  if (event.type === "completed" && !event.undoes) return event.nodeId;
  if ((event.type === "failed" || event.type === "timedOut") && event.handle !== undefined) return event.nodeId;
  const isPassedOver = event.type === "resumed" && (event.payload as { readonly action?: string } | undefined)?.action === "skip";
  return isPassedOver ? (event.nodeId ?? null) : null;
}

function* wrongStep(scope: Scope, { version, nodeId, output, variables: whole, appended = {} }: CompletedEvent): Generator<string> {
  if (!scope.definition) return;
  const variables: Record<string, Json> = { ...whole };
  // an event that adds to a list does not have the items before
  for (const [name, items] of Object.entries(appended)) variables[name] = [...(latest(scope, name, version) as readonly Json[]), ...items];
  const at = arrivalAt(scope, nodeId);
  const given = (variables.trace as readonly unknown[] | undefined)?.at(-1) as Read | undefined;
  const total = (latest(scope, "total", version) as number) + 1;
  const trace = latest(scope, "trace", version) as readonly Json[];
  const read = at === null || hasUnknownParent(scope) ? given : readAt(scope, nodeId, at);
  const wanted: Record<string, Json> = { total, last: output, trace: [...trace, read as unknown as Json] };
  if ("outer" in variables) wanted.outer = output;
  if (!isSame(variables, wanted)) yield `I20 version ${version} sets ${text(variables)}, not ${text(wanted)}`;
  for (const [name, value] of Object.entries(variables)) scope.values.set(name, [...(scope.values.get(name) ?? []), { version, value }]);
}

function hasUnknownParent({ parent, arrivedAt }: Scope): boolean {
  return parent !== null && (arrivedAt === null || parent.definition === null || hasUnknownParent(parent));
}

function readAt(scope: Scope, nodeId: string, at: number): Read {
  const of = (name: string): never => (valueAt(scope, name, at) ?? null) as never;
  return { nodeId, total: of("total"), last: of("last"), outer: of("outer") };
}

/** Returns the value in the scope itself before an event. */
function latest(scope: Scope, name: string, before: number): Json | undefined {
  return own(scope, name, before - 1);
}

function own({ values, definition }: Scope, name: string, at: number): Json | undefined {
  return values.get(name)?.findLast(({ version }) => version <= at)?.value ?? definition?.variables?.[name]?.initial;
}

/** Returns the value that a path reads that arrived at a version: the scope's own value, or that of the scope around it. */
function valueAt(scope: Scope, name: string, at: number): Json | undefined {
  return own(scope, name, at) ?? (scope.parent && valueAt(scope.parent, name, scope.arrivedAt!)) ?? undefined;
}

function placeOf(event: Event): string {
  return ("scope" in event && event.scope) || "";
}

function isSame(a: unknown, b: unknown): boolean {
  return text(a) === text(b);
}

function text(value: unknown): string {
  return value === undefined ? "nothing" : canonicalJson(value as Json);
}
