import type { AnyTyped } from "../../src/engine/node/typed.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import type { RuntimeOptions } from "../../src/runtime/context/runtime-options.ts";
import type { Run } from "../../src/runtime/handle/run.ts";
import type { StartRunOptions } from "../../src/runtime/handle/start-run.ts";
import type { VirtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { setUp } from "../runtime/runtime.fixture.ts";

/** A runtime that has started one durable workflow, and has done all that needs no time. */
export async function started(workflow: AnyTyped, options: StartRunOptions = {}, more: Partial<RuntimeOptions> = {}) {
  const parts = setUp({ workflows: [workflow], nodeDefinitions: builtinNodes, ...more });
  const run = await parts.runtime.start(workflow.id, { workflowId: "one", ...options });
  await quiet(parts.environment, run);
  return { ...parts, run };
}

/** Waits until nothing more happens without time. */
export async function quiet(environment: VirtualEnvironment, run: Run): Promise<void> {
  for (let last = -1, calm = 0; calm < 3; ) {
    await environment.settle();
    const { version } = await run.snapshot();
    calm = version === last ? calm + 1 : 0;
    last = version;
  }
}

/** Moves the time, and waits until the execution rests or has ended. */
export async function pass(environment: VirtualEnvironment, run: Run, ms: number): Promise<void> {
  await environment.advance(ms);
  await quiet(environment, run);
}

/** The types of all events of an execution, with the name of the step. */
export async function story(run: Run): Promise<string[]> {
  const { items } = await run.events();
  return items.map((event) => ("nodeId" in event && event.type !== "started" ? `${event.type} ${event.nodeId}` : event.type));
}

/** A function that fails with an error with a code until `allow` is called. */
export function failing(message = "not now") {
  let isAllowed = false;
  let calls = 0;
  return {
    allow: () => {
      isAllowed = true;
    },
    calls: () => calls,
    call: () => {
      calls++;
      if (!isAllowed) throw Object.assign(new TypeError(message), { code: "NOT_NOW" });
      return "done";
    },
  };
}
