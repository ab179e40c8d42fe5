import { type ListQuery, type Status, statuses, type WaitFilter } from "stepfold";
import { oneOf, type QueryKeys, readMetadata, someOf, text, time, wholeNumber } from "../requests/query-key.ts";

const kinds = ["any", "external", "signal", "timer", "child", "incident"] as const;

/** What a query asks of executions; the store answers it. */
export interface FilterQuery {
  readonly status: readonly Status[];
  readonly workflow: string;
  readonly idPrefix: string;
  readonly createdAfter: number;
  readonly createdBefore: number;
  readonly waiting: (typeof kinds)[number];
  readonly waitingNode: string;
  readonly signal: string;
  readonly responder: string;
}

/** What the server itself looks for, among at most 20,000 executions in one call. */
export interface ResidualQuery {
  readonly q: string;
  readonly node: string;
  readonly error: string;
}

/** What selects a page. */
export interface PageQuery {
  readonly order: "newest" | "oldest";
  readonly limit: number;
  readonly cursor: string;
}

export const filterKeys: QueryKeys<FilterQuery> = {
  status: someOf("The status.", statuses),
  workflow: text("The id of the workflow."),
  idPrefix: text("The beginning of the id."),
  createdAfter: time("Created after this time."),
  createdBefore: time("Created before this time."),
  waiting: oneOf("What is waited for; `any`: whatever it is.", kinds),
  waitingNode: text("The node that waits."),
  signal: text("The name of the signal that is waited for."),
  responder: text("A person who may answer and has not answered yet."),
};

export const residualKeys: QueryKeys<ResidualQuery> = {
  q: text("Text in the id, the workflow, the node, the metadata or the error.", 200),
  node: text("The node at which the execution stands or has failed.", 200),
  error: text("The code of the error.", 200),
};

export const pageKeys: QueryKeys<PageQuery> = {
  order: oneOf("By the time of creation; default `newest`.", ["newest", "oldest"]),
  limit: wholeNumber("The most items; default 50.", 1, 200),
  cursor: text("`nextCursor` of the page before.", 4_000),
};

/** Returns the query that a store answers. */
export function storeQuery(query: Partial<FilterQuery>, search: URLSearchParams): ListQuery {
  const { status, workflow, idPrefix, createdAfter, createdBefore } = query;
  const metadata = readMetadata(search);
  const waiting = waitingOf(query);
  return {
    ...(status && { status }),
    ...(workflow !== undefined && { definitionId: workflow }),
    ...(idPrefix !== undefined && { idPrefix }),
    ...(createdAfter !== undefined && { createdAfter }),
    ...(createdBefore !== undefined && { createdBefore }),
    ...(metadata && { metadata }),
    ...(waiting && { waiting }),
  };
}

function waitingOf({ waiting, waitingNode, signal, responder }: Partial<FilterQuery>): WaitFilter | undefined {
  if (waiting === undefined && waitingNode === undefined && signal === undefined && responder === undefined) return undefined;
  return {
    ...(waiting !== undefined && waiting !== "any" && { kind: waiting }),
    ...(waitingNode !== undefined && { nodeId: waitingNode }),
    ...(signal !== undefined && { signal }),
    ...(responder !== undefined && { responder }),
  };
}
