// One of several processes that drive executions of a workflow with a rate limit. It reports its claims with their times by the store's
// clock.
import { createRuntime } from "stepfold/runtime";
import { storeFromUrl } from "stepfold/stores/from-url";
import { altered, claimedMessage, type RateSetting, ratedNodes, ratedWorkflow } from "./racing-rates-workflow.ts";

const { url, rateLimit, pollMs } = JSON.parse(process.argv[2]!) as RateSetting;
const store = await storeFromUrl(url);
const noted = altered(store, {
  async claim(options) {
    const claims = await store.claim(options);
    if (claims.length > 0) process.send?.(claimedMessage(claims));
    return claims;
  },
});
const runtime = createRuntime({
  store: noted,
  workflows: [ratedWorkflow(rateLimit)],
  nodeDefinitions: ratedNodes,
  pollMs,
  onProblem: (workflowId, error) => console.error(workflowId, error),
});
process.on("message", async () => {
  await runtime.close();
  await store.close();
  process.exit(0);
});
process.send?.([]);
