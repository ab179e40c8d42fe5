import { WorkflowEngine } from "stepfold";
import { builtinNodes } from "stepfold/nodes";

// scopes.test.ts runs this file in a process of its own with a small heap
const items = Array.from({ length: 1_000 }, () => 0);
const workflow = { id: "w", nodes: [{ id: "m", type: "map", data: { workflow: "w", items, concurrency: 1_000 } }], edges: [] };
const { status, error } = await new WorkflowEngine({ workflow, nodeDefinitions: builtinNodes }).execute({});
process.stdout.write(JSON.stringify({ status, isLimit: error?.message.includes('exceeds the limit "scopes"') }));
