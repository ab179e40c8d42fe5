import type { ExecutionListQuery } from "stepfold/client";
import { type ExecutionStatus, executionStatuses } from "../../../ui/status/shown-status.ts";

/** What an execution can wait for, as the API names it. */
export type WaitingKind = NonNullable<ExecutionListQuery["waiting"]>;

/** A time of creation that goes on with the clock. */
export type CreatedWindow = "1h" | "24h" | "7d" | "30d" | "today";

/** What the list is filtered by. It is the address of the page: see `filtersOf` and `searchOf`. */
export interface Filters {
  readonly status: readonly ExecutionStatus[];
  readonly workflow: string | null;
  readonly waiting: WaitingKind | null;
  readonly created: CreatedWindow | null;
  /** Keys of metadata and the values that they must have. */
  readonly metadata: readonly (readonly [key: string, value: string])[];
  /** Text in the id, the workflow, the node, the metadata or the error. */
  readonly text: string | null;
  readonly idPrefix: string | null;
  readonly node: string | null;
  /** The code of the error. */
  readonly error: string | null;
  /** A person who may answer. */
  readonly responder: string | null;
  readonly order: "newest" | "oldest";
}

export const noFilters: Filters = {
  status: [],
  workflow: null,
  waiting: null,
  created: null,
  metadata: [],
  text: null,
  idPrefix: null,
  node: null,
  error: null,
  responder: null,
  order: "newest",
};

/** The kinds of waits that are offered, with the words for them. */
export const waitingWords: Readonly<Record<WaitingKind, string>> = {
  any: "anything",
  external: "an answer",
  incident: "a decision",
  signal: "a signal",
  timer: "a time",
  child: "another execution",
};

/** The times of creation that are offered, with the words for them. */
export const createdWords: Readonly<Record<CreatedWindow, string>> = {
  "1h": "last hour",
  "24h": "last 24 h",
  today: "today",
  "7d": "last 7 d",
  "30d": "last 30 d",
};

const hourMs = 3_600_000;
const windowMs: Readonly<Record<Exclude<CreatedWindow, "today">, number>> = {
  "1h": hourMs,
  "24h": 24 * hourMs,
  "7d": 168 * hourMs,
  "30d": 720 * hourMs,
};

/** The filters that are one text, by their key in the address. */
const textKeys = { workflow: "workflow", text: "q", idPrefix: "idPrefix", node: "node", error: "error", responder: "responder" } as const;
const metadataPrefix = "meta.";

/** All keys of the address, except those of metadata. */
const plainKeys: ReadonlySet<string> = new Set(["status", "waiting", "created", "order", ...Object.values(textKeys)]);
/** So many parts of an address are named that are not known, and so many characters of each. */
const [maxUnknown, maxUnknownLength] = [5, 40];

/** Returns what of the query of an address is not known, such as `status=bogus`: it filters nothing, and the reader must be told. */
export function unknownIn(search: string): readonly string[] {
  const unknown = [...new URLSearchParams(search)].flatMap(([key, value]) => {
    if (key === "status")
      return value
        .split(",")
        .filter((status) => status !== "" && !executionStatuses.some((known) => known === status))
        .map((status) => `status=${status}`);
    return isKnown(key, value) ? [] : [value === "" ? key : `${key}=${value}`];
  });
  const told = unknown
    .slice(0, maxUnknown)
    .map((text) => (text.length > maxUnknownLength ? `${text.slice(0, maxUnknownLength - 1)}…` : text));
  return unknown.length > maxUnknown ? [...told, `${unknown.length - maxUnknown} more`] : told;
}

function isKnown(key: string, value: string): boolean {
  if (key.startsWith(metadataPrefix)) return key !== metadataPrefix;
  if (!plainKeys.has(key)) return false;
  if (value === "") return true;
  if (key === "waiting") return keyOf(waitingWords, value) !== null;
  if (key === "created") return keyOf(createdWords, value) !== null;
  return key !== "order" || value === "newest" || value === "oldest";
}

/** Reads filters from the query of an address. What it does not know is left out: an old link still opens. */
export function filtersOf(search: string): Filters {
  const params = new URLSearchParams(search);
  const statuses = params.getAll("status").flatMap((text) => text.split(","));
  const text = (key: string): string | null => params.get(key) || null;
  return {
    status: executionStatuses.filter((status) => statuses.includes(status)),
    workflow: text(textKeys.workflow),
    waiting: keyOf(waitingWords, params.get("waiting")),
    created: keyOf(createdWords, params.get("created")),
    metadata: [...params].flatMap(([key, value]) =>
      key.startsWith(metadataPrefix) && key !== metadataPrefix ? [[key.slice(metadataPrefix.length), value] as const] : [],
    ),
    text: text(textKeys.text),
    idPrefix: text(textKeys.idPrefix),
    node: text(textKeys.node),
    error: text(textKeys.error),
    responder: text(textKeys.responder),
    order: params.get("order") === "oldest" ? "oldest" : "newest",
  };
}

/** Writes filters as the query of an address, with its `?`; empty if there are none. The same filters give the same text. */
export function searchOf(filters: Filters): string {
  const params = new URLSearchParams();
  if (filters.status.length > 0) params.set("status", filters.status.join(","));
  if (filters.waiting) params.set("waiting", filters.waiting);
  if (filters.created) params.set("created", filters.created);
  for (const [name, key] of Object.entries(textKeys)) {
    const value = filters[name as keyof typeof textKeys];
    if (value !== null) params.set(key, value);
  }
  for (const [key, value] of filters.metadata) params.set(`${metadataPrefix}${key}`, value);
  if (filters.order === "oldest") params.set("order", "oldest");
  return params.size > 0 ? `?${params}` : "";
}

/**
 * Returns the query of the API for filters.
 *
 * @param now the time of the server's clock, from which windows of time are counted
 */
export function queryOf(filters: Filters, now: number): ExecutionListQuery {
  const { status, created, metadata, text, order } = filters;
  const orNone = (value: string | null): string | undefined => value ?? undefined;
  return {
    status: status.length > 0 ? status : undefined,
    workflow: orNone(filters.workflow),
    waiting: filters.waiting ?? undefined,
    createdAfter: created ? createdAfter(created, now) : undefined,
    metadata: metadata.length > 0 ? Object.fromEntries(metadata) : undefined,
    q: orNone(text),
    idPrefix: orNone(filters.idPrefix),
    node: orNone(filters.node),
    error: orNone(filters.error),
    responder: orNone(filters.responder),
    order: order === "oldest" ? order : undefined,
  };
}

/** Returns how many filters are set. The order is none. */
export function countFilters(filters: Filters): number {
  const { status, metadata, order: _, ...single } = filters;
  return Number(status.length > 0) + metadata.length + Object.values(single).filter((value) => value !== null).length;
}

function createdAfter(window: CreatedWindow, now: number): number {
  if (window === "today") return new Date(now).setHours(0, 0, 0, 0) - 1;
  // whole minutes, so that the same list has the same query for a while
  return Math.floor((now - windowMs[window]) / 60_000) * 60_000;
}

function keyOf<Key extends string>(words: Readonly<Record<Key, string>>, text: string | null): Key | null {
  return text !== null && Object.hasOwn(words, text) ? (text as Key) : null;
}
