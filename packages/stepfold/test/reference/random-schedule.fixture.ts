import type { Model, ModelEvent, ModelTask, ModelWaitRequest } from "./model.fixture.ts";
import { type ModelDefinition, type ModelNode, nodeOf } from "./model-definition.fixture.ts";
import { type Chance, chance, chanceOf, pick } from "./random-graph.fixture.ts";

/** The behaviour of a schedule apart from the order of its events. */
export interface ScheduleOptions {
  /** The seed of the outcomes of tasks. Schedules with the same `outcomes` differ only in the order of events. */
  readonly outcomes: number;
  /** The share of events that are repeated or late. Default 0.15. */
  readonly stale?: number;
  /** True: there are cancellations, and signals that no path waits for. Default true. */
  readonly interference?: boolean;
  /** False: a step without a retry and without an `error` edge never fails. Default true. */
  readonly fatal?: boolean;
}

/** Chooses events for a model at random, but the same ones for the same seed. */
export class RandomSchedule {
  readonly #random: Chance;
  readonly #options: ScheduleOptions;
  readonly #answered: ModelEvent[] = [];

  constructor(seed: number, options: ScheduleOptions) {
    this.#random = chance(seed);
    this.#options = options;
  }

  /**
   * The next event, or null if nothing can happen any more.
   *
   * `stale`: the event is a repeated outcome or answer, which must change nothing. Every other event is legal.
   */
  next(model: Model): { event: ModelEvent; stale: boolean } | null {
    const random = this.#random;
    const fresh = legalEvents(model, this.#options);
    if (fresh.length === 0) return null;
    if (this.#answered.length > 0 && random() < (this.#options.stale ?? 0.15)) return { event: pick(random, this.#answered), stale: true };
    if (this.#options.interference !== false && random() < 0.06) return { event: this.#interference(model), stale: false };
    const event = pick(random, fresh);
    if (("task" in event && event.type !== "begun") || event.type === "resumed") this.#answered.push(event);
    return { event, stale: false };
  }

  #interference(model: Model): ModelEvent {
    const random = this.#random;
    const dice = random();
    const signal: ModelEvent = { type: "signalled", name: pick(random, ["go", "stop"]) };
    if (dice < 0.75 || (model.world().root.ending && model.status !== "parked")) return signal;
    if (dice < 0.8) return { type: "cancelled" };
    const open = model.paths().filter((path) => path.chain === "");
    return open.length === 0 ? signal : { type: "cancelledNode", node: pick(random, open).nodeId };
  }
}

/** The events that would be accepted now, in the order of tasks and paths, without cancellations and signals that no path waits for. */
function legalEvents(model: Model, options: ScheduleOptions): ModelEvent[] {
  if (model.status === "parked") return [{ type: "unparked" }];
  const events: ModelEvent[] = model.tasks().map((task) => outcomeOf(model.definitionAt(task.chain), task, options));
  for (const path of model.paths()) {
    if (path.status === "retrying") events.push({ type: "retried", path: path.chain + path.id });
    for (const wait of path.waits) {
      if (wait.kind === "external") events.push({ type: "resumed", wait: path.chain + wait.id });
      else events.push({ type: "signalled", name: wait.signal ?? "" });
    }
  }
  return [...events, ...model.undoRetries().map((path): ModelEvent => ({ type: "retried", path }))];
}

/** The outcome of a task. It depends on the seed, the node, the path, the visit and the attempt, and not on the order of events. */
function outcomeOf(definition: ModelDefinition, task: ModelTask, options: ScheduleOptions): ModelEvent {
  const seed = options.outcomes;
  if (task.undo) return undoOutcome(task, seed);
  const node = nodeOf(definition, task.nodeId);
  // a step with a compensation is announced by `begun` before its outcome
  if (node.compensate && !task.begun) return { type: "begun", task: task.name };
  const words = [seed, task.chain, task.pathId, task.visit, task.nodeId, task.attempts];
  const { name } = task;
  const retry = task.attempts + 1 < (node.maxAttempts ?? 1);
  const survives =
    retry || options.fatal !== false || definition.edges.some((edge) => edge.source === node.id && edge.sourceHandle === "error");
  const fails = survives && chanceOf(...words, "fails") < (node.maxAttempts ? 0.3 : 0.04);
  if (fails) return { type: "failed", task: name, retry };
  const suspension = task.touched ? [] : waitsOf(node, chanceOf(...words, "waits"));
  if (suspension.length > 0) return { type: "suspended", task: name, waits: suspension };
  if (node.children) return { type: "spawned", task: name };
  if (node.type === "end") return { type: "completed", task: name, handles: [], terminate: true };
  return { type: "completed", task: name, handles: handlesOf(definition, node, words) };
}

function undoOutcome({ name, attempts }: ModelTask, seed: number): ModelEvent {
  const fails = chanceOf(seed, name, attempts) < 0.3;
  return fails ? { type: "failed", task: name, retry: attempts < 2 } : { type: "completed", task: name, handles: [""] };
}

function waitsOf(node: ModelNode, dice: number): ModelWaitRequest[] {
  const signal = (name: string): ModelWaitRequest => ({ kind: "signal", signal: name, ...(dice < 0.3 ? { transient: true } : {}) });
  if (node.type === "wait") return [{ kind: "external" }];
  if (node.type === "signal") return [signal(dice < 0.5 ? "go" : "stop")];
  return node.type === "race" ? [signal("go"), { kind: "external" }, signal("stop")] : [];
}

/** Picks the handle `back` in some visits, else some of the other handles, and sometimes the first of them twice. */
function handlesOf(definition: ModelDefinition, node: ModelNode, words: readonly (string | number)[]): string[] {
  const leaving = definition.edges.filter((edge) => edge.source === node.id && edge.sourceHandle !== "error");
  const names = [...new Set(leaving.map((edge) => edge.sourceHandle ?? ""))];
  if (names.includes("back") && chanceOf(...words, "back") < 0.3) return ["back"];
  const ahead = names.filter((name) => name !== "back" && chanceOf(...words, name) < 0.8);
  return ahead.length > 0 && chanceOf(...words, "twice") < 0.06 ? [...ahead, ...ahead.slice(0, 1)] : ahead;
}
