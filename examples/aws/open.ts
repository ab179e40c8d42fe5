import { DynamoDB } from "@aws-sdk/client-dynamodb";
import { SQS } from "@aws-sdk/client-sqs";
import { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { sqsQueue } from "stepfold/queues/sqs";
import { createRuntime, type Runtime } from "stepfold/runtime";
import { dynamoStore } from "stepfold/stores/dynamo";
import { nodeDefinitions, visitors } from "./visitors.ts";

/**
 * Opens the runtime: DynamoDB stores the executions, and SQS says which of them are due. The runtime drives nothing by itself, because
 * SQS calls the function.
 */
export function open(): { readonly runtime: Runtime; close(): Promise<void> } {
  const { TABLE = "stepfold", QUEUE_URL = "", SERVICE_URL = "", LEASE_MS = "30000" } = process.env;
  const dynamo = new DynamoDB({ maxAttempts: 2 });
  const sqs = new SQS({ maxAttempts: 2 });
  const store = dynamoStore(DynamoDBDocument.from(dynamo), { table: TABLE });
  const queue = sqsQueue(sqs, { queueUrl: QUEUE_URL });
  const globals = { serviceUrl: SERVICE_URL };
  const runtime = createRuntime({
    store,
    queue,
    workflows: [visitors],
    nodeDefinitions,
    globals,
    leaseMs: Number(LEASE_MS),
    drive: false,
    onProblem: (workflowId, error) => console.error(workflowId, error),
  });
  return {
    runtime,
    async close() {
      await runtime.close();
      await queue.close();
      await store.close();
      sqs.destroy();
      dynamo.destroy();
    },
  };
}
