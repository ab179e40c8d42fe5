import { Session } from "node:inspector/promises";
import { systemEnvironment } from "../../packages/stepfold/src/environment/system-environment.ts";
import { WorkflowEngine } from "../../packages/stepfold/src/index.ts";

// Prints the source files that run when a workflow of two nodes is resumed once from a snapshot in JSON:
// node scripts/architecture/files-of-a-resume.ts

const sources = "/packages/stepfold/src/";

/** Returns the source files of which at least one function is called while `work` runs. */
async function filesCalledIn(work: () => Promise<unknown>): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  await work();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  // the function without a name at offset 0 is the module itself
  const called = result.filter(({ functions }) =>
    functions.some(({ functionName, ranges: [whole] }) => whole!.count > 0 && !(functionName === "" && whole!.startOffset === 0)),
  );
  return called
    .map(({ url }) => url)
    .filter((url) => url.includes(sources))
    .map((url) => url.slice(url.indexOf(sources) + sources.length))
    .sort();
}

const workflow = {
  id: "two",
  nodes: [
    { id: "ask", type: "ask" },
    { id: "send", type: "send", data: { to: "{{ input.to }}" } },
  ],
  edges: [{ source: "ask", target: "send" }],
};
const engine = new WorkflowEngine({
  workflow,
  // with this clock no time passes; otherwise, on a busy machine, the engine would pause for other work, and the file that does so would
  // be listed
  environment: { ...systemEnvironment, monotonicMs: () => 0 },
  nodeDefinitions: {
    ask: { executor: async (_data, step) => (step.resumed ? { data: step.resumed.payload } : { __pause: true }) },
    send: { executor: async (data) => ({ data }) },
  },
});
const text = JSON.stringify(await engine.execute({ input: { to: "Ada" } }));
const files = await filesCalledIn(async () => {
  const resumed = await engine.execute({ snapshot: JSON.parse(text), externalPayload: true });
  if (resumed.status !== "completed") throw new TypeError(`the execution is ${resumed.status}`);
});
console.log(files.join("\n"));
