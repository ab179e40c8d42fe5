import { leaseMs, type SeenDay, type SeenSchedule, type SeenStart } from "./day.ts";
import { type Act, type Day, dayLengthMs, type ModelSpec, type PlannedSchedule } from "./plan.ts";
import { ticksBetween } from "./tick-model.ts";

/**
 * The longest delay of a start: its worker dies, and the next workers do not get the answers of the store, so that each time a lease
 * has to run out. The longest observed delay is nearly eight minutes, at the full hour, when one call claims many schedules and its
 * answer is lost.
 */
const slackMs = 12 * leaseMs;

/** The state of a schedule in a period, which begins after `fromMs`. */
interface Phase {
  readonly fromMs: number;
  readonly toMs: number;
  readonly spec: ModelSpec;
  readonly isPaused: boolean;
  /** The act that ends the period. Null: the day ends. */
  readonly endsBy: Act["type"] | null;
}

/** A tick, and whether an execution has to start for it. */
interface Wanted {
  /** The time of the tick, from the beginning of the day. */
  readonly atMs: number;
  readonly spec: ModelSpec;
  /** True if an execution has to start. */
  readonly must: boolean;
  /** True if an execution may start. */
  readonly may: boolean;
  /** The times between which the library decides about the tick. */
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Yields the faults of a day, one text each. The model computes the ticks itself. From the observed facts it only uses when executions
 * began and ended.
 */
export function* judgeDay(day: Day, { schedules }: SeenDay): Generator<string> {
  for (const planned of day.schedules) {
    const seen = schedules.get(planned.name)!;
    for (const wrong of judgeSchedule(planned, seen, day)) yield `${planned.name}: ${wrong}`;
  }
}

function* judgeSchedule(planned: PlannedSchedule, seen: SeenSchedule, day: Day): Generator<string> {
  yield* seen.surprises.map((error) => `people were told ${error}`);
  yield* seen.problems.map((problem) => `it has the problem ${problem}`);
  if (seen.status !== "ended") yield `it is ${seen.status} after its last tick`;
  const phases = phasesOf(planned);
  const ofTicks = seen.starts.filter(({ workflowId }) => !seen.triggered.has(workflowId));
  const ticks = new Map(ofTicks.map((start) => [tickOf(start.workflowId, day), start]));
  const wanted = wantedOf(planned, phases, seen, day);
  for (const { atMs, must, may, spec, toMs } of wanted) {
    const start = ticks.get(atMs);
    if (!start && must) yield `${time(day, atMs)} was not started`;
    if (start && !may) yield `${time(day, atMs)} was started, and should not have been`;
    if (!start || !may) continue;
    ticks.delete(atMs);
    if (start.startedMs < atMs) yield `${time(day, atMs)} was started ${atMs - start.startedMs} ms early`;
    const waits = spec.overlap === "queue" || spec.overlap === "cancel";
    if (!waits && start.startedMs > toMs) yield `${time(day, atMs)} was started ${start.startedMs - atMs} ms late`;
    yield* wrongInput(start, phases, spec, waits, day);
  }
  const deletedMs = planned.acts.find(({ type }) => type === "delete")?.atMs ?? Number.POSITIVE_INFINITY;
  for (const [workflowId, atMs] of seen.triggered) {
    const untilMs = atMs + slackMs + (day.outage ? day.outage.toMs - day.outage.fromMs : 0);
    const isStarted = seen.starts.some((start) => start.workflowId === workflowId);
    if (!isStarted && untilMs < deletedMs) yield `${workflowId} was triggered and not started`;
  }
  for (const tick of backfilled(planned, phases, day)) if (!ticks.delete(tick)) yield `${time(day, tick)} was not made up for`;
  for (const [atMs, { workflowId }] of ticks) {
    if (!wanted.some((tick) => tick.atMs === atMs)) yield `${workflowId} is no tick`;
  }
  yield* wrongRuns(planned, seen, day);
  if (seen.counted !== seen.starts.length) yield `it counts ${seen.counted} starts, and there are ${seen.starts.length}`;
}

/** Returns the periods between the acts that change the schedule. */
function phasesOf({ spec: first, acts }: PlannedSchedule): Phase[] {
  const phases: Phase[] = [];
  let [fromMs, spec, isPaused] = [0, first, false];
  for (const act of acts) {
    if (act.type === "trigger" || act.type === "backfill") continue;
    phases.push({ fromMs, toMs: act.atMs, spec, isPaused, endsBy: act.type });
    fromMs = act.atMs;
    if (act.type === "edit") spec = act.to;
    if (act.type === "pause" || act.type === "resume") isPaused = act.type === "pause";
    if (act.type === "delete") return phases;
  }
  return [...phases, { fromMs, toMs: dayLengthMs, spec, isPaused, endsBy: null }];
}

function wantedOf({ acts }: PlannedSchedule, phases: readonly Phase[], { starts, triggered }: SeenSchedule, day: Day): Wanted[] {
  const all: Wanted[] = [];
  const begunBy = (atMs: number, toMs: number): SeenStart[] =>
    starts.filter(({ workflowId }) => {
      const triggeredMs = triggered.get(workflowId);
      return triggeredMs === undefined ? tickOf(workflowId, day) < atMs : triggeredMs < toMs;
    });
  for (const { fromMs, toMs, spec, isPaused, endsBy } of phases) {
    if (isPaused) continue;
    for (const tick of ticksBetween(spec.rule, day.beginsAt + fromMs, day.beginsAt + toMs)) {
      const atMs = tick - day.beginsAt;
      const outage = day.outage && atMs + spec.jitterMs >= day.outage.fromMs - slackMs && atMs < day.outage.toMs ? day.outage : null;
      const isWithin = outage !== null && atMs >= outage.fromMs;
      const decided = { fromMs: isWithin ? outage.toMs : atMs, toMs: Math.max(atMs + spec.jitterMs, outage?.toMs ?? 0) + slackMs };
      const isLast = endsBy === "delete" && toMs < decided.toMs;
      // the tick is not required if the pause may have been committed before its start, or, with `cancel`, while it waited for the end
      // of the execution before it
      const mayBePaused = acts.some(
        ({ type, atMs: pausedMs }) =>
          type === "pause" && pausedMs >= atMs && pausedMs <= (spec.overlap === "cancel" ? decided.toMs : atMs + spec.jitterMs),
      );
      const isMissed = outage !== null && decided.fromMs - (atMs + spec.jitterMs) > spec.catchUpMs;
      const mayBeMissed = outage !== null && decided.toMs - atMs > spec.catchUpMs;
      const overlap = overlapOf(spec, atMs, decided, outage?.fromMs ?? null, begunBy(atMs, decided.toMs));
      const mayBegin = !isMissed && overlap !== "no";
      all.push({
        ...{ atMs, spec, ...decided },
        may: mayBegin,
        must: mayBegin && !isLast && !mayBePaused && !mayBeMissed && overlap === "yes",
      });
    }
  }
  return all;
}

/** Tells whether a tick may start under the overlap policy, given the executions that began before it. */
function overlapOf(
  { overlap }: ModelSpec,
  atMs: number,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  outageFromMs: number | null,
  before: readonly SeenStart[],
): "yes" | "no" | "maybe" {
  if (overlap === "allow" || overlap === "queue") return "yes";
  // of the ticks that are due after an outage, only the last one is started
  if (overlap === "cancel") return outageFromMs === null ? "yes" : "maybe";
  // during an outage the schedule does not learn of ends
  const running = before.filter(({ endedMs }) => endedMs > (outageFromMs ?? fromMs) - slackMs);
  if (running.some(({ startedMs, endedMs }) => startedMs <= Math.max(atMs, fromMs) && endedMs > toMs)) return "no";
  return running.length === 0 ? "yes" : "maybe";
}

/**
 * Yields an error if an execution's input is not that of the schedule at its tick. If the execution had to wait, the input of a later
 * time is right too.
 */
function* wrongInput(
  { workflowId, nth, startedMs, schedule }: SeenStart,
  phases: readonly Phase[],
  spec: ModelSpec,
  waits: boolean,
  day: Day,
): Generator<string> {
  if (schedule === null) yield `${workflowId} names no schedule`;
  const atMs = tickOf(workflowId, day);
  const later = phases.filter(({ fromMs, toMs }) => toMs > atMs && fromMs <= startedMs).map((phase) => phase.spec.nth);
  const possible = waits ? [spec.nth, ...later] : [spec.nth];
  if (!possible.includes(nth)) yield `${workflowId} has the input of edit ${nth}, and should have that of ${possible.join(" or ")}`;
}

function* backfilled({ acts }: PlannedSchedule, phases: readonly Phase[], day: Day): Generator<number> {
  for (const act of acts) {
    if (act.type !== "backfill") continue;
    const { spec } = phases.find(({ fromMs, toMs }) => fromMs < act.atMs && act.atMs <= toMs)!;
    for (const tick of ticksBetween(spec.rule, day.beginsAt + act.fromMs, day.beginsAt + act.toMs)) yield tick - day.beginsAt;
  }
}

/** Yields errors if executions of one schedule overlap although the policy forbids it, or do not end as they should. */
function* wrongRuns({ spec, restMs, name }: PlannedSchedule, { starts, triggered }: SeenSchedule, day: Day): Generator<string> {
  const ofTicks = starts
    .filter(({ workflowId }) => !triggered.has(workflowId))
    .sort((a, b) => tickOf(a.workflowId, day) - tickOf(b.workflowId, day));
  for (const [i, one] of ofTicks.entries()) {
    const next = ofTicks[i + 1];
    const isCancelled = one.status === "cancelled";
    if (one.schedule !== name) yield `${one.workflowId} names the schedule ${one.schedule}`;
    if (!isCancelled && (one.status !== "completed" || one.done !== "begin,rest,finish"))
      yield `${one.workflowId} is ${one.status} after ${one.done}`;
    if (isCancelled && spec.overlap !== "cancel") yield `${one.workflowId} was cancelled`;
    if (spec.overlap !== "allow" && next && next.startedMs < one.endedMs) yield `${next.workflowId} ran beside ${one.workflowId}`;
    if (spec.overlap !== "cancel" || !next) continue;
    const lastsMs = one.startedMs + restMs;
    if (day.outage && one.startedMs < day.outage.toMs && one.endedMs > day.outage.fromMs - slackMs) continue;
    const nextMs = tickOf(next.workflowId, day);
    if (isCancelled && lastsMs + slackMs < nextMs) yield `${one.workflowId} was cancelled before ${next.workflowId}`;
    if (!isCancelled && lastsMs > nextMs + 2 * slackMs) yield `${one.workflowId} was not cancelled`;
  }
}

function tickOf(workflowId: string, day: Day): number {
  return Date.parse(workflowId.slice(workflowId.indexOf("@") + 1)) - day.beginsAt;
}

function time(day: Day, atMs: number): string {
  return new Date(day.beginsAt + atMs).toISOString();
}
