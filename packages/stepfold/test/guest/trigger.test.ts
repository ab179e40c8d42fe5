import { describe, expect, it } from "vitest";
import { createGuest } from "../../src/guest/create-guest.ts";
import type { GuestEnd, GuestStart, GuestStep } from "../../src/guest/host.ts";
import type { TriggerStepTask } from "../../src/guest/trigger/trigger-client.ts";
import { triggerHost } from "../../src/guest/trigger/trigger-host.ts";
import { triggerMailbox } from "../../src/guest/trigger/trigger-mailbox.ts";
import { type Effects, type Flow, flowNodes, flows } from "./guest-flows.fixture.ts";
import { JournalHost, type Misfortune } from "./journal-host.fixture.ts";
import { TriggerPlatform } from "./trigger-platform.fixture.ts";

interface Ran {
  readonly end: GuestEnd;
  readonly effects: Effects;
  readonly platform: TriggerPlatform;
}

interface Listening {
  /** The option `listens` of the host. */
  readonly listens?: boolean;
  /** How many times each command is sent, with the same id. Default: 1. */
  readonly sends?: number;
}

async function onTrigger(
  { workflow, more = [], input, script = [] }: Flow,
  misfortune: Misfortune = {},
  { listens, sends = 1 }: Listening = {},
): Promise<Ran> {
  const effects: Effects = new Map();
  const platform = new TriggerPlatform(misfortune);
  const { clock: environment, wait } = platform;
  const guest = createGuest({ workflows: [workflow, ...more], nodeDefinitions: flowNodes(effects, environment), environment });
  const retry = { maxAttempts: 1_000 };
  const step = platform.task({ id: "step", retry, run: (payload: GuestStep) => guest.perform(payload) }) as unknown as TriggerStepTask;
  platform.task({
    id: "workflow",
    retry,
    run: (start: GuestStart) =>
      guest.run(triggerHost({ wait, step, workflowId: start.workflowId, environment, ...(listens !== undefined && { listens }) }), start),
  });
  const mailbox = triggerMailbox(wait, environment);
  for (const [i, { atMs, command }] of script.entries())
    environment.after(atMs, () => {
      for (let n = 0; n < sends; n++) void mailbox.send("run-1", command, `command-${i}`);
    });
  const result = await platform.run("workflow", { workflow: workflow.id, workflowId: "run-1", ...(input !== undefined && { input }) });
  if (!result.ok) throw result.error;
  return { end: result.output, effects, platform };
}

async function asGuest({ workflow, more = [], input, script }: Flow): Promise<Pick<Ran, "end" | "effects">> {
  const effects: Effects = new Map();
  const host = new JournalHost(script);
  const end = await host.run(
    (environment) => createGuest({ workflows: [workflow, ...more], nodeDefinitions: flowNodes(effects, environment), environment }),
    { workflow: workflow.id, workflowId: "run-1", ...(input !== undefined && { input }) },
  );
  return { end, effects };
}

const keys = (effects: Effects): string[] => [...effects.keys()].sort();

describe.each(Object.entries(flows))("on Trigger.dev, %s", (_, flow) => {
  it("end as everywhere", async () => {
    const [trigger, guest] = await Promise.all([onTrigger(flow), asGuest(flow)]);
    expect(trigger.end).toEqual(guest.end);
    expect(trigger.effects).toEqual(guest.effects);
  });

  it("end the same if a run is killed at any call, and one attempt at most is made again", async () => {
    const whole = await onTrigger(flow);
    expect(whole.platform.points).toBeGreaterThan(5);
    for (let point = 0; point < whole.platform.points; point++) {
      const { end, effects, platform } = await onTrigger(flow, { killsAt: new Set([point]) });
      expect({ point, kills: platform.kills, end }).toEqual({ point, kills: 1, end: whole.end });
      expect(keys(effects)).toEqual(keys(whole.effects));
      const again = [...effects].filter(([key, times]) => times > whole.effects.get(key)!);
      expect(again.length).toBeLessThanOrEqual(1);
    }
  });

  it("end the same if runs are killed again and again, steps are delivered twice and commands are sent twice at once", async () => {
    const whole = await onTrigger(flow);
    const killsAt = new Set(Array.from({ length: 1_000 }, (_, i) => i * 11 + (i % 5)));
    const { end, effects } = await onTrigger(flow, { killsAt, doubles: true }, { sends: 2 });
    expect(end).toEqual(whole.end);
    expect(keys(effects)).toEqual(keys(whole.effects));
  });
});

