import { invalidUrl, parsedUrl, takeParameters } from "../../urls/address.ts";
import { importDriver } from "../../urls/import-driver.ts";
import type { SqsClient } from "../sqs/sqs-client.ts";
import type { QueueAndClient } from "./queue-and-client.ts";

interface Sdk {
  readonly SQS: new (config: {
    region?: string;
    endpoint?: string;
    credentials?: { accessKeyId: string; secretAccessKey: string };
  }) => SqsClient & { readonly config: { region(): Promise<string> }; destroy(): void };
}

/**
 * Opens `sqs:https://sqs.eu-central-1.amazonaws.com/123456789012/stepfold`, with the AWS SDK, which finds the credentials itself.
 * `?endpoint=http://127.0.0.1:4566` names another server, which does not check credentials. `?region=` is needed if neither the host of the
 * URL nor the settings of the SDK say the region.
 */
export async function openSqs(text: string): Promise<QueueAndClient> {
  const { url, taken } = takeParameters(text.slice("sqs:".length), { region: "", endpoint: "" });
  const { endpoint } = taken;
  const { protocol, hostname } = parsedUrl(url, "queue");
  if (protocol !== "https:" && protocol !== "http:") throw invalidUrl("must hold the URL of a queue: sqs:https://…", "queue");
  if (endpoint !== "") parsedUrl(endpoint, "queue");
  const region = taken.region || (/^sqs\.([a-z0-9-]+)\./.exec(hostname)?.[1] ?? "");
  const { sqsQueue } = await import("../sqs/sqs-queue.ts");
  const { SQS } = await importDriver<Sdk>("@aws-sdk/client-sqs", { queue: "sqs" });
  const own = { endpoint, credentials: { accessKeyId: "local", secretAccessKey: "local" } };
  const client = new SQS({ ...(region !== "" && { region }), ...(endpoint !== "" && own) });
  await client.config.region().catch(() => {
    throw invalidUrl("does not say the region: add ?region=eu-central-1, or set AWS_REGION", "queue");
  });
  return { queue: sqsQueue(client, { queueUrl: url }), closeClient: async () => client.destroy() };
}
