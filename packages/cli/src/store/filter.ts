import type { CountQuery, Status } from "stepfold";
import { BadInput } from "../bad-input.ts";
import { readMetadata } from "../text/read-metadata.ts";

/** Options of every verb that finds executions. */
export interface FilterOptions {
  readonly status?: readonly string[];
  readonly workflow?: string;
  readonly tenant?: string;
  readonly idPrefix?: string;
  readonly meta?: readonly string[];
}

/** Every status, in the order of a life. */
export const everyStatus: readonly Status[] = ["active", "paused", "error", "parked", "completed", "failed", "cancelled"];

/** What the options say of the executions that are wanted. @throws BadInput */
export function queryOf({ status, workflow, tenant, idPrefix, meta = [] }: FilterOptions): CountQuery {
  return {
    ...(status && { status: status.map(readStatus) }),
    ...(workflow !== undefined && { definitionId: workflow }),
    ...(tenant !== undefined && { tenant }),
    ...(idPrefix !== undefined && { idPrefix }),
    ...(meta.length > 0 && { metadata: Object.fromEntries(meta.map((one) => readMetadata(one, "--meta"))) }),
  };
}

/** The same options as words of a command; none if nothing is asked for. */
export function wordsOf({ status = [], workflow, tenant, idPrefix, meta = [] }: FilterOptions): string[] {
  return [
    ...status.flatMap((one) => ["--status", one]),
    ...(workflow === undefined ? [] : ["--workflow", workflow]),
    ...(tenant === undefined ? [] : ["--tenant", tenant]),
    ...(idPrefix === undefined ? [] : ["--id-prefix", idPrefix]),
    ...meta.flatMap((one) => ["--meta", one]),
  ];
}

function readStatus(text: string): Status {
  if ((everyStatus as readonly string[]).includes(text)) return text as Status;
  throw new BadInput("USAGE", `There is no status "${text}"`, { hint: `One of: ${everyStatus.join(", ")}` });
}
