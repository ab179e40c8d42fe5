// The process of a function. Like Amazon's own client, aws-lambda-ric, it asks the Runtime API of AWS Lambda for one event after the
// other, and passes them to the handler that FUNCTION_MODULE exports. Amazon's client is not used, because it has to be compiled on
// installation, which is not possible everywhere.
import { pathToFileURL } from "node:url";

const api = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime`;
const { handler } = (await import(pathToFileURL(process.env.FUNCTION_MODULE ?? "").href)) as {
  readonly handler: (event: unknown, context: object) => Promise<unknown>;
};

for (;;) {
  const next = await fetch(`${api}/invocation/next`);
  const awsRequestId = next.headers.get("lambda-runtime-aws-request-id");
  const deadlineMs = Number(next.headers.get("lambda-runtime-deadline-ms"));
  const answer = (kind: "response" | "error", body: unknown): Promise<Response> =>
    fetch(`${api}/invocation/${awsRequestId}/${kind}`, { method: "POST", body: JSON.stringify(body) });
  try {
    const context = { awsRequestId, getRemainingTimeInMillis: () => deadlineMs - Date.now() };
    await answer("response", (await handler(await next.json(), context)) ?? null);
  } catch (error) {
    const { name, message, stack = "" } = error as Error;
    await answer("error", { errorType: name, errorMessage: message, stackTrace: stack.split("\n") });
  }
}
