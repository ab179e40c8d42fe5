import { describe, expect, it } from "vitest";
import { afterLine, isDueAt, readTurn, turnAt, turnIn, turnToWake } from "./dynamo-keys.ts";

const lines = ["x", "X", "x ", " x", "x!", "%", "%20", "x%20", "%25", "é", "🙂", "\u0001", "x\n", "="];

describe("places in the agenda of executions that share a key", () => {
  it.each(lines)("tell the key %j and the time", (line) => {
    const turn = turnToWake(0, 1_000_000, "made");
    expect(readTurn(turnIn(line, turn))).toEqual({ line, turn });
  });

  it("stand together, in order of time, and before what comes after the key", () => {
    const turns = lines.flatMap((line) => [turnIn(line, turnAt(1)), turnIn(line, turnAt(20)), turnIn(line, turnAt(3))]);
    const inOrder = turns.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).map(readTurn);
    const met = inOrder.map(({ line }) => line).filter((line, index, all) => line !== all[index - 1]);
    expect(met.toSorted()).toEqual(lines.toSorted());
    for (let at = 0; at < inOrder.length; at += 3)
      expect(inOrder.slice(at, at + 3).map(({ turn }) => turn)).toEqual([turnAt(1), turnAt(3), turnAt(20)]);
    for (const line of lines) {
      const after = Buffer.from(afterLine(line));
      expect(Buffer.compare(Buffer.from(turnIn(line, turnAt(9_999_999))), after)).toBe(-1);
    }
  });

  it("of those that take turns with nobody are what they were", () => {
    expect(readTurn(turnIn(null, turnAt(5, "made")))).toEqual({ line: null, turn: turnAt(5, "made") });
  });

  it("refuse a key that is too long for an index", () => {
    expect(() => turnIn("é".repeat(500), turnAt(1))).toThrow(expect.objectContaining({ code: "LIMIT_EXCEEDED" }));
    expect(turnIn("€".repeat(255), turnAt(1))).toHaveLength(255 + 1 + turnAt(1).length);
  });

  it("are overdue if they have been due for so long", () => {
    const now = 1_000_000;
    expect([turnAt(now - 60), turnAt(now - 40), turnAt(now + 1)].map((turn) => isDueAt(turn, now - 50, 50))).toEqual([true, false, false]);
    expect([now - 60, now - 40].map((since) => isDueAt(turnToWake(0, since, ""), now - 50, 50))).toEqual([true, false]);
    expect([turnToWake(0, now, ""), turnAt(now), turnAt(now + 1)].map((turn) => isDueAt(turn, now, 0))).toEqual([true, true, false]);
  });
});
