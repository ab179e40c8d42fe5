import type { AnswerBody, CancelBody, RestartBody, RetryBody, SignalBody } from "stepfold/client";
import type { Run } from "stepfold/runtime";
import { anyMember, countMember, required, textMember, timeMember, wordMember } from "../requests/members.ts";
import { type Call, json, type Route, route } from "./route.ts";

const step = textMember("The node, or its address such as `map[3]/approve`.");
const item = countMember("With `step`: the item of a map.");
const idempotencyKey = textMember("The same key with the same content counts once, however often it is sent.", 255);

/** Carries out a command that has no answer. */
async function done({ id, runtime }: Pick<Call, "id" | "runtime">, command: (run: Run) => Promise<void>): Promise<Response> {
  await command(await runtime.get(id));
  return new Response(null, { status: 204 });
}

/** The routes that move one execution. Events record the caller as `who`. */
export const commandRoutes: readonly Route[] = [
  route<unknown, AnswerBody>({
    method: "POST",
    path: "/v1/executions/:id/answer",
    scope: "answer",
    summary: "Answers a wait. A decision about a failure is an answer too: `{ action: retry, skip or fail }` as its payload.",
    answers: { 200: "`applied: false`: the same key with the same payload was applied before." },
    members: {
      ...{ waitId: textMember("The id of the wait. Default: the only open wait, or the one that `step` names."), step, item },
      ...{ payload: anyMember("The answer, which must fit the schema of the wait."), idempotencyKey },
    },
    run: async ({ id, body, runtime }) => json(await (await runtime.get(id)).resume(body)),
  }),
  route<unknown, SignalBody>({
    method: "POST",
    path: "/v1/executions/:id/signal",
    scope: "answer",
    summary: "Sends a signal. The oldest wait for it takes it; if there is none yet, it is kept.",
    answers: { 200: "`applied: false`: the same key with the same payload was sent before." },
    members: {
      ...{ name: required(textMember("The name of the signal.")), payload: anyMember("The payload.") },
      ...{
        key: textMember("Only waits with the same key take it."),
        ttl: timeMember("How long it is kept. Default 30 days."),
        idempotencyKey,
      },
    },
    async run({ id, body: { name, payload, ...options }, runtime }) {
      return json(await (await runtime.get(id)).signal(name, payload, options));
    },
  }),
  route<unknown, CancelBody>({
    method: "POST",
    path: "/v1/executions/:id/cancel",
    scope: "operate",
    summary: "Cancels an execution, or the paths at a step.",
    answers: { 204: "It is cancelled, or is being cancelled." },
    members: { step, item, reason: textMember("Why, for people.") },
    run: (call) => done(call, (run) => run.cancel(call.body)),
  }),
  route<unknown, RetryBody>({
    method: "POST",
    path: "/v1/executions/:id/retry",
    scope: "operate",
    summary: "Makes a pending retry at once, or lets a parked execution go on.",
    answers: { 204: "It goes on." },
    members: { step },
    run: (call) => done(call, (run) => run.retry(call.body)),
  }),
  route<unknown, RestartBody>({
    method: "POST",
    path: "/v1/executions/:id/restart",
    scope: "operate",
    summary: "Lets an execution that failed or was cancelled go on where it did: the same execution, under the same id.",
    answers: { 200: "What was done, and why." },
    members: {
      compensated: wordMember("Needed if steps were undone.", ["again", "keep"]),
      keys: wordMember("The idempotency keys of the steps that failed. Default `same`.", ["same", "new"]),
      ...{ timeout: timeMember("The time that it has from now on."), idempotencyKey },
    },
    async run({ id, body, runtime }) {
      const run = await runtime.get(id);
      return json({ workflowId: run.workflowId, ...(await run.restart(body)) });
    },
  }),
];
