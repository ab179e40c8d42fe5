import { handle, type LambdaHandler } from "stepfold/serverless";
import { open } from "./open.ts";

// opened once for each process that AWS keeps, not for each call
const { runtime } = open();

/** The function: SQS calls it with messages, EventBridge once a minute. The secret guards `fetch`, which is not used here. */
export const handler: LambdaHandler = handle(runtime, {
  secret: process.env.STEPFOLD_SECRET ?? crypto.randomUUID(),
  onProblem: (error) => console.error(error),
}).lambda;
