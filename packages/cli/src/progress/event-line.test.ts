import type { Event } from "stepfold";
import { trail } from "stepfold/core";
import { describe, expect, it } from "vitest";
import { engineOf, flow, played } from "../../test/flow.fixture.ts";
import type { Paint } from "../text/paint.ts";
import { eventLines } from "./event-line.ts";

const step = { pathId: "0", turn: 1, nodeId: "charge", attempt: 1, startedAt: 1_000, at: 1_012, version: 3 };
/** Shows the meaning of a colour as a tag. */
const tags: Paint = (meaning, text) => `<${meaning}>${text}</>`;
const style = { paint: tags, nodeWidth: 8 };
const lines = (event: Event): string[] => eventLines(event, { trail: trail(), style, after: null });

describe("eventLines", () => {
  it("begin with a sign in its colour, and give the addresses a column", async () => {
    const inner = flow("inner", { ask: "noop" });
    const places = trail();
    const told = (await played(engineOf(flow("w", { each: ["map", { workflow: "inner", items: ["x"] }] }, [], { workflows: { inner } }))))
      .flatMap(({ event, snapshot }) => eventLines(event, { trail: places, style, after: snapshot }))
      .map((text) => text.replace(/\d+ ms/, "N ms"));
    expect(told).toEqual([
      "<quiet>⑂</> each      runs inner for 1 item",
      "<good>✔</> each[0]/ask  <quiet>N ms</>",
      "<good>✔</> each      goes on with 1 item",
    ]);
    expect(lines({ version: 4, at: 2_000, type: "cancelled" })).toEqual(["<bad>■</> cancelled"]);
  });

  it("mark how long a step took, when it is tried again, and the handle by which it is left", () => {
    const error = { name: "Error", message: "Request failed" };
    expect(lines({ ...step, type: "failed", error, retryAt: 1_412 })).toEqual([
      "<bad>✖</> charge    attempt 1  <quiet>12 ms</>  Request failed  <wait>retry in 0.4 s</>",
    ]);
    expect(lines({ ...step, type: "completed", output: 1, handles: ["auth-error"] })).toEqual([
      "<good>✔</> charge    <quiet>12 ms</>  → auth-error",
    ]);
  });

  it("put data behind the words, and let none of it steer the terminal", () => {
    const resumed = { version: 4, at: 2_000, type: "resumed", pathId: "0", waitId: "0@2", by: "payload" } as const;
    expect(lines({ ...resumed, who: "ada\u001b[2J", payload: "\u202eyes" })[0]).toMatch(/ is answered by ada: "yes"$/);
  });

  it("are one for each place at which the event had consequences", () => {
    const ended = ["a", "b"].map((nodeId, i) => ({ pathId: `0.${i}`, nodeId, reason: "cancelled" as const }));
    const late = { pathId: "0.9", nodeId: "slow", reason: "late" as const };
    expect(lines({ version: 4, at: 2_000, type: "cancelled", pathIds: ["0.0"], consequences: { ended: [...ended, late] } })).toEqual([
      "<bad>■</> a         cancelled",
      "<quiet>·</> slow      too late: its join has fired without it",
      "<quiet>·</> b         ended by this",
    ]);
  });
});
