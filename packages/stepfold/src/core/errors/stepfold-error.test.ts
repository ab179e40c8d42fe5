import { describe, expect, it } from "vitest";
import { catalogue } from "./catalogue.ts";
import type { ErrorCode, ErrorDetails } from "./error-details.ts";
import { StepfoldError } from "./stepfold-error.ts";

const issue = { severity: "error", code: "TYPE", pointer: "/a", message: "must be text" } as const;
const many = Array.from({ length: 25 }, (_, i) => ({ pointer: `/${i}`, message: "wrong" }));
const names = Array.from({ length: 30 }, (_, i) => `n${i}`);
const wide = "x + ".repeat(40);

/** For every code: details, and a text that the message must contain. */
const samples: { [C in ErrorCode]: readonly [ErrorDetails<C>, string][] } = {
  DEFINITION_INVALID: [
    [{ workflow: "w", issues: [issue, { ...issue, severity: "warning", message: "odd" }] }, '"w" cannot run:\n  /a: must be text'],
  ],
  CODE_UNSUPPORTED: [[{ workflow: "w" }, 'Workflow "w" has code, which a guest cannot run']],
  FORK_REFUSED: [
    [{ workflowId: "e", reason: "it has not ended" }, 'from execution "e": it has not ended'],
    [{ workflowId: "e", version: 3, reason: "it was ending then" }, 'from version 3 of execution "e"'],
  ],
  RESTART_COMPENSATED: [[{ workflowId: "e", nodes: ["charge"] }, "were undone: charge. Say whether they are performed again"]],
  VARIABLE_INVALID: [
    [{ nodeId: "n", variable: "total", reason: "text cannot be added to 1" }, 'Node "n" cannot set variable "total": text'],
  ],
  JOIN_SHORT: [[{ nodeId: "n", wanted: 2, came: 1 }, "waits for 2 branches, but only 1 arrived"]],
  LINK_INVALID: [[{}, "is wrong, has expired or was used"]],
  ACTION_DENIED: [
    [
      { nodeId: "n", action: "start", workflow: "w", id: "e", reason: "the function `may` of the host does not allow it" },
      'Node "n" may not start execution "e" of workflow "w"',
    ],
    [
      { nodeId: "n", action: "broadcast", id: "*", reason: "the function `may` of the host does not allow it" },
      'Node "n" may not send its signal to all executions',
    ],
    [
      { nodeId: "n", action: "signal", id: "e", reason: "the function `may` of the host does not allow it" },
      'Node "n" may not signal execution "e": the function `may` of the host does not allow it',
    ],
  ],
  GLOBAL_DENIED: [
    [{ nodeId: "n", name: "stripe", allowed: ["mail"] }, "reads globals.stripe, which this workflow may not read. It may read: mail"],
  ],
  SCHEDULE_DENIED: [
    [
      { workflowId: "schedule:s", action: "cancel", use: 'runtime.schedules.delete("s")' },
      'it is a schedule, which only runtime.schedules changes. Use runtime.schedules.delete("s")',
    ],
  ],
  MAP_FAILED: [[{ nodeId: "n", failed: 2, tolerated: 1, message: "item 3: no" }, '2 items of node "n" failed, but at most 1 may fail']],
  STALLED: [[{ nodes: ["a", "b"] }, "the paths at a, b are held"]],
  COMPENSATION_FAILED: [[{ nodeId: "n", message: "no" }, 'The compensation of node "n" failed: no']],
  RESPONDER_DENIED: [
    [{ workflowId: "e", waitId: "0@1", nodeId: "ask", who: "eve", reason: "may be answered by: ada" }, "refuses the answer of eve"],
  ],
  MAP_CLOSED: [[{ workflowId: "e", node: "m" }, 'no map at "m"']],
  DEFINITION_UNKNOWN: [[{ workflow: "w", known: [] }, "Known: none"]],
  DEFINITION_MISSING: [[{ workflowId: "e", hash: "0123456789abcdef" }, "0123456789ab)"]],
  OPTION_UNKNOWN: [
    [{ of: "createRuntime", option: "pollms", known: ["pollMs"], meant: "pollMs" }, 'Did you mean "pollMs"?'],
    [{ of: "createRuntime", option: "x", known: ["pollMs"] }, "There are: pollMs"],
  ],
  DEFINITION_CHANGED: [
    [{ workflowId: "e", expected: "a", actual: "b" }, 'definition: "current"'],
    [{ workflowId: "e", expected: "a", actual: "b", missing: ["n"] }, "does not contain: n"],
    [{ workflowId: "e", expected: "a", actual: "b", isStored: true }, "it was changed after it was stored"],
    [{ workflowId: "e", expected: "a", actual: "b", inJournal: true }, "Keep that version deployed until the execution has ended"],
  ],
  NODE_TYPE_UNKNOWN: [[{ nodeId: "n", type: "t", known: names }, "and 10 more"]],
  CODE_CHANGED: [[{ workflowId: "e", reason: "step 1 was another one" }, 'execution "e" does not fit what it has done before: step 1']],
  CODE_MISPLACED: [[{ workflow: "w" }, 'a node of type "workflow" that names it']],
  NODE_UNKNOWN: [[{ nodeId: "n", workflow: "w" }, 'no node "n"']],
  START_AMBIGUOUS: [
    [{ workflow: "w", candidates: ["a", "b"] }, "(a, b)"],
    [{ workflow: "w", candidates: [] }, "no node without an incoming edge"],
  ],
  VALUE_NOT_JSON: [
    [{ what: "The input", pointer: "/a", reason: "NaN" }, "/a is NaN"],
    [{ what: "The input", pointer: "", reason: "NaN" }, ": / is NaN"],
  ],
  LIMIT_EXCEEDED: [
    [{ what: "The input", limit: "keys", max: 1, actual: 2, pointer: "/a" }, "(at /a)"],
    [{ what: "The input", limit: "keys", max: 1, actual: 2 }, "2, at most 1. Keep"],
  ],
  SNAPSHOT_INVALID: [
    [{ pointer: "/version", reason: "must be a number" }, "/version must be"],
    [{ pointer: "", reason: "must be an object" }, ": / must be"],
  ],
  SNAPSHOT_TOO_NEW: [[{ schema: 2, supported: 1 }, "Update Stepfold"]],
  OPTION_INVALID: [[{ option: "o", reason: "must be text" }, 'Option "o" must be text']],
  INPUT_INVALID: [[{ workflow: "w", issues: many }, "and 5 more"]],
  DURATION_INVALID: [[{ text: "soon" }, '"soon" is not a duration']],
  DATA_INVALID: [[{ nodeId: "n", issues: [{ pointer: "", message: "wrong" }] }, "\n  /: wrong"]],
  OUTPUT_INVALID: [[{ nodeId: "n", issues: many.slice(0, 20) }, "/19: wrong"]],
  HANDLE_UNKNOWN: [[{ nodeId: "n", handle: "h", known: names.slice(0, 12) }, "and 2 more"]],
  HANDLE_MISSING: [[{ nodeId: "n", known: ["h"] }, "one of: h"]],
  STEP_TIMEOUT: [[{ nodeId: "n", timeoutMs: 5 }, "within 5 ms"]],
  HEARTBEAT_TIMEOUT: [[{ nodeId: "n", timeoutMs: 5 }, "no heartbeat for 5 ms"]],
  EXECUTION_TIMED_OUT: [
    [{ workflowId: "e", deadline: "1970-01-01T00:00:00.000Z" }, 'Execution "e" had to end by 1970-01-01T00:00:00.000Z'],
    [{ workflowId: "e", deadline: "1970-01-01T00:00:00.000Z", workflow: "w" }, 'Sub-workflow "w" of execution "e" had to end by 1970'],
  ],
  STEPS_EXCEEDED: [[{ workflowId: "e", max: 5 }, "the limit of 5 steps"]],
  RETRY_POLICY_INVALID: [[{ nodeId: "n", field: "interval", reason: "no" }, 'no usable "interval"']],
  EXPRESSION_INVALID: [
    [{ source: "a +", position: 3, reason: "incomplete" }, "character 4"],
    [{ source: wide, position: 3, reason: "incomplete" }, '…"'],
  ],
  EXPRESSION_FAILED: [
    [{ source: "a", position: 0, reason: "no" }, "{{ a }} failed"],
    [{ source: wide, position: 0, reason: "no", pointer: "/nodes/0" }, "… }} at /nodes/0 failed"],
  ],
  EXPRESSION_BUDGET: [
    [{ source: "a", limit: "steps", max: 5 }, "{{ a }} needs"],
    [{ source: wide, limit: "steps", max: 5 }, "… }} needs more than its budget of 5 steps"],
  ],
  RESUME_AMBIGUOUS: [[{ workflowId: "e", waits: [{ id: "0@2", nodeId: "n" }] }, "n (0@2)"]],
  RESUME_INVALID: [[{ nodeId: "n", issues: [issue] }, "/a: must be text"]],
  RESUME_CONFLICT: [[{ workflowId: "e", waitId: "0@2" }, "another payload"]],
  METADATA_CONFLICT: [[{ workflowId: "e" }, "to something else"]],
  CODE_NEEDED: [[{ workflowId: "e", nodeId: "n", type: "t" }, 'Type "t" of node "n" gives no JSON Schema']],
  WAIT_GONE: [[{ workflowId: "e", target: "n", open: [] }, "Open waits: none"]],
  WAIT_EXPIRED: [[{ workflowId: "e", waitId: "0@2", timeoutAt: 5 }, "until 5"]],
  EXECUTION_ENDED: [[{ workflowId: "e", status: "failed" }, "is failed"]],
  EXECUTION_FAILED: [
    [{ workflowId: "e", message: "no" }, "failed: no"],
    [{ workflowId: "e", nodeId: "n", message: "no" }, 'at node "n": no'],
    [{ workflowId: "e", nodeId: "n", code: "UNPAID", message: "no" }, 'at node "n" with UNPAID: no'],
  ],
  EXECUTION_CANCELLED: [
    [{ workflowId: "e" }, "was cancelled"],
    [{ workflowId: "e", reason: "not needed" }, "was cancelled: not needed"],
  ],
  RETRY_NOT_PENDING: [[{ workflowId: "e" }, "no retry pending"]],
  SCHEDULE_INVALID: [[{ schedule: "s", issues: [{ pointer: "/cron", message: "is wrong" }] }, "/cron: is wrong"]],
  SCHEDULE_NOT_FOUND: [[{ schedule: "s" }, 'No schedule "s"']],
  SCHEDULE_EXISTS: [[{ schedule: "s" }, 'schedule is named "s": edit']],
  WORKFLOW_EXISTS: [
    [{ workflowId: "e" }, "already"],
    [{ workflowId: "e", deletedAt: 5 }, "was deleted"],
  ],
  WORKFLOW_NOT_FOUND: [[{ workflowId: "e" }, 'No execution "e"']],
  START_CONFLICT: [[{ workflowId: "e", differs: "input" }, "another input"]],
  LABEL_CONFLICT: [
    [{ workflow: "w", expected: "h1", actual: "h2" }, "definition h2 is published, not h1"],
    [{ workflow: "w", expected: null, actual: "h2" }, "not none"],
    [{ workflow: "w", expected: "h1", actual: null }, "no definition is published, not h1"],
  ],
  VERSION_CONFLICT: [
    [{ workflowId: "e", expected: 1, actual: 2 }, "at version 2, not 1"],
    [{ workflowId: "e", expected: 1, actual: null }, "no longer the one"],
  ],
  FENCE_LOST: [[{ workflowId: "e" }, "another holder"]],
  EXECUTION_OPEN: [[{ workflowId: "e", status: "paused" }, "Cancel it first"]],
  STORE_UNAVAILABLE: [[{ store: "s", reason: "down" }, "did not answer: down"]],
  DRIVER_MISSING: [
    [{ store: "postgres", driver: "pg" }, 'Store "postgres" needs the package "pg"'],
    [{ queue: "sqs", driver: "@aws-sdk/client-sqs" }, 'Queue "sqs" needs the package "@aws-sdk/client-sqs"'],
  ],
  STORE_REJECTED: [[{ store: "s", reason: "no" }, "refused: no"]],
  OUTCOME_UNKNOWN: [[{ workflowId: "e", action: "resume", reason: "silence" }, "Make the same call again"]],
  EXECUTION_PARKED: [[{ workflowId: "e", code: "WORKER_CRASHED", message: "5 died" }, "is parked (WORKER_CRASHED): 5 died"]],
  WORKFLOW_LEFT: [
    [
      { workflowId: "e", workflow: "w", code: "DEFINITION_INVALID", reason: "no code" },
      "are left to other processes, because this one cannot",
    ],
  ],
  QUEUE_UNAVAILABLE: [[{ queue: "q", reason: "gone" }, "did not answer: gone"]],
  QUEUE_REJECTED: [[{ queue: "q", reason: "no" }, "refused: no"]],
  FEED_UNAVAILABLE: [[{ feed: "redis", reason: "gone" }, "gone"]],
  STEP_LOST: [
    [{ host: "H", workflowId: "w", step: "2 b", reason: "out of memory" }, '"2 b" of execution "w" without a result: out of memory'],
  ],
  RUNTIME_CLOSED: [[{ action: "start" }, "cannot start"]],
  NOT_IN_TIME: [[{ workflowId: "w", awaited: "settle", timeoutMs: 5 }, "did not settle within 5 ms"]],
};

