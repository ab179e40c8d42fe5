import { compile } from "../../src/core/definition/compile/compile.ts";
import type { CompiledWorkflow } from "../../src/core/definition/compiled.ts";
import type { Node, WorkflowDefinition } from "../../src/core/definition/definition.ts";
import { reopenRun } from "../../src/core/restart/reopen-run.ts";
import { restartState } from "../../src/core/restart/restart-state.ts";
import type { RunHistory } from "../../src/core/restart/run-history.ts";
import { localKey, openScopes, parentKey } from "../../src/core/snapshot/address.ts";
import type { Event, RestartedEvent, StartedEvent } from "../../src/core/snapshot/event.ts";
import type { Wait } from "../../src/core/snapshot/parts/wait.ts";
import { restore } from "../../src/core/snapshot/restore.ts";
import type { ActivePath, ChildHead, Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { fold } from "../../src/core/transition/apply.ts";
import { closeDraft, closedHead, takeChanges } from "../../src/core/transition/draft/close-draft.ts";
import type { Draft } from "../../src/core/transition/draft/draft.ts";
import { openDraft } from "../../src/core/transition/draft/open-draft.ts";
import { evolve, withConsequences } from "../../src/core/transition/evolve.ts";
import { plan } from "../../src/core/transition/plan.ts";
import { restartRun } from "../../src/core/transition/restart-run.ts";
import { hash32 } from "../../src/core/values/hash/seeded.ts";
import { expressionLanguage } from "../../src/expressions/expression-language.ts";
import type { ModelEvent } from "./model.fixture.ts";
import type { ModelDefinition, ModelNode, ModelWhen } from "./model-definition.fixture.ts";

/** The hash that the engine uses in place of ids of more than 32 characters. The model takes any hash. */
export function engineHash(id: string): string {
  return `${hash32(id).toString(36)}${hash32(`${id}/`).toString(36)}`;
}

/** The engine's core, driven by the events of the reference model. */
export class Engine {
  readonly #workflow: CompiledWorkflow;
  readonly #nodes: ModelDefinition;
  readonly #children = new Map<string, ChildHead>();
  readonly #events: Event[] = [];
  snapshot: Snapshot;
  /** The snapshot that a store restores after the latest event, from the head, the changed children and the history. */
  restored: Snapshot;

  readonly #tolerated: number;

  /** @param tolerated how many items of a map may fail */
  constructor(definition: ModelDefinition, tolerated = 0) {
    this.#nodes = definition;
    this.#tolerated = tolerated;
    this.#workflow = compile(definitionOf(definition), expressionLanguage);
    const { id } = this.#workflow.definition;
    const started = { type: "started" as const, version: 0, at: 0, workflowId: "w", metadata: {} };
    const begun: StartedEvent = { ...started, definition: { id, hash: this.#workflow.hash }, nodeId: definition.start ?? "n0" };
    this.#events.push(begun);
    this.snapshot = fold(this.#workflow, [begun]);
    this.restored = this.snapshot;
  }

  get workflow(): CompiledWorkflow {
    return this.#workflow;
  }

  /** Applies an event of the model. False if the engine refuses the event; the snapshot stays as it was. */
  apply(event: ModelEvent): boolean {
    const told = this.#eventOf(event);
    if (!told) return false;
    const draft = openDraft(this.#workflow, this.snapshot);
    if (!evolve(draft, told)) return false;
    this.#take(draft, withConsequences(draft, told));
    return true;
  }

  /** Opens the execution again, which has failed or was cancelled. */
  restart(): void {
    const { snapshot } = this;
    const version = snapshot.version + 1;
    const since = snapshot.run?.since ?? 0;
    const events = this.#events.slice(since) as unknown as RunHistory["events"];
    const { snapshot: state } = reopenRun({ head: snapshot, events, workflowOf: () => this.#workflow }, false)!;
    const { definition } = snapshot;
    const event: RestartedEvent = {
      ...{ type: "restarted", version, at: 0, definition },
      state: restartState(state, { version, laterMs: 0, adopts: [], ahead: 0 }),
    };
    const draft = restartRun(this.#workflow, snapshot, event);
    this.#take(draft, withConsequences(draft, event));
  }

  /** The snapshot that its whole history gives. */
  folded(): Snapshot {
    const [started, ...others] = this.#events as [StartedEvent, ...Event[]];
    return JSON.parse(JSON.stringify(fold(this.#workflow, [started, ...others]))) as Snapshot;
  }

  #take(draft: Draft, event: Event): void {
    this.#events.push(event);
    for (const { key, head } of takeChanges(draft)) {
      if (head) this.#children.set(key, head);
      else this.#children.delete(key);
    }
    this.restored = JSON.parse(
      JSON.stringify(restore({ head: closedHead(draft), children: this.#children, events: this.#events })),
    ) as Snapshot;
    this.snapshot = JSON.parse(JSON.stringify(closeDraft(draft))) as Snapshot;
  }

  /** The names of the tasks that could be performed. */
  tasks(): string[] {
    return plan(this.snapshot, -1).map(({ scope, pathId, turn }) => `${scope === undefined ? "" : `${scope}>`}${pathId}@${turn}`);
  }

  #eventOf(event: ModelEvent): Event | null {
    const stamp = { version: this.snapshot.version + 1, at: 0 };
    switch (event.type) {
      case "continued":
        return this.#continuedBy(event.task, stamp);
      case "unparked":
        return this.snapshot.parked ? { type: "unparked", ...stamp } : null;
      case "cancelled":
        return { type: "cancelled", ...stamp };
      case "cancelledNode": {
        const paths = this.snapshot.activePaths.filter(({ nodeId, undoes }) => nodeId === event.node && !undoes);
        return { type: "cancelled", ...stamp, pathIds: paths.map(({ id }) => id) };
      }
      case "signalled":
        return { type: "signalled", ...stamp, name: event.name, expiresAt: 1e9 };
      case "retried": {
        const { scope, local } = splitName(event.path);
        return { type: "retried", ...stamp, ...scope, pathId: local };
      }
      case "resumed": {
        const { scope, local } = splitName(event.wait);
        return { type: "resumed", ...stamp, ...scope, pathId: local.slice(0, local.lastIndexOf("@")), waitId: event.wait, by: "payload" };
      }
      default:
        return this.#outcomeOf(event, stamp);
    }
  }

  #outcomeOf(
    event: Exclude<Extract<ModelEvent, { task: string }>, { type: "continued" }>,
    stamp: { version: number; at: number },
  ): Event | null {
    const { scope, local } = splitName(event.task);
    const at = local.lastIndexOf("@");
    const pathId = local.slice(0, at);
    const turn = Number(local.slice(at + 1));
    const found = this.#find(scope.scope ?? "", pathId);
    if (!found) return null;
    const { path, node } = found;
    const { nodeId, visit, undoes, attempts, begun } = path;
    const step = { ...stamp, ...scope, pathId, turn, nodeId, attempt: attempts + 1, startedAt: 0, ...(undoes && { undoes }) };
    if (undoes && (event.type === "suspended" || event.type === "spawned")) return null;
    switch (event.type) {
      case "begun":
        return undoes ? null : { type: "begun", ...stamp, ...scope, pathId, turn, nodeId };
      case "completed":
        return { type: "completed", ...step, output: null, handles: event.handles, ...(event.terminate && { terminates: true }) };
      case "failed": {
        const handle = !event.retry && !undoes && node.edges.has("error") ? { handle: "error" as const } : {};
        return {
          type: "failed",
          ...step,
          error: { name: "Error", message: "dice" },
          retryAt: event.retry ? 0 : null,
          ...handle,
          ...(begun && { begun }),
        };
      }
      case "suspended":
        return {
          type: "suspended",
          ...step,
          waits: event.waits.map((wait, i) => ({ id: waitName(scope.scope, pathId, turn, i), ...wait }) as Wait),
        };
      case "spawned": {
        const modelNode = this.#modelNode(scope.scope ?? "", nodeId);
        return modelNode.children ? { type: "spawned", ...step, visit, children: childrenOf(modelNode, this.#tolerated) } : null;
      }
    }
  }

  #continuedBy(task: string, stamp: { version: number; at: number }): Event | null {
    const { scope, local } = splitName(task);
    const at = local.lastIndexOf("@");
    const found = scope.scope === undefined ? this.#find("", local.slice(0, at)) : null;
    if (!found || this.snapshot.ending || this.snapshot.error) return null;
    const { nodeId, attempts } = found.path;
    return {
      ...{ type: "continued", ...stamp, pathId: local.slice(0, at), turn: Number(local.slice(at + 1)), nodeId, attempt: attempts + 1 },
      ...{ startedAt: 0, run: (this.snapshot.run?.number ?? 1) + 1, definition: this.snapshot.definition },
      ...{ firstNodeId: this.#nodes.start ?? "n0", metadata: {}, totalExecutionTime: 0 },
      ...(this.snapshot.inbox && { inbox: this.snapshot.inbox }),
      ...(this.snapshot.restarts !== undefined && { restarts: this.snapshot.restarts }),
    };
  }

  #find(scope: string, pathId: string): { path: ActivePath; node: { edges: ReadonlyMap<string, unknown> } } | null {
    for (const [key, paths] of openScopes(this.snapshot)) {
      const path = key === scope ? paths.find(({ id }) => id === pathId) : undefined;
      if (path) return { path, node: this.#workflowOf(scope).nodes.get(path.nodeId)! };
    }
    return null;
  }

  #workflowOf(scope: string): CompiledWorkflow {
    return scope === "" ? this.#workflow : this.#workflowOf(parentKey(scope)).workflows.get(this.snapshot.childStates![scope]!.workflow)!;
  }

  /** The definition that the paths of a scope run. */
  definitionAt(scope: string): ModelDefinition {
    return scope === "" ? this.#nodes : this.#nodes.workflows![this.snapshot.childStates![scope]!.workflow]!;
  }

  #modelNode(scope: string, nodeId: string): ModelNode {
    const definition = this.definitionAt(scope);
    return definition.nodes.find(({ id }) => id === nodeId)!;
  }
}

function splitName(name: string): { scope: { scope?: string }; local: string } {
  const scope = parentKey(name);
  return { scope: scope === "" ? {} : { scope }, local: localKey(name) };
}

function waitName(scope: string | undefined, pathId: string, turn: number, i: number): string {
  return `${scope === undefined ? "" : `${scope}>`}${pathId}@${turn + 1}${i === 0 ? "" : `.${i}`}`;
}

function childrenOf({ type, children }: ModelNode, tolerated: number): Extract<Event, { type: "spawned" }>["children"] {
  const { workflow, items, concurrency = 1_000, completeWhen, remaining = "cancel" } = children!;
  if (type !== "map") return { workflow };
  return {
    workflow,
    map: {
      items: Array.from({ length: items }, (_, i) => i),
      concurrency,
      remaining,
      tolerated,
      ...(completeWhen !== undefined && { completeWhen }),
    },
  };
}

function definitionOf({ id, start, nodes, edges, workflows, onFailure }: ModelDefinition): WorkflowDefinition {
  return {
    id,
    start: start ?? "n0",
    nodes: nodes.map(nodeOf),
    edges,
    ...(onFailure && { onFailure }),
    ...(workflows && { workflows: Object.fromEntries(Object.entries(workflows).map(([name, inner]) => [name, definitionOf(inner)])) }),
  };
}

function nodeOf({ id, type, join, late, cancels, mutex, when, compensate }: ModelNode): Node {
  return {
    id,
    type,
    ...(join !== undefined && { join }),
    ...(late && { late }),
    ...(cancels && { cancels }),
    ...(mutex !== undefined && { mutex }),
    ...(when && { when: conditionOf(when) }),
    ...(compensate && { compensate: { type: "undo" } }),
  };
}

function conditionOf(when: ModelWhen): string {
  if ("at" in when) return `paths.${when.at}.filter(path => path.status != "joining").length > 0`;
  return `nodes.${when.done}.all.filter(result => result.error == null).length >= ${when.times}`;
}
