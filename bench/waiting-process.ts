// A process that drives executions, or that writes. See cases/waiting.ts.
import { createRuntime, type Runtime } from "stepfold/runtime";
import { openSite, type WaitingSite, waitingNodes, waitingWorkflows } from "./waiting-site.ts";

/** The settings that such a process gets at its start. */
export interface WaitingSetting {
  readonly site: WaitingSite;
  /** Whether the runtime that drives the executions of other processes has a feed. */
  readonly hasFeed: boolean;
  /**
   * The number of executions of ten steps that this process runs side by side while it writes; each execution that ends is followed by
   * a new one.
   */
  readonly writers: number;
}

/** The messages that such a process gets later. */
export type WaitingMessage = "write with feed" | "write without" | "pause" | "tell" | "stop";

const setting = JSON.parse(process.argv[2]!) as WaitingSetting;
const { store, feed, close } = await openSite(setting.site);
let steps = 0;
let isWriting = false;
const begun: [string, number][] = [];
const onStep = (workflowId: string, nodeId: string): void => {
  steps++;
  if (nodeId === "after") begun.push([workflowId, Date.now()]);
};
const runtimeWith = (hasFeed: boolean): Runtime =>
  createRuntime({
    store,
    workflows: waitingWorkflows,
    nodeDefinitions: waitingNodes(onStep),
    maxExecutions: Math.max(100, 2 * setting.writers),
    ...(hasFeed && { feed: feed() }),
    onProblem: (workflowId, error) => console.error(workflowId, error),
  });
// the same process writes with a feed and without one, because two processes of the same code differ by more than the cost of a feed
const first = runtimeWith(setting.hasFeed);
const second = setting.writers > 0 ? runtimeWith(!setting.hasFeed) : null;

const write = async (runtime: Runtime): Promise<void> => {
  while (isWriting) await (await runtime.start("ten")).result();
};
const beginWriting = (hasFeed: boolean): void => {
  isWriting = true;
  const runtime = hasFeed === setting.hasFeed ? first : second!;
  for (let i = 0; i < setting.writers; i++) void write(runtime);
};
process.on("message", async (message: WaitingMessage) => {
  if (message === "write with feed") beginWriting(true);
  if (message === "write without") beginWriting(false);
  if (message === "pause") isWriting = false;
  if (message === "tell") process.send!({ steps, begun: begun.splice(0) });
  if (message !== "stop") return;
  isWriting = false;
  await Promise.all([first, second].map((runtime) => runtime?.close()));
  await close();
  process.exit(0);
});
process.send!("ready");
