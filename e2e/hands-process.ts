// A process that only starts executions and loads the code of no node. A loader hook records every loaded module, and throws if a module
// holds code of nodes.
import { registerHooks } from "node:module";

const loaded: string[] = [];
registerHooks({
  load(url, context, next) {
    loaded.push(url);
    if (/hands-nodes|\/nodes\b[^/]*\.(?:js|ts)$|\/dist\/nodes\//.test(url)) throw new TypeError(`the code of a node was loaded: ${url}`);
    return next(url, context);
  },
});

const { createRuntime } = await import("stepfold/runtime");
const { sqliteStore } = await import("stepfold/stores/sqlite");
const { StepfoldError } = await import("stepfold");
const { workflows } = await import("./hands-workflows.ts");

const store = sqliteStore(process.argv[2]!);
const runtime = createRuntime({ store, workflows, drive: false, pollMs: 20 });
const done: string[] = [];
const code = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "taken",
    (error: unknown) => (StepfoldError.is(error) ? error.code : String(error)),
  );

const order = await runtime.start("order", { workflowId: "order", input: { total: 7 } });
const [review] = [await order.waitFor({ step: "review" })];
done.push(`asked ${JSON.stringify((review.schema as { required: unknown }).required)}`);
done.push(`refused at once: ${await code(order.resume({ step: "review", payload: { approved: "yes" } }))}`);
await order.resume({ step: "review", payload: { approved: true }, by: "ada" });
const pay = await order.waitFor({ step: "pay" });
await order.resume({ waitId: pay.id, payload: { amount: 3 }, by: "ada", idempotencyKey: "pay" });
let again = pay;
while (again.id === pay.id || !again.refused) {
  again = await order.waitFor({ step: "pay" });
  await new Promise((resolve) => setTimeout(resolve, 20));
}
done.push(`refused by the code: ${again.refused.who} ${again.refused.issues.map(({ message }) => message).join()}`);
await order.resume({ waitId: again.id, payload: { amount: 4 }, by: "ada", idempotencyKey: "pay" });
await order.signal("sent", { parcel: 1 });
done.push(`result ${JSON.stringify(await order.result())}`);
const seen: string[] = [];
for await (const { event } of order.watch()) seen.push(event.type);
done.push(`watched ${seen.join(" ")}`);

const trying = await runtime.start("try", { workflowId: "try" });
await trying.waitFor("error");
await trying.retry();
done.push(`retried ${await trying.result()}`);

const cancelled = await runtime.start("order", { workflowId: "cancelled", input: { total: 1 } });
await cancelled.waitFor({ step: "review" });
await cancelled.cancel({ reason: "enough" });
done.push(`restart ${JSON.stringify(await cancelled.restart())}`);
const forked = await order.fork({ node: "pay", workflowId: "forked" });
const [again1, again2] = [await cancelled.waitFor({ step: "review" }), await forked.waitFor({ step: "pay" })];
done.push(`goes on at ${again1.nodeId} and ${again2.nodeId}`);
done.push((await forked.explain()).sentence);
const { items } = await runtime.list({ status: ["paused"], order: "oldest" });
done.push(`paused ${items.map(({ workflowId }) => workflowId).join()}`);
await runtime.close();
await store.close();
process.send?.({ done, modules: loaded.length }, () => process.disconnect());
