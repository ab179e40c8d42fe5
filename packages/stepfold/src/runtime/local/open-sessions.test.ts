import { describe, expect, it } from "vitest";
import type { Status } from "../../core/snapshot/snapshot.ts";
import type { PendingWakeUp } from "../context/command-result.ts";
import { OpenSessions } from "./open-sessions.ts";

/** A session that has seen version 5. */
function session(status: Status = "active", isOutlived = false) {
  const done = new Promise<never>(() => undefined);
  const isBehind = (version: number): boolean => version > 5;
  const made = { workflowId: "w", status, isOutlived, looks: 0, look: () => void made.looks++, done, adopt: () => false, isBehind };
  return made;
}

const wakeUp: PendingWakeUp = { workflowId: "w", version: 6, wakeAt: 0, isAnnounced: false };

describe("the open sessions of a process", () => {
  it("look when they are woken, and say at their end for what, if they have not seen it", () => {
    const sessions = new OpenSessions();
    const one = session();
    expect(sessions.wake(wakeUp)).toBe(false);
    sessions.add(one);
    expect([sessions.has("w"), sessions.wake(wakeUp), one.looks]).toEqual([true, true, 1]);
    expect([sessions.remove(one), sessions.has("w")]).toEqual([wakeUp, false]);
    const other = session();
    sessions.add(other);
    sessions.wake({ ...wakeUp, version: 5 });
    expect(sessions.remove(other)).toBeNull();
    expect(sessions.remove(session())).toBeNull();
  });

  it("have seen nothing of an execution that was restarted since", () => {
    const sessions = new OpenSessions();
    const one = session("active", true);
    sessions.add(one);
    sessions.wake({ ...wakeUp, version: 5 });
    expect(sessions.remove(one)).toEqual({ ...wakeUp, version: 5 });
  });

  it("keep the due time of a commit when a later commit leaves it as it was", () => {
    const sessions = new OpenSessions();
    const one = session();
    sessions.add(one);
    sessions.wake({ ...wakeUp, wakeAt: 1_000 });
    sessions.wake({ ...wakeUp, version: 7, wakeAt: null, isAnnounced: true });
    expect(sessions.remove(one)).toEqual({ ...wakeUp, version: 7, wakeAt: 1_000, isAnnounced: false });
    sessions.add(one);
    sessions.wake({ ...wakeUp, version: 8, wakeAt: 2_000 });
    expect(sessions.remove(one)).toMatchObject({ version: 8, wakeAt: 2_000 });
  });

  it("know whether a status is still to come", () => {
    const sessions = new OpenSessions();
    const isPaused = (status: Status) => status === "paused";
    expect(sessions.isBefore("w", isPaused)).toBe(false);
    const one = session();
    sessions.add(one);
    expect(sessions.isBefore("w", isPaused)).toBe(true);
    one.status = "paused";
    expect(sessions.isBefore("w", isPaused)).toBe(false);
  });

  it("know it of an execution that is about to run here too", () => {
    const sessions = new OpenSessions();
    sessions.expect("w", "active");
    expect(sessions.isBefore("w", (status) => status === "paused")).toBe(true);
    expect(sessions.isBefore("w", (status) => status === "active")).toBe(false);
    sessions.unexpect("w");
    expect(sessions.isBefore("w", (status) => status === "paused")).toBe(false);
  });

  it("keep the second session of an execution when the first one ends, after a process took it over from itself", () => {
    const sessions = new OpenSessions();
    const [first, second] = [session(), session()];
    sessions.add(first);
    sessions.add(second);
    expect([sessions.remove(first), sessions.has("w")]).toEqual([null, true]);
    expect([sessions.wake(wakeUp), second.looks, sessions.remove(second), sessions.has("w")]).toEqual([true, 1, wakeUp, false]);
  });
});
