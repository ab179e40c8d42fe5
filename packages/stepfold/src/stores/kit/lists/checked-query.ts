import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { type Status, statuses } from "../../../core/snapshot/snapshot.ts";
import type { SeriesQuery } from "../../../ports/execution-counts.ts";
import type { CountQuery, ListQuery } from "../../../ports/execution-list.ts";
import type { WaitFilter } from "../../../ports/list-filters.ts";
import type { DefinitionQuery } from "../../../ports/store-definitions.ts";
import type { PruneOptions, TrimOptions } from "../../../ports/store-removal.ts";
import { checkRanges } from "./metadata-range.ts";

/** A list query that was checked, with order and limit set. In a count, `limit` is the number at which counting a status stops. */
export interface CheckedQuery extends ListQuery {
  readonly order: "newest" | "oldest";
  readonly limit: number;
}

/** Prune options, checked and with defaults. */
export interface CheckedPrune extends Required<Omit<PruneOptions, "definitionId">> {
  /** Null: executions of all definitions. */
  readonly definitionId: string | null;
}

/** Options of a trim, checked and with defaults. */
export type CheckedTrim = Omit<CheckedPrune, "statuses"> & Pick<TrimOptions, "workflowId">;

const terminal: readonly Status[] = ["completed", "failed", "cancelled"];

type Check = readonly [isAllowed: (value: unknown) => boolean, reason: string];

const isText = (value: unknown): boolean => typeof value === "string";
const text: Check = [isText, "must be text"];
const time: Check = [Number.isFinite, "must be epoch milliseconds"];
const among = (all: readonly string[]): Check => [
  (value) => Array.isArray(value) && value.every((one) => all.includes(one)),
  `must be a list of: ${all.join(", ")}`,
];
const whole = (min: number, max: number): Check => [
  (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
  `must be a whole number from ${min} to ${max}`,
];

const queryChecks: Readonly<Record<keyof ListQuery, Check>> = {
  status: among(statuses),
  definitionId: text,
  metadata: [isFilter, "must be an object with texts, numbers, booleans, null or bounds"],
  waiting: [
    isWaitQuery,
    "must be an object with kind (external, signal, timer, child or incident), nodeId, signal, key, responder, or openedBefore and openedAfter in epoch milliseconds",
  ],
  tenant: text,
  createdBefore: time,
  createdAfter: time,
  idPrefix: text,
  order: [(value) => value === "newest" || value === "oldest", "must be newest or oldest"],
  limit: whole(1, 1000),
  cursor: text,
};

const { order: _, limit: __, cursor: ___, ...countChecks } = queryChecks;

const seriesChecks: Readonly<Record<keyof SeriesQuery, Check>> = { from: time, to: time, buckets: whole(1, 120), definitionId: text };

const definitionChecks: Readonly<Record<keyof DefinitionQuery, Check>> = {
  id: [(value) => typeof value === "string" && value.length > 0 && value.length <= 255, "must be text of 1 to 255 characters"],
  limit: whole(1, 4000),
};

const pruneChecks: Readonly<Record<keyof PruneOptions, Check>> = {
  before: time,
  definitionId: text,
  statuses: among(terminal),
  limit: [(value) => Number.isInteger(value) && Number(value) >= 1, "must be a whole number, at least 1"],
  dryRun: [(value) => typeof value === "boolean", "must be true or false"],
};

/**
 * Checks a list query, which an application may pass on from its users: a database could understand a value of a wrong type as another
 * condition, or as none at all.
 *
 * @throws StepfoldError `OPTION_INVALID`
 */
export function checkedQuery(query: ListQuery): CheckedQuery {
  check(query, queryChecks);
  checkRanges(query.metadata ?? {});
  return { ...query, order: query.order ?? "newest", limit: query.limit ?? 50 };
}

/** Checks a count, and returns it as a list query whose limit is `atMost`. @throws StepfoldError `OPTION_INVALID` */
export function checkedCount(query: CountQuery, atMost: number): CheckedQuery {
  check(query, countChecks);
  checkRanges(query.metadata ?? {});
  check({ atMost }, { atMost: whole(1, 1_000_000) });
  return { ...query, order: "newest", limit: atMost };
}

/** @throws StepfoldError `OPTION_INVALID` */
export function checkedSeries(query: SeriesQuery): SeriesQuery {
  check(query, seriesChecks);
  for (const option of ["from", "to", "buckets"] as const) {
    if (query[option] === undefined) throw new StepfoldError("OPTION_INVALID", { option, reason: seriesChecks[option][1] });
  }
  const { from, to } = query;
  if (to <= from) throw new StepfoldError("OPTION_INVALID", { option: "to", reason: "must be after `from`" });
  return { ...query, from: Math.floor(from), to: Math.ceil(to) };
}

/** @throws StepfoldError `OPTION_INVALID` */
export function checkedDefinitionQuery(query: DefinitionQuery): DefinitionQuery {
  check(query, definitionChecks);
  return query;
}

/** @throws StepfoldError `OPTION_INVALID` */
export function checkedIds(workflowIds: readonly string[]): readonly string[] {
  const isAllowed = Array.isArray(workflowIds) && workflowIds.length <= 200 && workflowIds.every(isText);
  check({ workflowIds }, { workflowIds: [() => isAllowed, "must be a list of at most 200 ids"] });
  return [...new Set(workflowIds)];
}

/** @throws StepfoldError `OPTION_INVALID` */
export function checkedPrune(options: PruneOptions): CheckedPrune {
  check(options, pruneChecks);
  const { before, definitionId = null, statuses: ended = terminal as CheckedPrune["statuses"], limit = 1000, dryRun = false } = options;
  if (!Number.isFinite(before)) throw new StepfoldError("OPTION_INVALID", { option: "before", reason: pruneChecks.before[1] });
  return { before, definitionId, statuses: ended, limit, dryRun };
}

/** @throws StepfoldError `OPTION_INVALID` */
export function checkedTrim({ workflowId, ...options }: TrimOptions): CheckedTrim {
  const { statuses: _, ...checks } = pruneChecks;
  check({ ...options, workflowId }, { ...checks, workflowId: text });
  const { statuses: __, ...checked } = checkedPrune(options);
  return workflowId === undefined ? checked : { ...checked, workflowId };
}

function check(options: object, checks: Readonly<Record<string, Check>>): void {
  for (const [option, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const known = Object.hasOwn(checks, option) ? checks[option] : undefined;
    const reason = known ? (known[0](value) ? null : known[1]) : `is not an option. The options are: ${Object.keys(checks).join(", ")}`;
    if (reason !== null) throw new StepfoldError("OPTION_INVALID", { option, reason });
  }
}

const waitKinds: readonly unknown[] = ["external", "signal", "timer", "child", "incident"] satisfies WaitFilter["kind"][];

function isWaitQuery(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(
    ([field, one]) =>
      (["nodeId", "signal", "key", "responder"].includes(field) && (one === undefined || typeof one === "string")) ||
      (["openedBefore", "openedAfter"].includes(field) && (one === undefined || Number.isFinite(one))) ||
      (field === "kind" && (one === undefined || waitKinds.includes(one))),
  );
}

function isFilter(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((one) => one === undefined || ["string", "number", "boolean", "object"].includes(typeof one));
}
