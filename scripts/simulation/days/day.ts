import type { Status } from "../../../packages/stepfold/src/core/snapshot/snapshot.ts";
import { isTerminal } from "../../../packages/stepfold/src/core/snapshot/snapshot.ts";
import { builtinNodes } from "../../../packages/stepfold/src/nodes/index.ts";
import type { SnapshotStore } from "../../../packages/stepfold/src/ports/snapshot-store.ts";
import { createRuntime } from "../../../packages/stepfold/src/runtime/create-runtime.ts";
import type { Runtime } from "../../../packages/stepfold/src/runtime/runtime.ts";
import { schedules } from "../../../packages/stepfold/src/schedules/schedules.ts";
import { memoryStore } from "../../../packages/stepfold/src/stores/databases/memory/memory-store.ts";
import { faultsOf } from "../../../packages/stepfold/src/testing/simulation/machines/faults.ts";
import { beginsAt, Machine } from "../../../packages/stepfold/src/testing/simulation/machines/machine.ts";
import { Network } from "../../../packages/stepfold/src/testing/simulation/machines/network.ts";
import { remoteStore } from "../../../packages/stepfold/src/testing/simulation/machines/remote-store.ts";
import { Scheduler } from "../../../packages/stepfold/src/testing/simulation/machines/scheduler.ts";
import type { Random } from "../../../packages/stepfold/src/testing/simulation/random.ts";
import { type Act, type Day, dayLengthMs, hourMs, minuteMs, type PlannedSchedule, scheduleSpec } from "./plan.ts";

const workers = 3;
export const leaseMs = 45_000;
const pollMs = 40_000;
/** The approximate duration of a slow call, in milliseconds. */
const slowMs = 4_000;
/** The longest time after the end of the day in which started executions and their queues have to end, in milliseconds. */
const longestTailMs = 24 * hourMs;

/** The workflow that a tick starts: a step, a rest, a step. */
const work = {
  id: "work",
  nodes: [
    { id: "begin", type: "noop" },
    { id: "rest", type: "wait", data: { for: "{{ input.for }}" } },
    { id: "finish", type: "set", data: "done" },
  ],
  edges: [
    { source: "begin", target: "rest" },
    { source: "rest", target: "finish" },
  ],
};

/** An execution as it is stored. Times count from the beginning of the day. */
export interface SeenStart {
  readonly workflowId: string;
  readonly status: Status;
  readonly startedMs: number;
  readonly endedMs: number;
  /** The version of the schedule's specification that its input names. */
  readonly nth: number;
  /** The nodes whose steps have completed, in order. */
  readonly done: string;
  /** The schedule that the execution names as its starter; null if it names none. */
  readonly schedule: string | null;
}

/** The observed facts about one schedule. */
export interface SeenSchedule {
  readonly starts: readonly SeenStart[];
  readonly status: "active" | "paused" | "ended";
  /** The number of starts that the schedule itself has counted. */
  readonly counted: number;
  readonly problems: readonly string[];
  /** When `trigger` was called, from the beginning of the day, by the ids that it returned. */
  readonly triggered: ReadonlyMap<string, number>;
  /** Errors that people got although they should not have. */
  readonly surprises: readonly string[];
}

/** The result of a day. */
export interface SeenDay {
  readonly schedules: ReadonlyMap<string, SeenSchedule>;
  readonly kills: number;
  readonly steps: number;
}

/** Runs a day: people act as planned, processes die, and the store loses nothing. */
export async function runDay(day: Day, random: Random): Promise<SeenDay> {
  const scheduler = new Scheduler(random.fork("order"));
  const store = memoryStore({ now: () => day.beginsAt + scheduler.nowMs });
  const network = networkOf(scheduler, random);
  const told = new Map(day.schedules.map(({ name }) => [name, { triggered: new Map<string, number>(), surprises: [] as string[] }]));
  let kills = 0;
  const machineNamed = (name: string): Machine => new Machine(name, scheduler, random.fork(`ids ${name}`), day.beginsAt - beginsAt);
  const open = (machine: Machine, seen: SnapshotStore, drive: boolean): Runtime =>
    createRuntime({
      ...{ store: seen, environment: machine.environment, workflows: [work], nodeDefinitions: builtinNodes, schedules: schedules() },
      ...{ owner: machine.name, drive, leaseMs, pollMs, maxCrashes: Number.POSITIVE_INFINITY, limits: { steps: 400 } },
    });
  const isOut = (): boolean => day.outage !== null && scheduler.nowMs >= day.outage.fromMs && scheduler.nowMs < day.outage.toMs;
  const keep = (name: string, nth: number): void => {
    if (isOut()) {
      scheduler.after(day.outage!.toMs - scheduler.nowMs, () => keep(name, nth));
      return;
    }
    const own = random.fork(`${name} ${nth}`);
    const machine = machineNamed(`${name}.${nth}`);
    open(machine, remoteStore(store, network, machine), true);
    machine.onEnded = () => {
      kills++;
      scheduler.after(own.between(100, 20_000), () => keep(name, nth + 1));
    };
    if (scheduler.nowMs < dayLengthMs) scheduler.after(own.between(minuteMs, 90 * minuteMs), () => machine.end());
    if (day.outage && day.outage.fromMs > scheduler.nowMs) scheduler.after(day.outage.fromMs - scheduler.nowMs, () => machine.end());
  };
  const people = open(machineNamed("people"), store, false);
  for (const planned of day.schedules) play(planned, day, people, scheduler, told.get(planned.name)!);
  for (let i = 0; i < workers; i++) keep(`worker${i}`, 0);
  await scheduler.run(() => false, dayLengthMs);
  for (let untilMs = dayLengthMs; untilMs < dayLengthMs + longestTailMs && !(await isQuiet(store)); ) {
    untilMs += 20 * minuteMs;
    await scheduler.run(() => false, untilMs);
  }
  const seen = new Map<string, SeenSchedule>();
  for (const { name } of day.schedules) seen.set(name, { ...(await seenOf(store, people, name, day.beginsAt)), ...told.get(name)! });
  return { schedules: seen, kills, steps: scheduler.steps };
}

