import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SendRequest } from "../engine/node/node-definition.ts";
import { absorb } from "./commands.ts";
import { decideTicks } from "./decide-ticks.ts";
import { readSpec } from "./spec.ts";
import { initialState, isOver, readState, type ScheduleState, wakeOf } from "./state.ts";
import { nextTick } from "./ticks.ts";

const begun = Date.UTC(2026, 0, 1);
const minute = 60_000;
const willing = (): null => null;

/** Brings a schedule to a time as its node does: it decides at every time for which the schedule waits. */
function until(
  state: ScheduleState,
  now: number,
  sends: SendRequest[],
  checkStart: Parameters<typeof decideTicks>[2] = willing,
): ScheduleState {
  let after = state;
  for (let wakeAt = wakeOf(after); wakeAt !== null && wakeAt <= now && !isOver(after); wakeAt = wakeOf(after)) {
    const decision = decideTicks({ ...after, horizon: Math.max(wakeAt, after.horizon) }, now, checkStart);
    sends.push(...decision.sends);
    after = decision.state;
  }
  return { ...after, horizon: Math.max(after.horizon, now) };
}
const startedIn = (sends: readonly SendRequest[]): number[] => sends.flatMap((send) => ("start" in send ? [send.at] : []));

const schedule = (more: object = {}): ScheduleState =>
  initialState("s", readSpec("s", { workflow: "w", every: "1m", ...more }), begun, false);

describe("every schedule", () => {
  const act = fc.oneof(
    fc.record({ type: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 20 * minute }) }),
    fc.record({ type: fc.constantFrom("pause" as const, "resume" as const) }),
    fc.record({ type: fc.constant("edit" as const), every: fc.integer({ min: 20, max: 600 }) }),
  );

  it("starts with `allow` exactly the ticks of the rule that held then, whenever it looks, and none of a pause", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), fc.boolean(), (acts, isLazy) => {
        let state = schedule({ overlap: "allow" });
        const [sends, expected]: [SendRequest[], number[]] = [[], []];
        let [now, isPaused, rule] = [begun, false, { every: minute }];
        for (const one of acts) {
          if (one.type === "wait") {
            const to = now + one.ms;
            for (let at = nextTick(rule, now)!; at <= to && !isPaused; at = nextTick(rule, at)!) expected.push(at);
            now = to;
            if (!isLazy) state = until(state, now, sends);
            continue;
          }
          if (one.type === "edit") rule = { every: one.every * 1_000 };
          else isPaused = one.type === "pause";
          state = absorb(state, { at: now, ...one, ...("every" in one && { changes: { every: rule.every } }) });
        }
        state = until(state, now, sends);
        expect(startedIn(sends)).toEqual(expected);
        expect(state.counts).toEqual({ started: expected.length, skipped: 0, missed: 0 });
        expect(readState(JSON.parse(JSON.stringify(state)))).toEqual(state);
      }),
    );
  });

  it("never has two executions at once with `skip`, `queue` and `cancel`, and forgets no tick", () => {
    const policy = fc.constantFrom("skip" as const, "queue" as const, "cancel" as const);
    const time = fc.record({ ms: fc.integer({ min: 1, max: 5 * minute }), ends: fc.boolean() });
    fc.assert(
      fc.property(policy, fc.array(time, { maxLength: 40 }), (overlap, times) => {
        let [state, now] = [schedule({ overlap }), begun];
        const [sends, ended]: [SendRequest[], number[]] = [[], []];
        for (const { ms, ends } of times) {
          now += ms;
          state = until(state, now, sends);
          expect(state.running.length).toBeLessThanOrEqual(1);
          expect(startedIn(sends).length - ended.length).toBe(state.running.length);
          if (!ends || state.running.length === 0) continue;
          ended.push(now);
          state = until(absorb(state, { type: "ended", at: now, workflowId: state.running[0]! }), now, sends);
        }
        const { started, skipped, missed } = state.counts;
        expect(started + skipped + missed + state.queued.length).toBe(Math.floor((now - begun) / minute));
        expect(started).toBe(startedIn(sends).length);
        expect(new Set(startedIn(sends)).size).toBe(started);
        if (overlap !== "queue") expect(state.queued.length).toBeLessThanOrEqual(1);
        // each execution is cancelled only once
        const cancels = sends.flatMap((send) => ("cancel" in send ? [send.cancel] : []));
        expect(new Set(cancels).size).toBe(cancels.length);
        expect(overlap === "cancel" || cancels.length === 0).toBe(true);
      }),
    );
  });
});

