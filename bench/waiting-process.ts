// A process that drives executions, or writes. See cases/waiting.ts.
import { createRuntime } from "stepfold/runtime";
import { openSite, type WaitingSite, waitingNodes, waitingWorkflows } from "./waiting-site.ts";

/** What such a process is told at its start. */
export interface WaitingSetting {
  readonly site: WaitingSite;
  readonly hasFeed: boolean;
  /** How many executions of ten steps this process runs side by side; each that ends is followed by a new one. 0: it only drives executions that other processes start. */
  readonly writers: number;
}

const setting = JSON.parse(process.argv[2]!) as WaitingSetting;
const { store, feed, close } = await openSite(setting.site);
let steps = 0;
let isWriting = false;
const begun: [string, number][] = [];
const onStep = (workflowId: string, nodeId: string): void => {
  steps++;
  if (nodeId === "after") begun.push([workflowId, Date.now()]);
};
const runtime = createRuntime({
  store,
  workflows: waitingWorkflows,
  nodeDefinitions: waitingNodes(onStep),
  maxExecutions: Math.max(100, 2 * setting.writers),
  ...(setting.hasFeed && { feed: feed() }),
  onProblem: (workflowId, error) => console.error(workflowId, error),
});

const write = async (): Promise<void> => {
  while (isWriting) await (await runtime.start("ten")).result();
};
process.on("message", async (message: "begin" | "pause" | "tell" | "stop") => {
  if (message === "begin") {
    isWriting = true;
    for (let i = 0; i < setting.writers; i++) void write();
  }
  if (message === "pause") isWriting = false;
  if (message === "tell") process.send!({ steps, begun: begun.splice(0) });
  if (message !== "stop") return;
  isWriting = false;
  await runtime.close();
  await close();
  process.exit(0);
});
process.send!("ready");
