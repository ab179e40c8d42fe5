import type { JsonSchema } from "stepfold";
import type { Member } from "../requests/members.ts";
import type { QueryKey } from "../requests/query-key.ts";
import type { Route } from "../routes/route.ts";

const problem: JsonSchema = {
  type: "object",
  required: ["type", "title", "status", "detail", "code", "retryable", "details", "requestId"],
  properties: {
    type: { type: "string", description: "`urn:stepfold:error:CODE`, or `urn:stepfold:server-error:CODE` for codes of the server." },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string", description: "What is wrong, and what to do." },
    code: { type: "string", description: "Switch on this." },
    retryable: { type: "boolean", description: "The same request may succeed if it is simply made again." },
    details: { type: "object" },
    requestId: { type: "string" },
  },
};

/** Describes routes as OpenAPI 3.1. */
export function openApi(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Stepfold", version: "1", description: "Starts, shows, answers and moves executions of workflows." },
    paths,
    components: {
      schemas: { Problem: problem },
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
    },
  };
}

function operationOf({ method, path, scope, summary, answers, query = {}, takesMetadata, members }: Route): object {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: "path", required: true, schema: { type: "string" } }));
  const inQuery = Object.entries<QueryKey<unknown>>(query).map(([name, { schema, description }]) => ({
    name,
    in: "query",
    schema,
    description,
  }));
  const metadata = takesMetadata
    ? [{ name: "meta", in: "query", style: "form", schema: { type: "object" }, description: "Metadata, each key as `meta.KEY=value`." }]
    : [];
  const good = Object.entries(answers).map(([status, description]) => [status, { description }]);
  const refused = {
    description: "Refused.",
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  };
  return {
    summary,
    operationId: `${method.toLowerCase()} ${path}`,
    security: scope === null ? [] : [{ token: [scope] }],
    parameters: [...inPath, ...inQuery, ...metadata],
    ...(members && { requestBody: bodyOf(members) }),
    responses: Object.fromEntries([...good, ["default", refused]]),
  };
}

function bodyOf(members: Readonly<Record<string, Member>>): object {
  const properties = Object.fromEntries(Object.entries(members).map(([name, { schema }]) => [name, schema]));
  const required = Object.keys(members).filter((name) => members[name]!.isRequired);
  const schema = { type: "object", additionalProperties: false, properties, ...(required.length > 0 && { required }) };
  return { required: required.length > 0, content: { "application/json": { schema } } };
}