describe("one decision", () => {
  it("starts twenty executions at most; the rest comes with the next one", () => {
    const { state, sends, wakeAt } = decideTicks(
      { ...schedule({ overlap: "allow" }), horizon: begun + 60 * minute },
      begun + 60 * minute,
      willing,
    );
    expect(sends).toHaveLength(20);
    expect(wakeAt).toBe(begun + 21 * minute);
    expect(startedIn(until(state, begun + 60 * minute, []) && sends)).toHaveLength(20);
  });

  it("asks for each tick whether it may be started", () => {
    const sends: SendRequest[] = [];
    const refusal = { code: "INPUT_INVALID", message: "x".repeat(1_000) };
    const state = until(schedule(), begun + 3 * minute, sends, (_, input) =>
      (input as { at: string }).at.includes("00:02") ? refusal : null,
    );
    expect(startedIn(sends)).toEqual([begun + minute]);
    expect(state.problems).toEqual([]);
    const ended = absorb(state, { type: "ended", at: 0, workflowId: "s@2026-01-01T00:01:00Z" });
    const refusing = until(ended, begun + 12 * minute, [], () => refusal);
    expect(refusing.problems).toHaveLength(9);
    expect(refusing.problems[0]!.message).toHaveLength(300);
  });

  it("is over once nothing can come any more, and not before what is queued was started", () => {
    const once = schedule({ overlap: "queue", count: 2 });
    const sends: SendRequest[] = [];
    const state = until(once, begun + 5 * minute, sends);
    expect([startedIn(sends).length, state.queued.length, isOver(state), wakeOf(state)]).toEqual([1, 1, false, null]);
    const after = until(absorb(state, { type: "ended", at: begun, workflowId: state.running[0]! }), begun + 5 * minute, sends);
    expect([startedIn(sends).length, isOver(after), wakeOf(after)]).toEqual([2, true, 0]);
  });

  it("still cancels what a later tick meets, where two ticks were due at once after the one before had ended", () => {
    const sends: SendRequest[] = [];
    const first = until(schedule({ overlap: "cancel" }), begun + minute, sends);
    // no worker ran for three minutes, and the first execution has ended in this time
    const late = { ...first, queued: [begun + 2 * minute], decidedUntil: begun + 2 * minute };
    const free = absorb(late, { type: "ended", at: begun + minute, workflowId: first.running[0]! });
    const second = until({ ...free, horizon: begun + 3 * minute }, begun + 3 * minute, sends);
    expect([second.running, second.cancelled]).toEqual([["s@2026-01-01T00:03:00Z"], undefined]);
    until(second, begun + 4 * minute, sends);
    expect(sends.at(-1)).toMatchObject({ cancel: "s@2026-01-01T00:03:00Z" });
  });

  it("cancels what was triggered while another execution was being cancelled", () => {
    const sends: SendRequest[] = [];
    const first = until(schedule({ overlap: "cancel" }), begun + minute, sends);
    const second = until(first, begun + 2 * minute, sends);
    expect(second.cancelled).toEqual(first.running);
    const at = begun + 2 * minute + 1;
    const triggered = until(absorb(second, { type: "trigger", at }), at, sends);
    const ended = absorb(triggered, { type: "ended", at, workflowId: first.running[0]! });
    const [trigger] = ended.running;
    expect([ended.running.length, ended.cancelled]).toEqual([1, undefined]);
    const third = until(ended, begun + 3 * minute, sends);
    expect([sends.at(-1), third.cancelled, third.queued]).toMatchObject([{ cancel: trigger }, [trigger], [begun + 3 * minute]]);
  });

  it("starts a tick that its jitter lets wait before an edit that comes meanwhile, and none that comes after the edit", () => {
    const sends: SendRequest[] = [];
    const waiting = schedule({ every: "1h", jitter: "30m", overlap: "allow" });
    const edited = absorb(waiting, { type: "edit", at: begun + 60 * minute + 1, changes: { every: 24 * 60 * minute } });
    until({ ...edited, horizon: begun + 60 * minute + 1 }, begun + 60 * minute + 1, sends);
    expect(startedIn(sends)).toEqual([begun + 60 * minute]);
  });

  it.each<[string, object, boolean]>([
    ["an edit", { type: "edit", changes: { input: "new" } }, false],
    ["the end of a pause", { type: "resume" }, true],
  ])("leaves out no tick if the clock that gave the time of %s is ahead, and starts none early", (_, command, paused) => {
    const sends: SendRequest[] = [];
    const before = initialState("s", readSpec("s", { workflow: "w", every: "1m", overlap: "allow" }), begun, paused);
    const given = absorb(before, { ...command, at: begun + minute + 1_000 });
    // as if there were so many commands that they are applied at once
    const applied = until({ ...given, horizon: begun + minute + 1_000 }, begun + minute - 1_000, sends);
    expect(startedIn(sends)).toEqual([]);
    until(applied, begun + 2 * minute, sends);
    expect(startedIn(sends)).toEqual([begun + minute, begun + 2 * minute]);
  });

  it("counts anew with an edit of `count`", () => {
    const state = until(schedule({ count: 5, overlap: "allow" }), begun + 3 * minute, []);
    expect(state.taken).toBe(3);
    const edited = until(absorb(state, { type: "edit", at: begun + 3 * minute, changes: { count: 2 } }), begun + 9 * minute, []);
    expect([edited.taken, edited.counts.started]).toEqual([2, 5]);
  });

  it("takes ten backfills, and a thousand triggers", () => {
    let state = initialState("s", readSpec("s", { workflow: "w", every: "1m" }), begun, true);
    for (let i = 0; i < 12; i++)
      state = absorb(state, { type: "backfill", at: begun, from: begun - 5 * minute, to: begun, overlap: "queue" });
    const { state: after } = decideTicks({ ...state, horizon: begun }, begun, willing);
    expect(after.backfills).toHaveLength(10);
    expect(after.problems).toMatchObject([{ message: "there are 10 backfills already" }, {}]);
  });
});
