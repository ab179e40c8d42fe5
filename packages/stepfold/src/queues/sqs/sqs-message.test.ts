import { describe, expect, it } from "vitest";
import { readSqsMessage, sqsEntry, sqsFifoEntry } from "./sqs-message.ts";

const minute = 60_000;
const now = Date.UTC(2026, 10, 25);

describe("a message of SQS", () => {
  it.each([
    [0, undefined],
    [1, 1],
    [1_000, 1],
    [1_001, 2],
    [899_001, 900],
    [900_000, 900],
    [900_001, 900],
    [12 * 60 * minute, 900],
    [Number.MAX_SAFE_INTEGER, 900],
  ])("with a delay of %d ms asks for %s seconds, and never for more than SQS allows", (delayMs, seconds) => {
    expect(sqsEntry("0", "a", delayMs, now).DelaySeconds).toBe(seconds);
  });

  it("says when it is due only if it has to be sent on", () => {
    expect(readSqsMessage(sqsEntry("0", "a", 15 * minute, now).MessageBody)).toEqual({ workflowId: "a" });
    expect(readSqsMessage(sqsEntry("0", "a", 40 * minute, now).MessageBody)).toEqual({ workflowId: "a", dueAt: now + 40 * minute });
  });

  it("takes a delay of 12 hours in 48 messages, and is due no earlier", () => {
    const dueAt = now + 12 * 60 * minute;
    let [time, messages] = [now, 0];
    for (let remainingMs = dueAt - time; remainingMs > 0; remainingMs = dueAt - time) {
      time += sqsEntry("0", "a", remainingMs, time).DelaySeconds! * 1000;
      messages++;
    }
    expect([time, messages]).toEqual([dueAt, 48]);
  });

  it("has no delay in a FIFO queue, and a group that SQS takes", () => {
    const entry = sqsFifoEntry("0", "größe 👍🏽".repeat(20), "unique");
    expect(entry).not.toHaveProperty("DelaySeconds");
    expect(entry.MessageGroupId).toMatch(/^[\w-]{1,128}$/);
    expect(entry.MessageBody).toMatch(/^[ -~]+$/);
    expect(readSqsMessage(entry.MessageBody)).toEqual({ workflowId: "größe 👍🏽".repeat(20) });
  });

  it.each([undefined, "", "{", "null", "[]", "7", '{"workflowId":7}', '{"workflowId":""}'])("is none of Stepfold: %s", (body) => {
    expect(readSqsMessage(body)).toBe(null);
  });

  it.each([9.5e13, 1e18, 1e308, now + 12 * 60 * minute + 1])("is due in 12 hours at the latest, whatever it says: %d", (dueAt) => {
    expect(readSqsMessage(JSON.stringify({ workflowId: "a", dueAt }), now)).toEqual({ workflowId: "a", dueAt: now + 12 * 60 * minute });
  });

  it("takes nothing for a time that is none", () => {
    expect(readSqsMessage('{"workflowId":"a","dueAt":"tomorrow"}')).toEqual({ workflowId: "a" });
  });
});
