import { WorkflowEngine } from "stepfold";
import { builtinNodes } from "stepfold/nodes";

// run in a process of its own, whose heap is small
const items = Array.from({ length: 1_000 }, () => 0);
const workflow = { id: "w", nodes: [{ id: "m", type: "map", data: { workflow: "w", items, concurrency: 1_000 } }], edges: [] };
const { status, error } = await new WorkflowEngine({ workflow, nodeDefinitions: builtinNodes }).execute({});
process.stdout.write(JSON.stringify({ status, isLimit: error?.message.includes('passes the limit "scopes"') }));
