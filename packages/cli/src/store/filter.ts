import type { CountQuery, EpochMs, Status, WaitFilter } from "stepfold";
import { BadInput } from "../bad-input.ts";
import { readDuration } from "../text/read-duration.ts";
import { readMetadataFilters } from "./metadata-filters.ts";

/** Options of every verb that finds executions. */
export interface FilterOptions {
  readonly status?: readonly string[];
  readonly workflow?: string;
  readonly tenant?: string;
  readonly idPrefix?: string;
  readonly meta?: readonly string[];
  readonly waiting?: readonly string[] | true;
}

/** Every status, in the order of a life. */
export const everyStatus: readonly Status[] = ["active", "paused", "error", "parked", "completed", "failed", "cancelled"];

/** Refuses what says nothing of executions, before any database is opened. @throws BadInput */
export function checkFilter(options: FilterOptions): void {
  queryOf(options, 0);
}

/** What the options say of the executions that are wanted. @param now by the clock of the store @throws BadInput */
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

/** The same options as words of a command; none if nothing is asked for. */
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

/** What can be said of a wait, by the words of the command line. */
const waitFields: Readonly<Record<string, keyof WaitFilter>> = {
  ...{ kind: "kind", node: "nodeId", signal: "signal", key: "key", responder: "responder" },
  ...{ "opened-before": "openedBefore", "opened-after": "openedAfter" },
};
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
  if ((everyStatus as readonly string[]).includes(text)) return text as Status;
  throw new BadInput("USAGE", `There is no status "${text}"`, { hint: `One of: ${everyStatus.join(", ")}` });
}