describe("StepfoldError", () => {
  it.each(
    Object.entries(samples).flatMap(([code, cases]) => cases.map(([details, said]) => [code as ErrorCode, details, said] as const)),
  )("%s says what is wrong (%j)", (code, details, said) => {
    const error = new StepfoldError(code, details as never);
    expect(error.message).toContain(said);
    expect(error.message).not.toContain("undefined");
    expect(error.status).toBe(catalogue[code].status);
    expect(error.status).toBeGreaterThanOrEqual(400);
    expect(JSON.parse(JSON.stringify(error))).toEqual({ code, message: error.message, retryable: error.retryable, details });
  });

  it("keeps its cause, and tells it to nobody", () => {
    const cause = new Error("the secret reason");
    const error = new StepfoldError("RUNTIME_CLOSED", { action: "start" }, { cause });
    expect(error.cause).toBe(cause);
    expect(error.name).toBe("StepfoldError");
    expect(JSON.stringify(error)).not.toContain("secret");
  });

  it("is recognised by its brand, also from a second copy of the package", () => {
    const error = new StepfoldError("FENCE_LOST", { workflowId: "e" });
    const foreign = { "~stepfoldError": true, code: "FENCE_LOST" };
    expect([StepfoldError.is(error), StepfoldError.is(error, "FENCE_LOST"), StepfoldError.is(foreign, "FENCE_LOST")]).toEqual([
      true,
      true,
      true,
    ]);
    expect([StepfoldError.is(error, "WAIT_GONE"), StepfoldError.is(new Error("x")), StepfoldError.is(null), StepfoldError.is("x")]).toEqual(
      [false, false, false, false],
    );
  });
});

describe("what an error repeats of an id, a name or a key is short", () => {
  const long = "x".repeat(2_000_000);
  const lengthen = (value: unknown): unknown => {
    if (typeof value === "string") return long;
    if (Array.isArray(value)) return value.map(lengthen);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, lengthen(member)]));
  };

  it.each(
    Object.entries(samples).flatMap(([code, cases]) => cases.map(([details]) => [code as ErrorCode, details] as const)),
  )("%s", (code, details) => {
    const error = new StepfoldError(code, lengthen(details) as never);
    expect(error.message.length).toBeLessThan(14_000);
    expect(JSON.stringify(error).length).toBeLessThan(150_000);
  });

  it("keeps the whole value in its details", () => {
    const error = new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId: long });
    expect(error.details.workflowId).toBe(long);
    expect(error.message).toBe(`No execution "${"x".repeat(299)}…" in this store`);
  });

  it("is made also of what cannot be written", () => {
    for (const workflowId of [Symbol("s"), { toString: null }])
      expect(new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId: workflowId as never })).toMatchObject({
        code: "WORKFLOW_NOT_FOUND",
        message: "WORKFLOW_NOT_FOUND: a value has a type that it must not have",
      });
  });
});
