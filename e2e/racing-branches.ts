// One of two processes that race on executions in one file. A racing commit is prepared and held back until the test says `go`. By then
// the other process has decided on the same version, so one of the two commits is refused and decided again.
import { type SnapshotStore, StepfoldError } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { sqliteStore } from "stepfold/stores/sqlite";
import { branchNodes, type Message, twoBranches } from "./racing-branches-nodes.ts";

type Commit = Parameters<SnapshotStore["commit"]>[0];

const [path = "", log = ""] = process.argv.slice(2);
const file = sqliteStore(path, { synchronous: "NORMAL" });
/** By execution: tells whether a commit of this process is the one that races. */
const racing = new Map<string, (commit: Commit) => boolean>();
const starts = new Map<string, () => void>();
const works = new Map<string, () => void>();

const say = (message: Message): unknown => process.send?.(message);
const codeOf = (thrown: unknown): string => (StepfoldError.is(thrown) ? thrown.code : String(thrown));

async function race(commit: Commit): Promise<void> {
  const { workflowId } = commit;
  racing.delete(workflowId);
  const started = new Promise<void>((resolve) => starts.set(workflowId, resolve));
  say({ type: "decided", workflowId });
  await started;
  try {
    await file.commit(commit);
    say({ type: "committed", workflowId, verdict: "first" });
  } catch (error) {
    say({ type: "committed", workflowId, verdict: codeOf(error) });
    throw error;
  }
}

const runtime = createRuntime({
  store: {
    ...file,
    async commit(commit) {
      await (racing.get(commit.workflowId)?.(commit) ? race(commit) : file.commit(commit));
      if (commit.events.some(({ type }) => type === "suspended")) say({ type: "waiting", workflowId: commit.workflowId });
    },
  },
  nodeDefinitions: branchNodes(log, (workflowId) => new Promise((resolve) => works.set(workflowId, resolve))),
  workflows: [twoBranches("work")],
  pollMs: 50,
});

const actions: Readonly<Record<string, (message: Message) => unknown>> = {
  async resume({ workflowId, node }) {
    racing.set(workflowId, ({ fence }) => fence === undefined);
    const run = await runtime.get(workflowId);
    const answered = run.resume({ step: node, payload: `answer to ${node}` });
    say({ type: "answered", workflowId, verdict: await answered.then(({ applied }) => (applied ? "applied" : "repeated"), codeOf) });
  },
  async start({ workflowId }) {
    racing.set(workflowId, ({ events }) => events.some((event) => event.type === "completed" && event.nodeId === "left"));
    await runtime.start("two-branches-work", { workflowId });
  },
  finish: ({ workflowId }) => works.get(workflowId)?.(),
  go: ({ workflowId }) => starts.get(workflowId)?.(),
};

process.on("message", (message: Message) => actions[message.type]?.(message));
say({ type: "ready", workflowId: "" });
