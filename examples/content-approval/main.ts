import { mkdirSync } from "node:fs";
import { defineNode, defineWorkflow } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import { createRuntime } from "stepfold/runtime";
import { sqliteStore } from "stepfold/stores/sqlite";

const workflow = defineWorkflow({
  id: "content-approval",
  nodes: [
    { id: "draft", type: "write-draft", data: { title: "{{ input.title }}" } },
    { id: "review", type: "approval", data: { title: "Publish this?", message: "{{ nodes.draft.last.data.text }}" } },
    { id: "publish", type: "set", data: "published: {{ nodes.draft.last.data.text }}" },
    { id: "reject", type: "set", data: "rejected: {{ nodes.review.last.data.comment ?? 'no reason given' }}" },
  ],
  edges: [
    { source: "draft", target: "review" },
    { source: "review", target: "publish", sourceHandle: "approved" },
    { source: "review", target: "reject", sourceHandle: "rejected" },
  ],
});

const writeDraft = defineNode({
  input: { type: "object", properties: { title: { type: "string", minLength: 1 } }, required: ["title"] },
  executor: (data) => ({ data: { text: `${(data as { title: string }).title}, by hand` } }),
});

const [verb, id, ...words] = process.argv.slice(2);
mkdirSync(".stepfold", { recursive: true });
const store = sqliteStore(".stepfold/content.db");
const runtime = createRuntime({ store, workflows: [workflow], nodeDefinitions: { ...builtinNodes, "write-draft": writeDraft } });

if (verb === "submit") {
  const run = await runtime.start("content-approval", { workflowId: id, input: { title: words.join(" ") } });
  const { status, activePaths } = await run.settled();
  console.log(`${run.workflowId} is ${status} at ${activePaths[0]?.nodeId}`);
} else if (verb === "review" && id !== undefined) {
  const run = await runtime.get(id);
  await run.resume({ step: "review", payload: { approved: words[0] === "yes", comment: words.slice(1).join(" ") || undefined } });
  console.log(`${run.workflowId}: ${await run.result()}`);
} else {
  console.log("submit ID TITLE | review ID yes|no [COMMENT]");
}

await runtime.close();
await store.close();
