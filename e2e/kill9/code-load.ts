import { defineDurable, type RunningStep } from "stepfold";
import { codedBreaking, race } from "./code-names.ts";
import { actingOf, type EffectData, type LoadPace, loadEffect } from "./load.ts";
import type { LogLine } from "./log.ts";

const retry = { maxAttempts: 4, interval: 60, backoff: "exponential" } as const;

/** Steps of one execution whose effects are logged. */
interface Effects {
  readonly step: {
    run<T>(name: string, options: object, perform: (step: RunningStep) => T | Promise<T>): Promise<unknown>;
  };
  readonly workflowId: string;
}

/** The workflows of the load that are code: coroutines under one name, a race, retries, children, timers, answers, runs and failures. */
export function codeWorkflows(write: (line: LogLine) => void, pace?: LoadPace) {
  const effect = loadEffect(write, pace);
  const performing =
    ({ step, workflowId }: Effects) =>
    async (name: string, data: EffectData = {}, options: object = {}, more: object = {}): Promise<{ readonly key: string }> => {
      const perform = async (sub: RunningStep): Promise<object> => ({
        ...(await effect(data, actingOf(workflowId, name, sub))),
        ...more,
      });
      return (await step.run(name, options, perform)) as { readonly key: string };
    };
  const item = defineDurable({
    id: "coded-item",
    async run(context) {
      const perform = performing(context);
      await perform("work");
      await perform("again", { failures: 1 }, { retry });
      return "done";
    },
  });
  const coded = defineDurable({
    id: "coded",
    waits: { first: true, second: true },
    workflows: [item],
    async run(context) {
      const { step } = context;
      const perform = performing(context);
      const twin = async (): Promise<void> => {
        for (let i = 0; i < 2; i++) await perform("twin");
      };
      const racing = async (): Promise<void> => {
        const { key: winner } = await Promise.race(race.contenders.map((name) => perform(name)));
        await perform(race.judge, {}, {}, { winner });
      };
      const sleeping = async (): Promise<void> => {
        await step.sleep("nap", 200);
        await perform("woken");
      };
      const asking = async (): Promise<void> => {
        await step.waitFor("first");
        await perform("answered");
        await step.waitFor("second");
      };
      await perform("before");
      await Promise.all([
        ...[twin(), twin(), racing(), sleeping(), asking(), perform("flaky", { failures: 2 }, { retry })],
        step.call("child", item, null),
        step.map("each", [1, 2, 3], item, { concurrency: 2 }),
      ]);
      await perform("after");
      return "done";
    },
  });
  const rounds = defineDurable({
    id: "coded-rounds",
    async run(context) {
      const { run = 1, ...given } = (context.input ?? {}) as { readonly run?: number };
      const perform = performing(context);
      await perform("a");
      await context.step.sleep("nap", 100);
      await perform("b", { mostMs: 150 });
      return run < 3 ? context.step.continueAs({ ...given, run: run + 1 }) : "done";
    },
  });
  const breaking = defineDurable({
    id: codedBreaking,
    async run(context) {
      const perform = performing(context);
      await perform("good");
      await perform("broken", { breaks: true });
      await perform("end");
      return "done";
    },
  });
  return [coded, rounds, breaking] as const;
}
