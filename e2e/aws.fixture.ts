import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DynamoDB } from "@aws-sdk/client-dynamodb";
import { SQS } from "@aws-sdk/client-sqs";
import { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { sqsQueue } from "stepfold/queues/sqs";
import { createRuntime, type Runtime } from "stepfold/runtime";
import { createDynamoTable, dynamoStore } from "stepfold/stores/dynamo";
import { onTestFinished, type TestContext } from "vitest";
import { nodeDefinitions, visitors } from "../examples/aws/visitors.ts";
import { EventSource, type EventSourceOptions } from "../scripts/servers/lambda/event-source.ts";
import { LocalFunction } from "../scripts/servers/lambda/local-function.ts";
import { serviceUrlOrSkip } from "../scripts/servers/service-url.ts";
import { root } from "./cli.ts";

/** A request that the service received. */
interface ServiceCall {
  readonly account: string;
  /** The request's idempotency key. */
  readonly key: string;
  readonly atMs: number;
}

export interface AwsOptions extends Partial<Pick<EventSourceOptions, "deliveries" | "visibilitySeconds" | "scheduleMs">> {
  /** The time limit of one call of the function, in milliseconds. */
  readonly timeoutMs?: number;
  readonly leaseMs?: number;
  /** How long the service takes to answer, in milliseconds. Default: 0. */
  readonly serviceMs?: number;
}

/** Everything that the example needs, on this machine. `runtime` starts executions and reads them, but drives none. */
export interface Aws {
  readonly runtime: Runtime;
  readonly target: LocalFunction;
  readonly calls: readonly ServiceCall[];
  /** Resolves when the service receives the next request for an account. */
  nextCall(account: string): Promise<void>;
}

const credentials = { accessKeyId: "local", secretAccessKey: "local" };
const region = "us-east-1";
let places = 0;

/** Sets up the example; skips the test if DynamoDB Local or the emulator of SQS is not available. */
export async function aws(skip: TestContext["skip"], options: AwsOptions = {}): Promise<Aws> {
  const [dynamoUrl, sqsUrl] = [await serviceUrlOrSkip("dynamodb"), await serviceUrlOrSkip("sqs")];
  if (dynamoUrl === null || sqsUrl === null) return skip();
  const { timeoutMs = 10_000, leaseMs = 30_000, deliveries = 1, visibilitySeconds = 30, scheduleMs, serviceMs = 0 } = options;
  const name = `aws_${process.pid}_${Date.now()}_${++places}`;
  const dynamo = new DynamoDB({ endpoint: dynamoUrl, region, credentials });
  const client = new SQS({ endpoint: sqsUrl, region, credentials });
  await createDynamoTable(dynamo, name);
  const { QueueUrl = "" } = await client.createQueue({ QueueName: name });
  const queueUrl = `${sqsUrl}/${QueueUrl.split("/").slice(-2).join("/")}`;
  const service = await openService(serviceMs);
  const store = dynamoStore(DynamoDBDocument.from(dynamo), { table: name });
  const queue = sqsQueue(client, { queueUrl });
  const globals = { serviceUrl: service.url };
  const runtime = createRuntime({ store, queue, workflows: [visitors], nodeDefinitions, globals, drive: false, pollMs: 100 });
  const target = new LocalFunction({
    program: process.execPath,
    args: [join(root, "scripts/servers/lambda/runtime-client.ts")],
    env: {
      FUNCTION_MODULE: join(root, "examples/aws/function.ts"),
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_ENDPOINT_URL_DYNAMODB: dynamoUrl,
      AWS_ENDPOINT_URL_SQS: sqsUrl,
      TABLE: name,
      QUEUE_URL: queueUrl,
      SERVICE_URL: service.url,
      LEASE_MS: String(leaseMs),
    },
    timeoutMs,
    concurrency: 2,
  });
  const more = { ...(scheduleMs !== undefined && { scheduleMs }), deliveries, visibilitySeconds };
  const source = new EventSource({ client, queueUrl, target, batchSize: 10, ...more });
  onTestFinished(async () => {
    await source.close();
    await runtime.close();
    await queue.close();
    await store.close();
    await client.deleteQueue({ QueueUrl: queueUrl });
    await dynamo.deleteTable({ TableName: name });
    client.destroy();
    dynamo.destroy();
    service.close();
  });
  return { runtime, target, calls: service.calls, nextCall: service.nextCall };
}

/**
 * The service that the workflow calls. It answers by account: `flaky` succeeds from the third request on, accounts that begin with
 * `theirs` are refused, and the first request for `silent` is never answered. All others succeed.
 */
async function openService(serviceMs: number) {
  const calls: ServiceCall[] = [];
  const waiting: { readonly account: string; resolve(): void }[] = [];
  const server = createServer((request, response) => {
    const account = (request.url ?? "").slice(1);
    calls.push({ account, key: String(request.headers["idempotency-key"]), atMs: performance.now() });
    for (const one of waiting.splice(0))
      if (one.account === account) one.resolve();
      else waiting.push(one);
    const before = calls.filter((call) => call.account === account).length;
    if (account === "silent" && before === 1) return;
    const status = account.startsWith("theirs") ? 401 : account === "flaky" && before < 3 ? 503 : 200;
    const answer = (): unknown =>
      response.writeHead(status, { "content-type": "application/json", connection: "close" }).end(JSON.stringify({ visitors: 42 }));
    setTimeout(answer, serviceMs);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    nextCall: (account: string) => new Promise<void>((resolve) => void waiting.push({ account, resolve })),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
