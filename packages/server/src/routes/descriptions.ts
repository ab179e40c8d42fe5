import { StepfoldError } from "stepfold";
import type { HealthView, MeView, WorkflowList } from "stepfold/client";
import { json, type Route, route } from "./route.ts";

const maxStored = 500;
/** Anybody may ask whether the store answers, so it is asked at most once in this time. */
const healthMs = 1_000;

/** The routes that tell what the server is and knows. */
export const descriptionRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/v1/health",
    scope: null,
    summary: "Tells whether the server and its store answer.",
    answers: { 200: "Both answer." },
    async run({ site }) {
      await site.now(healthMs);
      return json({ ok: true } satisfies HealthView);
    },
  }),
  route({
    method: "GET",
    path: "/v1/me",
    scope: "read",
    summary: "Tells who the caller is and what they may do, and what people should know of the server.",
    answers: { 200: "The caller." },
    run({ who: { id, scopes, tenant = null }, site: { store }, notice: noticeOf }) {
      const notice = noticeOf();
      const about = { name: store.name, features: store.features };
      return json({ id, scopes, tenant, store: about, ...(notice !== null && { notice }) } satisfies MeView);
    },
  }),
  route({
    method: "GET",
    path: "/v1/workflows",
    scope: "read",
    summary: "Lists the workflows that can be started, and the definitions in the store.",
    answers: { 200: "The definitions of other tenants only with the scope `edit`." },
    async run({ who, site, runtime }) {
      const seesAll = who.tenant === undefined || who.scopes.includes("edit");
      const stored = seesAll ? await site.runtime.definitions({ limit: maxStored }) : [];
      return json({ workflows: runtime.describe().workflows, stored } satisfies WorkflowList);
    },
  }),
  route({
    method: "GET",
    path: "/v1/definitions/:part",
    scope: "read",
    summary:
      "Returns a definition by its hash. Callers with a tenant use the route of the execution, unless the workflow can be started here.",
    answers: { 200: "The definition, which never changes." },
    async run({ who, site, runtime, part }) {
      const { workflows } = runtime.describe();
      const known = workflows.find(({ hash }) => hash === part)?.definition;
      const seesAll = who.tenant === undefined || who.scopes.includes("edit");
      const definition = known ?? (seesAll ? await site.store.getDefinition(part) : null);
      if (!definition) throw new StepfoldError("DEFINITION_UNKNOWN", { workflow: part, known: workflows.map(({ id }) => id) });
      return json(definition, 200, { "cache-control": "private, max-age=31536000, immutable" });
    },
  }),
  route({
    method: "GET",
    path: "/v1/node-types",
    scope: "read",
    summary: "Lists the node types whose code the server has, with the schemas of their data and payloads.",
    answers: { 200: "Node types; none if the server runs no code." },
    run: ({ runtime }) => json({ nodeTypes: runtime.describe().nodeTypes }),
  }),
];
