import { afterEach, describe, expect, it } from "vitest";
import type { ErrorCode } from "../../../src/core/errors/error-details.ts";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import type { Command } from "../../../src/engine/commands/command.ts";
import type { Place, Run } from "../../../src/runtime/handle/run.ts";
import { viaJson } from "../../engine/engine.fixture.ts";
import { afterTheEnd, before, nodeDefinitions, onlyTwoEarly, refusals, refusing } from "../../hostile/refusals.fixture.ts";
import { closeAll, line, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

/** Sends a command by the method of a run. */
function tell(run: Run, command: Command): Promise<unknown> {
  switch (command.type) {
    case "resume": {
      const { target, payload, by, idempotencyKey } = command;
      return run.resume({ ...placeOf(target), payload, by, idempotencyKey });
    }
    case "signal": {
      const { name, payload, key, ttl, idempotencyKey } = command;
      return run.signal(name, payload, { key, ttl, idempotencyKey });
    }
    case "cancel":
      return run.cancel({ ...placeOf(command.target), reason: command.reason });
    case "retry":
      return run.retry({ ...(command.node !== undefined && { step: command.node }) });
    case "addItem":
      return run.addItem(command.node, command.item);
    case "closeMap":
    case "completeMap":
      return run[command.type](command.node);
    default:
      return expect.fail(`a run cannot tell ${command.type}`);
  }
}

function placeOf(target: (Command & { readonly type: "resume" })["target"]): Place {
  if (target === undefined) return {};
  if (typeof target === "string") return { step: target };
  return "node" in target ? { step: target.node, item: target.item } : target;
}

/** Returns the code and the message with which a call is refused. */
async function refused(telling: Promise<unknown>): Promise<{ readonly code: ErrorCode; readonly message: string }> {
  const thrown = await telling.then(
    () => null,
    (error: unknown) => error,
  );
  if (!StepfoldError.is(thrown)) expect.fail(`refused with no StepfoldError, but ${String(thrown)}`);
  return thrown;
}

/** Starts the execution that waits in every way. `runs` has its handles in the worker and in a process that drives nothing. */
async function waiting(): Promise<{ readonly runs: readonly Run[]; readonly stored: () => Promise<unknown> }> {
  const options = { workflows: [refusing], nodeDefinitions, limits: onlyTwoEarly };
  const { runtime, store, environment } = setUp(options);
  const run = await runtime.start("refusing", { workflowId: "w" });
  await environment.settle();
  for (const command of before) {
    await tell(run, command);
    await environment.settle();
  }
  await run.signal("early", 2);
  const elsewhere = await setUp({ ...options, store, drive: false }, environment).runtime.get("w");
  return {
    runs: [run, elsewhere],
    async stored() {
      await environment.settle();
      return viaJson([await store.load("w"), await store.events("w", -1, 1_000)]);
    },
  };
}

describe("a stored execution that waits refuses", () => {
  it.each(refusals)("$what, by $code, and what is stored stays as it is", async ({ command, code, says }) => {
    const { runs, stored } = await waiting();
    const whole = await stored();
    for (const run of runs) {
      const error = await refused(tell(run, command));
      expect(error.code).toBe(code);
      for (const words of says) expect(error.message).toContain(words);
    }
    expect(await stored()).toEqual(whole);
  });

  it("a key that was used with another answer or signal, and knows the same one again", async () => {
    const { runs, stored } = await waiting();
    const whole = await stored();
    for (const run of runs) {
      for (const command of before) {
        if ((command.type !== "resume" && command.type !== "signal") || command.idempotencyKey === undefined) continue;
        expect(await tell(run, command)).toEqual({ applied: false });
        const error = await refused(tell(run, { ...command, payload: { approved: false } }));
        expect(error.code).toBe("RESUME_CONFLICT");
      }
    }
    expect(await stored()).toEqual(whole);
  });
});

describe("an idempotency key", () => {
  // The key has answered another wait. A reply `applied: false` would hide that the answer to "ask" is dropped, so the call is refused.
  it("that was used for another wait drops no answer silently", async () => {
    const { runs } = await waiting();
    const telling = runs[0]!.resume({ step: "ask", payload: { approved: true }, idempotencyKey: "click" });
    await expect(telling).rejects.toMatchObject({ code: "RESUME_CONFLICT" });
  });

  it("that was used for another signal drops none silently", async () => {
    const { runs } = await waiting();
    await expect(runs[0]!.signal("other", 1, { idempotencyKey: "first" })).rejects.toMatchObject({ code: "RESUME_CONFLICT" });
  });
});

describe("a stored execution that has ended refuses whatever it is told", () => {
  const ends: Readonly<Record<string, { readonly workflow: ReturnType<typeof line>; readonly end: (run: Run) => unknown }>> = {
    completed: { workflow: line("w", "say"), end: () => undefined },
    failed: { workflow: line("w", "broken"), end: () => undefined },
    cancelled: { workflow: line("w", "ask"), end: (run) => run.cancel() },
  };

  it.each(Object.keys(ends))("after it has %s", async (status) => {
    const { workflow, end } = ends[status]!;
    const say = { executor: () => ({ data: 1 }) };
    const broken = { executor: () => Promise.reject(new Error("broken")) };
    const { runtime, store, environment } = setUp({ workflows: [workflow], nodeDefinitions: { ...nodeDefinitions, say, broken } });
    const run = await runtime.start("w", { workflowId: "w" });
    await environment.settle();
    await end(run);
    await environment.settle();
    const whole = viaJson([await store.load("w"), await store.events("w", -1, 1_000)]);
    expect(whole).toMatchObject([{ status }, {}]);
    for (const command of afterTheEnd) expect(await refused(tell(run, command))).toMatchObject({ code: "EXECUTION_ENDED" });
    await environment.settle();
    expect(viaJson([await store.load("w"), await store.events("w", -1, 1_000)])).toEqual(whole);
  });
});

describe("an execution there is not", () => {
  it("is told nothing", async () => {
    const { runtime } = setUp({ workflows: [refusing], nodeDefinitions });
    await expect(runtime.get("nobody")).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND", message: expect.stringContaining("nobody") });
  });
});
