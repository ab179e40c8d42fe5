import { type CountQuery, type EpochMs, isStatus, type Status, statuses, type WaitFilter } from "stepfold";
import { readDuration } from "../arguments/read-duration.ts";
import { BadInput } from "../bad-input.ts";
import { readMetadataFilters } from "./metadata-filters.ts";

/** Options of every verb that selects executions. */
export interface FilterOptions {
  readonly status?: readonly string[];
  readonly workflow?: string;
  readonly tenant?: string;
  readonly idPrefix?: string;
  readonly meta?: readonly string[];
  /** True if `--waiting` has no value: any wait counts. */
  readonly waiting?: readonly string[] | true;
}

/** Checks the options before a database is opened. @throws BadInput */
export function checkFilter(options: FilterOptions): void {
  queryOf(options, 0);
}

/** Makes a query of the options. @param now the time by the store's clock @throws BadInput */
export function queryOf({ status, workflow, tenant, idPrefix, meta = [], waiting }: FilterOptions, now: EpochMs): CountQuery {
  return {
    ...(status && { status: status.map(readStatus) }),
    ...(workflow !== undefined && { definitionId: workflow }),
    ...(tenant !== undefined && { tenant }),
    ...(idPrefix !== undefined && { idPrefix }),
    ...(meta.length > 0 && { metadata: readMetadataFilters(meta) }),
    ...(waiting && { waiting: waiting === true ? {} : readWaiting(waiting, now) }),
  };
}

/** Returns the options as words of a command line; none if there are no options. */
export function wordsOf({ status = [], workflow, tenant, idPrefix, meta = [], waiting = [] }: FilterOptions): string[] {
  return [
    ...status.flatMap((one) => ["--status", one]),
    ...(workflow === undefined ? [] : ["--workflow", workflow]),
    ...(tenant === undefined ? [] : ["--tenant", tenant]),
    ...(idPrefix === undefined ? [] : ["--id-prefix", idPrefix]),
    ...meta.flatMap((one) => ["--meta", one]),
    ...(waiting === true ? ["--waiting"] : waiting.flatMap((one) => ["--waiting", one])),
  ];
}

/** The fields of a wait that can be named, by their names on the command line. */
const waitFields: Readonly<Record<string, keyof WaitFilter>> = {
  ...{ kind: "kind", node: "nodeId", signal: "signal", key: "key", responder: "responder" },
  ...{ "opened-before": "openedBefore", "opened-after": "openedAfter" },
};
/** The kinds of waits that `--waiting kind=...` accepts. */
const waitKinds: readonly string[] = ["external", "signal", "timer", "child", "incident"] satisfies WaitFilter["kind"][];

function readWaiting(given: readonly string[], now: EpochMs): WaitFilter {
  const asked: Partial<Record<keyof WaitFilter, string | number>> = {};
  for (const text of given) {
    const [, name = "", value = ""] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    const field = Object.hasOwn(waitFields, name) ? waitFields[name] : undefined;
    if (!field || value === "") {
      const hint = `One of: ${Object.keys(waitFields).join(", ")}, such as --waiting responder=ada`;
      throw new BadInput("USAGE", `--waiting must be field=value, not "${text}"`, { hint });
    }
    if (field === "kind" && !waitKinds.includes(value))
      throw new BadInput("USAGE", `There is no kind of wait "${value}"`, { hint: `One of: ${waitKinds.join(", ")}` });
    if (asked[field] !== undefined) throw new BadInput("USAGE", `--waiting says ${name} twice`);
    const isTime = field === "openedBefore" || field === "openedAfter";
    asked[field] = isTime ? now - readDuration(`--waiting ${name}`, value, "how long ago, such as 2d, 12h or P2D") : value;
  }
  return asked as WaitFilter;
}

function readStatus(text: string): Status {
  if (isStatus(text)) return text;
  throw new BadInput("USAGE", `There is no status "${text}"`, { hint: `One of: ${statuses.join(", ")}` });
}