/** Returns a network to the store, on which calls are sometimes late or fail. */
function networkOf(scheduler: Scheduler, random: Random): Network {
  const kinds = (["storeErrorBefore", "storeErrorAfter", "storeSlow"] as const).filter(() => random.fork("kinds").chance(0.6));
  const faults = faultsOf(kinds, random.fork("faults"), () => scheduler.nowMs, dayLengthMs);
  return new Network(scheduler, random.fork("network"), faults, slowMs);
}

type Told = { readonly triggered: Map<string, number>; readonly surprises: string[] };

/** Lets people create a schedule and act on it as planned. Their process does not die, and the store answers it at once. */
function play({ name, spec, restMs, acts }: PlannedSchedule, day: Day, people: Runtime, scheduler: Scheduler, told: Told): void {
  const endAt = day.beginsAt + dayLengthMs;
  const act = async (one: Act): Promise<void> => {
    const all = people.schedules;
    if (one.type === "edit") await all.edit(name, scheduleSpecChanges(one, restMs, endAt));
    else if (one.type === "trigger") told.triggered.set((await all.trigger(name)).workflowId, one.atMs);
    else if (one.type === "backfill")
      await all.backfill(name, { from: day.beginsAt + one.fromMs, to: day.beginsAt + one.toMs, overlap: "allow" });
    else await all[one.type](name);
  };
  const surprise = (error: unknown): void => void told.surprises.push(String(error));
  people.schedules.create(name, scheduleSpec(spec, restMs, endAt)).catch(surprise);
  for (const one of acts) scheduler.after(one.atMs, () => void act(one).catch(surprise));
}

/** Returns the changes of an edit: a complete specification, because the new rule may be of another kind and zone. */
function scheduleSpecChanges({ to }: Extract<Act, { type: "edit" }>, restMs: number, endAt: number): ReturnType<typeof scheduleSpec> {
  return scheduleSpec(to, restMs, endAt);
}

async function isQuiet(store: SnapshotStore): Promise<boolean> {
  const { items } = await store.list({ status: ["active", "paused", "error", "parked"], limit: 1 });
  return items.length === 0;
}

async function seenOf(
  store: SnapshotStore,
  people: Runtime,
  name: string,
  from: number,
): Promise<Omit<SeenSchedule, "triggered" | "surprises">> {
  const starts: SeenStart[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await store.list({ idPrefix: `${name}@`, order: "oldest", limit: 1_000, ...(cursor !== undefined && { cursor }) });
    for (const { workflowId, status } of page.items) starts.push(await startOf(store, workflowId, status, from));
    cursor = page.nextCursor;
  }
  const { status, counts, problems } = await people.schedules.describe(name);
  return { starts, status, counted: counts.started, problems: problems.map(({ code, message }) => `${code}: ${message}`) };
}

async function startOf(store: SnapshotStore, workflowId: string, status: Status, from: number): Promise<SeenStart> {
  const rows = await store.events(workflowId, -1, 100);
  const { event: first } = rows[0]!;
  const input = first.type === "started" ? (first.input as { readonly nth: number }) : { nth: 0 };
  return {
    ...{ workflowId, status, nth: input.nth },
    startedMs: first.at - from,
    // messages of the outbox are delivered after the end of the execution
    endedMs: isTerminal(status) ? rows.findLast(({ event }) => event.type !== "delivered")!.event.at - from : Number.POSITIVE_INFINITY,
    done: rows.flatMap(({ event }) => (event.type === "completed" ? [event.nodeId] : [])).join(),
    schedule: (first.type === "started" && first.scheduledBy?.schedule) || null,
  };
}
