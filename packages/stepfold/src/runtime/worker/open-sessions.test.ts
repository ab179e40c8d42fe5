import { describe, expect, it } from "vitest";
import type { Status } from "../../core/snapshot/snapshot.ts";
import { OpenSessions } from "./open-sessions.ts";

function session(status: Status = "active") {
  const done = new Promise<never>(() => undefined);
  const made = { workflowId: "w", status, looks: 0, look: () => void made.looks++, done, adopt: () => false, isBehind: () => false };
  return made;
}

describe("the open sessions of a process", () => {
  it("look when they are woken, and say so when they end", () => {
    const sessions = new OpenSessions();
    const one = session();
    expect(sessions.wake("w")).toBe(false);
    sessions.add(one);
    expect([sessions.has("w"), sessions.wake("w"), one.looks]).toEqual([true, true, 1]);
    expect([sessions.remove(one), sessions.has("w")]).toEqual([true, false]);
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
    expect([sessions.remove(first), sessions.has("w")]).toEqual([false, true]);
    expect([sessions.wake("w"), second.looks, sessions.remove(second), sessions.has("w")]).toEqual([true, 1, true, false]);
  });
});
