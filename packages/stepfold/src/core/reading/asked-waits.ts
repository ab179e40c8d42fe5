import type { Wait } from "../snapshot/parts/wait.ts";
import type { SnapshotHead } from "../snapshot/snapshot.ts";
import type { EpochMs } from "../values/json.ts";

/** An open wait that somebody can answer, as a list shows it, with what is asked. */
export interface AskedWait extends Pick<Wait, "payload" | "schema" | "signal" | "key" | "responders"> {
  /** The id of the wait: `run.resume({ waitId: id, payload })` answers it. A signal is sent by its name. */
  readonly id: string;
  readonly nodeId: string;
  readonly kind: "external" | "signal" | "incident";
  readonly openedAt?: EpochMs;
  /** The time from which the wait can no longer be answered. */
  readonly timeoutAt?: EpochMs;
  /**
   * What is not in the list: it is too large (together more than about 1 KiB), or it is the schema of the type of the node. `run.waits()` has
   * it. Absent: nothing is missing.
   */
  readonly lacks?: readonly ("payload" | "schema")[];
}

/** The most waits of one execution. */
const maxWaits = 20;
/** The waits of one execution have at most this many characters of JSON; payloads and schemas after that are left out. */
const maxCharacters = 8_000;

/** Returns the first 20 waits of the paths that somebody can answer, as far as the head has what is asked. */
export function askedWaits(paths: SnapshotHead["activePaths"]): readonly AskedWait[] {
  const asked: AskedWait[] = [];
  let room = maxCharacters;
  for (const { nodeId, waits = [] } of paths) {
    for (const wait of waits) {
      const { kind } = wait;
      if (kind !== "external" && kind !== "signal" && kind !== "incident") continue;
      const told = askedWait(nodeId, kind, wait);
      const characters = JSON.stringify(told).length;
      asked.push(characters <= room ? told : lean(told));
      room -= Math.min(room, characters);
      if (asked.length === maxWaits) return asked;
    }
  }
  return asked;
}

function askedWait(nodeId: string, kind: AskedWait["kind"], wait: Wait): AskedWait {
  const { id, payload, schema, typeSchema, inEvents = {}, signal, key, responders, openedAt, timeoutAt } = wait;
  const lacks = [
    ...("payload" in inEvents && payload === undefined ? (["payload"] as const) : []),
    ...(schema === undefined && ("schema" in inEvents || typeSchema !== undefined) ? (["schema"] as const) : []),
  ];
  return {
    ...{ id, nodeId, kind },
    ...(payload !== undefined && { payload }),
    ...(schema !== undefined && { schema }),
    ...(signal !== undefined && { signal }),
    ...(key !== undefined && { key }),
    ...(responders && { responders }),
    ...(openedAt !== undefined && { openedAt }),
    ...(timeoutAt !== undefined && { timeoutAt }),
    ...(lacks.length > 0 && { lacks }),
  };
}

/** Leaves out what is asked, for which there is no room. */
function lean({ payload, schema, lacks = [], ...wait }: AskedWait): AskedWait {
  const left = [
    ...(payload !== undefined || lacks.includes("payload") ? (["payload"] as const) : []),
    ...(schema !== undefined || lacks.includes("schema") ? (["schema"] as const) : []),
  ];
  return { ...wait, ...(left.length > 0 && { lacks: left }) };
}
