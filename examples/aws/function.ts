import { handle, type LambdaHandler } from "stepfold/serverless";
import { open } from "./open.ts";

// opened once per process of the function, not once per call
const { runtime } = open();

/**
 * The function: SQS calls it with messages, and EventBridge calls it once a minute. The secret protects `fetch`, which is not used
 * here.
 */
export const handler: LambdaHandler = handle(runtime, {
  secret: process.env.STEPFOLD_SECRET ?? crypto.randomUUID(),
  onProblem: (error) => console.error(error),
}).lambda;
