import { describe, expect, it } from "vitest";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { queueError } from "./queue-error.ts";

const failure = (message: string, fields: object = {}): Error => Object.assign(new Error(message), fields);
const codeOf = (cause: unknown): string => queueError("q", cause).code;

describe("queueError", () => {
  it("calls unavailable what may pass: connections, servers that start, fail over or are full", () => {
    const passing = [
      failure("connect ECONNREFUSED 127.0.0.1:6379", { code: "ECONNREFUSED" }),
      failure("Connection is closed."),
      failure("terminating connection due to administrator command", { code: "57P01" }),
      failure("sorry, too many clients already", { code: "53300" }),
      failure("deadlock detected", { code: "40P01" }),
      failure("LOADING Redis is loading the dataset in memory", { name: "ReplyError" }),
      failure("READONLY You can't write against a read only replica.", { name: "ReplyError" }),
      failure("OOM command not allowed when used memory > 'maxmemory'.", { name: "ErrorReply" }),
      "gone",
      null,
    ];
    expect(passing.map(codeOf)).toEqual(passing.map(() => "QUEUE_UNAVAILABLE"));
  });

  it("calls rejected what the server says no to, and mistakes in code", () => {
    const final = [
      failure('relation "pgboss.job" does not exist', { code: "42P01" }),
      failure("WRONGTYPE Operation against a key holding the wrong kind of value", { name: "ReplyError" }),
      failure("NOPERM this user has no permissions", { name: "ReplyError" }),
      failure("Database not opened", { code: "ERR_ASSERTION" }),
      new TypeError("queue.addBulk is not a function"),
    ];
    expect(final.map(codeOf)).toEqual(final.map(() => "QUEUE_REJECTED"));
  });

  it("keeps errors that are ours, and tells no address of others", () => {
    const own = new StepfoldError("OPTION_INVALID", { option: "delayMs", reason: "must be a number" });
    expect(queueError("q", own)).toBe(own);
    const cause = failure("cannot reach redis://user:hunter2@example.test:6379/0");
    const told = queueError("bullmq", cause);
    expect(told.details).toEqual({ queue: "bullmq", reason: "cannot reach (address)" });
    expect(told.cause).toBe(cause);
  });
});
