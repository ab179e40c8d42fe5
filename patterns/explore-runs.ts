import { type EpochMs, isTerminal, type Snapshot } from "stepfold";
import type { Fixture, ScriptStep } from "./fixture.ts";
import { Labels } from "./labels.ts";
import { Oracle, type States } from "./petri-net.ts";
import { type Happened, Stepper } from "./transition.ts";

/** The result of all runs of a fixture. */
export interface Exploration {
  /** The number of runs that came to an end. */
  readonly runs: number;
  /** The number of different states. */
  readonly states: number;
  /** False if there were more states than the limit allows. */
  readonly whole: boolean;
  /** The first trace that the net forbids; null if there is none. */
  readonly forbidden: readonly string[] | null;
  /** The witnesses that some run showed. */
  readonly witnessed: ReadonlySet<string>;
}

/** A state of the search: the execution, the net's judgement of its labels, and the rest of the script. */
interface State {
  readonly snapshot: Snapshot;
  /** The states of the net after the labels so far. */
  readonly judged: States;
  readonly labels: Labels;
  readonly now: EpochMs;
  /** The steps of the script that were not sent yet. */
  readonly script: readonly ScriptStep[];
  readonly trace: readonly string[];
  /** The number of labels of each witness that were seen in order so far. */
  readonly witnesses: readonly number[];
}

/** The largest number of tasks that are tried as the next one in each state. */
const mostConcurrent = 4;

/**
 * Runs a fixture in every order of the events that can happen at the same time, and lets its net judge each run.
 *
 * @param roundTrip changes each snapshot, for example by way of JSON
 * @param mostStates the largest number of states that are explored
 */
export async function exploreRuns(
  fixture: Fixture,
  roundTrip: (snapshot: Snapshot) => Snapshot,
  mostStates = Number.POSITIVE_INFINITY,
): Promise<Exploration> {
  const stepper = new Stepper(fixture);
  const oracle = new Oracle(fixture.net);
  const wanted = (fixture.witnesses ?? []).map((witness) => witness.split(" "));
  const seen = new Set<string>();
  const witnessed = new Set<string>();
  let runs = 0;
  let forbidden: readonly string[] | null = null;

  const follow = (state: State, happened: Happened, script?: ScriptStep): State => {
    const labels = new Labels(state.labels.seen);
    const fresh = labels.of(happened.event, happened.snapshot, script?.label);
    return judge(
      { ...state, snapshot: roundTrip(happened.snapshot), labels, script: state.script.filter((step) => step !== script) },
      fresh,
    );
  };
  const judge = (state: State, fresh: readonly string[]): State => {
    let { judged } = state;
    const witnesses = [...state.witnesses];
    for (const label of fresh) {
      judged = oracle.step(judged, label);
      for (const [i, witness] of wanted.entries()) if (witness[witnesses[i]!] === label) witnesses[i]!++;
    }
    return { ...state, judged, witnesses, trace: [...state.trace, ...fresh] };
  };

  const next = async (state: State): Promise<State[]> => {
    if (isTerminal(state.snapshot.status)) return [];
    const timer = stepper.timer(state.snapshot, state.now);
    if (timer) return [follow(state, timer)];
    const after: State[] = [];
    for (const task of stepper.tasks(state.snapshot, state.now).slice(0, mostConcurrent))
      after.push(follow(state, await stepper.perform(state.snapshot, task, state.now)));
    for (const step of state.script) {
      if (!isAvailable(step, state.trace)) continue;
      if (step.advanceMs !== undefined) {
        const later = { ...state, now: state.now + step.advanceMs, script: state.script.filter((other) => other !== step) };
        after.push(judge(later, [`!${step.label}`]));
        continue;
      }
      const happened = await stepper.send(state.snapshot, step, state.now);
      if (happened) after.push(follow(state, happened, step));
    }
    return after;
  };

  const first = stepper.start();
  const labels = new Labels();
  const begun: State = {
    snapshot: first.snapshot,
    judged: oracle.start(),
    labels,
    now: 0,
    script: fixture.script,
    trace: [],
    witnesses: wanted.map(() => 0),
  };
  const stack = [judge(begun, labels.of(first.event, first.snapshot))];
  let state = stack.pop();
  for (; state && !forbidden && seen.size < mostStates; state = stack.pop()) {
    const key = keyOf(state, fixture);
    if (seen.has(key)) continue;
    seen.add(key);
    if (state.judged.forbidden) {
      forbidden = state.trace;
      break;
    }
    const after = await next(state);
    stack.push(...after);
    if (after.length > 0) continue;
    runs++;
    const end = judge(state, [state.snapshot.status]);
    if (end.judged.forbidden) forbidden = end.trace;
    for (const [i, witness] of wanted.entries()) if (end.witnesses[i] === witness.length) witnessed.add(fixture.witnesses![i]!);
  }
  return { runs, states: seen.size, whole: state === undefined, forbidden, witnessed };
}

/** True if a step of the script may be sent, because all labels that it waits for were seen. */
export function isAvailable({ after = [] }: ScriptStep, trace: readonly string[]): boolean {
  const left = [...trace];
  return after.every((label) => {
    const at = left.indexOf(label);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

/**
 * Returns a key. Two states with the same key have the same future. Versions count only as far as they tell whether a result existed
 * when a path arrived, and which results a join took; if nodes can be compensated, the order of versions counts too.
 */
function keyOf({ snapshot, judged, now, script, labels, witnesses, trace }: State, fixture: Fixture): string {
  const undoes = fixture.workflow.nodes.some(({ compensate }) => compensate);
  const marks = new Set<number>();
  collectVersions(snapshot, undoes, marks);
  const order = [...marks].sort((a, b) => a - b);
  const place = (version: number): number => {
    const at = order.findIndex((mark) => mark >= version);
    return at < 0 ? 2 * order.length + 1 : order[at] === version ? 2 * at : 2 * at - 1;
  };
  const text = JSON.stringify(withPlaces(snapshot, place));
  const available = script.map((step) => `${step.label}${isAvailable(step, trace)}`).join();
  return `${text}|${judged.key}|${now}|${available}|${labels.seen.sort().join()}|${witnesses.join()}`;
}

/** Adds the versions that count to `marks`. */
function collectVersions(value: unknown, undoes: boolean, marks: Set<number>): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === "since" || (key === "version" && undoes)) marks.add(member as number);
    if (key === "inputs") for (const { version } of member as { version: number }[]) marks.add(version);
    collectVersions(member, undoes, marks);
  }
}

/** Returns a value in which the rank of each version replaces the version, and fields without influence are left out. */
function withPlaces(value: unknown, place: (version: number) => number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((member) => withPlaces(member, place));
  const placed: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (key === "steps" || key === "totalExecutionTime" || key === "sizeBytes") continue;
    placed[key] = key === "since" || key === "version" ? place(member as number) : withPlaces(member, place);
  }
  return placed;
}