describe("a host on Trigger.dev", () => {
  it("sleeps by wait.until and makes no tokens, if nobody sends commands", async () => {
    const { end, platform } = await onTrigger(flows["retries with growing pauses"]!, {}, { listens: false });
    expect(end).toMatchObject({ status: "completed", output: "there" });
    expect(platform.tokens.size).toBe(0);
    await expect(onTrigger(flows["a cancellation undoes what was done"]!, {}, { listens: false })).rejects.toMatchObject({
      code: "OPTION_INVALID",
      details: { option: "listens" },
    });
  });

  it("takes commands that were sent before it began, in their order", async () => {
    const flow = flows["two approvals one after the other"]!;
    const script = flow.script!.map((told) => ({ ...told, atMs: 0 }));
    expect((await onTrigger({ ...flow, script })).end).toMatchObject({ status: "completed" });
  });

  it("passes over a token that a dead sender has made, and one that holds no message", async () => {
    const platform = new TriggerPlatform();
    const { wait, clock: environment } = platform;
    const flow = flows["an approval too late"]!;
    const guest = createGuest({ workflows: [flow.workflow], nodeDefinitions: flowNodes(new Map(), environment), environment });
    const step = platform.task({ id: "step", run: (payload: GuestStep) => guest.perform(payload) }) as unknown as TriggerStepTask;
    platform.task({
      id: "workflow",
      run: (start: GuestStart) => guest.run(triggerHost({ wait, step, workflowId: start.workflowId, environment }), start),
    });
    await wait.createToken({ idempotencyKey: "stepfold/run-1/1", idempotencyKeyTTL: "1d", timeout: "60s" });
    const strange = await wait.createToken({ idempotencyKey: "stepfold/run-1/2", idempotencyKeyTTL: "1d", timeout: "60s" });
    await wait.completeToken(strange.id, { approved: true });
    const startedAt = environment.now();
    const { output } = (await platform.run("workflow", { workflow: "expired", workflowId: "run-1" })) as { readonly output: GuestEnd };
    expect(output).toMatchObject({ status: "completed", output: "late" });
    expect(environment.now() - startedAt).toBeGreaterThanOrEqual(3_600_000);
    expect([...platform.tokens.values()].map(({ status }) => status)).toEqual(["TIMED_OUT", "COMPLETED", "TIMED_OUT"]);
  });

  it("fails the run with STEP_LOST if Trigger.dev gives up a step, and repeats only that", async () => {
    const flow = flows["steps one after the other"]!;
    const platform = new TriggerPlatform();
    const { wait, clock: environment } = platform;
    const effects: Effects = new Map();
    const guest = createGuest({ workflows: [flow.workflow], nodeDefinitions: flowNodes(effects, environment), environment });
    let losses = 1;
    const step = platform.task({
      id: "step",
      run: async (payload: GuestStep) => {
        if (payload.name === "2 b" && losses-- > 0) throw new Error("out of memory");
        return guest.perform(payload);
      },
    }) as unknown as TriggerStepTask;
    const run = (start: GuestStart): Promise<GuestEnd> =>
      guest.run(triggerHost({ wait, step, workflowId: start.workflowId, environment }), start);
    platform.task({ id: "once", run });
    platform.task({ id: "again", retry: { maxAttempts: 2 }, run });
    expect(await platform.run("once", { workflow: "chain", workflowId: "run-1" })).toMatchObject({
      ok: false,
      error: { code: "STEP_LOST", details: { step: "2 b", reason: "out of memory" } },
    });
    losses = 1;
    effects.clear();
    expect(await platform.run("again", { workflow: "chain", workflowId: "run-2" })).toMatchObject({ ok: true, output: { output: 2 } });
    expect([...effects.values()]).toEqual([1, 1]);
  });

  it("is not made with options that are none, and no command goes to an id that is none", async () => {
    const { wait } = new TriggerPlatform();
    expect(() => triggerHost({ wait, workflowId: "x", mailbox: "y" } as never)).toThrow(
      expect.objectContaining({ code: "OPTION_UNKNOWN" }),
    );
    expect(() => triggerHost({ wait, workflowId: undefined } as never)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    await expect(triggerMailbox(wait).send("", { type: "cancel" })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});
