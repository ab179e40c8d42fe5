import { afterEach, expect, it } from "vitest";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { flow } from "../../nodes/workflow.fixture.ts";
import { closeAll, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

/** A workflow that sends a signal and at the same moment goes on as a new execution, which waits for a signal. */
const restless = flow(
  "restless",
  {
    begin: ["if", { condition: "{{ input.round == 1 }}" }],
    tell: ["sendSignal", { to: "{{ input.to }}", name: "paid", payload: "from {{ input.name }}" }],
    again: ["end", { continueAs: { input: { round: 2 } } }],
    wait: ["signal", { name: "paid" }],
  },
  ["begin>tell@true", "begin>again@true", "begin>wait@false"],
);

it.each([
  ["an execution tells itself something", { a: "a" }],
  ["two tell each other", { a: "b", b: "a" }],
  ["three tell one another in a circle", { a: "b", b: "c", c: "a" }],
])("%s while they go on as new executions: these hear it at once", async (_, circle: Readonly<Record<string, string>>) => {
  const workflows = [restless] as never;
  const problems: unknown[] = [];
  const onProblem = (_workflowId: string | null, error: unknown): void => void problems.push(error);
  const { runtime, environment } = setUp({ nodeDefinitions: builtinNodes, workflows, may: () => true, onProblem });
  const startAt = environment.now() + second;
  for (const [workflowId, to] of Object.entries(circle))
    await runtime.start("restless", { workflowId, input: { round: 1, name: workflowId, to }, startAt });
  await environment.advance(3 * second);
  for (const workflowId of Object.keys(circle)) {
    expect((await (await runtime.get(workflowId)).snapshot()).status).toBe("completed");
    const { status, context } = await (await runtime.get(`${workflowId}`)).snapshot();
    expect([status, context.wait?.length]).toEqual(["completed", 1]);
  }
  expect(problems).toEqual([]);
});
