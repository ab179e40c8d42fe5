import { describe, expect, it } from "vitest";
import type { Wait } from "../../src/core/snapshot/parts/wait.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { apply, fold } from "../../src/core/transition/apply.ts";
import type { Json } from "../../src/core/values/json.ts";
import { eventOn, graph, startedAt } from "./execution.fixture.ts";

const flow = graph(["a>b"]);
const asking = (wait: Partial<Wait>): Snapshot => {
  const begun = fold(flow, [startedAt(flow, "a")]);
  return apply(flow, begun, eventOn(begun, "0", { waits: [{ id: "0@2", kind: "external", ...wait }] }));
};
/** Returns the snapshot after these answers; each names its responder and its payload. */
const answered = (from: Snapshot, ...answers: readonly (readonly [who: string, payload?: Json])[]): Snapshot =>
  answers.reduce<Snapshot>(
    (snapshot, [who, payload]) =>
      apply(flow, snapshot, {
        type: "resumed",
        version: snapshot.version + 1,
        at: 5_000,
        pathId: "0",
        waitId: "0@2",
        by: "payload",
        who,
        ...(payload !== undefined && { payload }),
      }),
    from,
  );
const yes = { ok: true };
const no = { ok: false };

describe("a wait for several answers", () => {
  it("is over with the last of them, and the step sees them all; an answer may say nothing", () => {
    const one = answered(asking({ quorum: 2 }), ["ada"]);
    expect(one.activePaths[0]).toMatchObject({ status: "suspended", waits: [{ answers: [{ by: "ada", at: 5_000 }] }] });
    expect(answered(one, ["bob", 7]).activePaths[0]).toMatchObject({
      status: "ready",
      resumed: { by: "payload", who: "bob", payload: 7, answers: [{ by: "ada" }, { by: "bob", payload: 7 }] },
    });
  });

  it("is one of several, of which the others stay as they are", () => {
    const begun = fold(flow, [startedAt(flow, "a")]);
    const other: Wait = { id: "0@2.1", kind: "signal", signal: "go" };
    const both = apply(flow, begun, eventOn(begun, "0", { waits: [{ id: "0@2", kind: "external", quorum: 2 }, other] }));
    expect(answered(both, ["ada"]).activePaths[0]?.waits).toEqual([
      { id: "0@2", kind: "external", openedAt: 2_000, quorum: 2, answers: [{ by: "ada", at: 5_000 }] },
      { ...other, openedAt: 2_000 },
    ]);
  });

  it.each<[what: string, wait: Partial<Wait>, answers: readonly (readonly [string, Json?])[], status: string]>([
    [
      "enough are for it",
      { quorum: 2 },
      [
        ["ada", yes],
        ["bob", no],
        ["cy", yes],
      ],
      "ready",
    ],
    [
      "too few are for it yet",
      { quorum: 2 },
      [
        ["ada", yes],
        ["bob", no],
      ],
      "suspended",
    ],
    [
      "as many are against it, where anybody may answer",
      { quorum: 2 },
      [
        ["ada", no],
        ["bob", no],
      ],
      "ready",
    ],
    [
      "those who are left are too few",
      { quorum: 2, responders: ["ada", "bob", "cy"] },
      [
        ["ada", no],
        ["bob", no],
      ],
      "ready",
    ],
    [
      "those who are left are enough",
      { quorum: 1, responders: ["ada", "bob", "cy"] },
      [
        ["ada", no],
        ["bob", no],
      ],
      "suspended",
    ],
    ["an answer is no object", { quorum: 1 }, [["ada", "ok"]], "ready"],
    ["an answer has the member from its prototype only", { quorum: 1, tally: "toString" }, [["ada", {}]], "ready"],
  ])("is decided by a tally: %s", (_, wait, answers, status) => {
    expect(answered(asking({ tally: "ok", ...wait }), ...answers).activePaths[0]?.status).toBe(status);
  });
});
