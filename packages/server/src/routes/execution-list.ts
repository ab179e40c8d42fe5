import type { ExecutionPage, StartBody } from "stepfold/client";
import { idInPath } from "stepfold/client";
import { anyMember, objectMember, required, textMember, timeMember } from "../requests/members.ts";
import { rowFor } from "../views/row.ts";
import { type FilterQuery, filterKeys, type PageQuery, pageKeys, type ResidualQuery, residualKeys, storeQuery } from "./list-query.ts";
import { residualPage } from "./residual-page.ts";
import { json, type Route, route } from "./route.ts";

/** The routes of all executions together. */
export const executionListRoutes: readonly Route[] = [
  route<FilterQuery & ResidualQuery & PageQuery, unknown>({
    method: "GET",
    path: "/v1/executions",
    scope: "read",
    summary: "Lists executions, a page at a time.",
    answers: { 200: "A page; messages of errors are empty without the scope `values`." },
    query: { ...filterKeys, ...residualKeys, ...pageKeys },
    takesMetadata: true,
    async run({ query, search, runtime, site, sees }) {
      const { q, node, error, order, limit, cursor } = query;
      const asked = {
        ...storeQuery(query, search),
        ...(order && { order }),
        ...(limit !== undefined && { limit }),
        ...(cursor !== undefined && { cursor }),
      };
      const residual = { ...(q && { q }), ...(node && { node }), ...(error && { error }) };
      const isResidual = Object.keys(residual).length > 0;
      const found = isResidual
        ? await residualPage(runtime, asked, residual, sees)
        : { looked: null, complete: true, ...(await runtime.list(asked)) };
      const { items, nextCursor, looked, complete } = found;
      const page: ExecutionPage = {
        items: items.map((one) => rowFor(sees, one)),
        nextCursor,
        looked,
        complete,
        storeNow: await site.now(),
      };
      return json(page);
    },
  }),
  route<unknown, StartBody>({
    method: "POST",
    path: "/v1/executions",
    scope: "start",
    summary: "Starts an execution, or finds the one that was started before with the same id and input.",
    answers: { 201: "It was made.", 200: "It had been made before." },
    members: {
      workflow: required(textMember("The id of a workflow of the server.")),
      id: textMember("The id of the execution. Default: the header `idempotency-key`, or a new id."),
      input: anyMember("The input, which must fit the workflow's schema."),
      metadata: objectMember("Data by which lists are filtered."),
      startAt: timeMember("When the first node is performed. Default: at once."),
      timeout: timeMember("How long the execution may take."),
      taskQueue: textMember("The task queue of the execution. Default: that of the workflow."),
    },
    async run({ body, request, runtime }) {
      const { workflow, id = request.headers.get("idempotency-key") ?? undefined, ...options } = body;
      const { workflowId, isNew } = await runtime.start(workflow, { ...options, ...(id !== undefined && { workflowId: id }) } as object);
      return json({ workflowId, isNew }, isNew ? 201 : 200, { location: `/v1/executions/${idInPath(workflowId)}` });
    },
  }),
];
